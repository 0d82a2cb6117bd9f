//! Channels that a request takes for another device type than they are of. They are not meant, so nothing happens to them, and the
//! answer says so: otherwise a typing mistake looks like success.

use std::collections::HashSet;

use model::channel::{ChannelRef, ClaimedType};
use model::device_type::DeviceType;
use model::ids::ChannelId;
use store::channels::Holder;

/// A channel, and the type that a request takes it for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistaken {
    id: ChannelId,
    actual: DeviceType,
    claimed: ClaimedType,
}

/// The channels of a request.
#[derive(Default)]
pub struct Meant {
    pub installed: Vec<Holder>,
    pub(crate) mistaken: Vec<Mistaken>,
}

impl Mistaken {
    /// `None` if the channel is what the request says.
    pub(crate) fn find(channel: &ChannelRef, actual: &DeviceType) -> Option<Self> {
        let claimed = channel.claimed.clone().filter(|claimed| !claimed.matches(actual))?;
        Some(Self { id: channel.id, actual: actual.clone(), claimed })
    }

    pub(crate) fn sentence(&self) -> String {
        let Self { id, actual, claimed } = self;
        format!("The channel {id} is passed over. It is of the device type {actual}, not {claimed}.")
    }
}

impl Meant {
    /// Of channels that were found in the order in which they were wanted, each as often as it was; some may not exist. A channel
    /// may be wanted more than once, each time as another type: then one of them is right, and there is no mistake.
    pub(crate) fn among(found: Vec<Holder>, wanted: &[ChannelRef]) -> Self {
        let (mut meant, mut wanted) = (Self::default(), wanted.iter());
        for row in found.into_iter().filter(|row| row.installed) {
            let Some(channel) = wanted.find(|channel| channel.id == row.id) else { continue };
            match Mistaken::find(channel, &row.device_type) {
                None => meant.installed.push(row),
                Some(mistaken) => meant.mistaken.push(mistaken),
            }
        }
        if !meant.mistaken.is_empty() {
            let right: HashSet<ChannelId> = meant.installed.iter().map(|row| row.id).collect();
            meant.mistaken.retain(|mistaken| !right.contains(&mistaken.id));
        }
        meant
    }
}
