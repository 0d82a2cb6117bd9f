//! Uninstallation: the channel stays on record but has no address, no tags and no audience any more. And moving, when a
//! provider has another address for a channel.

use base::{Error, Result};
use boxed::boxed;
use model::channel::{ChannelRef, OpenAddress, Uninstall};
use model::device_type::DeviceType;
use model::event::{self, ContactChange, ContactChangeKind};
use model::ids::{AppId, ChannelId, Ordinal};
use model::time::UtcMillis;
use store::attributes::{self, Owner};
use store::channels::{self, Channel};
use store::{Tx, live_tokens, sessions, unknown_users};

use super::state::State;
use super::{feedback, keys};
use crate::Devices;
use crate::change_context::ChangeContext;
use crate::journal::NewEvent;
use crate::room::Batch;

#[boxed]
impl Devices {
    /// Takes the address of an installed channel, which is not reached until it registers again.
    pub async fn remove_push_address(&self, app: AppId, channel: ChannelRef) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            let row = context.installed_one(tx, &channel)?;
            let opened = context.open(tx, row)?;
            let mut after = opened.state.clone();
            after.profile.address = None;
            context.save(tx, opened, after).map(drop)
        })
        .await
    }

    /// Uninstalls channels. Ids that are unknown, uninstalled already or of another device type are skipped; each of the latter is
    /// told in a sentence.
    pub async fn uninstall_channels(&self, app: AppId, uninstalls: Vec<Uninstall>) -> Result<Vec<String>> {
        let wanted: Vec<ChannelRef> = uninstalls.into_iter().map(ChannelRef::from).collect();
        self.change_audience(app, move |tx, context| {
            let (batch, channels) = Batch::of(context.meant(tx, &wanted)?);
            uninstall_in(tx, context, channels.iter().map(|channel| channel.ordinal))?;
            batch.finish()
        })
        .await
    }

    pub async fn uninstall_channel(&self, app: AppId, id: ChannelId) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            let ordinal = channels::ordinal_of(tx, app, id)?.ok_or(Error::NotFound("channel"))?;
            uninstall_in(tx, context, [ordinal])
        })
        .await
    }

    pub async fn uninstall_open(&self, app: AppId, address: OpenAddress) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            let key = keys::address_key(&DeviceType::Open(address.platform.clone()), &address.address);
            let ordinal = channels::by_key(tx, app, &key)?;
            uninstall_in(tx, context, ordinal)
        })
        .await
    }
}

/// Uninstalls channels as part of a larger transaction.
pub fn uninstall_in(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    ordinals: impl IntoIterator<Item = Ordinal>,
) -> Result<()> {
    for ordinal in ordinals {
        if let Some(row) = channels::by_ordinal(tx, context.app, ordinal)? {
            uninstall(tx, context, row)?;
        }
    }
    Ok(())
}

/// Uninstalls channels that a provider says are gone, except those that registered later than it noticed.
pub fn uninstall_gone_in(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    gone: &[(Ordinal, UtcMillis)],
) -> Result<()> {
    for (ordinal, since) in gone {
        if let Some(row) = unchanged_since(tx, context, *ordinal, *since)? {
            uninstall(tx, context, row)?;
        }
    }
    Ok(())
}

fn uninstall(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, row: Channel) -> Result<()> {
    if !row.installed {
        return Ok(());
    }
    tx.note_object("channel_id", row.id);
    let mut opened = context.open(tx, row)?;
    opened.row.installed = false;
    // No personal data is kept with the channel, but for a month what feedback tells of it; the sets of places by day expire with
    // their days.
    let mut nothing = State::nothing(opened.row.device_type.clone());
    // Its device may register anew and come back to its user by this, unless a server takes the channel from the user before.
    nothing.profile.named_contact = opened.state.profile.named_contact;
    let user = opened.state.named_user.clone();
    feedback::note(tx, context, &opened.row, &opened.state)?;
    let row = context.save(tx, opened, nothing)?;
    attributes::forget(tx, context.app, &Owner::Channel(row.ordinal))?;
    unknown_users::delete(tx, context.app, row.ordinal)?;
    context.forget_last_place(tx, row.ordinal)?;
    sessions::forget(tx, context.app, row.ordinal)?;
    live_tokens::forget(tx, context.app, row.ordinal)?;
    if let Some(named_user_id) = user {
        let change_type = ContactChangeKind::Uninstall;
        let change = ContactChange { change_type, channel_id: row.id, named_user_id };
        context.journal.event(Some(row.ordinal), NewEvent::ContactChange(change))?;
    }
    context.journal.event(Some(row.ordinal), NewEvent::Uninstall(event::Uninstall { decay: false }))
}

/// Gives a channel the address that its provider has known it by since an instant, unless it registered later.
pub fn move_in(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    ordinal: Ordinal,
    address: &str,
    since: UtcMillis,
) -> Result<()> {
    let row = unchanged_since(tx, context, ordinal, since)?;
    let Some(row) = row.filter(|row| row.installed) else { return Ok(()) };
    let opened = context.open(tx, row)?;
    let mut after = opened.state.clone();
    after.profile.address = Some(address.to_owned());
    context.save(tx, opened, after)?;
    Ok(())
}

fn unchanged_since(
    tx: &mut Tx<'_>,
    context: &ChangeContext<'_>,
    ordinal: Ordinal,
    since: UtcMillis,
) -> Result<Option<Channel>> {
    let row = channels::by_ordinal(tx, context.app, ordinal)?;
    Ok(row.filter(|row| row.last_registration.unwrap_or(row.created) <= since))
}
