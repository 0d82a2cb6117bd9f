//! What servers say about contacts, several of which may be named in one request.

use crate::attribute::{self, AttributeOperation};
use crate::channel::{ChannelRef, TagOperation};
use crate::contact::ContactUpdate;
use crate::ids::ContactId;
use crate::json::body::{Body, Read};
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::subscription::{ScopedOperation, ScopedUpdate, SubscriptionAction, SubscriptionOperation};

/// Makes a channel belong to a contact.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ContactAssociation {
    pub contact_id: ContactId,
    #[body(flatten, take = ChannelRef::read)]
    pub channel: ChannelRef,
}

/// A change of the tags of contacts.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ContactTagging {
    #[body(read = |at| ContactAudience::parse(at).map(|audience| audience.0), like = ContactAudience)]
    pub audience: Vec<ContactId>,
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
    pub audience: Vec<ContactId>,
    #[body(
        rename = "attributes",
        read = attribute::operations,
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
        read = |at| Some(at.one_or_many(1..=limits::IDS_PER_AUDIENCE, ContactId::parse)?.into_vec()),
        length = 1..=limits::IDS_PER_AUDIENCE,
        like = OneOrMany<ContactId>
    )]
    Vec<ContactId>,
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

impl From<ScopedUpdate> for ContactUpdate {
    fn from(ScopedUpdate(changes): ScopedUpdate) -> Self {
        let mut subscriptions = Vec::new();
        for change in changes {
            let unsubscribed = change.unsubscribe.into_iter().map(|list| (SubscriptionAction::Unsubscribe, list));
            let subscribed = change.subscribe.into_iter().map(|list| (SubscriptionAction::Subscribe, list));
            for (action, list_id) in unsubscribed.chain(subscribed) {
                let operation = SubscriptionOperation { action, list_id, timestamp: None };
                let scoped = |scope| ScopedOperation { operation: operation.clone(), scope };
                subscriptions.extend(change.scopes.iter().copied().map(scoped));
            }
        }
        Self { subscriptions, ..Self::default() }
    }
}
