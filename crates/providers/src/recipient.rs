//! What differs from one device to the next when the same push is handed to all of them.

use std::collections::BTreeMap;

use model::channel::WebSubscription;
use model::ids::{ChannelId, DeliveryId};

#[derive(Clone, Copy, Debug)]
pub struct Recipient<'a> {
    pub delivery_id: DeliveryId,
    pub channel_id: ChannelId,
    /// A token, a registration id, a URL, or whatever an open platform goes by.
    pub address: &'a str,
    /// The badge the device last reported or was last sent; iOS only.
    pub badge: i64,
    /// What an open channel was registered with.
    pub identifiers: Option<&'a BTreeMap<String, String>>,
    /// The keys of a browser's subscription; without them nothing can be encrypted for it.
    pub web_keys: Option<&'a WebSubscription>,
    /// What the push itself says about the recipient, for its texts.
    pub values: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Recipient<'a> {
    pub fn new(delivery_id: DeliveryId, channel_id: ChannelId, address: &'a str) -> Self {
        Self { delivery_id, channel_id, address, badge: 0, identifiers: None, web_keys: None, values: None }
    }
}
