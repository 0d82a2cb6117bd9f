//! Channels of open platforms, which are found by platform and address.

use base::{Error, Result};
use boxed::boxed;
use model::channel::{Change, OpenRegistration};
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, OperationId};
use serde::{Deserialize, Serialize};
use store::Tx;
use store::channels::{self, Channel};
use tenancy::{IdempotencyKey, Rights};

use super::state::State;
use super::{ChannelView, keys};
use crate::Devices;
use crate::change_context::ChangeContext;

/// The answer to the registration of an open channel, with the channel as it was right afterwards.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RegisteredOpen {
    pub operation_id: OperationId,
    pub id: ChannelId,
    pub channel: ChannelView,
}

#[boxed]
impl Devices {
    /// Creates or updates the channel of an address. An uninstalled channel that is named by its id comes back to life with
    /// nothing but that id.
    ///
    /// Devices create such channels for their users. An address proves nothing, so they cannot get at an existing channel.
    pub async fn register_open(
        &self,
        app: AppId,
        registration: OpenRegistration,
        rights: Rights,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<RegisteredOpen> {
        let operation_id = OperationId::at(self.0.clock.now());
        self.change_audience_once(app, idempotency_key, move |tx, context| {
            let known = find(tx, app, &registration)?;
            if known.is_some() && rights != Rights::Master {
                let text = "There is an open channel like this already; only servers can change it.";
                return Err(Error::Conflict(text.to_owned()));
            }
            let channel = match known {
                Some(channel) => update(tx, context, channel, &registration)?,
                None => create_open(tx, context, &registration)?,
            };
            let (id, channel) = (channel.id, ChannelView::of(tx, context, channel)?);
            Ok(RegisteredOpen { operation_id, id, channel })
        })
        .await
    }
}

/// Makes the channel of an address that no channel has.
pub fn create_open(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    registration: &OpenRegistration,
) -> Result<Channel> {
    let mut state = State::new(registration.apply(None));
    state.change_device_tags(|tags| registration.device_tags(tags));
    if let Some(chosen) = registration.channel_id {
        context.claim_association(tx, chosen, &Change::Keep, &mut state)?;
    }
    let id = registration.channel_id.unwrap_or_else(|| ChannelId::at(context.journal.now()));
    context.create(tx, id, state)
}

fn update(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    row: Channel,
    registration: &OpenRegistration,
) -> Result<Channel> {
    let mut opened = context.open(tx, row)?;
    let mut after = opened.state.with_profile(registration.apply(Some(&opened.state.profile)));
    after.change_device_tags(|tags| registration.device_tags(tags));
    opened.row.installed = true;
    opened.row.last_registration = Some(context.journal.now());
    context.save(tx, opened, after)
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
