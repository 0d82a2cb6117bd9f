//! `bench latency`: how long a push to one device takes from its acceptance to its delivery, and an audience of ten terms to be
//! explained, while the same server sends to everybody of another app and changes tags; beside the same server when it is idle.

mod beside;
mod explaining;
mod singles;

use anyhow::Result;

use crate::Size;
use crate::report::{duration, ratio};
use crate::sample::Sample;

/// Devices of the broadcast, and channels of the audience.
const DEVICES: u32 = 10_000_000;

pub(crate) async fn run(size: Size) -> Result<()> {
    singles::run(size.of(DEVICES), size).await?;
    explaining::run(size.of(DEVICES), size).await
}

/// The 99th percentile, and how many times as long that of the idle server it is.
fn beside_idle(busy: &Sample, idle: &Sample) -> String {
    let [busy, idle] = [busy, idle].map(|sample| sample.percentile(99));
    format!("{}, {}", duration(busy), ratio(busy.as_secs_f64() / idle.as_secs_f64().max(1e-9)))
}
