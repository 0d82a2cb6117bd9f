//! The channels of a page of events, each written as JSON once however many events it has.

use ::devices::ContactKey;
use base::{Error, Result};
use model::channel::Profile;
use model::device_type::DeviceType;
use model::event::{EventDevice, EventUser};
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, devices};

/// Sorted by their ordinals.
pub(super) struct PageDevices(Vec<Device>);

pub(super) struct Device {
    pub(super) ordinal: Ordinal,
    pub(super) id: ChannelId,
    pub(super) device_type: DeviceType,
    pub(super) named_user: Option<String>,
    /// The device and its user, as events show them.
    pub(super) json: Vec<u8>,
}

impl PageDevices {
    pub(super) fn get(&self, ordinal: Ordinal) -> Option<&Device> {
        let index = self.0.binary_search_by_key(&ordinal, |device| device.ordinal).ok()?;
        self.0.get(index)
    }
}

pub(super) fn read(
    tx: &mut Tx<'_>,
    app: AppId,
    wanted: &RoaringBitmap,
    contact_key: &ContactKey,
    now: UtcMillis,
) -> Result<PageDevices> {
    let ordinals: Vec<Ordinal> = wanted.iter().map(Ordinal).collect();
    let mut found = Vec::with_capacity(ordinals.len());
    let mut unreadable = None;
    devices::visit(tx, app, &ordinals, |row| {
        if wanted.contains(row.ordinal.0) {
            match device(contact_key, row, now) {
                Ok(device) => found.push(device),
                Err(error) => unreadable = Some(error),
            }
        }
        Ok(())
    })?;
    unreadable.map_or(Ok(PageDevices(found)), |error| Err(Error::internal(error)))
}

fn device(contact_key: &ContactKey, row: devices::Device<'_>, now: UtcMillis) -> serde_json::Result<Device> {
    let profile: Profile = serde_json::from_str(row.profile)?;
    let mut json = b"\"device\":".to_vec();
    serde_json::to_writer(&mut json, &EventDevice::new(row.id, &profile, row.named_user, now))?;
    let named_user = row.named_user.map(NamedUserId::new);
    let user = match &named_user {
        Some(Ok(user)) => Some(EventUser::named(contact_key.contact_of(user), user)),
        Some(Err(_)) => None,
        None => EventUser::unknown(profile.unknown_contact_of(row.id)),
    };
    if let Some(user) = user {
        json.extend_from_slice(b",\"user\":");
        serde_json::to_writer(&mut json, &user)?;
    }
    Ok(Device {
        ordinal: row.ordinal,
        id: row.id,
        device_type: profile.device_type,
        named_user: row.named_user.map(str::to_owned),
        json,
    })
}
