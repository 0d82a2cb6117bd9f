//! The channels of a page of events, each as it was when its events were recorded, and written as JSON once however many events
//! it has.

use ::devices::ContactKey;
use base::{Error, Result};
use model::channel::Profile;
use model::device_type::DeviceType;
use model::event::{EventDevice, EventUser, Face};
use model::ids::{AppId, ChannelId, NamedUserId, Offset, Ordinal};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::log::Record;
use store::{Tx, devices, faces};

/// Clocks are set forward and back at whole quarters of an hour.
const QUARTER_MILLIS: i64 = 15 * 60 * 1000;
/// Of what a channel looks like now.
const FOREVER: Offset = Offset(i64::MAX);

/// Sorted by their ordinals, and by until when they looked like this.
pub(super) struct PageDevices {
    devices: Vec<Device>,
    contact_key: ContactKey,
}

struct Device {
    ordinal: Ordinal,
    until: Offset,
    id: ChannelId,
    profile: Profile,
    named_user: Option<NamedUserId>,
    written: Option<Written>,
}

/// The device and its user, as events of a quarter of an hour show them: what its clock shows depends on the moment.
struct Written {
    quarter: i64,
    json: Vec<u8>,
}

/// What an event shows of a channel.
pub(super) struct Shown<'d> {
    pub(super) ordinal: Ordinal,
    pub(super) id: ChannelId,
    /// The device and its user.
    pub(super) json: &'d [u8],
}

impl PageDevices {
    /// A channel as it was when a record was written, if that is acceptable. A channel that was erased is shown by no event.
    pub(super) fn show(
        &mut self,
        ordinal: Ordinal,
        record: &Record,
        is_accepted: impl FnOnce(&DeviceType, Option<&str>) -> bool,
    ) -> Result<Option<Shown<'_>>> {
        let index = self.devices.partition_point(|device| (device.ordinal, device.until) < (ordinal, record.offset));
        let device = self.devices.get_mut(index).filter(|device| device.ordinal == ordinal);
        match device {
            Some(device) if is_accepted(&device.profile.device_type, device.user()) => {
                let (ordinal, id) = (device.ordinal, device.id);
                Ok(Some(Shown { ordinal, id, json: device.json(&self.contact_key, record.at)? }))
            }
            Some(_) | None => Ok(None),
        }
    }
}

impl Device {
    fn user(&self) -> Option<&str> {
        self.named_user.as_ref().map(NamedUserId::as_str)
    }

    fn json(&mut self, contact_key: &ContactKey, at: UtcMillis) -> Result<&[u8]> {
        let quarter = at.0.div_euclid(QUARTER_MILLIS);
        let written = match self.written.take() {
            Some(written) if written.quarter == quarter => written,
            Some(_) | None => Written { quarter, json: self.write(contact_key, at).map_err(Error::internal)? },
        };
        Ok(&self.written.insert(written).json)
    }

    fn write(&self, contact_key: &ContactKey, at: UtcMillis) -> serde_json::Result<Vec<u8>> {
        let Self { id, profile, named_user, .. } = self;
        let mut json = b"\"device\":".to_vec();
        serde_json::to_writer(&mut json, &EventDevice::new(*id, profile, self.user(), at))?;
        let user = match named_user {
            Some(user) => Some(EventUser::named(contact_key.contact_of(user), user)),
            None => EventUser::unknown(profile.unknown_contact_of(*id)),
        };
        if let Some(user) = user {
            json.extend_from_slice(b",\"user\":");
            serde_json::to_writer(&mut json, &user)?;
        }
        Ok(json)
    }
}

/// Reads channels, each as it was at the offsets where it is shown.
pub(super) fn read(
    tx: &mut Tx<'_>,
    app: AppId,
    shown: &[(Ordinal, Offset)],
    contact_key: ContactKey,
) -> Result<PageDevices> {
    let wanted: RoaringBitmap = shown.iter().map(|(ordinal, _)| ordinal.0).collect();
    let mut now = Vec::with_capacity(shown.len());
    let mut unreadable = None;
    let ordinals: Vec<Ordinal> = wanted.iter().map(Ordinal).collect();
    devices::visit(tx, app, &ordinals, |row| {
        if wanted.contains(row.ordinal.0) {
            match device(row) {
                Ok(device) => now.push(device),
                Err(error) => unreadable = Some(error),
            }
        }
        Ok(())
    })?;
    if let Some(error) = unreadable {
        return Err(Error::internal(error));
    }
    let ended = faces::at(tx, app, shown)?;
    let devices = if ended.is_empty() { now } else { with_ended(now, &ended)? };
    Ok(PageDevices { devices, contact_key })
}

fn device(row: devices::Device<'_>) -> serde_json::Result<Device> {
    Ok(Device {
        ordinal: row.ordinal,
        until: FOREVER,
        id: row.id,
        profile: serde_json::from_str(row.profile)?,
        named_user: row.named_user.and_then(|user| NamedUserId::new(user).ok()),
        written: None,
    })
}

/// Puts what channels looked like before what they look like now.
fn with_ended(now: Vec<Device>, ended: &[faces::EndedFace]) -> Result<Vec<Device>> {
    let mut devices = Vec::with_capacity(now.len() + ended.len());
    let mut ended = ended.iter().peekable();
    for device in now {
        while let Some(face) = ended.next_if(|face| face.ordinal <= device.ordinal) {
            // The channel was erased.
            if face.ordinal != device.ordinal {
                continue;
            }
            let Face { named_user, profile } = serde_json::from_slice(&face.body).map_err(Error::internal)?;
            let (ordinal, until, id) = (face.ordinal, face.until, device.id);
            devices.push(Device { ordinal, until, id, profile, named_user, written: None });
        }
        devices.push(device);
    }
    Ok(devices)
}
