//! Selectors by what became of an earlier push.

use crate::ids::Id;
use crate::json::body::{Body, Words};

pub enum PastPushKind {}
/// The id of a push, or of the schedule, experiment or pipeline whose pushes are meant, all of them together.
pub type PastPushId = Id<PastPushKind>;

/// The channels for which a push that was sent before had an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct PastPush {
    /// The id of a push, or of a schedule, an experiment or a pipeline: then all pushes of it that are kept are meant.
    pub id: PastPushId,
    /// What became of it.
    pub outcome: PastOutcome,
}

/// The words for outcomes that can be selected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Words)]
pub enum PastOutcome {
    /// A provider took the message.
    Delivered,
    /// The audience had the channel, and no message came to it, for whichever reason.
    NotDelivered,
    /// The notification was tapped.
    Opened,
    /// The message was delivered, and the notification was not tapped.
    NotOpened,
    /// The provider refused the message, or took nothing for too long.
    Failed,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::json;
    use crate::selector::Selector;

    #[test]
    fn past_pushes_are_printed_as_they_came() {
        for outcome in ["delivered", "not_delivered", "opened", "not_opened", "failed"] {
            let sent = json!({"push": {"id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "outcome": outcome}});
            let read = json::parse(sent.to_string().as_bytes(), Selector::parse).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), sent);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let read = |sent: serde_json::Value| {
            let problems = json::parse(sent.to_string().as_bytes(), Selector::parse).unwrap_err();
            problems.iter().map(|problem| problem.path.clone()).collect::<Vec<_>>()
        };
        assert_eq!(read(json!({"push": {"id": "x", "outcome": "seen"}})), ["push.id", "push.outcome"]);
        assert_eq!(read(json!({"push": {}})), ["push.id", "push.outcome"]);
    }
}
