//! Which channel belongs to which user of an inbox: servers name the user when they register a device.

use base::Result;
use model::device_type::DeviceType;
use model::ids::{AppId, Ordinal};
use model::inbox::InboxUserId;
use model::limits;
use model::time::UtcMillis;
use store::{Tx, inbox_users};

/// Links a channel to the user that a server names when it registers the device. Registering matters more than an inbox: a user
/// that is not known, or has no room for another channel, is no problem.
pub(crate) fn link_registered(
    tx: &mut Tx<'_>,
    app: AppId,
    channel: Ordinal,
    user: Option<&str>,
    now: UtcMillis,
) -> Result<()> {
    let Some(user) = user.and_then(InboxUserId::new) else { return Ok(()) };
    if inbox_users::get(tx, app, &user)?.is_some() {
        give(tx, app, &user, channel, now)?;
    }
    Ok(())
}

/// The installed channel of a type that a user has. A user with several has several devices, and it is not known which is meant.
pub(crate) fn only_channel(
    tx: &mut Tx<'_>,
    app: AppId,
    user: Option<&str>,
    device_type: &DeviceType,
) -> Result<Option<Ordinal>> {
    let Some(user) = user.and_then(InboxUserId::new) else { return Ok(None) };
    let mut channels = inbox_users::channels(tx, app, &user)?;
    channels.retain(|channel| channel.installed && channel.device_type == *device_type);
    Ok(match channels.as_slice() {
        [only] => Some(only.ordinal),
        _ => None,
    })
}

/// Whether a user has an inbox, and a channel is none of that inbox's.
pub(crate) fn is_of_others(tx: &mut Tx<'_>, app: AppId, user: Option<&str>, channel: Option<Ordinal>) -> Result<bool> {
    let Some(user) = user.and_then(InboxUserId::new) else { return Ok(false) };
    if inbox_users::get(tx, app, &user)?.is_none() {
        return Ok(false);
    }
    let own = match channel {
        Some(channel) => inbox_users::owner(tx, app, channel)?,
        None => None,
    };
    Ok(own.as_ref() != Some(&user))
}

/// Notes that a channel's language or country has changed, and with it the texts of its messages.
pub(crate) fn relocalized(tx: &mut Tx<'_>, app: AppId, channel: Ordinal, now: UtcMillis) -> Result<()> {
    match inbox_users::owner(tx, app, channel)? {
        Some(user) => Ok(inbox_users::touch(tx, app, &user, now)?),
        None => Ok(()),
    }
}

/// Gives a channel to the user, and returns whether there was room for it. Its former user loses it.
pub fn give(tx: &mut Tx<'_>, app: AppId, user: &InboxUserId, channel: Ordinal, now: UtcMillis) -> Result<bool> {
    let before = inbox_users::owner(tx, app, channel)?;
    if before.as_ref() == Some(user) {
        return Ok(true);
    }
    let channels = inbox_users::channels(tx, app, user)?;
    if channels.len() >= limits::CHANNELS_PER_INBOX {
        // An uninstalled channel makes room, the oldest first, and messages that only it held are gone from the inbox.
        let Some(useless) = channels.iter().find(|channel| !channel.installed) else { return Ok(false) };
        inbox_users::unlink(tx, app, useless.ordinal)?;
    }
    if let Some(before) = before {
        inbox_users::touch(tx, app, &before, now)?;
    }
    inbox_users::link(tx, app, channel, user)?;
    inbox_users::touch(tx, app, user, now)?;
    Ok(true)
}
