//! The events that trigger a pipeline, or remove a channel from the waiting ones.
//!
//! ```text
//! triggers   = trigger | [trigger, ...]            one of them is enough
//! trigger    = "open" | "first_open" | "first_opt_in" | "region_entered" | "region_exited"
//!            | {"tag_added": TAG, "group"?: GROUP} | {"tag_added": {"tag": TAG, "group"?: GROUP}}   also tag_removed
//!            | {"subscription_added": LIST}                                                 also subscription_removed
//!            | {"custom_event": event selector}
//!            | {"region_entered": event selector}                                                 also region_exited
//! ```
//!
//! An object may also have `id`, `condition`, `activation_time` and `deactivation_time`.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

use super::condition::{self, Condition, Place};
use super::event_selector::{EventSelector, Vocabulary};
use super::{Period, instant};
use crate::channel::name_text;
use crate::event::RegionAction;
use crate::json::{At, Fields, Json};
use crate::limits;
use crate::property::selected_tag;
use crate::subscription::SubscriptionListId;
use crate::tag::{Tag, TagGroup};
use crate::term::Term;
use crate::time;

#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    pub happening: Happening,
    /// All of them have to hold when it happens.
    pub conditions: Vec<Condition>,
    /// When the trigger is active, within the period of its pipeline.
    pub active: Period,
}

/// Something that can happen to a channel.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    Open,
    FirstOpen,
    /// The channel can be shown notifications for the first time.
    FirstOptIn,
    /// The channel gains a tag, or its named user does.
    TagAdded {
        group: TagGroup,
        tag: Tag,
    },
    TagRemoved {
        group: TagGroup,
        tag: Tag,
    },
    SubscriptionAdded(SubscriptionListId),
    SubscriptionRemoved(SubscriptionListId),
    Custom(EventSelector),
    Region {
        action: RegionAction,
        selector: Option<EventSelector>,
    },
}

/// A channel has not opened the app for this many days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inactivity {
    pub days: u16,
}

/// The purpose of a trigger.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Immediate,
    Cancellation,
}

const KEYS: [&str; 7] = [
    "tag_added",
    "tag_removed",
    "subscription_added",
    "subscription_removed",
    "custom_event",
    "region_entered",
    "region_exited",
];

/// Triggers known elsewhere, and why they are refused here.
const UNSUPPORTED: [(&str, &str); 2] = [
    (
        "double_opt_in",
        "Only email channels confirm that they opt in, and pipelines do not send email; use 'first_opt_in' or a tag.",
    ),
    ("pipeline_event", "Pipelines cannot set off each other in this version; use a tag or a custom event."),
];

impl Trigger {
    pub(super) fn parse_all(at: &At<'_>, role: Role) -> Option<Vec<Self>> {
        Some(at.one_or_many(1..=limits::PIPELINE_TRIGGERS, |at| Self::parse(at, role))?.into_vec())
    }

    fn parse(at: &At<'_>, role: Role) -> Option<Self> {
        if let Json::String(_) = at.json() {
            let happening = parse_word(at, role)?;
            return Some(Self { happening, conditions: Vec::new(), active: Period::default() });
        }
        let mut fields = at.object()?;
        let given: Vec<&str> = KEYS.into_iter().filter(|key| fields.has(key)).collect();
        for (key, why) in UNSUPPORTED {
            if fields.take(key).is_some() {
                return at.invalid_key(key, why);
            }
        }
        let happening = match given.as_slice() {
            [key] => fields.take(key).and_then(|value| parse_happening(key, &value, &mut fields)),
            [] => at.invalid(format!("A trigger must have one of {}.", KEYS.join(", "))),
            [first, second, ..] => at.invalid_key(
                second,
                format!("A trigger has one of '{first}' and '{second}'; an array of triggers means any of them."),
            ),
        };
        fields.nullable("id", |at| name_text(at, limits::PIPELINE_NAME_CHARS));
        let conditions = fields.nullable("condition", |at| Condition::parse_all(at, Place::Trigger));
        let from = fields.nullable("activation_time", instant);
        let until = fields.nullable("deactivation_time", instant);
        fields.finish();
        let active = Period { from, until };
        if !active.is_sound() {
            return at.invalid_key("deactivation_time", "The deactivation must come after the activation.");
        }
        Some(Self { happening: happening?, conditions: conditions.unwrap_or_default(), active })
    }
}

/// One trigger, or several of which any is enough.
pub(super) fn schema(schemas: &mut SchemaGenerator) -> Schema {
    let words = ["open", "first_open", "first_opt_in", "region_entered", "region_exited"];
    let mut keys = json!({
        "group": schemas.subschema_for::<TagGroup>(),
        "id": {"type": ["string", "null"], "maxLength": limits::PIPELINE_NAME_CHARS},
        "condition": condition::schema(schemas),
        "activation_time": time::schema(schemas),
        "deactivation_time": time::schema(schemas),
    });
    for key in KEYS {
        keys[key] = json!({"type": ["string", "object"]});
    }
    let object = json!({"type": "object", "properties": keys, "additionalProperties": false});
    let trigger = json!({"anyOf": [{"type": "string", "enum": words}, object]});
    let most = limits::PIPELINE_TRIGGERS;
    json_schema!({
        "anyOf": [{"type": "null"}, trigger, {"type": "array", "minItems": 1, "maxItems": most, "items": trigger}],
    })
}

pub(super) fn inactivity_schema(_: &mut SchemaGenerator) -> Schema {
    let days = json!({"type": "integer", "minimum": 1, "maximum": limits::PIPELINE_INACTIVE_DAYS});
    let trigger = json!({
        "type": "object",
        "properties": {"event": {"const": "open"}, "equals": {"const": 0}, "days": days},
        "required": ["event", "equals", "days"],
    });
    json_schema!({"anyOf": [{"type": "null"}, trigger, {"type": "array", "minItems": 1, "items": trigger}]})
}

fn parse_word(at: &At<'_>, role: Role) -> Option<Happening> {
    let word = at.string()?;
    if let Some((_, why)) = UNSUPPORTED.into_iter().find(|(unsupported, _)| *unsupported == word) {
        return at.invalid(why);
    }
    let region = |action| Some(Happening::Region { action, selector: None });
    match (word, role) {
        ("open", _) => Some(Happening::Open),
        ("first_open", Role::Immediate) => Some(Happening::FirstOpen),
        ("first_open", Role::Cancellation) => {
            at.invalid("Who opens the app for the first time is not waiting for anything yet; use 'open'.")
        }
        ("first_opt_in", _) => Some(Happening::FirstOptIn),
        ("region_entered", _) => region(RegionAction::Enter),
        ("region_exited", _) => region(RegionAction::Exit),
        _ => at.invalid(format!(
            "'{word}' is not a trigger; use first_open, first_opt_in, open, region_entered, region_exited, or an object \
             with one of {}.",
            KEYS.join(", ")
        )),
    }
}

fn parse_happening(key: &str, at: &At<'_>, fields: &mut Fields<'_>) -> Option<Happening> {
    let region =
        |action| Some(Happening::Region { action, selector: Some(EventSelector::parse(at, Vocabulary::Region)?) });
    match key {
        "tag_added" => parse_tag(at, fields).map(|(group, tag)| Happening::TagAdded { group, tag }),
        "tag_removed" => parse_tag(at, fields).map(|(group, tag)| Happening::TagRemoved { group, tag }),
        "subscription_added" => SubscriptionListId::parse(at).map(Happening::SubscriptionAdded),
        "subscription_removed" => SubscriptionListId::parse(at).map(Happening::SubscriptionRemoved),
        "custom_event" => EventSelector::parse(at, Vocabulary::Custom).map(Happening::Custom),
        "region_entered" => region(RegionAction::Enter),
        "region_exited" => region(RegionAction::Exit),
        _ => None,
    }
}

/// The group is inside or beside.
fn parse_tag(at: &At<'_>, beside: &mut Fields<'_>) -> Option<(TagGroup, Tag)> {
    let group_beside = beside.nullable("group", TagGroup::parse);
    let (tag, group) = match at.json() {
        Json::Object(_) => {
            let mut fields = at.object()?;
            let tag = fields.required("tag", Tag::parse);
            let group = fields.nullable("group", TagGroup::parse);
            fields.finish();
            (tag?, group)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => (Tag::parse(at)?, None),
    };
    if group.is_some() && group_beside.is_some() {
        return at.invalid_key("group", "The group is given beside the tag as well.");
    }
    let group = group.or(group_beside).unwrap_or_else(TagGroup::device);
    Some((group, tag))
}

impl Happening {
    /// Whether this waits for a channel to gain or lose the term.
    pub fn is_change_of(&self, term: &Term, gained: bool) -> bool {
        let is_tag = |group: &TagGroup, tag: &Tag| match term {
            Term::Tag { group: of, tag: held } => of == group && *held == selected_tag(group, tag),
            // The remains of a device tag that was deleted meanwhile.
            Term::Retired { tag: held, .. } => *group == TagGroup::device() && held == tag,
            Term::DeviceType(_)
            | Term::Reach(_)
            | Term::Live(_)
            | Term::DeliveryType(_)
            | Term::List(_)
            | Term::Subscription(_)
            | Term::Day(_)
            | Term::LastPlace(_)
            | Term::OwnClock(_) => false,
        };
        let is_subscription = |list: &SubscriptionListId| match term {
            Term::Subscription(subscription) => subscription.list == *list,
            Term::Tag { .. }
            | Term::Retired { .. }
            | Term::DeviceType(_)
            | Term::Reach(_)
            | Term::Live(_)
            | Term::DeliveryType(_)
            | Term::List(_)
            | Term::Day(_)
            | Term::LastPlace(_)
            | Term::OwnClock(_) => false,
        };
        match self {
            Happening::TagAdded { group, tag } => gained && is_tag(group, tag),
            Happening::TagRemoved { group, tag } => !gained && is_tag(group, tag),
            Happening::SubscriptionAdded(list) => gained && is_subscription(list),
            Happening::SubscriptionRemoved(list) => !gained && is_subscription(list),
            Happening::Open
            | Happening::FirstOpen
            | Happening::FirstOptIn
            | Happening::Custom(_)
            | Happening::Region { .. } => false,
        }
    }
}

impl Inactivity {
    pub(super) fn parse_all(at: &At<'_>) -> Option<Vec<Self>> {
        Some(at.one_or_many(1..=limits::PIPELINE_TRIGGERS, Self::parse)?.into_vec())
    }

    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let event = fields.required("event", |at| at.choice(&[("open", ())]));
        let equals = fields.required("equals", |at| at.integer(0..=0));
        let days = fields.required("days", |at| at.integer(1..=limits::PIPELINE_INACTIVE_DAYS));
        fields.take("creation_time"); // read-only
        fields.finish();
        event.and(equals)?;
        Some(Self { days: u16::try_from(days?).ok()? })
    }
}
