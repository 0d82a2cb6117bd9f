//! The bodies of events that are not stored as customers see them, and the pushes that the others mention.

use ::devices::ContactKey;
use base::{Error, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use model::event::{
    Campaign, ContactChange, Event, EventUser, MessageContext, PushBody, PushResource, Rejection, SharedPush,
};
use model::ids::{ContactId, EventId, ExperimentId, NamedUserId, PushId};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::gather::{ManyShape, Rest, Shared};

/// A stored event whose body passes through unread.
#[derive(Deserialize)]
pub(super) struct Stored<'a> {
    pub(super) id: EventId,
    pub(super) occurred: UtcMillis,
    #[serde(borrow)]
    pub(super) body: &'a RawValue,
}

#[derive(Serialize)]
struct Send<'a> {
    #[serde(flatten)]
    push: PushRef<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant_id: Option<u32>,
    alerting: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Context>,
}

#[derive(Serialize)]
struct Control<'a> {
    #[serde(flatten)]
    push: PushRef<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment_id: Option<ExperimentId>,
}

#[derive(Serialize)]
struct RichDelivery<'a> {
    #[serde(flatten)]
    push: PushRef<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant_id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<MessageContext>,
}

#[derive(Serialize)]
struct SendRejected<'a> {
    #[serde(flatten)]
    push: PushRef<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant_id: Option<u32>,
    #[serde(flatten)]
    rejection: Option<&'a Rejection>,
}

#[derive(Serialize)]
struct PushRef<'a> {
    push_id: PushId,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaigns: Option<Categories<'a>>,
}

#[derive(Serialize)]
struct Categories<'a> {
    categories: &'a [String],
}

/// Why an automated message was sent.
#[derive(Serialize)]
struct Context {
    triggered_by: &'static str,
    event_uuid: EventId,
}

#[derive(Serialize)]
struct PublicPushBody<'a> {
    push_id: PushId,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaigns: Option<&'a Campaign>,
    resource: PushResource,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
    /// Whether there is more to the payload than the event has.
    trimmed: bool,
}

#[derive(Serialize)]
struct PublicContactChange {
    #[serde(flatten)]
    change: ContactChange,
    contact_id: ContactId,
}

/// The body of all events of a record about many channels, or of those that are due to a custom event.
pub(super) fn of_many(Shared { shape, many, rest }: &Shared, cause: Option<EventId>) -> Result<Vec<u8>> {
    let shared = &many.push;
    let push = PushRef {
        push_id: shared.push_id,
        group_id: shared.group_id,
        campaigns: (!shared.categories.is_empty()).then_some(Categories { categories: &shared.categories }),
    };
    let body = match shape {
        ManyShape::Control => serde_json::to_vec(&Control { push, experiment_id: shared.experiment_id }),
        ManyShape::RichDelivery => {
            let context = match rest {
                Rest::Extra(extra) => MessageContext::of(extra.clone()),
                Rest::Nothing | Rest::Rejection(_) => None,
            };
            serde_json::to_vec(&RichDelivery { push, variant_id: shared.variant_id, context })
        }
        ManyShape::SendRejected => {
            let rejection = match rest {
                Rest::Rejection(rejection) => Some(rejection),
                Rest::Nothing | Rest::Extra(_) => None,
            };
            serde_json::to_vec(&SendRejected { push, variant_id: shared.variant_id, rejection })
        }
        ManyShape::Send => {
            let context = cause.map(|event_uuid| Context { triggered_by: "custom_event", event_uuid });
            serde_json::to_vec(&Send { push, variant_id: shared.variant_id, alerting: many.alerting, context })
        }
    };
    body.map_err(Error::internal)
}

/// The body of a PUSH_BODY event, whose payload is text in the log.
pub(super) fn of_push(stored: &RawValue) -> Result<Vec<u8>> {
    let push: PushBody = serde_json::from_str(stored.get()).map_err(Error::internal)?;
    let body = PublicPushBody {
        push_id: push.push_id,
        group_id: push.group_id,
        campaigns: push.campaigns.as_ref(),
        resource: push.resource,
        trimmed: push.payload.is_none(),
        payload: push.payload.map(|payload| BASE64_STANDARD.encode(payload)),
    };
    serde_json::to_vec(&body).map_err(Error::internal)
}

/// The body of a CONTACT_CHANGE event.
pub(super) fn of_contact(contact_key: &ContactKey, stored: &RawValue) -> Result<Vec<u8>> {
    let change: ContactChange = serde_json::from_str(stored.get()).map_err(Error::internal)?;
    let contact_id = contact_key.contact_of(&change.named_user_id);
    serde_json::to_vec(&PublicContactChange { change, contact_id }).map_err(Error::internal)
}

/// The user of a custom event that is about no channel.
pub(super) fn of_customer(contact_key: &ContactKey, stored: &RawValue) -> Result<Option<Vec<u8>>> {
    #[derive(Deserialize)]
    struct Customer {
        customer_id: Option<String>,
    }
    let Customer { customer_id } = serde_json::from_str(stored.get()).map_err(Error::internal)?;
    let user = customer_id.and_then(|user| NamedUserId::new(&user).ok());
    let written = |user| serde_json::to_vec(&EventUser::named(contact_key.contact_of(&user), &user));
    user.map(|user| written(user).map_err(Error::internal)).transpose()
}

pub(super) fn pushes_of(push: &SharedPush) -> impl Iterator<Item = Uuid> {
    [Some(push.push_id.uuid()), push.group_id].into_iter().flatten()
}

/// When a stored event happened.
pub(super) fn occurred(stored: &[u8]) -> Result<UtcMillis> {
    let stored: Stored<'_> = serde_json::from_slice(stored).map_err(Error::internal)?;
    Ok(stored.occurred)
}

/// The pushes that a stored event names.
pub(super) fn mentioned_pushes(stored: &[u8]) -> Result<Vec<Uuid>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Named {
        push_id: Option<Uuid>,
        group_id: Option<Uuid>,
    }
    #[derive(Deserialize)]
    struct Mentions {
        #[serde(flatten)]
        own: Named,
        #[serde(default)]
        triggering_push: Named,
        #[serde(default)]
        last_delivered: Named,
    }
    let event: Event<Mentions> = serde_json::from_slice(stored).map_err(Error::internal)?;
    let Mentions { own, triggering_push, last_delivered } = event.body;
    let named = [own, triggering_push, last_delivered];
    Ok(named.iter().flat_map(|named| [named.push_id, named.group_id]).flatten().collect())
}
