//! The resources that processes use, as the kernel counts them: CPU time and memory.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

/// The unit of CPU time in `/proc`, the same on every Linux that programs can see.
const TICKS_PER_SECOND: u64 = 100;

/// A process by its number. It has to be running.
#[derive(Clone, Copy)]
pub(crate) struct Process(pub(crate) u32);

/// Bytes in memory.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// All of it, with the mapped parts of the program and of files.
    pub(crate) resident: u64,
    /// The memory that the process itself has allocated.
    pub(crate) allocated: u64,
    /// The most that was ever resident, or since [`Process::forget_peak`].
    pub(crate) peak: u64,
}

impl Process {
    pub(crate) fn own() -> Self {
        Self(std::process::id())
    }

    /// CPU time of all threads so far, including ended ones, in steps of 10 ms.
    pub(crate) fn cpu(self) -> Result<Duration> {
        two_ticks(&self.read("stat")?, 11)
    }

    /// CPU time so far of this process and of all below it, ended or not.
    pub(crate) fn family_cpu(self) -> Result<Duration> {
        let mut all = Vec::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()).map(Process) else {
                continue;
            };
            // One that has ended meanwhile is counted with its parent the next time.
            let Ok(stat) = process.read("stat") else { continue };
            let parent = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(1)?.parse().ok());
            all.push((process.0, parent.unwrap_or(0), two_ticks(&stat, 11)? + two_ticks(&stat, 13)?));
        }
        let mut family = HashSet::from([self.0]);
        while all.iter().filter(|(_, parent, _)| family.contains(parent)).any(|(process, ..)| !family.contains(process))
        {
            let below: Vec<u32> =
                all.iter().filter(|(_, parent, _)| family.contains(parent)).map(|row| row.0).collect();
            family.extend(below);
        }
        Ok(all.iter().filter(|(process, ..)| family.contains(process)).map(|(.., cpu)| *cpu).sum())
    }

    /// CPU time so far of all processes that this one has started and waited for.
    pub(crate) fn children_cpu(self) -> Result<Duration> {
        two_ticks(&self.read("stat")?, 13)
    }

    /// CPU time of the first thread so far, in nanoseconds: all of it for a process with one thread.
    pub(crate) fn first_thread_cpu(self) -> Result<Duration> {
        nanoseconds(&self.read("schedstat")?)
    }

    pub(crate) fn memory(self) -> Result<Memory> {
        let status = self.read("status")?;
        let line = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let kib = value.and_then(|value| value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
            kib.map(|kib| kib * 1024).with_context(|| format!("/proc/<pid>/status has no {name}"))
        };
        Ok(Memory { resident: line("VmRSS")?, allocated: line("RssAnon")?, peak: line("VmHWM")? })
    }

    /// Resets the peak to the current use.
    pub(crate) fn forget_peak(self) -> Result<()> {
        let path = format!("/proc/{}/clear_refs", self.0);
        fs::write(&path, "5").with_context(|| format!("{path} cannot be written"))
    }

    fn read(self, file: &str) -> Result<String> {
        let path = PathBuf::from(format!("/proc/{}/{file}", self.0));
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    }
}

/// The sum of two neighboring fields of `/proc/<pid>/stat`, counted from after the name of the program.
fn two_ticks(stat: &str, first: usize) -> Result<Duration> {
    // The name comes before the last parenthesis and may hold anything.
    let (_, fields) = stat.rsplit_once(')').context("/proc/<pid>/stat has no program name")?;
    let ticks = fields.split_whitespace().skip(first).take(2).map(str::parse::<u64>);
    let ticks: u64 = ticks.sum::<Result<_, _>>().context("/proc/<pid>/stat has no CPU time")?;
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// CPU time of the calling thread so far.
pub(crate) fn thread_cpu() -> Result<Duration> {
    nanoseconds(&fs::read_to_string("/proc/thread-self/schedstat").context("the kernel counts no CPU time")?)
}

fn nanoseconds(schedstat: &str) -> Result<Duration> {
    let spent = schedstat.split_whitespace().next().and_then(|spent| spent.parse().ok());
    spent.map(Duration::from_nanos).context("schedstat has no CPU time")
}
