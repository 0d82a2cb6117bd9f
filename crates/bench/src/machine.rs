//! How busy the machine was meanwhile, so that the figures of two runs can be compared: a fixed piece of work before and after,
//! the load, and the CPU time that neither this run nor idling took. And how long the run took, for whoever makes another.

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::report::{self, duration, percent};
use crate::usage::Process;

/// Steps of the piece of work: some hundredths of a second.
const STEPS: u32 = 20_000_000;
/// The kernel counts time in hundredths of a second, whatever its own clock is.
const TICKS_PER_SECOND: f64 = 100.0;

/// The machine at one moment.
pub(crate) struct Machine {
    at: Instant,
    calibration: Duration,
    all: Ticks,
    own: Duration,
}

/// Time of all cores since the machine was started.
#[derive(Clone, Copy)]
struct Ticks {
    busy: f64,
    /// Taken by the host for other guests.
    stolen: f64,
    all: f64,
}

impl Machine {
    pub(crate) fn look() -> Result<Self> {
        Ok(Self {
            at: Instant::now(),
            calibration: calibrate(),
            all: Ticks::read()?,
            own: Process::own().family_cpu()?,
        })
    }

    /// Prints what it was like since then.
    pub(crate) fn tell(&self) -> Result<()> {
        let now = Self::look()?;
        let all = (now.all.all - self.all.all).max(1.0);
        let own = now.own.saturating_sub(self.own).as_secs_f64() * TICKS_PER_SECOND;
        let others = (now.all.busy - self.all.busy - own).max(0.0);
        report::heading(format_args!("The machine meanwhile"))?;
        report::line(
            "CPU time taken by its host, by others than this run",
            &format!("{}, {}", percent((now.all.stolen - self.all.stolen) / all), percent(others / all)),
        )?;
        let calibration = format!("{}, {}", duration(self.calibration), duration(now.calibration));
        report::line("the same fixed piece of work before and after", &calibration)?;
        report::line("load of the last minute", &load()?)?;
        report::line("time that the measurement took", &duration(now.at.saturating_duration_since(self.at)))
    }
}

impl Ticks {
    fn read() -> Result<Self> {
        let text = fs::read_to_string("/proc/stat").context("the kernel does not tell what its cores do")?;
        let line = text.lines().next().context("/proc/stat is empty")?;
        // user, nice, system, idle, waiting for disks, interrupts, soft interrupts, stolen
        let ticks: Vec<f64> = line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
        let of = |place: usize| ticks.get(place).copied().unwrap_or_default();
        let busy = of(0) + of(1) + of(2) + of(5) + of(6);
        Ok(Self { busy, stolen: of(7), all: busy + of(3) + of(4) + of(7) })
    }
}

/// How long a fixed piece of work takes on one core.
fn calibrate() -> Duration {
    let began = Instant::now();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..STEPS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
    began.elapsed()
}

fn load() -> Result<String> {
    let text = fs::read_to_string("/proc/loadavg").context("the kernel does not tell its load")?;
    Ok(text.split_whitespace().next().unwrap_or_default().to_owned())
}
