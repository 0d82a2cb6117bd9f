//! What the simulator counted, as tests and people read it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::protocol::Protocol;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    pub protocols: BTreeMap<&'static str, Tally>,
    /// Connections taken so far.
    pub connections: u64,
    /// Connections that were told to go away.
    pub goaways: u64,
    /// Access tokens handed out.
    pub tokens: u64,
    /// Requests that were ignored because their connection had gone away: to be sent again, and not counted elsewhere.
    pub ignored: u64,
    /// Requests that were refused because their connection allowed one stream only and had one.
    pub over_limit: u64,
}

/// The messages of one protocol by what became of them: `messages` is the sum of all others but `duplicates`, `devices_gone`
/// and `lost_answers`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub messages: u64,
    /// Taken, repeats included.
    pub accepted: u64,
    /// Of the accepted: those whose delivery id had been accepted before.
    pub duplicates: u64,
    /// Answers that the device is gone, repeats included.
    pub gone: u64,
    /// How many different devices that answer was given for.
    pub devices_gone: u64,
    pub throttled: u64,
    pub unavailable: u64,
    /// Streams that were reset instead of the message being taken.
    pub resets: u64,
    /// Of the accepted: those whose stream was reset instead of answered.
    pub lost_answers: u64,
    /// Messages that were not taken because their connection was cut.
    pub cuts: u64,
    /// Refused for what they say or how.
    pub rejected: u64,
    /// Refused for who sent them.
    pub unauthorized: u64,
    /// The reasons of the last two.
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
