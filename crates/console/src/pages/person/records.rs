//! Answers of the API about people, with the fields that pages show.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
pub(crate) struct OneUser {
    pub(crate) named_user: NamedUser,
}

#[derive(Deserialize)]
pub(crate) struct NamedUser {
    pub(crate) named_user_id: String,
    pub(crate) created: String,
    pub(crate) tags: BTreeMap<String, Vec<String>>,
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) user_attributes: UserAttributes,
    pub(crate) subscription_lists: Vec<Subscriptions>,
    pub(crate) channels: Vec<Channel>,
}

#[derive(Deserialize)]
pub(crate) struct UserAttributes {
    pub(crate) ua_country: Option<String>,
    pub(crate) ua_language: Option<String>,
    pub(crate) ua_tz: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Subscriptions {
    pub(crate) scope: String,
    pub(crate) list_ids: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct OneChannel {
    pub(crate) channel: Channel,
}

#[derive(Deserialize)]
pub(crate) struct Channel {
    pub(crate) channel_id: String,
    device_type: String,
    pub(crate) installed: bool,
    pub(crate) opt_in: bool,
    pub(crate) background: Option<bool>,
    pub(crate) push_address: Option<String>,
    /// Of an open platform.
    pub(crate) address: Option<String>,
    pub(crate) created: String,
    pub(crate) last_registration: Option<String>,
    pub(crate) named_user_id: Option<String>,
    pub(crate) alias: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) tag_groups: BTreeMap<String, Vec<String>>,
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) subscription_lists: Vec<String>,
    open: Option<Open>,
}

#[derive(Deserialize)]
struct Open {
    open_platform_name: String,
}

impl Channel {
    /// The device type, or which open platform it is.
    pub(crate) fn kind(&self) -> &str {
        self.open.as_ref().map_or(&self.device_type, |open| &open.open_platform_name)
    }
}

#[derive(Default, Deserialize)]
pub(crate) struct Timeline {
    pub(crate) entries: Vec<Entry>,
    pub(crate) before: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Entry {
    pub(crate) at: String,
    pub(crate) kind: String,
    pub(crate) channel_id: Option<String>,
    pub(crate) push_id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) alert: Option<String>,
    pub(crate) outcome: Option<String>,
    pub(crate) reason: Option<String>,
    #[serde(default)]
    pub(crate) opened: bool,
    /// Of a change.
    pub(crate) what: Option<String>,
    #[serde(default)]
    pub(crate) before: Map<String, Value>,
    #[serde(default)]
    pub(crate) after: Map<String, Value>,
    #[serde(rename = "type")]
    pub(crate) event_type: Option<String>,
    #[serde(default)]
    pub(crate) body: Value,
}
