//! Counts by platform and metric.

use std::collections::{BTreeMap, BTreeSet};

use store::counters::Metric;

/// What was counted, by the name of the platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, BTreeMap<Metric, u64>>);

const OPEN: &str = "open::";

impl Counts {
    pub(crate) fn add(&mut self, platform: &str, metric: Metric, n: i64) {
        // Looked up first: the names of platforms come again and again.
        let of_platform = match self.0.get_mut(platform) {
            Some(of_platform) => of_platform,
            None => self.0.entry(platform.to_owned()).or_default(),
        };
        let count = of_platform.entry(metric).or_default();
        *count = count.saturating_add(u64::try_from(n).unwrap_or(0));
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        for (platform, counts) in &other.0 {
            let own = self.0.entry(platform.clone()).or_default();
            counts.iter().for_each(|(metric, n)| *own.entry(*metric).or_default() += n);
        }
    }

    /// What reports call the platforms that something was counted on: all open platforms are one.
    pub fn platforms(&self) -> BTreeSet<&str> {
        self.0.keys().map(|platform| if platform.starts_with(OPEN) { "open" } else { platform.as_str() }).collect()
    }

    /// The count of one of [`Counts::platforms`].
    pub fn on(&self, platform: &str, metric: Metric) -> u64 {
        match platform {
            "open" => self.on_open_platforms(metric).map(|(_, n)| n).sum(),
            _ => self.0.get(platform).map_or(0, |counts| of(counts, metric)),
        }
    }

    /// On all platforms but the open ones.
    pub fn on_devices(&self, metric: Metric) -> u64 {
        let devices = self.0.iter().filter(|(platform, _)| !platform.starts_with(OPEN));
        devices.map(|(_, counts)| of(counts, metric)).sum()
    }

    /// By the name of the open platform.
    pub fn on_open_platforms(&self, metric: Metric) -> impl Iterator<Item = (&str, u64)> {
        let open = self.0.iter().filter_map(|(platform, counts)| Some((platform.strip_prefix(OPEN)?, counts)));
        open.map(move |(name, counts)| (name, of(counts, metric))).filter(|(_, n)| *n > 0)
    }
}

fn of(counts: &BTreeMap<Metric, u64>, metric: Metric) -> u64 {
    counts.get(&metric).copied().unwrap_or(0)
}
