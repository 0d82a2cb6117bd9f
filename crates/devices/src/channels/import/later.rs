//! What an import writes at the end of its transaction, so that all rows of a kind are one statement.

use base::Result;
use model::ids::{AppId, NamedUserId, Ordinal};
use model::time::UtcMillis;
use store::attributes::{self, Owner, Write};
use store::channels::{self, Channel, Key};
use store::{Tx, named_users};

#[derive(Default)]
pub(super) struct Later {
    /// New channels, with keys that no channel had.
    channels: Vec<(Channel, Vec<Key>)>,
    users: Vec<NamedUserId>,
    attributes: Vec<(Owner, Write)>,
}

impl Later {
    pub(super) fn insert_channel(&mut self, channel: Channel, keys: Vec<Key>) {
        self.channels.push((channel, keys));
    }

    /// Makes a user that is not there.
    pub(super) fn insert_user(&mut self, user: NamedUserId) {
        self.users.push(user);
    }

    pub(super) fn set_attribute(&mut self, channel: Ordinal, write: Write) {
        self.attributes.push((Owner::Channel(channel), write));
    }

    /// Writes what has gathered; at the end, and before anything reads it.
    pub(super) fn write(&mut self, tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<()> {
        let Self { channels, users, attributes } = std::mem::take(self);
        channels::insert_many(tx, app, &channels)?;
        named_users::insert_many(tx, app, &users, &[], now)?;
        attributes::set_all(tx, app, attributes.iter().map(|(owner, write)| (owner, write)))?;
        Ok(())
    }
}
