//! Events of content that lives on a device's screen: iOS Live Activities and Android Live Updates share them.

use std::ops::RangeInclusive;

use crate::json::body::Words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum LiveEvent {
    Start,
    Update,
    End,
}

/// Seconds since 1970.
pub(super) const EPOCH_SECONDS: RangeInclusive<i64> = 0..=u32::MAX as i64;
