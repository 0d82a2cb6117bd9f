//! What devices tell of content that lives on their screens: the tokens of iOS Live Activities, and the Android Live Updates that
//! they follow.

use std::ops::RangeInclusive;

use super::name_text;
use crate::json::At;
use crate::json::body::{Body, Words};
use crate::limits;

/// What is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiveKind {
    /// A Live Activity on the screen, by its name.
    Activity,
    /// Live Activities that can be started, by the type of their attributes.
    Start,
    /// A Live Update on the screen, by its name.
    Update,
}

/// A Live Activity, a type of them, or a Live Update, as devices and pushes name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveKey {
    pub kind: LiveKind,
    pub name: String,
}

/// What a device has told about one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveChange {
    pub key: LiveKey,
    /// Apple's id of a Live Activity, by which it is told from an earlier one of the same name.
    pub activity: Option<String>,
    pub state: LiveState,
    /// When it came to be so, by the clock of the device in milliseconds: of two changes the later one counts, in whichever order
    /// they arrive.
    pub at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveState {
    /// It is there. Apple takes its changes under a token, and Live Updates have none.
    On {
        token: Option<String>,
    },
    Off,
}

/// A token of a Live Activity that a device has got or lost. Other keys are skipped.
#[derive(Body)]
#[body(not_printed, lenient)]
pub(super) struct TokenChange {
    /// Whether the token changes a Live Activity on the screen or starts such. Libraries before version 18 know the
    /// former only, and leave this out.
    #[body(rename = "type", default)]
    kind: TokenKind,
    /// Whether there is one now.
    action: LiveAction,
    /// Apple's id of the Live Activity. Needed for `update_token`.
    #[body(length = 1..=limits::LIVE_TEXT_CHARS, read = text)]
    id: Option<String>,
    /// The name by which pushes change it. Needed for `update_token`.
    #[body(length = 1..=limits::LIVE_TEXT_CHARS, read = text)]
    name: Option<String>,
    /// The type of Live Activities that can be started. Needed for `start_token`.
    #[body(length = 1..=limits::LIVE_TEXT_CHARS, read = text)]
    attributes_type: Option<String>,
    /// The token. Needed for `set`.
    #[body(length = 1..=limits::LIVE_TEXT_CHARS, read = text)]
    token: Option<String>,
    /// When it came to be so, by the clock of the device in milliseconds since 1970. Of two changes the later one counts.
    #[body(range = EPOCH_MILLIS)]
    action_ts_ms: i64,
}

/// A Live Update that began or ended on a device. Other keys are skipped.
#[derive(Body)]
#[body(not_printed, lenient)]
pub(super) struct UpdateChange {
    /// Whether it is there now.
    action: LiveAction,
    /// The name by which pushes change it.
    #[body(length = 1..=limits::LIVE_TEXT_CHARS, read = text)]
    name: String,
    /// When it came to be so, by the clock of the device in milliseconds since 1970. Of two changes the later one counts.
    #[body(range = EPOCH_MILLIS)]
    action_ts_ms: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Words)]
enum TokenKind {
    #[default]
    UpdateToken,
    StartToken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
enum LiveAction {
    Set,
    Remove,
}

const EPOCH_MILLIS: RangeInclusive<i64> = 0..=i64::MAX;

impl LiveKind {
    /// Stored: never change one.
    pub const fn name(self) -> &'static str {
        match self {
            LiveKind::Activity => "activity",
            LiveKind::Start => "start",
            LiveKind::Update => "update",
        }
    }

    /// Whether messages about it go to a token of its own. Others go to the address of the device.
    pub const fn has_token(self) -> bool {
        match self {
            LiveKind::Activity | LiveKind::Start => true,
            LiveKind::Update => false,
        }
    }
}

/// Those of iOS. Of a device, a change that cannot be read is passed over, and the others count.
pub(super) fn activities(at: &At<'_>) -> Option<Vec<LiveChange>> {
    at.most_or_passed_over(limits::LIVE_CHANGES_PER_REQUEST, |at| TokenChange::parse(at)?.into_change(at))
}

/// Those of Android.
pub(super) fn updates(at: &At<'_>) -> Option<Vec<LiveChange>> {
    at.most_or_passed_over(limits::LIVE_CHANGES_PER_REQUEST, |at| {
        UpdateChange::parse(at).map(UpdateChange::into_change)
    })
}

impl TokenChange {
    fn into_change(self, at: &At<'_>) -> Option<LiveChange> {
        let needed = |key: &str, value: Option<String>| value.or_else(|| at.missing(key));
        let state = match self.action {
            LiveAction::Set => needed("token", self.token).map(|token| LiveState::On { token: Some(token) }),
            LiveAction::Remove => Some(LiveState::Off),
        };
        let (kind, name, activity) = match self.kind {
            TokenKind::UpdateToken => {
                let activity = needed("id", self.id);
                (LiveKind::Activity, needed("name", self.name), Some(activity?))
            }
            TokenKind::StartToken => (LiveKind::Start, needed("attributes_type", self.attributes_type), None),
        };
        Some(LiveChange { key: LiveKey { kind, name: name? }, activity, state: state?, at: self.action_ts_ms })
    }
}

impl UpdateChange {
    fn into_change(self) -> LiveChange {
        let state = match self.action {
            LiveAction::Set => LiveState::On { token: None },
            LiveAction::Remove => LiveState::Off,
        };
        let key = LiveKey { kind: LiveKind::Update, name: self.name };
        LiveChange { key, activity: None, state, at: self.action_ts_ms }
    }
}

fn text(at: &At<'_>) -> Option<String> {
    name_text(at, limits::LIVE_TEXT_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::channel::ChannelBatch;
    use crate::json::{UnknownKeys, parse, parse_with};

    #[test]
    fn what_libraries_of_all_generations_say_is_read() {
        let body = json!({
            "live_activities": [
                {"type": "update_token", "action": "set", "id": "A1", "name": "order-17", "token": "8f3a", "start_ts_ms": 1,
                 "action_ts_ms": 5},
                {"action": "remove", "id": "A0", "name": "order-16", "start_ts_ms": 1, "action_ts_ms": 6},
                {"type": "start_token", "action": "set", "attributes_type": "Order", "token": "77aa", "action_ts_ms": 7},
                {"type": "start_token", "action": "remove", "attributes_type": "Order", "action_ts_ms": 8},
            ],
            "live_updates": [{"action": "set", "name": "order-17", "start_ts_ms": 1, "action_ts_ms": 9}],
        });
        let batch = parse(body.to_string().as_bytes(), ChannelBatch::parse).unwrap();
        let change = |kind, name: &str, activity: Option<&str>, state, at| LiveChange {
            key: LiveKey { kind, name: name.to_owned() },
            activity: activity.map(str::to_owned),
            state,
            at,
        };
        let on = |token: &str| LiveState::On { token: Some(token.to_owned()) };
        let expected = [
            change(LiveKind::Activity, "order-17", Some("A1"), on("8f3a"), 5),
            change(LiveKind::Activity, "order-16", Some("A0"), LiveState::Off, 6),
            change(LiveKind::Start, "Order", None, on("77aa"), 7),
            change(LiveKind::Start, "Order", None, LiveState::Off, 8),
        ];
        assert_eq!(batch.live_activities, expected);
        assert_eq!(batch.live_updates, [change(LiveKind::Update, "order-17", None, LiveState::On { token: None }, 9)]);
    }

    #[test]
    fn a_change_that_cannot_be_read_is_lost_alone() {
        let body = json!({
            "live_activities": [
                {"action": "set", "id": "A1", "name": "n", "action_ts_ms": 5},
                {"action": "set", "token": "t", "action_ts_ms": 5},
                {"action": "remove", "type": "start_token", "action_ts_ms": 5},
                {"action": "pause", "type": "other", "id": "A\u{7}", "name": "n", "action_ts_ms": -1},
                {"action": "remove", "id": "A1", "name": "n", "action_ts_ms": 6},
            ],
            "live_updates": [{"action": "set", "name": ""}, 7, {"action": "remove", "name": "n", "action_ts_ms": 6}],
        });
        let text = body.to_string();
        let problems = parse(text.as_bytes(), ChannelBatch::parse).unwrap_err();
        let found: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        let activity = |key: &str| format!("live_activities{key}");
        let expected = [
            activity("[0].token"),
            activity("[1].id"),
            activity("[1].name"),
            activity("[2].attributes_type"),
            activity("[3].type"),
            activity("[3].action"),
            activity("[3].id"),
            activity("[3].action_ts_ms"),
            "live_updates[0].name".to_owned(),
            "live_updates[0].action_ts_ms".to_owned(),
            "live_updates[1]".to_owned(),
        ];
        assert_eq!(found, expected, "{problems}");
        let batch = parse_with(text.as_bytes(), UnknownKeys::PassedOver, ChannelBatch::parse).unwrap();
        assert_eq!((batch.live_activities.len(), batch.live_updates.len()), (1, 1));
        assert_eq!(batch.live_activities[0].state, LiveState::Off);
    }
}
