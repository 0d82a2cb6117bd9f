//! What a named user holds itself, as a server imports it.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes;
use crate::attribute::{AttributeKey, AttributeValue};
use crate::channel::TagSets;
use crate::channel::tag_operation::held_tags;
use crate::ids::NamedUserId;
use crate::json::At;
use crate::limits;
use crate::subscription::{Scope, ScopedSubscriptions, SubscriptionListId};

/// A named user, who is created if necessary. Keys that are not given leave it as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedUser {
    pub id: NamedUserId,
    /// They replace the tags of their groups.
    pub tags: TagSets,
    /// They replace those of the same names.
    pub attributes: BTreeMap<AttributeKey, AttributeValue>,
    /// They come to those that there are.
    pub subscriptions: ScopedSubscriptions,
}

impl ImportedUser {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let id = fields.required("named_user_id", NamedUserId::parse);
        let tags = fields.nullable("tags", held_tags);
        let attributes = fields.nullable("attributes", attributes);
        let subscriptions = fields
            .nullable("subscription_lists", |at| at.array(0..=limits::SUBSCRIPTIONS_PER_OWNER, subscriptions_of_scope));
        fields.finish();
        let mut scoped = ScopedSubscriptions::new();
        for (scope, lists) in subscriptions.into_iter().flatten() {
            scoped.entry(scope).or_default().extend(lists);
        }
        Some(Self {
            id: id?,
            tags: tags.unwrap_or_default(),
            attributes: attributes.unwrap_or_default(),
            subscriptions: scoped,
        })
    }
}

/// As lookups show them.
fn subscriptions_of_scope(at: &At<'_>) -> Option<(Scope, BTreeSet<SubscriptionListId>)> {
    let mut fields = at.object()?;
    let scope = fields.required("scope", Scope::parse);
    let lists =
        fields.required("list_ids", |at| at.array(0..=limits::SUBSCRIPTIONS_PER_OWNER, SubscriptionListId::parse));
    fields.finish();
    Some((scope?, lists?.into_iter().collect()))
}
