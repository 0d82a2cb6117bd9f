//! Named users: whose channels are whose, and what users bring to their channels.

mod lookup;
mod tags;

pub use lookup::NamedUserView;

use std::time::Duration;

use model::channel::ChannelRef;
use model::ids::{AppId, ContactId, NamedUserId, Ordinal};
use model::limits;
use model::named_user::{Association, Disassociation, NamedUserUpdate};
use store::attributes::{self, Owner};
use store::channels::{self, Channel};
use store::{Tx, contacts, named_users};

use crate::channels::uninstall_in;
use crate::desk::Desk;
use crate::{Engine, Error, Result};

/// For how long an association waits for its channel to register. Whoever installs an app opens it in days rather than weeks, and
/// ids that nobody ever comes with must not add up.
const ASSOCIATIONS_WAIT: Duration = Duration::from_secs(8 * 7 * 24 * 60 * 60);
const FORGOTTEN_AT_ONCE: u32 = 1000;

impl Engine {
    /// Gives a channel to a user. A channel that has not registered yet is given when it does.
    pub async fn associate(&self, app: AppId, association: Association) -> Result<()> {
        self.at_desk(app, move |tx, desk| join(tx, desk, &association.channel, &association.named_user_id)).await
    }

    /// Takes a channel from its user; from one user only, if one is named.
    pub async fn disassociate(&self, app: AppId, disassociation: Disassociation) -> Result<()> {
        self.at_desk(app, move |tx, desk| {
            leave(tx, desk, &disassociation.channel, disassociation.named_user_id.as_ref())
        })
        .await
    }

    /// Changes several things about one user, who is made if there is anything to keep.
    pub async fn update_named_user(&self, app: AppId, user: NamedUserId, update: NamedUserUpdate) -> Result<()> {
        self.at_desk(app, move |tx, desk| {
            for channel in &update.disassociate {
                leave(tx, desk, channel, Some(&user))?;
            }
            for channel in &update.associate {
                join(tx, desk, channel, &user)?;
            }
            if let Some(operation) = &update.tags {
                desk.change_user(tx, &user, |holdings| operation.apply(&mut holdings.tags))?;
            }
            desk.change_user_attributes(tx, &user, &update.attributes)
        })
        .await
    }

    /// Forgets the associations whose channels did not register in time.
    pub(crate) async fn forget_old_associations(&self, app: AppId) -> Result<()> {
        let oldest = self.clock().now().minus(ASSOCIATIONS_WAIT);
        let forget = move |tx: &mut Tx<'_>| named_users::forget_pending_before(tx, app, oldest, FORGOTTEN_AT_ONCE);
        while self.0.store.write(app, forget).await? {}
        Ok(())
    }

    /// Uninstalls every channel of the users and forgets the users. Unknown ones are passed over.
    pub async fn uninstall_named_users(&self, app: AppId, users: Vec<NamedUserId>) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let mut journal = Desk::new(app, &index, now).journal;
                for user in &users {
                    let rows = named_users::channels_of(tx, app, user)?;
                    let ordinals: Vec<Ordinal> = rows.iter().map(|row| row.ordinal).collect();
                    journal = uninstall_in(tx, app, &index, journal, &ordinals)?;
                    named_users::forget_pending(tx, app, user)?;
                    attributes::forget(tx, app, &Owner::NamedUser(user.clone()))?;
                    contacts::forget(tx, app, ContactId::of_named_user(app, user))?;
                    named_users::delete(tx, app, user)?;
                }
                journal.write(tx, app)?;
                Ok(())
            })
            .await
    }
}

/// Whether a user may get one more channel.
pub(crate) fn has_room(tx: &mut Tx<'_>, app: AppId, user: &NamedUserId) -> Result<bool> {
    Ok(named_users::count_channels(tx, app, user)? < limits::CHANNELS_PER_NAMED_USER)
}

/// The user is made if need be. A channel that is uninstalled, or of another type than the caller takes it for, is passed over.
pub(crate) fn join(tx: &mut Tx<'_>, desk: &mut Desk<'_>, channel: &ChannelRef, user: &NamedUserId) -> Result<()> {
    let Some(row) = channels::by_id(tx, desk.app, channel.id)? else {
        named_users::ensure(tx, desk.app, user, desk.journal.now())?;
        return Ok(named_users::put_pending(tx, desk.app, channel, user, desk.journal.now())?);
    };
    if !row.installed || !channel.fits(&row.device_type) || row.named_user.as_ref() == Some(user) {
        return Ok(());
    }
    if !has_room(tx, desk.app, user)? {
        let message = format!(
            "The named user '{}' has {} channels, which is the most; disassociate one first.",
            user.as_str(),
            limits::CHANNELS_PER_NAMED_USER
        );
        return Err(Error::invalid("", message));
    }
    named_users::ensure(tx, desk.app, user, desk.journal.now())?;
    give(tx, desk, row, Some(user))
}

/// Of a channel that has not registered yet, the waiting association is taken back.
pub(crate) fn leave(
    tx: &mut Tx<'_>,
    desk: &mut Desk<'_>,
    channel: &ChannelRef,
    user: Option<&NamedUserId>,
) -> Result<()> {
    let is_meant = |actual: &NamedUserId| user.is_none_or(|user| user == actual);
    let Some(row) = channels::by_id(tx, desk.app, channel.id)? else {
        let waiting = named_users::pending(tx, desk.app, channel.id)?;
        if waiting.is_some_and(|waiting| is_meant(&waiting.named_user_id) && waiting.channel.agrees_with(channel)) {
            named_users::delete_pending(tx, desk.app, channel.id)?;
        }
        return Ok(());
    };
    if !channel.fits(&row.device_type) || !row.named_user.as_ref().is_some_and(is_meant) {
        return Ok(());
    }
    give(tx, desk, row, None)
}

fn give(tx: &mut Tx<'_>, desk: &mut Desk<'_>, row: Channel, user: Option<&NamedUserId>) -> Result<()> {
    for concerned in row.named_user.iter().chain(user) {
        named_users::touch(tx, desk.app, concerned, desk.journal.now())?;
    }
    let opened = desk.open(tx, row)?;
    let mut after = opened.state.clone();
    after.named_user = user.cloned();
    desk.save(tx, opened, &after)?;
    Ok(())
}
