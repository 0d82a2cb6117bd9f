//! Memory in pages of 2 MiB, as soon as there is much of it.
//!
//! The allocator asks the system for huge pages. Under load they save 5 to 8 % of the CPU time of an upload; an idle service has
//! little in each of them and takes 20 MB more. So the process begins without them.

use std::fs;
use std::time::Duration;

use rustix::param::page_size;
use rustix::thread::disable_transparent_huge_pages;

/// An idle service with one small app takes half of it.
const MUCH_MEMORY: usize = 48 << 20;
/// How often the process looks. A second of small pages costs a few pages of memory that stay small.
const LOOKS_EVERY: Duration = Duration::from_secs(1);

/// For the whole process, from here on.
pub(super) fn hold_back() {
    set(false);
}

/// Returns when there is much memory, which then comes in huge pages.
pub(super) async fn allow_when_useful() {
    let mut looks = tokio::time::interval(LOOKS_EVERY);
    loop {
        looks.tick().await;
        // Where the system does not tell, they are useful from the beginning.
        if resident().is_none_or(|n_bytes| n_bytes > MUCH_MEMORY) {
            return set(true);
        }
    }
}

fn set(is_allowed: bool) {
    if let Err(error) = disable_transparent_huge_pages(!is_allowed) {
        tracing::debug!(%error, "huge pages of memory are left to the system");
    }
}

/// By `proc_pid_statm(5)`.
fn resident() -> Option<usize> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_ascii_whitespace().nth(1)?.parse::<usize>().ok()? * page_size())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_takes_memory() {
        assert!(resident().unwrap() > 1 << 20);
    }
}
