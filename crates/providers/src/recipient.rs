//! The data that differ from device to device when the same push is sent to all of them.

use std::collections::BTreeMap;

use model::channel::WebSubscription;
use model::ids::{ChannelId, DeliveryId};

#[derive(Clone, Copy, Debug)]
pub struct Recipient<'a> {
    pub delivery_id: DeliveryId,
    pub channel_id: ChannelId,
    /// A token, a registration id, a URL, or any address of an open platform.
    pub address: &'a str,
    /// The badge that the device last registered; iOS only.
    pub badge: i64,
    /// The identifiers that an open channel was registered with.
    pub identifiers: Option<&'a BTreeMap<String, String>>,
    /// The keys of a browser's subscription; without them nothing can be encrypted for it.
    pub web_keys: Option<&'a WebSubscription>,
    /// What stands where the push has marks, by their numbers.
    pub texts: &'a [String],
    /// Whether its address has taken a message before.
    pub is_proven: bool,
}

impl<'a> Recipient<'a> {
    pub fn new(delivery_id: DeliveryId, channel_id: ChannelId, address: &'a str) -> Self {
        Self {
            delivery_id,
            channel_id,
            address,
            badge: 0,
            identifiers: None,
            web_keys: None,
            texts: &[],
            is_proven: false,
        }
    }
}
