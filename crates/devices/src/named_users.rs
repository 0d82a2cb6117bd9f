//! Named users: the association of channels with users, and the terms that channels get from their users.

mod import;
mod lookup;
mod tags;

pub use import::{ImportUserRow, ImportUsersReport};
pub use lookup::NamedUserView;

use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::channel::ChannelRef;
use model::ids::{AppId, ChannelId, NamedUserId};
use model::limits;
use model::named_user::{Association, Disassociation, NamedUserUpdate};
use store::attributes::{self, Owner};
use store::channels::{self, Channel};
use store::{Tx, contacts, named_users};

use crate::change_context::ChangeContext;
use crate::channels::{stored_profile, uninstall_in};
use crate::mistaken::Mistaken;
use crate::room::{Batch, Limit};
use crate::{Author, Devices};

/// How long an association waits for its channel to register. An installed app is opened within days rather than weeks, and ids
/// that never register must not add up.
const ASSOCIATIONS_WAIT: Duration = Duration::from_secs(8 * 7 * 24 * 60 * 60);
const FORGOTTEN_AT_ONCE: u32 = 1000;

#[boxed]
impl Devices {
    /// Gives a channel to a user. A channel that has not registered yet is given when it does. One of another type than the caller
    /// expects is skipped, and told in a sentence.
    pub async fn associate(&self, app: AppId, association: Association) -> Result<Vec<String>> {
        self.change_audience(app, move |tx, context| {
            let mut batch = Batch::default();
            batch.mistake(join(tx, context, &association.channel, &association.named_user_id)?);
            batch.finish()
        })
        .await
    }

    /// Disassociates a channel from its user; from one user only, if one is named. A channel of another type than the caller
    /// expects is skipped, and told in a sentence.
    pub async fn disassociate(&self, app: AppId, disassociation: Disassociation) -> Result<Vec<String>> {
        self.change_audience(app, move |tx, context| {
            let mut batch = Batch::default();
            batch.mistake(leave(tx, context, &disassociation.channel, disassociation.named_user_id.as_ref())?);
            batch.finish()
        })
        .await
    }

    /// Makes several changes to one user, who is created if there is anything to keep. Channels of another type than the caller
    /// expects are skipped, and each is told in a sentence.
    pub async fn update_named_user(
        &self,
        app: AppId,
        user: NamedUserId,
        update: NamedUserUpdate,
    ) -> Result<Vec<String>> {
        self.change_audience(app, move |tx, context| {
            let mut batch = Batch::default();
            for channel in &update.disassociate {
                batch.mistake(leave(tx, context, channel, Some(&user))?);
            }
            for channel in &update.associate {
                batch.mistake(join(tx, context, channel, &user)?);
            }
            if let Some(operation) = &update.tags {
                context.change_user(tx, &user, |holdings| operation.apply(&mut holdings.tags))?;
            }
            context.change_user_attributes(tx, &user, &update.attributes)?;
            batch.finish()
        })
        .await
    }

    /// Forgets the associations whose channels did not register in time.
    pub async fn forget_old_associations(&self, app: AppId) -> Result<()> {
        let oldest = self.0.clock.now().minus(ASSOCIATIONS_WAIT);
        let forget = move |tx: &mut Tx<'_>| named_users::forget_pending_before(tx, app, oldest, FORGOTTEN_AT_ONCE);
        while self.0.store.write(app, forget).await? {}
        Ok(())
    }

    /// Uninstalls every channel of the users and forgets the users. Unknown ones are skipped.
    pub async fn uninstall_named_users(&self, app: AppId, users: Vec<NamedUserId>) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            for user in &users {
                tx.note_object("named_user_id", user.as_str());
                let rows = named_users::channels_of(tx, app, user)?;
                uninstall_in(tx, context, rows.iter().map(|row| row.ordinal))?;
                named_users::forget_pending(tx, app, user)?;
                attributes::forget(tx, app, &Owner::NamedUser(user.clone()))?;
                contacts::forget_user(tx, app, user)?;
                named_users::delete(tx, app, user)?;
            }
            Ok(())
        })
        .await
    }
}

/// Whether an author may give a user one more channel. Of what devices give, channels that are promised count as well: they are
/// the user's as soon as they register.
pub(crate) fn has_room(tx: &mut Tx<'_>, app: AppId, user: &NamedUserId, author: Author) -> Result<bool> {
    let n_promised = match author {
        Author::Devices => named_users::count_pending(tx, app, user)?,
        Author::Servers => 0,
    };
    Ok(named_users::count_channels(tx, app, user)? + n_promised < channel_limit(author).most())
}

fn channel_limit(author: Author) -> Limit {
    Limit::of_user(limits::CHANNELS_PER_NAMED_USER, author)
}

fn need_room(tx: &mut Tx<'_>, context: &ChangeContext<'_>, user: &NamedUserId) -> Result<()> {
    let author = context.author();
    if has_room(tx, context.app, user, author)? {
        return Ok(());
    }
    let (name, most) = (user.as_str(), channel_limit(author).most());
    let message = match author {
        Author::Servers => {
            format!("The named user '{name}' has {most} channels, which is the most; disassociate one first.")
        }
        Author::Devices => format!(
            "The named user '{name}' has {most} channels, which is the most that devices can give it; a server can give it more."
        ),
    };
    Err(Error::invalid("", message))
}

/// The user is created if necessary. A channel that is uninstalled is skipped, and so is one of another type than the caller
/// expects, which is answered.
pub(crate) fn join(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    channel: &ChannelRef,
    user: &NamedUserId,
) -> Result<Option<Mistaken>> {
    let Some(row) = channels::by_id(tx, context.app, channel.id)? else {
        if context.is_by_device() {
            need_room(tx, context, user)?;
        }
        context.admit_user(tx)?;
        context.ensure_user(tx, user)?;
        note(tx, channel.id, user);
        named_users::put_pending(tx, context.app, channel, user, context.journal.now())?;
        return Ok(None);
    };
    let mistaken = Mistaken::find(channel, &row.device_type);
    if mistaken.is_some() || !row.installed || row.named_user.as_ref() == Some(user) {
        return Ok(mistaken);
    }
    need_room(tx, context, user)?;
    let is_new = named_users::get(tx, context.app, user)?.is_none();
    context.ensure_user(tx, user)?;
    give(tx, context, row, Some(user), is_new.then_some(user))?;
    Ok(None)
}

/// The waiting association of a channel that has not registered yet is removed. A channel of another type than the caller expects
/// is skipped and answered.
pub(crate) fn leave(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    channel: &ChannelRef,
    user: Option<&NamedUserId>,
) -> Result<Option<Mistaken>> {
    let is_meant = |actual: &NamedUserId| user.is_none_or(|user| user == actual);
    let Some(row) = channels::by_id(tx, context.app, channel.id)? else {
        let waiting = named_users::pending(tx, context.app, channel.id)?;
        let is_meant = |waiting: &Association| is_meant(&waiting.named_user_id) && waiting.channel.agrees_with(channel);
        if let Some(waiting) = waiting.filter(is_meant) {
            note(tx, channel.id, &waiting.named_user_id);
            named_users::delete_pending(tx, context.app, channel.id)?;
        }
        return Ok(None);
    };
    let mistaken = Mistaken::find(channel, &row.device_type);
    if mistaken.is_none() && !row.installed {
        end_return(tx, context.app, &row, is_meant)?;
    }
    if mistaken.is_some() || !row.named_user.as_ref().is_some_and(is_meant) {
        return Ok(mistaken);
    }
    give(tx, context, row, None, None)?;
    Ok(None)
}

/// The device of an uninstalled channel does not come back to its user by the id of its contact, unless it did so already: then
/// another channel has the id.
fn end_return(tx: &mut Tx<'_>, app: AppId, row: &Channel, is_meant: impl FnOnce(&NamedUserId) -> bool) -> Result<()> {
    let Some(id) = stored_profile(row)?.named_contact else { return Ok(()) };
    let Some(user) = contacts::named_user(tx, app, id)?.filter(is_meant) else { return Ok(()) };
    for other in named_users::channels_of(tx, app, &user)? {
        if stored_profile(&other)?.named_contact == Some(id) {
            return Ok(());
        }
    }
    note(tx, row.id, &user);
    Ok(contacts::forget(tx, app, id)?)
}

/// Tells the audit log whose a channel becomes, or was.
fn note(tx: &mut Tx<'_>, channel: ChannelId, user: &NamedUserId) {
    tx.note_object("channel_id", channel);
    tx.note_object("named_user_id", user.as_str());
}

/// The heir gets what was said about the user of the channel as long as that had no name. A named user that exists already has
/// said so itself, perhaps otherwise; device libraries hand to their app what is lost then.
fn give(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    row: Channel,
    user: Option<&NamedUserId>,
    heir: Option<&NamedUserId>,
) -> Result<()> {
    if let Some(user) = user.or(row.named_user.as_ref()) {
        note(tx, row.id, user);
    }
    for concerned in row.named_user.iter().chain(user) {
        named_users::touch(tx, context.app, concerned, context.journal.now())?;
    }
    let opened = context.open(tx, row)?;
    let mut after = opened.state.clone();
    context.end_unknown_user(tx, &opened.row, &mut after.own, heir)?;
    after.named_user = user.cloned();
    context.save(tx, opened, after)?;
    Ok(())
}
