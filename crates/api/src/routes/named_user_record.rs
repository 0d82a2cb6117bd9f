//! A named user as lookups show it.

use std::collections::{BTreeMap, BTreeSet};

use devices::{Attributes, ChannelView, NamedUserView};
use model::ids::NamedUserId;
use model::tag::{Tag, TagGroup};
use schemars::JsonSchema;
use serde::Serialize;

use super::channel_record::ChannelRecord;
use super::subscription_lists::{ScopeRecord, scope_records};

#[derive(Serialize, JsonSchema)]
pub(super) struct NamedUserRecord {
    #[schemars(with = "String")]
    named_user_id: NamedUserId,
    created: String,
    last_modified: String,
    #[schemars(with = "BTreeMap<String, BTreeSet<String>>")]
    tags: BTreeMap<TagGroup, BTreeSet<Tag>>,
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    attributes: Attributes,
    user_attributes: UserAttributes,
    subscription_lists: Vec<ScopeRecord>,
    channels: Vec<ChannelRecord>,
}

/// Properties from the device of the user that registered last.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct UserAttributes {
    #[serde(skip_serializing_if = "Option::is_none")]
    ua_country: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ua_language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ua_tz: Option<String>,
}

impl From<NamedUserView> for NamedUserRecord {
    fn from(view: NamedUserView) -> Self {
        let latest = view.channels.iter().max_by_key(|channel| channel.last_registration);
        Self {
            user_attributes: latest.map(UserAttributes::from).unwrap_or_default(),
            named_user_id: view.id,
            created: view.created.to_api(),
            last_modified: view.modified.to_api(),
            tags: view.tags,
            attributes: view.attributes,
            subscription_lists: scope_records(view.subscriptions),
            channels: view.channels.into_iter().map(ChannelRecord::from).collect(),
        }
    }
}

impl From<&ChannelView> for UserAttributes {
    fn from(channel: &ChannelView) -> Self {
        let profile = &channel.profile;
        Self {
            ua_country: profile.locale_country.clone(),
            ua_language: profile.locale_language.clone(),
            ua_tz: profile.timezone.clone(),
        }
    }
}
