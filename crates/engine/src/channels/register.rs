//! Registration by devices: create or recognize on POST, update on PUT.

use model::channel::Registration;
use model::channel::TagSets;
use model::ids::{AppId, ChannelId};
use serde::{Deserialize, Serialize};
use store::channels::{self, Channel};
use store::{Tx, channels::by_key};

use super::keys;
use super::state::{Desk, State};
use crate::{Engine, Error, Once, Result};

/// The answer to a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    pub id: ChannelId,
    /// Whether the channel was made by this registration.
    pub created: bool,
}

impl Engine {
    /// Registers a device that does not know its channel. A device that is recognized by an identity hint or by its address
    /// gets the channel it had.
    pub async fn register_channel(
        &self,
        app: AppId,
        registration: Registration,
        once: Option<Once>,
    ) -> Result<Registered> {
        let index = self.index(app).await?;
        let clock = self.clock().clone();
        self.write_once(app, once, move |tx| {
            let mut desk = Desk::new(app, &index, clock.now());
            let known = recognize(tx, app, &registration)?;
            let registered = match known {
                Some(channel) => update(tx, &mut desk, channel, &registration)?,
                None => create(tx, &mut desk, ChannelId::at(clock.now()), &registration)?,
            };
            desk.journal.write(tx, app)?;
            Ok(registered)
        })
        .await
    }

    /// Updates a channel by its id. An id that is free is taken, because devices can restore ids from a backup; an uninstalled
    /// channel, or one of another device type, is a conflict, upon which devices register anew.
    pub async fn update_channel(&self, app: AppId, id: ChannelId, registration: Registration) -> Result<Registered> {
        let index = self.index(app).await?;
        let clock = self.clock().clone();
        self.0
            .store
            .write(app, move |tx| {
                let mut desk = Desk::new(app, &index, clock.now());
                let registered = match channels::by_id(tx, app, id)? {
                    None => create(tx, &mut desk, id, &registration)?,
                    Some(channel) if !channel.installed => {
                        return Err(Error::Conflict(format!("The channel {id} is uninstalled; register a new one.")));
                    }
                    Some(channel) if channel.device_type != registration.device_type => {
                        return Err(Error::Conflict(format!(
                            "The channel {id} is a channel of type {}; register a new one.",
                            channel.device_type
                        )));
                    }
                    Some(channel) => update(tx, &mut desk, channel, &registration)?,
                };
                desk.journal.write(tx, app)?;
                Ok(registered)
            })
            .await
    }
}

fn create(tx: &mut Tx<'_>, desk: &mut Desk<'_>, id: ChannelId, registration: &Registration) -> Result<Registered> {
    let mut state = State { profile: registration.apply(None), tags: TagSets::new() };
    state.set_device_tags(registration.device_tags(&state.device_tags()));
    desk.create(tx, id, &state)?;
    Ok(Registered { id, created: true })
}

fn update(
    tx: &mut Tx<'_>,
    desk: &mut Desk<'_>,
    mut channel: Channel,
    registration: &Registration,
) -> Result<Registered> {
    let before = desk.open(tx, &channel)?;
    let mut after = State { profile: registration.apply(Some(&before.profile)), tags: before.tags.clone() };
    after.set_device_tags(registration.device_tags(&before.device_tags()));
    channel.last_registration = Some(desk.journal.now());
    let channel = desk.save(tx, channel, &before, &after)?;
    Ok(Registered { id: channel.id, created: false })
}

/// The installed channel of the device that registers.
fn recognize(tx: &mut Tx<'_>, app: AppId, registration: &Registration) -> Result<Option<Channel>> {
    let mut candidates = keys::hint_keys(&registration.device_type, &registration.identity_hints);
    if let model::channel::Change::Set(address) = &registration.push_address {
        candidates.push(keys::address_key(&registration.device_type, address));
    }
    for key in &candidates {
        let Some(ordinal) = by_key(tx, app, key)? else { continue };
        if let Some(channel) = channels::by_ordinal(tx, app, ordinal)?.filter(|channel| channel.installed) {
            return Ok(Some(channel));
        }
    }
    Ok(None)
}
