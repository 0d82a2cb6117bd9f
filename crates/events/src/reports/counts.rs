//! Counts by device type and metric.

use std::collections::{BTreeMap, BTreeSet};

use model::device_type::DeviceType;
use store::counters::{Metric, Total};

/// What was counted on which devices. Reports know the families of device types: all open platforms are one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<DeviceType, BTreeMap<Metric, u64>>);

impl Counts {
    pub(super) fn of(totals: Vec<Total>) -> Self {
        let mut counts = Self::default();
        for Total { device_type, metric, n } in totals {
            counts.add(device_type, metric, n);
        }
        counts
    }

    pub fn add(&mut self, device_type: DeviceType, metric: Metric, n: i64) {
        let count = self.0.entry(device_type).or_default().entry(metric).or_default();
        *count = count.saturating_add(u64::try_from(n).unwrap_or(0));
    }

    pub fn add_all(&mut self, other: &Self) {
        for (device_type, counts) in &other.0 {
            let own = self.0.entry(device_type.clone()).or_default();
            counts.iter().for_each(|(metric, n)| *own.entry(*metric).or_default() += n);
        }
    }

    /// The families that something was counted on.
    pub fn families(&self) -> BTreeSet<&'static str> {
        self.0.keys().map(DeviceType::family).collect()
    }

    /// As [`Counts::families`], without open platforms.
    pub fn device_families(&self) -> BTreeSet<&'static str> {
        self.of_devices().map(|(device_type, _)| device_type.family()).collect()
    }

    /// The count of one of [`Counts::families`].
    pub fn on(&self, family: &str, metric: Metric) -> u64 {
        let counts = self.0.iter().filter(|(device_type, _)| device_type.family() == family);
        counts.map(|(_, counts)| of(counts, metric)).sum()
    }

    /// On everything but open platforms.
    pub fn on_devices(&self, metric: Metric) -> u64 {
        self.of_devices().map(|(_, counts)| of(counts, metric)).sum()
    }

    /// By the name of the open platform.
    pub fn on_open_platforms(&self, metric: Metric) -> impl Iterator<Item = (&str, u64)> {
        let counted = self.0.iter().filter_map(move |(device_type, counts)| {
            let DeviceType::Open(platform) = device_type else { return None };
            Some((platform.as_str(), of(counts, metric)))
        });
        counted.filter(|(_, n)| *n > 0)
    }

    fn of_devices(&self) -> impl Iterator<Item = (&DeviceType, &BTreeMap<Metric, u64>)> {
        self.0.iter().filter(|(device_type, _)| !matches!(device_type, DeviceType::Open(_)))
    }
}

fn of(counts: &BTreeMap<Metric, u64>, metric: Metric) -> u64 {
    counts.get(&metric).copied().unwrap_or(0)
}
