//! Attributes of channels and named users, and what devices change about themselves in one go.

use axum::extract::State;
use model::app::UserAspect;
use model::attribute::{AttributeUpdate, AttributesOfOne};
use model::channel::{ChannelBatch, ChannelRef, ClaimedType};
use model::ids::{ChannelId, ChannelKind, NamedUserId};

use super::tags::refuse_read_only;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights, UserRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::{PathId, PathVars};
use crate::query::Params;

pub(super) async fn change(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    input: Input,
) -> Result<Answer> {
    let update = input.parse(AttributeUpdate::parse).await?;
    // A device may speak for itself.
    if update.audience.channels().len() + update.audience.named_users().len() > 1 {
        rights.need_master()?;
    }
    update.audience.named_users().iter().try_for_each(|user| of_users.need(UserAspect::Attributes, user))?;
    let passed_over = rights.devices(&edge).change_attributes(app.id, update).await?;
    Answer::done_except(passed_over)
}

pub(super) async fn change_channel(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathId(id): PathId<ChannelKind>,
    params: Params,
    input: Input,
) -> Result<Answer> {
    let channel = channel(id, params)?;
    let AttributesOfOne(operations) = input.parse(AttributesOfOne::parse).await?;
    rights.devices(&edge).change_channel_attributes(app.id, channel, operations).await?;
    Answer::done()
}

pub(super) async fn change_named_user(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    PathVars(id): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    let user = NamedUserId::new(&id).map_err(|message| Error::invalid("named_user_id", message))?;
    of_users.need(UserAspect::Attributes, &user)?;
    let AttributesOfOne(operations) = input.parse(AttributesOfOne::parse).await?;
    rights.devices(&edge).change_user_attributes(app.id, user, operations).await?;
    Answer::done()
}

pub(super) async fn change_batch(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathId(id): PathId<ChannelKind>,
    params: Params,
    input: Input,
) -> Result<Answer> {
    let channel = channel(id, params)?;
    let batch = input.parse(ChannelBatch::parse).await?;
    batch.tags.iter().try_for_each(refuse_read_only)?;
    rights.devices(&edge).change_channel(app.id, channel, batch).await?;
    Answer::done()
}

/// The channel that a path names, of the type that the query says it has.
fn channel(id: ChannelId, mut params: Params) -> Result<ChannelRef> {
    let claimed = params.device_type("platform").map(ClaimedType::Exactly);
    params.finish()?;
    Ok(ChannelRef { id, claimed })
}
