//! Figures of the operating system about this process, under the names that all exporters use. Only Linux tells them.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

#[derive(Debug)]
pub(super) struct Process;

/// What the files of the operating system say.
struct Figures {
    cpu_seconds: f64,
    start_time_seconds: f64,
    virtual_bytes: i64,
    resident_bytes: i64,
    n_threads: i64,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut show = |name: &str, text: &str, metric: &dyn EncodeMetric| {
            metric.encode(encoder.encode_descriptor(name, text, None, metric.metric_type())?)
        };
        if let Some(figures) = Figures::read() {
            let text = "Time that all processors have spent on this process";
            show("process_cpu_seconds", text, &ConstCounter::new(figures.cpu_seconds))?;
            let text = "When this process was started, in seconds since 1970";
            show("process_start_time_seconds", text, &ConstGauge::new(figures.start_time_seconds))?;
            let text = "Memory that this process has in use";
            show("process_resident_memory_bytes", text, &ConstGauge::new(figures.resident_bytes))?;
            let text = "Addresses that this process has reserved";
            show("process_virtual_memory_bytes", text, &ConstGauge::new(figures.virtual_bytes))?;
            show("process_threads", "Threads of this process", &ConstGauge::new(figures.n_threads))?;
        }
        if let Ok(open) = fs::read_dir("/proc/self/fd") {
            // One of them is the folder itself.
            let n_open = i64::try_from(open.count().saturating_sub(1)).unwrap_or(i64::MAX);
            show("process_open_fds", "Files and connections that are open", &ConstGauge::new(n_open))?;
        }
        let most = getrlimit(Resource::Nofile).current.map_or(i64::MAX, |most| i64::try_from(most).unwrap_or(i64::MAX));
        show("process_max_fds", "Files and connections that may be open", &ConstGauge::new(most))
    }
}

impl Figures {
    fn read() -> Option<Self> {
        let (of_process, of_system) =
            (fs::read_to_string("/proc/self/stat").ok()?, fs::read_to_string("/proc/stat").ok()?);
        let booted = of_system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse::<f64>().ok()?;
        Self::parse(&of_process, booted)
    }

    /// By `proc_pid_stat(5)`. The name of the program is in brackets and may hold anything, so counting begins after it, with the
    /// third field.
    fn parse(stat: &str, booted: f64) -> Option<Self> {
        let (_, after_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<i64>().ok();
        #[expect(clippy::cast_precision_loss, reason = "ticks of years are exact")]
        let seconds = |ticks: i64| ticks as f64 / clock_ticks_per_second() as f64;
        Some(Self {
            cpu_seconds: seconds(number(14)? + number(15)?),
            start_time_seconds: booted + seconds(number(22)?),
            virtual_bytes: number(23)?,
            resident_bytes: number(24)? * i64::try_from(page_size()).ok()?,
            n_threads: number(20)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_be_called_anything() {
        let fields = "S 1 2 3 4 5 6 7 8 9 10 150 50 16 17 18 19 7 21 300 4096 2 25";
        let figures = Figures::parse(&format!("42 (a) b (c) {fields}"), 1000.0).unwrap();
        let ticks = clock_ticks_per_second();
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let (cpu, start) = (200.0 / ticks as f64, 1000.0 + 300.0 / ticks as f64);
        assert_eq!((figures.cpu_seconds, figures.start_time_seconds), (cpu, start));
        assert_eq!((figures.virtual_bytes, figures.n_threads), (4096, 7));
        assert_eq!(figures.resident_bytes, 2 * i64::try_from(page_size()).unwrap());
    }

    #[test]
    fn this_process_has_figures() {
        let figures = Figures::read().unwrap();
        assert!(figures.resident_bytes > 0 && figures.n_threads > 0 && figures.start_time_seconds > 1e9);
    }
}
