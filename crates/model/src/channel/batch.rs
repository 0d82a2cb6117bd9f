//! What a device changes about its own channel in one request.

use super::TagOperation;
use crate::attribute::{self, AttributeOperation};
use crate::json::{At, Fields, Json};
use crate::subscription::{self, SubscriptionOperation};

/// Each part may be empty.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelBatch {
    /// Carried out in their order.
    pub tags: Vec<TagOperation>,
    pub attributes: Vec<AttributeOperation>,
    pub subscriptions: Vec<SubscriptionOperation>,
}

impl ChannelBatch {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let tags = fields.nullable("tags", |at| {
            let mut fields = at.object()?;
            let operations = TagOperation::read_several(&mut fields);
            fields.finish();
            operations
        });
        let attributes = given(&mut fields, "attributes").and_then(|at| attribute::operations(&at));
        let subscriptions = given(&mut fields, "subscription_lists").and_then(|at| subscription::operations(&at));
        // Devices tell here which live activities they show. Nothing depends on it yet.
        for key in ["live_activities", "live_updates"] {
            fields.nullable(key, |at| at.items(0..=usize::MAX));
        }
        fields.finish();
        Some(Self {
            tags: tags.unwrap_or_default(),
            attributes: attributes.unwrap_or_default(),
            subscriptions: subscriptions.unwrap_or_default(),
        })
    }
}

/// What is under a key, unless that is nothing.
fn given<'a>(fields: &mut Fields<'a>, key: &str) -> Option<At<'a>> {
    fields.take(key).filter(|at| !at.is_null() && !matches!(at.json(), Json::Array(items) if items.is_empty()))
}
