//! The questions that devices ask about data they have: whether they belong to an audience that only the service knows.

use serde_json::{Map, Value};

use crate::attribute::{self, AttributeOperation};
use crate::channel::{TagOperation, TagSets};
use crate::ids::{ChannelId, ContactId};
use crate::json::body::Body;
use crate::json::{At, Json, OneOrMany};
use crate::limits;
use crate::tag::{Tag, TagGroup};

/// The device that asks about a message or a flag.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, ignored = ["contact_id"])]
pub struct Resolving {
    pub channel_id: ChannelId,
    /// What has set off the message, with its event.
    #[body(nullable)]
    pub trigger: Option<Value>,
    #[body(nullable)]
    pub platform: Option<String>,
    #[body(nullable)]
    pub state_overrides: Option<DeviceState>,
    /// Changes of tags that the device has not uploaded yet.
    #[body(read = tag_overrides, nullable, default, like = OneOrMany<TagOperation>)]
    pub tag_overrides: Vec<TagOperation>,
    /// Changes of attributes that it has not uploaded yet.
    #[body(read = attribute_overrides, nullable, default, like = OneOrMany<AttributeOperation>)]
    pub attribute_overrides: Vec<AttributeOperation>,
}

/// Changes of a channel that its device knows of already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    pub tags: Vec<TagOperation>,
    pub attributes: Vec<AttributeOperation>,
}

impl Resolving {
    pub fn overrides(&self) -> Overrides {
        Overrides { tags: self.tag_overrides.clone(), attributes: self.attribute_overrides.clone() }
    }

    /// The properties of the custom event that has set off the message, as the device tells them.
    pub fn event_properties(&self) -> Map<String, Value> {
        let event = self.trigger.as_ref().and_then(|trigger| trigger.get("event"));
        let properties = event.and_then(|event| event.get("properties")).and_then(Value::as_object);
        properties.cloned().unwrap_or_default()
    }
}

impl Overrides {
    /// Whether the device has a tag after the changes; `None` where they do not say. What devices tell about themselves they do not
    /// change.
    pub fn has_tag(&self, group: &TagGroup, tag: &Tag) -> Option<bool> {
        if group.is_read_only() {
            return None;
        }
        self.tags.iter().rev().find_map(|operation| match operation {
            TagOperation::Set(sets) => sets.get(group).map(|tags| tags.contains(tag)),
            TagOperation::Edit { add, remove } => {
                let names = |sets: &TagSets| sets.get(group).is_some_and(|tags| tags.contains(tag));
                if names(add) { Some(true) } else { names(remove).then_some(false) }
            }
        })
    }
}

/// One of the libraries sends one change, another several.
fn tag_overrides(at: &At<'_>) -> Option<Vec<TagOperation>> {
    let several =
        at.one_or_many(0..=limits::SUBSCRIPTIONS_PER_REQUEST, |at| TagOperation::read_several(&mut at.object()?));
    Some(several?.into_vec().into_iter().flatten().collect())
}

fn attribute_overrides(at: &At<'_>) -> Option<Vec<AttributeOperation>> {
    match at.json() {
        Json::Array(items) if items.is_empty() => Some(Vec::new()),
        _ => attribute::operations(at),
    }
}

/// What the device says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
#[body(not_printed, ignored = ["app_version", "notification_opt_in"])]
pub struct DeviceState {
    #[body(nullable)]
    pub sdk_version: Option<String>,
    #[body(nullable)]
    pub locale_language: Option<String>,
    #[body(nullable)]
    pub locale_country: Option<String>,
}

/// A device that asks whether it may show a message.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct AudienceCheck {
    pub channel_id: ChannelId,
    pub contact_id: Option<ContactId>,
    #[body(nullable)]
    pub named_user_id: Option<String>,
    /// What the message or the configuration of the app gives along: `{"in_app_message_id": …}` or `{"segment_id": …}`.
    pub context: Option<Value>,
}
