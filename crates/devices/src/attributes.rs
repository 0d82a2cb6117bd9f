//! Attributes of channels and named users: changing them, reading them, and who has one that a selector asks for.

mod in_use;

use std::collections::{BTreeMap, BTreeSet};
use std::result;

use base::{Error, Result};
use boxed::boxed;
use model::attribute::{AttributeAction, AttributeOperation, AttributeUpdate, AttributeValue};
use model::channel::ChannelRef;
use model::ids::{AppId, NamedUserId};
use model::limits;
use store::attributes::{self, Owner, Values, Write};
use store::{Tx, named_users};

use crate::Devices;
use crate::change_context::ChangeContext;
use crate::room::{Batch, Full, Limit, Room};

pub use in_use::{AttributeInUse, AttributeType, ValueCount};

/// Attributes by their keys.
pub type Attributes = BTreeMap<String, AttributeValue>;

#[boxed]
impl Devices {
    /// Channels that are unknown or uninstalled are skipped; named users are created if necessary. Channels of another type and
    /// those without room are skipped, and each is told in a sentence.
    pub async fn change_attributes(&self, app: AppId, update: AttributeUpdate) -> Result<Vec<String>> {
        self.change_audience(app, move |tx, context| {
            let (mut batch, channels) = Batch::of(context.meant(tx, update.audience.channels())?);
            for channel in channels {
                let owner = Owner::Channel(channel.ordinal);
                let room = context.try_change_attributes(tx, &owner, &update.operations)?;
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
            context.change_attributes(tx, &Owner::Channel(row.ordinal), &operations)
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

impl ChangeContext<'_> {
    pub(crate) fn change_user_attributes(
        &self,
        tx: &mut Tx<'_>,
        user: &NamedUserId,
        operations: &[AttributeOperation],
    ) -> Result<()> {
        Ok(self.try_change_user_attributes(tx, user, operations)??)
    }

    pub(crate) fn try_change_user_attributes(
        &self,
        tx: &mut Tx<'_>,
        user: &NamedUserId,
        operations: &[AttributeOperation],
    ) -> Result<Room> {
        if operations.is_empty() {
            return Ok(Ok(()));
        }
        let owner = Owner::NamedUser(user.clone());
        let writes = match self.attribute_writes(tx, &owner, operations)? {
            Ok(writes) => writes,
            Err(full) => return Ok(Err(full)),
        };
        self.ensure_user(tx, user)?;
        named_users::touch(tx, self.app, user, self.journal.now())?;
        Ok(Ok(attributes::write(tx, self.app, &owner, &writes)?))
    }

    pub(crate) fn change_attributes(
        &self,
        tx: &mut Tx<'_>,
        owner: &Owner,
        operations: &[AttributeOperation],
    ) -> Result<()> {
        Ok(self.try_change_attributes(tx, owner, operations)??)
    }

    pub(crate) fn try_change_attributes(
        &self,
        tx: &mut Tx<'_>,
        owner: &Owner,
        operations: &[AttributeOperation],
    ) -> Result<Room> {
        match self.attribute_writes(tx, owner, operations)? {
            Ok(writes) => Ok(Ok(attributes::write(tx, self.app, owner, &writes)?)),
            Err(full) => Ok(Err(full)),
        }
    }

    /// What operations write, if there is room for it.
    fn attribute_writes(
        &self,
        tx: &mut Tx<'_>,
        owner: &Owner,
        operations: &[AttributeOperation],
    ) -> Result<result::Result<Vec<Write>, Full>> {
        self.admit_attributes(operations.len())?;
        let current = attributes_of(tx, self.app, owner)?;
        let limit = match owner {
            Owner::Channel(_) => Limit::whole(limits::ATTRIBUTES_PER_OWNER),
            Owner::NamedUser(_) => Limit::of_user(limits::ATTRIBUTES_PER_OWNER, self.author()),
        };
        if let Err(full) = limit.check(current.len(), number_after(&current, operations), "attributes", "attributes") {
            return Ok(Err(full));
        }
        let writes = operations.iter().map(|operation| {
            let name = operation.key.as_str().to_owned();
            let value = operation.value(current.get(&name)).map(|value| serde_json::to_string(&value)).transpose();
            Ok(Write { name, value: value.map_err(Error::internal)?, at: operation.decided(self.journal.now()) })
        });
        writes.collect::<Result<_>>().map(Ok)
    }
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
