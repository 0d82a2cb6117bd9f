//! How long to wait before trying again what keeps failing.

use std::time::Duration;

/// The wait after the `n`-th failure in a row, counted from 1: `first`, twice as long after each further one, and never longer
/// than `longest`.
pub fn doubled(first: Duration, n: u32, longest: Duration) -> Duration {
    first.saturating_mul(1_u32.checked_shl(n.saturating_sub(1)).unwrap_or(u32::MAX)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let wait = |n| doubled(Duration::from_secs(2), n, Duration::from_secs(300)).as_secs();
        assert_eq!([0, 1, 2, 3, 8, 9, 32, 33, u32::MAX].map(wait), [2, 2, 4, 8, 256, 300, 300, 300, 300]);
    }
}
