//! What a record about one channel tells pipelines: when it happened, and which of them wait for it.

use model::event::{Custom, Event, FirstOpen, RecordKind, Region};
use model::ids::EventId;
use model::journey::Movement;
use model::pipeline::{EventSelector, Subject};
use model::time::UtcMillis;
use serde::Deserialize;
use serde::de::IgnoredAny;
use store::log::Record;

use super::watch::{Watch, Wish};

/// A record about one channel.
pub(super) struct Heard {
    pub(super) occurred: UtcMillis,
    /// The custom event, if it was one.
    pub(super) event: Option<EventId>,
    /// What it did to the channel in a journey.
    pub(super) movement: Option<Movement>,
    /// The wishes of the pipelines that wait for it.
    pub(super) wishes: Vec<Wish>,
}

impl Watch {
    /// A record about one channel, and the pipelines that wait for it.
    pub(super) fn hear(&self, record: &Record) -> serde_json::Result<Heard> {
        let (occurred, wishes) = match record.kind {
            RecordKind::Open => (parse::<IgnoredAny>(&record.body)?.occurred, self.opens.clone()),
            RecordKind::FirstOpen => {
                let opted_in = parse::<FirstOpen>(&record.body)?.body.opted_in;
                let first_opt_ins = self.first_opt_ins.iter().filter(|_| opted_in);
                (record.at, self.first_opens.iter().chain(first_opt_ins).copied().collect())
            }
            RecordKind::FirstOptIn => (record.at, self.first_opt_ins.clone()),
            RecordKind::Custom => return self.hear_event(&record.body),
            RecordKind::Region => {
                let event: Event<Region> = parse(&record.body)?;
                let is_meant = |selector: &Option<EventSelector>| {
                    selector.as_ref().is_none_or(|selector| selector.matches(Subject::Region(&event.body)))
                };
                let meant = self.regions.iter();
                let meant = meant.filter(|(action, selector, _)| *action == event.body.action && is_meant(selector));
                (event.occurred, meant.map(|(_, _, wish)| *wish).collect())
            }
            RecordKind::Terms
            | RecordKind::PushBody
            | RecordKind::Send
            | RecordKind::SendRejected
            | RecordKind::Live
            | RecordKind::Uninstall
            | RecordKind::TagChange
            | RecordKind::Control
            | RecordKind::Close
            | RecordKind::RichDelivery
            | RecordKind::RichRead
            | RecordKind::RichDelete
            | RecordKind::Location
            | RecordKind::ScreenViewed
            | RecordKind::InAppMessageDisplay
            | RecordKind::InAppMessageResolution
            | RecordKind::InAppMessageExpiration
            | RecordKind::InApp(_)
            | RecordKind::FlagInteraction
            | RecordKind::AttributeOperation
            | RecordKind::SubscriptionList
            | RecordKind::ContactChange
            | RecordKind::OpenOptIn
            | RecordKind::WebSession
            | RecordKind::WebClick
            | RecordKind::Unrecognized => (record.at, Vec::new()),
        };
        Ok(Heard { occurred, event: None, movement: None, wishes })
    }

    fn hear_event(&self, body: &[u8]) -> serde_json::Result<Heard> {
        let Event { id, occurred, body: Name { name } } = parse(body)?;
        let named = self.named_events.get(&name);
        if named.is_none() && self.other_events.is_empty() {
            return Ok(Heard { occurred, event: None, movement: None, wishes: Vec::new() });
        }
        let event: Event<Custom> = parse(body)?;
        let wanted = named.into_iter().flatten().chain(&self.other_events);
        let wanted = wanted.filter(|(selector, _)| selector.matches(Subject::Custom(&event.body)));
        let wishes = wanted.map(|(_, wish)| *wish).collect();
        Ok(Heard { occurred, event: Some(id), movement: Movement::of(&event.body), wishes })
    }
}

/// The name of a custom event, read only if pipelines wait for events by name.
#[derive(Deserialize)]
struct Name {
    name: String,
}

fn parse<'b, Body: Deserialize<'b>>(body: &'b [u8]) -> serde_json::Result<Event<Body>> {
    serde_json::from_slice(body)
}
