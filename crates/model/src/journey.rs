//! Journeys that servers let people enter and leave. To the rest of the service they are custom events, by which pipelines are
//! triggered and canceled.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::channel::name_text;
use crate::event::{Custom, CustomSource};
use crate::ids::{EntranceId, Id, JourneyId};
use crate::json::body::Body;
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::payload::parse_global_attributes;
use crate::selector::{Audience, Purpose};

/// The name of the event of a channel that enters a journey.
pub const ENTERED: &str = "journey_entered";
/// The name of the event of a channel that leaves one.
pub const EXITED: &str = "journey_exited";

/// The properties of both that are not values of the server.
pub const OWN_PROPERTIES: [&str; 2] = [TRIGGERING_ID, ENTRANCE_ID];

const TRIGGERING_ID: &str = "triggering_id";
const ENTRANCE_ID: &str = "entrance_id";

/// Lets an audience enter journeys.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, check = JourneyTrigger::checked)]
pub struct JourneyTrigger {
    /// Which channels enter.
    #[body(read = |at| Audience::parse(at, Purpose::Send))]
    pub audience: Audience,
    /// The journeys, by the names that pipelines wait for.
    #[body(read = triggering_ids)]
    pub triggering_id: OneOrMany<String>,
    /// Tells several entrances of the same journey apart, so that each can be left alone.
    #[body(length = 1..=limits::JOURNEY_ENTRANCE_CHARS, read = entrance_id, nullable)]
    pub entrance_id: Option<String>,
    /// Values for the texts of what the journeys send.
    #[body(read = event_values, nullable, default)]
    pub global_attributes: BTreeMap<String, Value>,
}

/// Lets everybody who has entered journeys leave them.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct JourneyExit {
    /// The journeys.
    #[body(read = triggering_ids)]
    pub triggering_id: OneOrMany<String>,
    /// The entrance. Without it only channels that entered without one leave.
    #[body(length = 1..=limits::JOURNEY_ENTRANCE_CHARS, read = entrance_id, nullable)]
    pub entrance_id: Option<String>,
}

/// One of the journeys of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrance {
    pub journey: String,
    pub entrance: Option<String>,
}

/// An entrance and its journey, by ids that follow from their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntranceIds {
    pub journey: JourneyId,
    pub entrance: EntranceId,
}

/// What a custom event does to its channel in a journey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    Enters(EntranceIds),
    Leaves(EntranceIds),
}

impl Movement {
    /// `None` if the event is about no journey.
    pub fn of(event: &Custom) -> Option<Self> {
        let movement: fn(EntranceIds) -> Self = match event.name.as_str() {
            ENTERED => Self::Enters,
            EXITED => Self::Leaves,
            _ => return None,
        };
        let text = |key: &str| event.properties.get(key).and_then(Value::as_str).map(str::to_owned);
        let entrance = Entrance { journey: text(TRIGGERING_ID)?, entrance: text(ENTRANCE_ID) };
        Some(movement(entrance.ids()))
    }
}

impl JourneyTrigger {
    /// The values become properties of events, which have a limit.
    fn checked(self, at: &At<'_>) -> Option<Self> {
        let n_bytes = serde_json::to_vec(&self.global_attributes).map_or(usize::MAX, |text| text.len());
        let most = limits::EVENT_PROPERTIES_BYTES;
        if n_bytes > most {
            let message = format!("The values have at most {most} bytes; these have {n_bytes}.");
            return at.invalid_key("global_attributes", message);
        }
        Some(self)
    }

    pub fn entrances(&self) -> Vec<Entrance> {
        entrances(&self.triggering_id, self.entrance_id.as_ref())
    }
}

impl JourneyExit {
    pub fn entrances(&self) -> Vec<Entrance> {
        entrances(&self.triggering_id, self.entrance_id.as_ref())
    }
}

impl Entrance {
    /// Follows from the names.
    pub fn id(&self) -> EntranceId {
        match &self.entrance {
            Some(entrance) => id_of(&format!("{}\n{entrance}", self.journey)),
            None => id_of(&self.journey),
        }
    }

    fn ids(&self) -> EntranceIds {
        EntranceIds { journey: id_of(&self.journey), entrance: self.id() }
    }

    /// What happens to a channel that enters with some values.
    pub fn entered(&self, values: &BTreeMap<String, Value>) -> Custom {
        self.event(ENTERED, values)
    }

    /// What happens to a channel that leaves.
    pub fn exited(&self) -> Custom {
        self.event(EXITED, &BTreeMap::new())
    }

    fn event(&self, name: &str, values: &BTreeMap<String, Value>) -> Custom {
        let mut properties: Map<String, Value> =
            values.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        properties.insert(TRIGGERING_ID.to_owned(), Value::from(self.journey.as_str()));
        properties.extend(self.entrance.as_ref().map(|id| (ENTRANCE_ID.to_owned(), Value::from(id.as_str()))));
        Custom {
            name: name.to_owned(),
            source: CustomSource::Api,
            session_id: None,
            value: None,
            transaction: None,
            interaction_id: None,
            interaction_type: None,
            customer_id: None,
            properties,
            last_delivered: None,
            triggering_push: None,
        }
    }
}

impl EntranceIds {
    /// Whether leaving by this entrance ends what `began` has begun. It ends everything but what other entrances of its journey
    /// have begun.
    pub fn ends(self, began: EntranceIds) -> bool {
        self.journey != began.journey || self.entrance == began.entrance
    }
}

fn id_of<Kind>(text: &str) -> Id<Kind> {
    Id::from_uuid(Uuid::new_v5(&Uuid::nil(), text.as_bytes()))
}

fn entrances(journeys: &OneOrMany<String>, entrance: Option<&String>) -> Vec<Entrance> {
    let of = |journey: &String| Entrance { journey: journey.clone(), entrance: entrance.cloned() };
    journeys.as_slice().iter().map(of).collect()
}

fn triggering_ids(at: &At<'_>) -> Option<OneOrMany<String>> {
    at.one_or_many(1..=limits::JOURNEYS_PER_REQUEST, |at| name_text(at, limits::JOURNEY_NAME_CHARS))
}

/// A value cannot take the place of what says which entrance an event is about: who entered could not leave as the request says.
fn event_values(at: &At<'_>) -> Option<BTreeMap<String, Value>> {
    let values = parse_global_attributes(at)?;
    for name in OWN_PROPERTIES.into_iter().filter(|name| values.contains_key(*name)) {
        let message = format!("The events have '{name}' from the request itself; a value must have another name.");
        at.invalid_key::<()>(name, message);
    }
    Some(values)
}

fn entrance_id(at: &At<'_>) -> Option<String> {
    name_text(at, limits::JOURNEY_ENTRANCE_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<JourneyTrigger, Vec<String>> {
        let read = parse(body.to_string().as_bytes(), JourneyTrigger::parse);
        read.map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect())
    }

    #[test]
    fn a_channel_enters_each_journey_with_the_values() {
        let body = json!({"audience": {"tag": "new"}, "triggering_id": ["a", "b"], "entrance_id": "e",
                          "global_attributes": {"n": 1}});
        let trigger = read(&body).unwrap();
        let [a, b] = &trigger.entrances()[..] else { panic!("two journeys") };
        let event = a.entered(&trigger.global_attributes);
        assert_eq!(json!(event.properties), json!({"triggering_id": "a", "entrance_id": "e", "n": 1}));
        assert_eq!((event.name.as_str(), b.exited().name.as_str()), (ENTERED, EXITED));
        assert_eq!(Movement::of(&event), Some(Movement::Enters(a.ids())));
        assert_eq!(Movement::of(&b.exited()), Some(Movement::Leaves(b.ids())));
        let nowhere = Custom { properties: Map::new(), ..event };
        assert_eq!(Movement::of(&nowhere), None, "it says of no journey");
        assert_eq!(Movement::of(&Custom { name: "bought".to_owned(), ..b.exited() }), None);
        let alone = Entrance { journey: "a".to_owned(), entrance: None };
        assert!(a.id() != b.id() && a.id() != alone.id(), "entrances are told apart");
        let ends = |left: &Entrance, began: &Entrance| left.ids().ends(began.ids());
        assert!(ends(a, a) && ends(&alone, &alone));
        assert!(!ends(a, &alone) && !ends(&alone, a), "another entrance of the same journey goes on");
        assert!(ends(a, b) && ends(&alone, b), "what another journey has begun does not");
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let long = "x".repeat(257);
        let many: Vec<String> = (0..11).map(|n| n.to_string()).collect();
        for (body, paths) in [
            (json!({}), vec!["audience", "triggering_id"]),
            (json!({"audience": "all", "triggering_id": []}), vec!["triggering_id"]),
            (json!({"audience": "all", "triggering_id": many}), vec!["triggering_id"]),
            (
                json!({"audience": "all", "triggering_id": [long], "entrance_id": ""}),
                vec!["triggering_id[0]", "entrance_id"],
            ),
            (
                json!({"audience": "all", "triggering_id": "a", "global_attributes": {"ua_x": 1}}),
                vec!["global_attributes.ua_x"],
            ),
            (
                json!({"audience": "all", "triggering_id": "a",
                       "global_attributes": {"entrance_id": "e", "item": 1, "triggering_id": "b"}}),
                vec!["global_attributes.triggering_id", "global_attributes.entrance_id"],
            ),
            (
                json!({"audience": "all", "triggering_id": "a",
                       "global_attributes": {"a": "x".repeat(limits::EVENT_PROPERTIES_BYTES)}}),
                vec!["global_attributes"],
            ),
        ] {
            assert_eq!(read(&body).unwrap_err(), paths, "{body}");
        }
    }
}
