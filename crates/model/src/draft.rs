//! Drafts: messages that are being written, and what can be done with them.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::channel::name_text;
use crate::json::body::{Body, Words};
use crate::json::{At, Json};
use crate::limits;

/// A message that is being written.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, name = "NewDraft")]
pub struct DraftBody {
    /// For people.
    #[body(length = 1..=limits::DRAFT_NAME_CHARS, read = |at| name_text(at, limits::DRAFT_NAME_CHARS), nullable)]
    pub name: Option<String>,
    #[body(default = DraftType::Push)]
    pub kind: DraftType,
    /// The body of the call that sends it, as far as it is written. It is read only when the draft is submitted or sent.
    #[body(read = document, schema = any_object)]
    pub document: Json,
    /// For the program that writes it, such as the fields of its form. Nobody else looks at it.
    #[body(length = 0..=limits::DRAFT_EDITOR_CHARS, nullable)]
    pub editor: Option<String>,
}

/// A draft that takes the place of the last version.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct DraftChange {
    /// The version that was read. If there is a newer one, nothing is changed.
    #[body(range = 1..=u32::MAX)]
    pub version: u32,
    #[body(flatten)]
    pub draft: DraftBody,
}

/// The version of a draft that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct DraftVersion {
    #[body(range = 1..=u32::MAX)]
    pub version: u32,
}

/// How a draft is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct DraftSending {
    /// The version that is meant.
    #[body(range = 1..=u32::MAX)]
    pub version: u32,
    /// Only for a push: it becomes a schedule that sends it so many seconds later. Until then it can be taken back by deleting the
    /// schedule.
    #[body(range = 1..=limits::DRAFT_UNDO_SECONDS, nullable)]
    pub undo_seconds: Option<u32>,
}

/// The call that takes the document of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Words)]
#[serde(rename_all = "lowercase")]
pub enum DraftType {
    /// `POST /api/push`.
    Push,
    /// `POST /api/schedules`.
    Schedule,
    /// `POST /api/experiments`.
    Experiment,
}

/// How far a draft has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DraftState {
    /// It is being written.
    Draft,
    /// It waits for somebody to approve it.
    Awaiting,
    Approved,
    Sent,
}

impl DraftState {
    pub const WORDS: [(&'static str, Self); 4] =
        [("draft", Self::Draft), ("awaiting", Self::Awaiting), ("approved", Self::Approved), ("sent", Self::Sent)];

    pub const fn word(self) -> &'static str {
        match self {
            DraftState::Draft => "draft",
            DraftState::Awaiting => "awaiting",
            DraftState::Approved => "approved",
            DraftState::Sent => "sent",
        }
    }
}

fn document(at: &At<'_>) -> Option<Json> {
    at.object().map(|_| at.json().clone())
}

fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn paths(body: &str) -> Vec<String> {
        let problems = json::parse(body.as_bytes(), DraftChange::parse).expect_err(body);
        problems.iter().map(|problem| problem.path.clone()).collect()
    }

    #[test]
    fn what_is_unfinished_can_be_kept() {
        let body = r#"{"document": {"audience": {"tagg": 7}}, "editor": "text="}"#;
        let draft = json::parse(body.as_bytes(), DraftBody::parse).unwrap();
        assert_eq!((draft.name, draft.kind, draft.editor.as_deref()), (None, DraftType::Push, Some("text=")));
        assert_eq!(serde_json::to_string(&draft.document).unwrap(), r#"{"audience":{"tagg":7}}"#);
    }

    #[test]
    fn bad_drafts() {
        for (body, wanted) in [
            ("{}", &["version", "document"][..]),
            (r#"{"version":0,"document":[]}"#, &["version", "document"]),
            (r#"{"version":1,"document":{},"name":"","kind":"mail","state":"sent"}"#, &["name", "kind", "state"]),
        ] {
            assert_eq!(paths(body), wanted, "{body}");
        }
        for (word, state) in DraftState::WORDS {
            assert_eq!(state.word(), word);
        }
    }
}
