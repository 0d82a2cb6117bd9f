//! Custom events that servers send.

use std::collections::HashSet;

use model::custom_event::{About, CustomEvent};
use model::event::{Custom, Event};
use model::ids::{AppId, EventId, Id, OperationId};
use model::json::OneOrMany;
use model::problem::Problems;
use model::time::UtcMillis;
use store::channels::Holder;
use store::counters::hour;
use store::{Tx, named_users, seen_events};
use uuid::Uuid;

use super::attribution::{Attribution, Due};
use super::counts::count_custom;
use super::{LATEST, OLDEST};
use crate::change_context::ChangeContext;
use crate::journal::NewEvent;
use crate::recent::Recent;
use crate::{Engine, Error, IdempotencyKey, Result};

/// How long an event without a time of its own is recognized.
const REPEATED_HOURS: i64 = 24;

/// How much one request may add to the log. The events of a user with many channels are written many times.
const MOST_RECORDED_BYTES: usize = 16 * 1024 * 1024;
const TOO_MUCH: &str =
    "Written for each channel of the named users, these events are more than 16 MiB; send fewer of them at once.";

/// An event with the id and the time that it gets.
struct Dated {
    id: EventId,
    at: UtcMillis,
    custom: CustomEvent,
}

impl Engine {
    /// Takes in events of servers: all of them or, if one cannot be used, none. An event about a named user is written to the log
    /// once for each of the user's channels, and counts once.
    pub async fn take_custom_events(
        &self,
        app: AppId,
        events: OneOrMany<CustomEvent>,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        let now = self.clock().now();
        refuse_old(&events, now)?;
        let dated: Vec<Dated> = events.into_vec().into_iter().map(|custom| Dated::new(custom, now)).collect();
        let operation = OperationId::at(now);
        let index = self.index(app).await?;
        let recent = self.recent_deliveries(app).await?;
        self.write_once(app, idempotency_key, move |tx| {
            let mut context = ChangeContext::new(app, &index, now);
            let mut seen = Seen::before(tx, app, &dated)?;
            for event in &dated {
                take(tx, &mut context, &recent, &mut seen, event)?;
                if context.journal.n_bytes() > MOST_RECORDED_BYTES {
                    return Err(Error::invalid("", TOO_MUCH));
                }
            }
            seen_events::add(tx, app, &seen.new)?;
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
        Self { id, at, custom }
    }

    /// Where the event is if it was taken before; only events with an id of their own are remembered. An event with a time is in
    /// the same hour whenever it is sent. One without is where it first came in.
    fn possible_keys(&self) -> impl Iterator<Item = (i64, EventId)> {
        let hours_back = if self.custom.occurred.is_some() { 0 } else { REPEATED_HOURS };
        let (last, id) = (hour(self.at), self.id);
        let hours = self.custom.unique_id.is_some().then_some(last - hours_back..=last);
        hours.into_iter().flatten().map(move |hour| (hour, id))
    }
}

/// The events of a request that are known: from earlier requests, or from further up in this one.
struct Seen {
    known: HashSet<(i64, EventId)>,
    new: Vec<(i64, EventId)>,
}

impl Seen {
    fn before(tx: &mut Tx<'_>, app: AppId, events: &[Dated]) -> Result<Self> {
        let keys: Vec<_> = events.iter().flat_map(Dated::possible_keys).collect();
        Ok(Self { known: seen_events::known(tx, app, &keys)?, new: Vec::new() })
    }

    fn has(&self, event: &Dated) -> bool {
        event.possible_keys().any(|key| self.known.contains(&key))
    }

    fn add(&mut self, event: &Dated) {
        if event.custom.unique_id.is_some() {
            let key = (hour(event.at), event.id);
            self.known.insert(key);
            self.new.push(key);
        }
    }
}

fn take(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    recent: &Recent,
    seen: &mut Seen,
    dated: &Dated,
) -> Result<()> {
    let Dated { id, at, custom } = dated;
    if seen.has(dated) {
        return Ok(());
    }
    let (channels, customer_id) = match &custom.about {
        About::Channel(channel) => {
            let found = context.installed(tx, std::slice::from_ref(channel))?;
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
    seen.add(dated);
    let body = Custom { customer_id, ..custom.event.clone() };
    let mut due = Due::default();
    for channel in &channels {
        let last_delivered = Attribution::new(context.app, channel.ordinal, channel.id, recent).last_delivered(*at);
        due.last_delivered = due.last_delivered.or_else(|| last_delivered.clone());
        let id = match &custom.about {
            About::Channel(_) => *id,
            About::NamedUser(_) => id.on(channel.id),
        };
        record(context, Some(channel), id, *at, Custom { last_delivered, ..body.clone() })?;
    }
    if channels.is_empty() {
        record(context, None, *id, *at, body.clone())?;
    }
    count_custom(tx, context.app, &body.name, *at, &due, body.value)
}

fn record(
    context: &mut ChangeContext<'_>,
    channel: Option<&Holder>,
    id: EventId,
    occurred: UtcMillis,
    body: Custom,
) -> Result<()> {
    let event = Event { id, occurred, body: NewEvent::Custom(body) };
    context.journal.event_from_outside(channel.map(|channel| channel.ordinal), &event)
}
