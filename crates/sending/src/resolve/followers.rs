//! Whom a change of content that lives on screens is for: of the audience those who have told that it is there.

use base::Result;
use model::device_type::DeviceType;
use model::ids::{AppId, Ordinal};
use model::payload::Push;
use roaring::RoaringBitmap;
use store::{Tx, live_tokens};

use super::ByDeviceType;

/// The channels of a type that follow what a push is about. Types of which all are meant are not in it.
#[derive(Default)]
pub(super) struct Followers(ByDeviceType);

impl Followers {
    /// Reads nothing for a push that is about no such content.
    pub(super) fn of(tx: &mut Tx<'_>, app: AppId, push: &Push) -> Result<Self> {
        let mut followers = ByDeviceType::new();
        for device_type in [DeviceType::Ios, DeviceType::Android] {
            if let Some(key) = push.followed(&device_type) {
                let channels = live_tokens::followers(tx, app, &key)?;
                followers.push((device_type, channels.into_iter().map(|Ordinal(number)| number).collect()));
            }
        }
        Ok(Self(followers))
    }

    pub(super) fn among(&self, device_type: &DeviceType) -> Option<&RoaringBitmap> {
        self.0.iter().find(|(known, _)| known == device_type).map(|(_, channels)| channels)
    }
}
