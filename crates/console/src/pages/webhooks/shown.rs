//! A webhook as the API shows it, and how it is doing in words.

use model::ids::WebhookId;
use serde::Deserialize;

use crate::parts::numbers::count;

#[derive(Deserialize)]
pub(super) struct All {
    pub(super) webhooks: Vec<Shown>,
}

#[derive(Deserialize)]
pub(super) struct One {
    pub(super) webhook: Shown,
}

#[derive(Deserialize)]
pub(super) struct Shown {
    pub(super) webhook_id: WebhookId,
    /// Absent, like the following ones, if the configuration cannot be read.
    pub(super) name: Option<String>,
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) types: Vec<String>,
    #[serde(default)]
    pub(super) has_authorization: bool,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) give_up_hours: Option<u64>,
    pub(super) batch_size: Option<u64>,
    pub(super) enabled: bool,
    pub(super) state: String,
    pub(super) reason: Option<String>,
    pub(super) failing_since: Option<String>,
    pub(super) nothing_taken_since: Option<String>,
    pub(super) delivered: u64,
    pub(super) failed_attempts: u64,
    pub(super) dead_letters: u64,
    pub(super) missed_records: u64,
    pub(super) last_delivered: Option<String>,
    records_behind: u64,
    seconds_behind: u64,
}

impl Shown {
    pub(super) fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.webhook_id.to_string())
    }

    /// How far it is behind what has happened.
    pub(super) fn progress(&self) -> String {
        match self.behind() {
            None => "up to date".to_owned(),
            Some((records, time)) => format!("{records} and {time} behind"),
        }
    }

    /// What is yet to be read, and how old it is.
    pub(super) fn behind(&self) -> Option<(String, String)> {
        (self.records_behind > 0).then(|| (count(self.records_behind, "record", "records"), span(self.seconds_behind)))
    }
}

/// A time in the largest unit that says something: `90 seconds`, `3 hours`.
pub(super) fn span(seconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match seconds {
        0..120 => count(seconds, "second", "seconds"),
        120..7200 => count(seconds / MINUTE, "minute", "minutes"),
        7200..172_800 => count(seconds / HOUR, "hour", "hours"),
        172_800.. => count(seconds / DAY, "day", "days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_the_largest_unit_that_says_something() {
        assert_eq!(
            [1, 119, 120, 7199, 7200, 172_799, 172_800].map(span),
            ["1 second", "119 seconds", "2 minutes", "119 minutes", "2 hours", "47 hours", "2 days"]
        );
    }
}
