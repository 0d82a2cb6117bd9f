//! Registration by devices: create or recognize on POST, update on PUT.

use base::{Error, Result};
use boxed::boxed;
use model::channel::{Change, Registration};
use model::ids::{AppId, ChannelId, NamedUserId, OperationId};
use serde::{Deserialize, Serialize};
use store::channels::{self, Channel, Key};
use store::{Tx, named_users};
use tenancy::IdempotencyKey;

use super::keys;
use super::state::State;
use crate::change_context::ChangeContext;
use crate::locations::Whereabouts;
use crate::named_users::has_room;
use crate::{Devices, inbox_users};

/// The answer to a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    pub operation_id: OperationId,
    pub id: ChannelId,
    /// Whether this registration created the channel.
    pub created: bool,
}

#[boxed]
impl Devices {
    /// Registers a device that does not know its channel. A device that is recognized by an identity hint or by its address
    /// gets the channel it had.
    pub async fn register_channel(
        &self,
        app: AppId,
        registration: Registration,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<Registered> {
        let seen = self.seen_by(&registration).await?;
        let operation_id = OperationId::at(self.0.clock.now());
        self.change_audience_once(app, idempotency_key, move |tx, context| {
            let known = recognize(tx, app, &registration)?;
            let created = known.is_none();
            let channel = match known {
                Some(channel) => update(tx, context, channel, &registration)?,
                None => create(tx, context, NewId::Ours, &registration)?,
            };
            context.seen(tx, channel.ordinal, &seen)?;
            Ok(Registered { operation_id, id: channel.id, created })
        })
        .await
    }

    /// Updates a channel by its id. An id that is free is taken, because devices can restore ids from a backup; an uninstalled
    /// channel, or one of another device type, is a conflict, upon which devices register anew.
    pub async fn update_channel(&self, app: AppId, id: ChannelId, registration: Registration) -> Result<Registered> {
        let seen = self.seen_by(&registration).await?;
        let operation_id = OperationId::at(self.0.clock.now());
        self.change_audience(app, move |tx, context| {
            let known = channels::by_id(tx, app, id)?;
            let created = known.is_none();
            let channel = match known {
                None => create(tx, context, NewId::Theirs(id), &registration)?,
                Some(channel) if !channel.installed => {
                    return Err(Error::Conflict(format!("The channel {id} is uninstalled; register a new one.")));
                }
                Some(channel) if channel.device_type != registration.device_type => {
                    return Err(Error::Conflict(format!(
                        "The channel {id} is a channel of type {}; register a new one.",
                        channel.device_type
                    )));
                }
                Some(channel) => update(tx, context, channel, &registration)?,
            };
            context.seen(tx, channel.ordinal, &seen)?;
            Ok(Registered { operation_id, id, created })
        })
        .await
    }

    async fn seen_by(&self, registration: &Registration) -> Result<Vec<Whereabouts>> {
        self.whereabouts(registration.location.into_iter().collect()).await
    }
}

/// A new channel under an id of ours or of the device's choice.
fn create(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    choice: NewId,
    registration: &Registration,
) -> Result<Channel> {
    let mut state = State::new(registration.apply(None));
    state.change_device_tags(|tags| registration.device_tags(tags));
    // Nothing was said yet that the user could inherit.
    set_named_user(tx, context, &mut state, registration)?;
    let id = match choice {
        NewId::Ours => ChannelId::at(context.journal.now()),
        NewId::Theirs(id) => {
            context.claim_association(tx, id, &registration.named_user_id, &mut state)?;
            id
        }
    };
    let channel = context.create(tx, id, state)?;
    link_inbox(tx, context, &channel, registration)?;
    Ok(channel)
}

#[derive(Clone, Copy)]
enum NewId {
    Ours,
    Theirs(ChannelId),
}

fn update(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    row: Channel,
    registration: &Registration,
) -> Result<Channel> {
    let mut opened = context.open(tx, row)?;
    let mut after = opened.state.with_profile(registration.apply(Some(&opened.state.profile)));
    after.change_device_tags(|tags| registration.device_tags(tags));
    let new_user = set_named_user(tx, context, &mut after, registration)?;
    if after.named_user != opened.state.named_user {
        context.end_unknown_user(tx, &opened.row, &mut after.own, new_user)?;
    }
    opened.row.last_registration = Some(context.journal.now());
    let channel = context.save(tx, opened, after)?;
    link_inbox(tx, context, &channel, registration)?;
    Ok(channel)
}

/// Devices name the user of their inbox when they register.
fn link_inbox(
    tx: &mut Tx<'_>,
    context: &ChangeContext<'_>,
    channel: &Channel,
    registration: &Registration,
) -> Result<()> {
    let user = registration.identity_hints.user_id.as_deref();
    inbox_users::link_registered(tx, context.app, channel.ordinal, user, context.journal.now())
}

/// Some devices name their user when they register. Answers with the user if that is new: the heir of what was said before.
fn set_named_user<'a>(
    tx: &mut Tx<'_>,
    context: &ChangeContext<'_>,
    state: &mut State,
    registration: &'a Registration,
) -> Result<Option<&'a NamedUserId>> {
    let mut new_user = None;
    if let Change::Set(user) = &registration.named_user_id {
        let is_another = state.named_user.as_ref() != Some(user);
        // Registering matters more than the association.
        if is_another && !has_room(tx, context.app, user)? {
            return Ok(None);
        }
        let is_new = is_another && named_users::get(tx, context.app, user)?.is_none();
        context.ensure_user(tx, user)?;
        new_user = is_new.then_some(user);
    }
    registration.named_user_id.update(&mut state.named_user);
    Ok(new_user)
}

/// The installed channel of the device that registers.
fn recognize(tx: &mut Tx<'_>, app: AppId, registration: &Registration) -> Result<Option<Channel>> {
    for key in &keys::hint_keys(&registration.device_type, &registration.identity_hints) {
        if let Some(channel) = with_key(tx, app, key)? {
            return Ok(Some(channel));
        }
    }
    // Libraries make the user of their inbox after the channel, and name it in no registration before the app is reinstalled.
    let user = registration.identity_hints.user_id.as_deref();
    if let Some(ordinal) = inbox_users::only_channel(tx, app, user, &registration.device_type)? {
        return Ok(channels::by_ordinal(tx, app, ordinal)?);
    }
    match &registration.push_address {
        Change::Set(address) => with_key(tx, app, &keys::address_key(&registration.device_type, address)),
        Change::Keep | Change::Clear => Ok(None),
    }
}

fn with_key(tx: &mut Tx<'_>, app: AppId, key: &Key) -> Result<Option<Channel>> {
    let Some(ordinal) = channels::by_key(tx, app, key)? else { return Ok(None) };
    Ok(channels::by_ordinal(tx, app, ordinal)?.filter(|channel| channel.installed))
}
