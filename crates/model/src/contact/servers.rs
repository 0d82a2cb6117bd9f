//! What servers say about contacts, several of which may be named in one request.

use std::collections::BTreeSet;

use crate::attribute::{self, AttributeAction, AttributeKey, AttributeOperation};
use crate::channel::{ChannelRef, TagOperation};
use crate::contact::ContactUpdate;
use crate::ids::{ContactId, NamedUserId};
use crate::json::body::{Body, Read};
use crate::json::{At, Fields, OneOrMany};
use crate::limits;
use crate::subscription::{self, ListChanges, Scope, ScopedOperation, SubscriptionAction, SubscriptionOperation};

/// Makes a channel belong to a contact.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ContactAssociation {
    #[body(rename = "contact_id")]
    pub contact: ContactName,
    #[body(flatten, take = ChannelRef::read)]
    pub channel: ChannelRef,
}

/// A contact as a server names it: by its id, or by a name of the server's own, which is that of a named user. Such a name may look
/// like an id.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = NamedUserId::json_schema(schemas))]
pub struct ContactName {
    pub id: Option<ContactId>,
    pub user: NamedUserId,
}

/// A change of the tags of contacts.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ContactTagging {
    #[body(read = |at| ContactAudience::parse(at).map(|audience| audience.0), like = ContactAudience)]
    pub audience: Vec<ContactName>,
    #[body(flatten, take = TagOperation::read)]
    pub operation: TagOperation,
}

/// Changes of the attributes of contacts, one or an array of them.
#[derive(Clone, Debug, PartialEq, Read)]
#[body(schema = OneOrMany::<ContactAttributes>::json_schema(schemas))]
pub struct ContactAttributeChanges(pub Vec<ContactAttributes>);

/// A change of the attributes of contacts.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct ContactAttributes {
    #[body(read = |at| ContactAudience::parse(at).map(|audience| audience.0), like = ContactAudience)]
    pub audience: Vec<ContactName>,
    #[body(
        rename = "attributes",
        read = clear_operations,
        length = 1..=limits::ATTRIBUTES_PER_REQUEST,
        like = OneOrMany<AttributeOperation>
    )]
    pub operations: Vec<AttributeOperation>,
}

#[derive(Body)]
#[body(not_printed)]
struct ContactAudience(
    #[body(
        rename = "contact_id",
        read = |at| Some(at.one_or_many(1..=limits::IDS_PER_AUDIENCE, ContactName::parse)?.into_vec()),
        length = 1..=limits::IDS_PER_AUDIENCE,
        like = OneOrMany<ContactName>
    )]
    Vec<ContactName>,
);

impl ContactAttributeChanges {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        at.one_or_many(1..=limits::CONTACT_CHANGES_PER_REQUEST, ContactAttributes::parse)
            .map(|all| Self(all.into_vec()))
    }
}

impl From<TagOperation> for ContactUpdate {
    fn from(operation: TagOperation) -> Self {
        Self { tags: vec![operation], ..Self::default() }
    }
}

impl From<Vec<AttributeOperation>> for ContactUpdate {
    fn from(attributes: Vec<AttributeOperation>) -> Self {
        Self { attributes, ..Self::default() }
    }
}

/// A change of one contact, for some kinds of its channels, in the order of its parts.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ScopedContactUpdate(
    #[body(
        rename = "scoped",
        read = |at| Some(at.one_or_many(1..=limits::SUBSCRIPTIONS_PER_REQUEST, ScopedContactChange::parse)?.into_vec()),
        length = 1..=limits::SUBSCRIPTIONS_PER_REQUEST,
        like = OneOrMany<ScopedContactChange>
    )]
    pub Vec<ScopedContactChange>,
);

/// Subscriptions for some kinds of channels, and tags, which are the whole contact's.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed, keys = need_change)]
pub struct ScopedContactChange {
    #[body(rename = "scope", read = subscription::scopes, length = 1..=Scope::ALL.len(), like = OneOrMany<Scope>)]
    pub scopes: BTreeSet<Scope>,
    #[body(rename = "subscription_lists")]
    pub lists: Option<ListChanges>,
    #[body(read = tags, nullable, default, like = OneOrMany<TagOperation>)]
    pub tags: Vec<TagOperation>,
}

impl ContactName {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        NamedUserId::new(text).map(Self::from)
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        NamedUserId::parse(at).map(Self::from)
    }
}

impl From<NamedUserId> for ContactName {
    fn from(user: NamedUserId) -> Self {
        Self { id: user.as_str().parse().ok(), user }
    }
}

fn need_change(fields: &Fields<'_>) {
    if !fields.has("subscription_lists") && !fields.has("tags") {
        fields.at().invalid::<()>("One of 'subscription_lists' and 'tags' must be given.");
    }
}

fn tags(at: &At<'_>) -> Option<Vec<TagOperation>> {
    Some(at.one_or_many(1..=limits::SUBSCRIPTIONS_PER_REQUEST, TagOperation::parse)?.into_vec())
}

/// None of them sets what another removes.
fn clear_operations(at: &At<'_>) -> Option<Vec<AttributeOperation>> {
    let operations = attribute::operations(at)?;
    let is_removed = |operation: &AttributeOperation| matches!(operation.action, AttributeAction::Remove);
    let removed: BTreeSet<&AttributeKey> =
        operations.iter().filter(|operation| is_removed(operation)).map(|operation| &operation.key).collect();
    let both = operations.iter().find(|operation| !is_removed(operation) && removed.contains(&operation.key));
    match both {
        Some(both) => at.invalid(format!("The attribute '{}' cannot be set and removed at once.", both.key.as_str())),
        None => Some(operations),
    }
}

impl From<ScopedContactUpdate> for ContactUpdate {
    fn from(ScopedContactUpdate(changes): ScopedContactUpdate) -> Self {
        let (mut subscriptions, mut all_tags) = (Vec::new(), Vec::new());
        for ScopedContactChange { scopes, lists, tags } in changes {
            let ListChanges { subscribe, unsubscribe } = lists.unwrap_or_default();
            let unsubscribed = unsubscribe.into_iter().map(|list| (SubscriptionAction::Unsubscribe, list));
            let subscribed = subscribe.into_iter().map(|list| (SubscriptionAction::Subscribe, list));
            for (action, list_id) in unsubscribed.chain(subscribed) {
                let operation = SubscriptionOperation { action, list_id, timestamp: None };
                let scoped = |scope| ScopedOperation { operation: operation.clone(), scope };
                subscriptions.extend(scopes.iter().copied().map(scoped));
            }
            all_tags.extend(tags);
        }
        Self { subscriptions, tags: all_tags, ..Self::default() }
    }
}
