//! Taking many messages out of all inboxes at once.

use std::collections::{BTreeSet, HashSet};

use axum::extract::State;
use http::StatusCode;
use model::ids::{MessageId, PushId};
use model::message_deletion::MessageDeletion;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, MESSAGE_NOT_FOUND, Result};
use crate::input::Input;

/// Nothing more than this: one client refuses keys it does not know.
#[derive(Serialize, JsonSchema)]
pub(super) struct Deleted {
    deleted_message_ids: Vec<String>,
    errors: Vec<Missing>,
}

/// An id for which there is nothing to delete.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MissingMessage")]
pub(super) struct Missing {
    #[serde(flatten)]
    id: MissingId,
    error_message: &'static str,
    error_code: u32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum MissingId {
    MessageId(String),
    GroupId(String),
}

/// Ids that are not found are listed beside the deleted ones; if none is found, the answer is 404. An id given twice is listed
/// once.
pub(super) async fn delete(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let mut deleted = Deleted { deleted_message_ids: Vec::new(), errors: Vec::new() };
    let mut goes_on = false;
    match input.parse(MessageDeletion::parse).await? {
        MessageDeletion::Messages(ids) => {
            // A message goes by its own id and by that of its push.
            let mut seen = HashSet::new();
            let named = ids.into_iter().map(|id| (push_of(&id), id));
            let named: Vec<_> = named.filter(|(push, id)| seen.insert(push.ok_or_else(|| id.clone()))).collect();
            let pushes = named.iter().filter_map(|(push, _)| *push).collect();
            let found: BTreeSet<PushId> =
                edge.engine.sending().delete_messages(app.id, pushes).await?.into_iter().collect();
            for (push, id) in named {
                match push.filter(|push| found.contains(push)) {
                    Some(push) => deleted.deleted_message_ids.push(MessageId::from(push).to_string()),
                    None => deleted.errors.push(missing(MissingId::MessageId(id), "Message not found.")),
                }
            }
        }
        MessageDeletion::Groups(groups) => {
            let mut seen = HashSet::new();
            for group in groups.into_iter().filter(|group| seen.insert(*group)) {
                let of_group = edge.engine.sending().delete_messages_of_group(app.id, group).await?;
                goes_on |= of_group.goes_on;
                if of_group.deleted.is_empty() && !of_group.goes_on {
                    deleted.errors.push(missing(MissingId::GroupId(group.to_string()), "Group not found."));
                }
                let ids = of_group.deleted.into_iter().map(|push| MessageId::from(push).to_string());
                deleted.deleted_message_ids.extend(ids);
            }
        }
    }
    if deleted.deleted_message_ids.is_empty() && !goes_on {
        return Err(Error::NotFound("There are no such messages.".to_owned()));
    }
    Ok(Answer::bare(deleted)?.status(StatusCode::ACCEPTED))
}

/// By the id of the message, or by that of its push.
pub(super) fn push_of(id: &str) -> Option<PushId> {
    id.parse().ok().map(MessageId::push).or_else(|| id.parse().ok())
}

fn missing(id: MissingId, error_message: &'static str) -> Missing {
    Missing { id, error_message, error_code: MESSAGE_NOT_FOUND }
}
