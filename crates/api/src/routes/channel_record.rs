//! A channel as lookups show it.
//!
//! Client libraries are particular here: some keys must be left out rather than null, others may be null, tags must be
//! arrays, and dates have no zone.

use std::collections::{BTreeMap, BTreeSet};

use devices::{Attributes, ChannelView};
use model::channel::{IosDetails, OpenDetails, WebDetails};
use model::device_type::{DeviceType, OpenPlatform};
use model::ids::{ChannelId, NamedUserId};
use model::subscription::SubscriptionListId;
use model::tag::{Tag, TagGroup};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ChannelRecord {
    channel_id: ChannelId,
    device_type: String,
    installed: bool,
    opt_in: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<bool>,
    #[serde(flatten)]
    reach: Reach,
    created: String,
    named_user_id: Option<NamedUserId>,
    alias: Option<String>,
    tags: BTreeSet<Tag>,
    /// All groups but that of `tags`.
    tag_groups: BTreeMap<TagGroup, BTreeSet<Tag>>,
    attributes: Attributes,
    subscription_lists: BTreeSet<SubscriptionListId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ios: Option<IosDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    web: Option<WebDetails>,
}

/// Where the two kinds of channels differ.
#[derive(Serialize)]
#[serde(untagged)]
enum Reach {
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

#[derive(Serialize)]
struct OpenRecord {
    open_platform_name: OpenPlatform,
    identifiers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_address: Option<String>,
}

impl From<ChannelView> for ChannelRecord {
    fn from(view: ChannelView) -> Self {
        let ChannelView { id, installed, created, last_registration, named_user, profile, .. } = view;
        let mut tags = view.tags;
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
            reach,
            created: created.to_api(),
            named_user_id: named_user,
            alias: profile.alias,
            tags: tags.remove(&TagGroup::device()).unwrap_or_default(),
            tag_groups: tags,
            attributes: view.attributes,
            subscription_lists: view.subscriptions,
            ios: profile.ios,
            web: profile.web,
        }
    }
}
