//! Users of inboxes: creating them, authenticating them, and their channels.

use std::slice;

use audience::codec;
use base::{Error, Result};
use boxed::boxed;
use model::channel::ChannelRef;
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, OperationId, Ordinal};
use model::inbox::{InboxChange, InboxUserId, NewInbox};
use model::limits;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use store::inbox_users::{self, InboxChannel, InboxCredentials};
use store::{Tx, channels};
use tenancy::{IdempotencyKey, credentials};

use super::InboxCaller;
use crate::Sending;

/// A new inbox and its password, which cannot be shown again.
#[derive(Clone, Serialize, Deserialize)]
pub struct CreatedInbox {
    pub operation_id: OperationId,
    pub user: InboxUserId,
    pub password: String,
    /// The named channels that exist.
    pub channels: Vec<(ChannelId, DeviceType)>,
}

/// A user as it is shown.
#[derive(Clone, Debug)]
pub struct InboxView {
    pub channels: Vec<(ChannelId, DeviceType)>,
}

#[boxed]
impl Sending {
    /// The owner of the inbox; `None` when user and password do not fit together.
    pub async fn authenticate_inbox(&self, user: &str, password: &str) -> Result<Option<InboxCaller>> {
        let Some(user) = InboxUserId::new(user) else { return Ok(None) };
        let given = credentials::hash(password);
        let read = move |tx: &mut Tx<'_>| {
            let found = inbox_users::credentials(tx, &user)?;
            let found = found.filter(|kept| credentials::matches(&given, &kept.password_hash));
            Ok(found.map(|InboxCredentials { app, app_key, .. }| InboxCaller { app, app_key, user }))
        };
        self.0.store.read(read).await
    }

    pub async fn create_inbox(
        &self,
        app: AppId,
        new: NewInbox,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedInbox> {
        let (user, password) = (credentials::new_inbox_user()?, credentials::new_secret()?);
        let hash = credentials::hash(password.reveal());
        let now = self.0.clock.now();
        let operation_id = OperationId::at(now);
        let password = password.reveal().to_owned();
        self.0
            .tenancy
            .write_once(app, idempotency_key, move |tx| {
                let nothing = codec::encode(&RoaringBitmap::new());
                inbox_users::insert(tx, app, &user, &hash, now, nothing)?;
                add(tx, app, &user, &new.0, now)?;
                let channels = shown(inbox_users::channels(tx, app, &user)?);
                Ok(CreatedInbox { operation_id, user: user.clone(), password: password.clone(), channels })
            })
            .await
    }

    pub async fn inbox_user(&self, caller: InboxCaller) -> Result<InboxView> {
        let channels = self.0.store.read(move |tx| inbox_users::channels(tx, caller.app, &caller.user)).await?;
        Ok(InboxView { channels: shown(channels) })
    }

    /// Skips channels that do not exist, that leave without being the user's, and that come while they are another user's: the
    /// password of an inbox proves nothing about channels. A caller who can speak for a channel moves it, by creating a user with
    /// it; a server also by naming the user when it registers the channel.
    pub async fn change_inbox(&self, caller: InboxCaller, change: InboxChange) -> Result<()> {
        let (app, now) = (caller.app, self.0.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            for channel in &change.remove {
                let Some(ordinal) = ordinal_of(tx, app, channel)? else { continue };
                if inbox_users::owner(tx, app, ordinal)?.as_ref() == Some(&caller.user) {
                    inbox_users::unlink(tx, app, ordinal)?;
                    inbox_users::touch(tx, app, &caller.user, now)?;
                }
            }
            for channel in &change.add {
                let Some(ordinal) = ordinal_of(tx, app, channel)? else { continue };
                if inbox_users::owner(tx, app, ordinal)?.is_none_or(|owner| owner == caller.user) {
                    add(tx, app, &caller.user, slice::from_ref(channel), now)?;
                }
            }
            Ok::<_, Error>(())
        };
        self.0.store.write(app, write).await
    }
}

fn shown(channels: Vec<InboxChannel>) -> Vec<(ChannelId, DeviceType)> {
    channels.into_iter().map(|channel| (channel.id, channel.device_type)).collect()
}

fn add(tx: &mut Tx<'_>, app: AppId, user: &InboxUserId, wanted: &[ChannelRef], now: UtcMillis) -> Result<()> {
    for channel in wanted {
        let Some(ordinal) = ordinal_of(tx, app, channel)? else { continue };
        if !devices::give_inbox(tx, app, user, ordinal, now)? {
            let most = limits::CHANNELS_PER_INBOX;
            return Err(Error::invalid("", format!("An inbox has {most} channels at most; remove others first.")));
        }
    }
    Ok(())
}

fn ordinal_of(tx: &mut Tx<'_>, app: AppId, channel: &ChannelRef) -> Result<Option<Ordinal>> {
    let row = channels::by_id(tx, app, channel.id)?;
    Ok(row.filter(|row| channel.fits(&row.device_type)).map(|row| row.ordinal))
}
