//! Tags in groups, of channels and of named users.

use axum::extract::State;
use model::app::UserAspect;
use model::channel::TagOperation;
use model::tagging::{ChannelTagging, NamedUserTagging};

use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights, UserRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;

pub(super) async fn tag_channels(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    input: Input,
) -> Result<Answer> {
    let ChannelTagging { audience, operation } = input.parse(ChannelTagging::parse).await?;
    // A device may speak for itself.
    if audience.channels().len() > 1 {
        rights.need_master()?;
    }
    refuse_read_only(&operation)?;
    let passed_over = rights.devices(&edge).tag_channels(app.id, audience.into_channels(), operation).await?;
    Answer::done_except(passed_over)
}

pub(super) async fn tag_named_users(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    input: Input,
) -> Result<Answer> {
    let NamedUserTagging { audience, operation } = input.parse(NamedUserTagging::parse).await?;
    if audience.len() > 1 {
        rights.need_master()?;
    }
    audience.iter().try_for_each(|user| of_users.need(UserAspect::Tags, user))?;
    refuse_read_only(&operation)?;
    let passed_over = rights.devices(&edge).tag_named_users(app.id, audience, operation).await?;
    Answer::done_except(passed_over)
}

/// Groups derived from device properties cannot be changed.
pub(super) fn refuse_read_only(operation: &TagOperation) -> Result<()> {
    match operation.read_only_groups().first() {
        None => Ok(()),
        Some(group) => Err(Error::Forbidden(format!(
            "The tag group '{group}' follows from device properties and cannot be changed."
        ))),
    }
}
