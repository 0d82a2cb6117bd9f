//! Custom events that servers send.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use devices::{ChangeContext, NewEvent};
use model::custom_event::{About, CustomEvent};
use model::event::{AssociatedPush, AttributedCustom, Custom, Event};
use model::ids::{AppId, ChannelId, EventId, Id, OperationId};
use model::json::OneOrMany;
use model::problem::Problems;
use model::time::UtcMillis;
use sending::Recent;
use store::channels::Holder;
use store::{Tx, named_users};
use tenancy::IdempotencyKey;
use uuid::Uuid;

use super::attribution::{Attribution, Due};
use super::counts::count_custom;
use super::seen::{Identity, Seen, Sender, own_time};
use super::{LATEST, OLDEST};
use crate::Events;

/// How much one request may add to the log. The events of a user with many channels are written many times.
const MOST_RECORDED_BYTES: usize = 16 * 1024 * 1024;
const TOO_MUCH: &str =
    "Written for each channel of the named users, these events are more than 16 MiB; send fewer of them at once.";

/// What belongs to events and is written before them, in the same transaction. Says which of the events are taken in.
pub type WithEvents = Arc<dyn Fn(&mut Tx<'_>) -> Result<Chosen> + Send + Sync>;

/// Some of the events of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    All,
    /// Those about some channels.
    About(BTreeSet<ChannelId>),
}

/// An event with the id and the time that it gets.
struct Dated {
    id: EventId,
    at: UtcMillis,
    /// By which repeats are recognized; only of events with an id of their own.
    identity: Option<Identity>,
    custom: CustomEvent,
}

#[boxed]
impl Events {
    /// Takes in events of servers: all of them or, if one cannot be used, none. An event about a named user is written to the log
    /// once for each of the user's channels, and counts once.
    pub async fn take_custom_events(
        &self,
        app: AppId,
        events: OneOrMany<CustomEvent>,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        self.take_custom_events_with(app, events, idempotency_key, Arc::new(|_| Ok(Chosen::All))).await
    }

    /// As [`Events::take_custom_events`], with something that is written in the same transaction and chooses among the events.
    pub async fn take_custom_events_with(
        &self,
        app: AppId,
        events: OneOrMany<CustomEvent>,
        idempotency_key: Option<IdempotencyKey>,
        with: WithEvents,
    ) -> Result<OperationId> {
        let now = self.0.clock.now();
        refuse_old(&events, now)?;
        let dated: Vec<Dated> = events.into_vec().into_iter().map(|custom| Dated::new(custom, now)).collect();
        let operation = OperationId::at(now);
        let index = self.0.index.get(app).await?;
        let recent = self.0.sending.recent_deliveries(app).await?;
        self.0
            .tenancy
            .write_once(app, idempotency_key, move |tx| {
                let mut context = ChangeContext::new(app, &index, now);
                let chosen = with(tx)?;
                let chosen: Vec<&Dated> = dated.iter().filter(|event| chosen.has(&event.custom)).collect();
                let identities = chosen.iter().filter_map(|event| event.identity.as_ref());
                let mut seen = Seen::before(tx, app, Sender::Server, identities)?;
                for event in chosen {
                    take(tx, &mut context, &recent, &mut seen, event)?;
                    if context.journal.n_bytes() > MOST_RECORDED_BYTES {
                        return Err(Error::invalid("", TOO_MUCH));
                    }
                }
                seen.write(tx, app)?;
                context.journal.write(tx, app)?;
                Ok(operation)
            })
            .await
    }
}

fn refuse_old(events: &OneOrMany<CustomEvent>, now: UtcMillis) -> Result<()> {
    let is_old = |event: &CustomEvent| event.occurred.is_some_and(|occurred| occurred < now.minus(OLDEST));
    let Some(index) = events.as_slice().iter().position(is_old) else { return Ok(()) };
    let path = match events {
        OneOrMany::One(_) => "occurred".to_owned(),
        OneOrMany::Many(_) => format!("[{index}].occurred"),
    };
    Err(Error::Invalid(Problems::one(path, "Events that happened more than 90 days ago are not taken.")))
}

impl Chosen {
    fn has(&self, event: &CustomEvent) -> bool {
        match (self, &event.about) {
            (Chosen::All, _) => true,
            (Chosen::About(channels), About::Channel(channel)) => channels.contains(&channel.id),
            (Chosen::About(_), About::NamedUser(_)) => false,
        }
    }
}

impl Dated {
    fn new(custom: CustomEvent, now: UtcMillis) -> Self {
        let at = custom.occurred.filter(|occurred| *occurred <= now.plus(LATEST)).unwrap_or(now);
        let id = match &custom.unique_id {
            None => EventId::at(now),
            Some(unique) => {
                let about = match &custom.about {
                    About::Channel(channel) => channel.id.to_string(),
                    About::NamedUser(user) => format!("user:{}", user.as_str()),
                };
                Id::from_uuid(Uuid::new_v5(&Uuid::nil(), format!("{about}\n{unique}").as_bytes()))
            }
        };
        let identity = custom.unique_id.is_some().then(|| match own_time(custom.occurred, now) {
            Some(occurred) => Identity::with_time(id, occurred),
            None => Identity::of_server(id, at),
        });
        Self { id, at, identity, custom }
    }
}

fn take(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    recent: &Recent,
    seen: &mut Seen,
    dated: &Dated,
) -> Result<()> {
    let Dated { id, at, identity, custom } = dated;
    if identity.as_ref().is_some_and(|identity| seen.has(identity)) {
        return Ok(());
    }
    let (channels, customer_id) = match &custom.about {
        About::Channel(channel) => {
            let found = context.meant(tx, std::slice::from_ref(channel))?.installed;
            if found.is_empty() {
                return Ok(());
            }
            (found, None)
        }
        About::NamedUser(user) => {
            let mut channels = named_users::channels_of(tx, context.app, user)?;
            channels.retain(|channel| channel.installed);
            let channels = channels.into_iter().map(Holder::from).collect();
            (channels, Some(user.as_str().to_owned()))
        }
    };
    // Not before its channel is found: an event that came too early can be sent again.
    if let Some(identity) = identity {
        seen.add(identity);
    }
    let body = Custom { customer_id, ..custom.event.clone() };
    let mut due = Due::default();
    for channel in &channels {
        let now = context.journal.now();
        let attribution = Attribution::new(context.app, channel.ordinal, channel.id, &channel.device_type, recent, now);
        let last_delivered = attribution.last_delivered(*at);
        due.last_delivered = due.last_delivered.or_else(|| last_delivered.clone());
        let id = match &custom.about {
            About::Channel(_) => *id,
            About::NamedUser(_) => id.on(channel.id),
        };
        record(context, Some(channel), id, *at, &body, last_delivered.as_ref())?;
    }
    if channels.is_empty() {
        record(context, None, *id, *at, &body, None)?;
    }
    count_custom(tx, context.app, &body.name, *at, &due, body.value)
}

fn record(
    context: &mut ChangeContext<'_>,
    channel: Option<&Holder>,
    id: EventId,
    occurred: UtcMillis,
    event: &Custom,
    last_delivered: Option<&AssociatedPush>,
) -> Result<()> {
    let body = NewEvent::Custom(AttributedCustom { event, last_delivered, triggering_push: None });
    let event = Event { id, occurred, body };
    context.journal.event_from_outside(channel.map(|channel| channel.ordinal), &event)
}
