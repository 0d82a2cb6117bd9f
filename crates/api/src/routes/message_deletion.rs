//! Taking many messages out of all inboxes at once.

use std::collections::BTreeSet;

use axum::extract::State;
use http::StatusCode;
use model::ids::PushId;
use model::message_deletion::MessageDeletion;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;

/// Nothing more than this: one client refuses keys it does not know.
#[derive(Serialize)]
struct Deleted {
    deleted_message_ids: Vec<String>,
    errors: Vec<Missing>,
}

/// What there is nothing to delete of.
#[derive(Serialize)]
struct Missing {
    #[serde(flatten)]
    id: MissingId,
    error_message: &'static str,
    error_code: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum MissingId {
    MessageId(String),
    GroupId(String),
}

const NOT_FOUND: u32 = 40404;

/// What is not found is told beside what was; nothing at all is 404.
pub(super) async fn delete(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let mut deleted = Deleted { deleted_message_ids: Vec::new(), errors: Vec::new() };
    match input.parse(MessageDeletion::parse).await? {
        MessageDeletion::Messages(ids) => {
            let pushes: Vec<Option<PushId>> = ids.iter().map(|id| push_of(id)).collect();
            let found = edge.engine.delete_messages(app.id, pushes.iter().flatten().copied().collect()).await?;
            let found: BTreeSet<PushId> = found.into_iter().collect();
            for (id, push) in ids.into_iter().zip(pushes) {
                match push.filter(|push| found.contains(push)) {
                    Some(push) => deleted.deleted_message_ids.push(providers::message_id(push)),
                    None => deleted.errors.push(missing(MissingId::MessageId(id), "Message not found.")),
                }
            }
        }
        MessageDeletion::Groups(groups) => {
            for group in groups {
                match edge.engine.delete_messages_of_group(app.id, group).await?.filter(|pushes| !pushes.is_empty()) {
                    Some(pushes) => deleted.deleted_message_ids.extend(pushes.into_iter().map(providers::message_id)),
                    None => deleted.errors.push(missing(MissingId::GroupId(group.to_string()), "Group not found.")),
                }
            }
        }
    }
    if deleted.deleted_message_ids.is_empty() {
        return Err(Error::NotFound("There are no such messages.".to_owned()));
    }
    Ok(Answer::bare(deleted)?.status(StatusCode::ACCEPTED))
}

/// By the id of the message, or by that of its push.
pub(super) fn push_of(id: &str) -> Option<PushId> {
    providers::push_of_message(id).or_else(|| id.parse().ok())
}

fn missing(id: MissingId, error_message: &'static str) -> Missing {
    Missing { id, error_message, error_code: NOT_FOUND }
}
