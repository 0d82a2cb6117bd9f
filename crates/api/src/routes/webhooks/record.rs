//! Webhooks as answers show them. Values of headers are never among it.

use events::{Attempt, DeadLetter, Entry, EntryKind, Redelivered, WebhookState, WebhookView};
use model::event::EventOffset;
use model::ids::{EventId, WebhookId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct One {
    pub(super) webhook: WebhookRecord,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct All {
    pub(super) webhooks: Vec<WebhookRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct WebhookRecord {
    webhook_id: WebhookId,
    #[serde(flatten)]
    config: Option<ConfigRecord>,
    enabled: bool,
    /// `live`, `failing`, `disabled` or `unreadable`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<String>,
    /// Since when every event fails, if any was tried. After five days the service disables the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    nothing_taken_since: Option<String>,
    created: String,
    last_modified: String,
    /// Everything up to here is delivered.
    offset: String,
    delivered: i64,
    failed_attempts: i64,
    /// Events that were given up and are kept.
    dead_letters: i64,
    /// Events that were given up, also those that are gone.
    given_up: i64,
    /// Log records that were deleted before they could be sent.
    missed_records: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_delivered: Option<String>,
    /// How many records of the log are yet to be read.
    records_behind: i64,
    seconds_behind: i64,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct ConfigRecord {
    name: String,
    url: String,
    types: Vec<&'static str>,
    has_authorization: bool,
    /// Their names.
    headers: Vec<String>,
    timeout_seconds: u64,
    give_up_hours: u64,
    batch_size: u32,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Proof {
    pub(super) status: u16,
    pub(super) milliseconds: u128,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Attempts {
    pub(super) attempts: Vec<EntryRecord>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::routes) enum EntryRecord {
    Request(AttemptRecord),
    Gap(GapRecord),
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct GapRecord {
    at: String,
    /// Where it went on.
    offset: String,
    missed_records: u64,
    error: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct AttemptRecord {
    at: String,
    id: EventId,
    #[serde(rename = "type")]
    kind: Option<&'static str>,
    offset: String,
    attempt: u32,
    milliseconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Letters {
    pub(super) dead_letters: Vec<LetterRecord>,
    /// Where to continue, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct LetterRecord {
    id: EventId,
    #[serde(rename = "type")]
    kind: Option<&'static str>,
    offset: String,
    given_up: String,
    attempts: u32,
    reason: String,
    #[schemars(with = "Option<serde_json::Value>")]
    event: Option<Box<RawValue>>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Sent {
    delivered: u32,
    failed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Where to continue, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Discarded {
    pub(super) discarded: u64,
}

impl From<WebhookView> for WebhookRecord {
    fn from(view: WebhookView) -> Self {
        let config = view.config.map(|config| ConfigRecord {
            url: config.url.to_string(),
            types: config.types.names(),
            has_authorization: config.authorization.is_some(),
            headers: config.headers.iter().map(|header| header.name.clone()).collect(),
            timeout_seconds: config.timeout().as_secs(),
            give_up_hours: config.give_up_after().as_secs() / 3600,
            batch_size: config.batch_size,
            name: config.name,
        });
        let (state, reason, since) = match (&config, &view.state) {
            (None, _) => {
                let why = "The configuration was sealed with another key, or is damaged; delete the webhook.";
                ("unreadable", Some(why.to_owned()), None)
            }
            (Some(_), WebhookState::Live) => ("live", None, None),
            (Some(_), WebhookState::Failing { since, reason }) => ("failing", Some(reason.clone()), Some(*since)),
            (Some(_), WebhookState::Disabled { reason }) => ("disabled", reason.clone(), None),
        };
        Self {
            webhook_id: view.id,
            config,
            enabled: !matches!(view.state, WebhookState::Disabled { .. }),
            state,
            reason,
            failing_since: since.map(|since| since.to_api()),
            nothing_taken_since: view.nothing_taken_since.map(|since| since.to_api()),
            created: view.created.to_api(),
            last_modified: view.modified.to_api(),
            offset: view.done.to_string(),
            delivered: view.tally.n_delivered,
            failed_attempts: view.tally.n_failed,
            dead_letters: view.tally.n_dead,
            given_up: view.tally.n_given_up,
            missed_records: view.tally.n_missed,
            last_delivered: view.tally.last_delivered.map(|at| at.to_api()),
            records_behind: view.records_behind,
            seconds_behind: view.seconds_behind,
        }
    }
}

impl From<Entry> for EntryRecord {
    fn from(Entry { at, offset, kind }: Entry) -> Self {
        let (at, offset) = (at.to_iso(), offset.to_string());
        match kind {
            EntryKind::Request(Attempt { event, kind, number, millis, status, error }) => {
                let kind = kind.public_name();
                Self::Request(AttemptRecord {
                    at,
                    id: event,
                    kind,
                    offset,
                    attempt: number,
                    milliseconds: millis,
                    status,
                    error,
                })
            }
            EntryKind::Gap { n_missed } => Self::Gap(GapRecord {
                at,
                offset,
                missed_records: n_missed,
                error: "Deleted from the log before it could be sent.",
            }),
        }
    }
}

impl Letters {
    /// A page of `at_most` letters; a shorter one is the last.
    pub(super) fn page(letters: Vec<DeadLetter>, at_most: u32) -> Self {
        let is_full = letters.len() >= at_most as usize;
        let after = letters.last().filter(|_| is_full).map(|last| last.offset.to_string());
        Self { dead_letters: letters.into_iter().map(LetterRecord::from).collect(), after }
    }
}

impl From<DeadLetter> for LetterRecord {
    fn from(letter: DeadLetter) -> Self {
        let text = String::from_utf8(letter.body).ok();
        Self {
            id: letter.event,
            kind: letter.kind.public_name(),
            offset: letter.offset.to_string(),
            given_up: letter.at.to_iso(),
            attempts: letter.attempts,
            reason: letter.reason,
            event: text.and_then(|text| RawValue::from_string(text).ok()),
        }
    }
}

impl From<Redelivered> for Sent {
    fn from(came: Redelivered) -> Self {
        Self {
            delivered: came.n_delivered,
            failed: came.n_failed,
            reason: came.reason,
            after: came.last.as_ref().map(EventOffset::to_string),
        }
    }
}
