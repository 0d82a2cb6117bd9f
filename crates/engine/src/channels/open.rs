//! Channels of open platforms, which are found by platform and address.

use model::channel::TagSets;
use model::channel::{OpenRegistration, Profile};
use model::ids::{AppId, ChannelId};
use model::platform::DeviceType;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::channels::{self, Channel};

use super::keys;
use super::state::{Desk, State};
use crate::{Engine, Error, Once, Result};

/// The answer to the registration of an open channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredOpen {
    pub id: ChannelId,
}

impl Engine {
    /// Creates or updates the channel of an address. An uninstalled channel that is named by its id comes back to life with
    /// nothing but that id.
    pub async fn register_open(
        &self,
        app: AppId,
        registration: OpenRegistration,
        once: Option<Once>,
    ) -> Result<RegisteredOpen> {
        let index = self.index(app).await?;
        let clock = self.clock().clone();
        self.write_once(app, once, move |tx| {
            let mut desk = Desk::new(app, &index, clock.now());
            let channel = match find(tx, app, &registration)? {
                Some(channel) => update(tx, &mut desk, channel, &registration)?,
                None => {
                    let id = registration.channel_id.unwrap_or_else(|| ChannelId::at(clock.now()));
                    let mut state = State { profile: registration.apply(None), tags: TagSets::new() };
                    state.set_device_tags(registration.device_tags(&state.device_tags()));
                    desk.create(tx, id, &state)?
                }
            };
            desk.journal.write(tx, app)?;
            Ok(RegisteredOpen { id: channel.id })
        })
        .await
    }
}

fn update(
    tx: &mut Tx<'_>,
    desk: &mut Desk<'_>,
    mut channel: Channel,
    registration: &OpenRegistration,
) -> Result<Channel> {
    let before = match channel.installed {
        true => desk.open(tx, &channel)?,
        false => State { profile: Profile::new(channel.device_type.clone()), tags: TagSets::new() },
    };
    let mut after = State { profile: registration.apply(Some(&before.profile)), tags: before.tags.clone() };
    after.set_device_tags(registration.device_tags(&before.device_tags()));
    channel.installed = true;
    channel.last_registration = Some(desk.journal.now());
    desk.save(tx, channel, &before, &after)
}

/// The channel a registration is about: by id, by the address it is to be renamed from, by its address.
fn find(tx: &mut Tx<'_>, app: AppId, registration: &OpenRegistration) -> Result<Option<Channel>> {
    let device_type = DeviceType::Open(registration.platform.clone());
    if let Some(id) = registration.channel_id
        && let Some(channel) = channels::by_id(tx, app, id)?
    {
        if channel.device_type != device_type {
            let message = format!("This is a channel of type {}, not {device_type}.", channel.device_type);
            return Err(Error::invalid("channel.channel_id", message));
        }
        return Ok(Some(channel));
    }
    for address in [&registration.old_address, &registration.address].into_iter().flatten() {
        let key = keys::address_key(&device_type, address);
        if let Some(ordinal) = channels::by_key(tx, app, &key)? {
            return Ok(channels::by_ordinal(tx, app, ordinal)?);
        }
    }
    Ok(None)
}
