//! Registration by devices: create or recognize on POST, update on PUT.
//!
//! The app secret is no secret, and what a registration says about the device can be said by anybody. So a device gets the channel
//! that it can prove to be its own, by a token of the channel or by the id in the path, and a new one otherwise. Servers know what
//! they say: for them, hints and addresses lead to the channel that has them.

use std::borrow::Cow;

use base::{Error, Result};
use boxed::boxed;
use model::channel::{Change, Registration};
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, NamedUserId, OperationId, Ordinal};
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
    /// Registers a device that does not know its channel. A server that names an identity hint or an address that a channel has
    /// gets this channel; a device gets a new one.
    pub async fn register_channel(
        &self,
        app: AppId,
        registration: Registration,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<Registered> {
        self.register(app, None, registration, idempotency_key).await
    }

    /// Registers a device that proves to have had a channel. It gets this one as long as that is installed and of the same type,
    /// and a new one otherwise, unless it is a browser.
    pub async fn register_known_channel(
        &self,
        app: AppId,
        own: ChannelId,
        registration: Registration,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<Registered> {
        self.register(app, Some(own), registration, idempotency_key).await
    }

    async fn register(
        &self,
        app: AppId,
        own: Option<ChannelId>,
        registration: Registration,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<Registered> {
        let seen = self.seen_by(&registration).await?;
        let operation_id = OperationId::at(self.0.clock.now());
        self.change_audience_once(app, idempotency_key, move |tx, context| {
            let known = match own {
                Some(own) => own_channel(tx, app, own, &registration)?,
                None if context.is_by_device() => None,
                None => recognize(tx, app, &registration)?,
            };
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

    pub(super) async fn seen_by(&self, registration: &Registration) -> Result<Vec<Whereabouts>> {
        self.whereabouts(registration.location.into_iter().collect()).await
    }
}

/// A new channel under an id of ours or of the device's choice. It takes its address from the channel that had it, because a
/// provider delivers to one installation under an address, and nothing else: an address proves neither whose device it is nor that
/// the one before is gone. That one has its own back as soon as its device registers again.
pub(super) fn create(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    choice: NewId,
    registration: &Registration,
) -> Result<Channel> {
    let registration = with_own_hints(tx, context, None, registration)?;
    let registration = &*registration;
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
pub(super) enum NewId {
    Ours,
    Theirs(ChannelId),
}

fn update(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    row: Channel,
    registration: &Registration,
) -> Result<Channel> {
    let registration = with_own_hints(tx, context, Some(row.ordinal), registration)?;
    let registration = &*registration;
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

/// The registration without the hints that another channel has, and without somebody else's inbox: a device does not get them by
/// naming them. (Nobody may have named the user of an inbox before, because inboxes are made after their channels.)
fn with_own_hints<'r>(
    tx: &mut Tx<'_>,
    context: &ChangeContext<'_>,
    channel: Option<Ordinal>,
    registration: &'r Registration,
) -> Result<Cow<'r, Registration>> {
    if !context.is_by_device() {
        return Ok(Cow::Borrowed(registration));
    }
    let mut of_others = Vec::new();
    for key in keys::hint_keys(&registration.device_type, &registration.identity_hints) {
        let owner = channels::by_key(tx, context.app, &key)?;
        if owner.is_some_and(|owner| Some(owner) != channel) {
            of_others.push(key);
        }
    }
    let user = registration.identity_hints.user_id.as_deref();
    let is_inbox_of_others = inbox_users::is_of_others(tx, context.app, user, channel)?;
    if of_others.is_empty() && !is_inbox_of_others {
        return Ok(Cow::Borrowed(registration));
    }
    let mut own = registration.clone();
    keys::give_up_hints(&own.device_type, &mut own.identity_hints, &of_others);
    own.identity_hints.user_id.take_if(|_| is_inbox_of_others);
    Ok(Cow::Owned(own))
}

/// Servers name the user of an inbox when they register a device. A device proves it with the password of the inbox.
fn link_inbox(
    tx: &mut Tx<'_>,
    context: &ChangeContext<'_>,
    channel: &Channel,
    registration: &Registration,
) -> Result<()> {
    if context.is_by_device() {
        return Ok(());
    }
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
        if is_another && !has_room(tx, context.app, user, context.author())? {
            return Ok(None);
        }
        let is_new = is_another && named_users::get(tx, context.app, user)?.is_none();
        context.ensure_user(tx, user)?;
        new_user = is_new.then_some(user);
    }
    registration.named_user_id.update(&mut state.named_user);
    Ok(new_user)
}

/// The channel that a device proves to have had, if it can still be used; `None` if its device gets another one. A browser does
/// not: it may have its channel by the key of the app alone, which everybody has, and which gives one new channel of type web.
fn own_channel(tx: &mut Tx<'_>, app: AppId, own: ChannelId, registration: &Registration) -> Result<Option<Channel>> {
    match channels::by_id(tx, app, own)? {
        Some(known) if known.installed && known.device_type == registration.device_type => Ok(Some(known)),
        Some(known) if known.device_type != DeviceType::Web => Ok(None),
        Some(_) | None => Err(Error::Conflict(format!(
            "The channel {own} is uninstalled or of another type, and its credentials give no other one; register anew without them."
        ))),
    }
}

/// The installed channel of the device that a server registers.
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
