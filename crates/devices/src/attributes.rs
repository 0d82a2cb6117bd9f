//! Attributes of channels and named users: changing them, reading them, and who has one that a selector asks for.

use std::collections::{BTreeMap, BTreeSet};

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

/// Attributes by their keys.
pub type Attributes = BTreeMap<String, AttributeValue>;

#[boxed]
impl Devices {
    /// Channels that are unknown, uninstalled or of another type are skipped; named users are created if necessary.
    pub async fn change_attributes(&self, app: AppId, update: AttributeUpdate) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            for channel in context.installed(tx, update.audience.channels())? {
                context.change_attributes(tx, &Owner::Channel(channel.ordinal), &update.operations)?;
            }
            for user in update.audience.named_users() {
                context.change_user_attributes(tx, user, &update.operations)?;
            }
            Ok(())
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
        if operations.is_empty() {
            return Ok(());
        }
        self.ensure_user(tx, user)?;
        named_users::touch(tx, self.app, user, self.journal.now())?;
        self.change_attributes(tx, &Owner::NamedUser(user.clone()), operations)
    }

    pub(crate) fn change_attributes(
        &self,
        tx: &mut Tx<'_>,
        owner: &Owner,
        operations: &[AttributeOperation],
    ) -> Result<()> {
        self.admit_attributes(operations.len())?;
        let current = attributes_of(tx, self.app, owner)?;
        check_number(&current, operations)?;
        let writes = operations.iter().map(|operation| {
            let name = operation.key.as_str().to_owned();
            let value = operation.value(current.get(&name)).map(|value| serde_json::to_string(&value)).transpose();
            Ok(Write { name, value: value.map_err(Error::internal)?, at: operation.decided(self.journal.now()) })
        });
        let writes: Vec<Write> = writes.collect::<Result<_>>()?;
        Ok(attributes::write(tx, self.app, owner, &writes)?)
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

fn check_number(current: &Attributes, operations: &[AttributeOperation]) -> Result<()> {
    let mut names: BTreeSet<&str> = current.keys().map(String::as_str).collect();
    for operation in operations {
        match operation.action {
            AttributeAction::Set(_) | AttributeAction::SetZeroOrEmpty => names.insert(operation.key.as_str()),
            AttributeAction::Remove => names.remove(operation.key.as_str()),
        };
    }
    let (n_attributes, most) = (names.len(), limits::ATTRIBUTES_PER_OWNER);
    if n_attributes <= most {
        return Ok(());
    }
    let message = format!("A channel or named user has at most {most} attributes; this would make {n_attributes}.");
    Err(Error::invalid("attributes", message))
}
