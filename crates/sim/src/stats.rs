//! The simulator's counts, for tests and people.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::protocol::Protocol;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    pub protocols: BTreeMap<&'static str, Tally>,
    /// Connections taken so far.
    pub connections: u64,
    /// Connections that were sent a GOAWAY.
    pub goaways: u64,
    /// Access tokens handed out.
    pub tokens: u64,
    /// Requests that were ignored because their connection had gone away: to be sent again, and not counted elsewhere.
    pub ignored: u64,
    /// Requests that were refused because their connection allowed only one stream and had one.
    pub over_limit: u64,
    /// Requests that are left without an answer, by the fault for that.
    pub unanswered: u64,
    /// Subscriptions of pages in real browsers.
    pub subscriptions: u64,
}

/// The messages of one protocol by their fate: `messages` is the sum of all others but `duplicates`, `devices_gone`
/// and `lost_answers`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub messages: u64,
    /// Taken, repeats included.
    pub accepted: u64,
    /// Of the accepted: those whose delivery id had been accepted before. Whether a device shows both is another question, which
    /// Apple's decide by the collapse id.
    pub duplicates: u64,
    /// Answers that the device is gone, repeats included.
    pub gone: u64,
    /// How many different devices got that answer.
    pub devices_gone: u64,
    pub throttled: u64,
    pub unavailable: u64,
    /// Streams that were reset instead of the message being taken.
    pub resets: u64,
    /// Of the accepted: those whose stream was reset instead of answered.
    pub lost_answers: u64,
    /// Messages that were not taken because their connection was cut.
    pub cuts: u64,
    /// Refused for their form or content.
    pub rejected: u64,
    /// Refused for their credentials.
    pub unauthorized: u64,
    /// The reasons for the last two.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
}

impl Stats {
    /// The counts of one protocol; all zero when it has not been used.
    pub fn of(&self, protocol: Protocol) -> Tally {
        self.protocols.get(protocol.name()).cloned().unwrap_or_default()
    }

    pub fn messages(&self) -> u64 {
        self.protocols.values().map(|tally| tally.messages).sum()
    }
}

impl Tally {
    /// How many different messages were taken.
    pub fn delivered(&self) -> u64 {
        self.accepted - self.duplicates
    }
}
