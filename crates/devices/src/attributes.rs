//! Attributes of channels and named users: changing them, reading them, and who has one that a selector asks for.

mod in_use;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::{result, slice};

use base::{Error, Result};
use boxed::boxed;
use model::attribute::{AttributeAction, AttributeOperation, AttributeUpdate, AttributeValue};
use model::channel::ChannelRef;
use model::event::{AttributeOperations, AttributeRemoved, AttributeSet};
use model::ids::{AppId, NamedUserId, Ordinal};
use model::limits;
use store::attributes::{self, Owner, Values, Write};
use store::{Tx, channels, named_users};

use crate::Devices;
use crate::change_context::ChangeContext;
use crate::journal::NewEvent;
use crate::room::{Batch, Full, Limit, Room};

pub use in_use::{AttributeInUse, AttributeType, ValueCount};

/// Attributes by their keys.
pub type Attributes = BTreeMap<String, AttributeValue>;

/// Values that are deleted in one transaction.
const PORTION: u32 = 1000;

#[boxed]
impl Devices {
    /// Deletes values that have ended.
    pub async fn forget_ended_attributes(&self, app: AppId) -> Result<()> {
        let now = self.0.clock.now();
        let forget = move |tx: &mut Tx<'_>| attributes::forget_ended(tx, app, now, PORTION);
        while self.0.store.write(app, forget).await? == u64::from(PORTION) {}
        Ok(())
    }

    /// Channels that are unknown or uninstalled are skipped; named users are created if necessary. Channels of another type and
    /// those without room are skipped, and each is told in a sentence.
    pub async fn change_attributes(&self, app: AppId, update: AttributeUpdate) -> Result<Vec<String>> {
        self.change_audience(app, move |tx, context| {
            let (mut batch, channels) = Batch::of(context.meant(tx, update.audience.channels())?);
            for channel in channels {
                let room = context.try_change_attributes(tx, channel.ordinal, &update.operations)?;
                batch.add(|| format!("channel {}", channel.id), room);
            }
            for user in update.audience.named_users() {
                let room = context.try_change_user_attributes(tx, user, &update.operations)?;
                batch.add(|| format!("named user '{}'", user.as_str()), room);
            }
            batch.finish()
        })
        .await
    }

    /// Changes the attributes of one channel, which must exist.
    pub async fn change_channel_attributes(
        &self,
        app: AppId,
        channel: ChannelRef,
        operations: Vec<AttributeOperation>,
    ) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            let row = context.installed_one(tx, &channel)?;
            context.change_attributes(tx, row.ordinal, &operations)
        })
        .await
    }

    /// Changes the attributes of a named user, who is created if necessary.
    pub async fn change_user_attributes(
        &self,
        app: AppId,
        user: NamedUserId,
        operations: Vec<AttributeOperation>,
    ) -> Result<()> {
        self.change_audience(app, move |tx, context| context.change_user_attributes(tx, &user, &operations)).await
    }
}

/// What operations write about an owner, and what of it is new.
struct Changes {
    writes: Vec<Write>,
    told: AttributeOperations,
}

impl ChangeContext<'_> {
    pub(crate) fn change_user_attributes(
        &mut self,
        tx: &mut Tx<'_>,
        user: &NamedUserId,
        operations: &[AttributeOperation],
    ) -> Result<()> {
        Ok(self.try_change_user_attributes(tx, user, operations)??)
    }

    pub(crate) fn try_change_user_attributes(
        &mut self,
        tx: &mut Tx<'_>,
        user: &NamedUserId,
        operations: &[AttributeOperation],
    ) -> Result<Room> {
        if operations.is_empty() {
            return Ok(Ok(()));
        }
        let owner = Owner::NamedUser(user.clone());
        let Changes { writes, told } = match self.attribute_changes(tx, &owner, operations)? {
            Ok(changes) => changes,
            Err(full) => return Ok(Err(full)),
        };
        self.ensure_user(tx, user)?;
        named_users::touch(tx, self.app, user, self.journal.now())?;
        // Most requests repeat what is known.
        if !told.is_empty() {
            let mut channels = channels::ordinals_of_users(tx, self.app, slice::from_ref(user))?;
            channels.sort_unstable();
            for channel in channels {
                self.journal.event(Some(channel), NewEvent::AttributeOperation(&told))?;
            }
        }
        Ok(Ok(attributes::write(tx, self.app, &owner, &writes)?))
    }

    pub(crate) fn change_attributes(
        &mut self,
        tx: &mut Tx<'_>,
        channel: Ordinal,
        operations: &[AttributeOperation],
    ) -> Result<()> {
        Ok(self.try_change_attributes(tx, channel, operations)??)
    }

    pub(crate) fn try_change_attributes(
        &mut self,
        tx: &mut Tx<'_>,
        channel: Ordinal,
        operations: &[AttributeOperation],
    ) -> Result<Room> {
        if operations.is_empty() {
            return Ok(Ok(()));
        }
        let owner = Owner::Channel(channel);
        let Changes { writes, told } = match self.attribute_changes(tx, &owner, operations)? {
            Ok(changes) => changes,
            Err(full) => return Ok(Err(full)),
        };
        if !told.is_empty() {
            self.journal.event(Some(channel), NewEvent::AttributeOperation(&told))?;
        }
        Ok(Ok(attributes::write(tx, self.app, &owner, &writes)?))
    }

    /// What operations change, if there is room for it.
    fn attribute_changes(
        &self,
        tx: &mut Tx<'_>,
        owner: &Owner,
        operations: &[AttributeOperation],
    ) -> Result<result::Result<Changes, Full>> {
        self.admit_attributes(operations.len())?;
        let (mut current, mut set_at) = (Attributes::new(), HashMap::new());
        for Write { name, value, at, .. } in attributes::dated_of_owner(tx, self.app, owner)? {
            set_at.insert(name.clone(), at);
            if let Some(value) = value {
                current.insert(name, parse_stored(&value)?);
            }
        }
        let limit = match owner {
            Owner::Channel(_) => Limit::whole(limits::ATTRIBUTES_PER_OWNER),
            Owner::NamedUser(_) => Limit::of_user(limits::ATTRIBUTES_PER_OWNER, self.author()),
        };
        if let Err(full) = limit.check(current.len(), number_after(&current, operations), "attributes", "attributes") {
            return Ok(Err(full));
        }
        let (mut writes, mut latest) = (Vec::with_capacity(operations.len()), BTreeMap::new());
        for operation in operations {
            let (name, at) = (operation.key.as_str(), operation.decided(self.journal.now()));
            let value = operation.value(current.get(name));
            let stored = value.as_ref().map(serde_json::to_string).transpose().map_err(Error::internal)?;
            let expires = value.as_ref().and_then(|value| value.ends(self.journal.now()));
            writes.push(Write { name: name.to_owned(), value: stored, at, expires });
            // An operation that arrives late is not carried out.
            if set_at.get(name).is_none_or(|before| *before <= at) {
                set_at.insert(name.to_owned(), at);
                latest.insert(name, value);
            }
        }
        Ok(Ok(Changes { writes, told: told(&current, latest) }))
    }
}

/// The attributes that differ from what they were.
fn told(current: &Attributes, latest: BTreeMap<&str, Option<AttributeValue>>) -> AttributeOperations {
    let mut told = AttributeOperations::default();
    for (name, value) in latest {
        if current.get(name) == value.as_ref() {
            continue;
        }
        let key = name.to_owned();
        match value {
            Some(value) => told.set.push(AttributeSet { key, value }),
            None => told.remove.push(AttributeRemoved { key }),
        }
    }
    told
}

pub(crate) fn attributes_of(tx: &mut Tx<'_>, app: AppId, owner: &Owner) -> Result<Attributes> {
    read(attributes::of_owner(tx, app, owner)?)
}

pub(crate) fn read(values: Values) -> Result<Attributes> {
    let read = values.into_iter().map(|(name, value)| Ok((name, parse_stored(&value)?)));
    read.collect()
}

/// A stored value.
pub fn parse_stored(value: &str) -> store::Result<AttributeValue> {
    serde_json::from_str(value).map_err(|error| store::Error::corrupt(format!("the value of an attribute: {error}")))
}

/// How many attributes there are after the operations.
fn number_after(current: &Attributes, operations: &[AttributeOperation]) -> usize {
    let mut names: BTreeSet<&str> = current.keys().map(String::as_str).collect();
    for operation in operations {
        match operation.action {
            AttributeAction::Set(_) | AttributeAction::SetZeroOrEmpty => names.insert(operation.key.as_str()),
            AttributeAction::Remove => names.remove(operation.key.as_str()),
        };
    }
    names.len()
}
