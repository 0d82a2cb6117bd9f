//! A channel as lookups show it.
//!
//! Client libraries are particular here: some keys must be left out rather than null, others may be null, tags must be
//! arrays, and dates have no zone.

use std::collections::{BTreeMap, BTreeSet};

use devices::{Attributes, ChannelView};
use model::channel::{AndroidDetails, IosDetails, OpenDetails, WebDetails};
use model::device_type::{DeviceType, OpenPlatform};
use model::ids::{ChannelId, NamedUserId};
use model::subscription::SubscriptionListId;
use model::tag::{Tag, TagGroup};
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
pub(super) struct ChannelRecord {
    channel_id: ChannelId,
    /// `ios`, `android`, `amazon`, `web`, `wns` or `open`.
    device_type: String,
    /// Uninstalled channels keep their ids and dates only.
    installed: bool,
    /// Whether it may be shown notifications.
    opt_in: bool,
    /// Whether it can be reached without showing anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<bool>,
    /// Whether it takes messages over live connections; not there for those that do not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    live: bool,
    /// The day of UTC on which it was last connected live, if that is no more than a month ago. Not there for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_seen: Option<String>,
    #[serde(flatten)]
    reach: Reach,
    /// In UTC.
    created: String,
    /// Whose channel it is.
    #[schemars(with = "Option<String>")]
    named_user_id: Option<NamedUserId>,
    alias: Option<String>,
    /// The flat tags of the channel.
    #[schemars(with = "BTreeSet<String>")]
    tags: BTreeSet<Tag>,
    /// All groups but that of `tags`.
    #[schemars(with = "BTreeMap<String, BTreeSet<String>>")]
    tag_groups: BTreeMap<TagGroup, BTreeSet<Tag>>,
    /// Its own, without those of its named user.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    attributes: Attributes,
    /// What the device has reported about itself.
    device_attributes: BTreeMap<&'static str, String>,
    /// Its own, without those of its named user.
    #[schemars(with = "BTreeSet<String>")]
    subscription_lists: BTreeSet<SubscriptionListId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    ios: Option<IosDetails>,
    /// Only of devices that have said who delivers to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    android: Option<AndroidDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    web: Option<WebDetails>,
}

/// Where the two kinds of channels differ.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Reach {
    Device {
        push_address: Option<String>,
        last_registration: Option<String>,
    },
    Open {
        r#type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_registration: Option<String>,
        open: OpenRecord,
    },
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OpenRecord {
    #[schemars(with = "String")]
    open_platform_name: OpenPlatform,
    identifiers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_address: Option<String>,
}

impl From<ChannelView> for ChannelRecord {
    fn from(view: ChannelView) -> Self {
        let ChannelView { id, installed, created, last_registration, named_user, profile, .. } = view;
        let (mut tags, device_attributes) = (view.tags, profile.device_attributes());
        let last_registration = last_registration.map(|at| at.to_api());
        let (device_type, reach) = match profile.device_type {
            DeviceType::Open(platform) => {
                let OpenDetails { identifiers, old_address } = profile.open.unwrap_or_default();
                let open = OpenRecord { open_platform_name: platform, identifiers, old_address };
                let reach = Reach::Open { r#type: "open", address: profile.address, last_registration, open };
                ("open".to_owned(), reach)
            }
            other => (other.to_string(), Reach::Device { push_address: profile.address, last_registration }),
        };
        Self {
            channel_id: id,
            device_type,
            installed,
            opt_in: profile.opt_in,
            background: profile.background,
            live: profile.live,
            last_seen: view.last_live_day.map(|day| UtcMillis::of_day(day).to_date()),
            reach,
            created: created.to_api(),
            named_user_id: named_user,
            alias: profile.alias,
            tags: tags.remove(&TagGroup::device()).unwrap_or_default(),
            tag_groups: tags,
            attributes: view.attributes,
            device_attributes,
            subscription_lists: view.subscriptions,
            ios: profile.ios,
            android: profile.android,
            web: profile.web.map(|WebDetails { subscription, user_agent_string, .. }| {
                // The rest is among the device attributes.
                WebDetails { subscription, user_agent_string, ..WebDetails::default() }
            }),
        }
    }
}
