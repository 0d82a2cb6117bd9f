//! Triggers: what has to happen in the app before an in-app message is shown.

use schemars::json_schema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::json::At;
use crate::json::body::Read;
use crate::limits;
use crate::predicate::Predicate;

/// Something that happens in the app, and how often it has to.
// Kept as it was given: devices read it.
#[derive(Clone, Debug, PartialEq, Serialize, Read)]
#[serde(transparent)]
#[body(schema = json_schema!({"type": "object", "required": ["type", "goal"], "properties": {
    "id": {"type": "string"},
    "type": {"type": "string", "enum": types()},
    "goal": {"type": "number"},
    "predicate": {"type": "object"},
    "children": {"type": "array"},
}}))]
pub struct Trigger(Value);

/// Events that libraries of every version count.
const EVENTS: [&str; 11] = [
    "foreground",
    "background",
    "app_init",
    "screen",
    "version",
    "active_session",
    "region_enter",
    "region_exit",
    "custom_event_count",
    "custom_event_value",
    "feature_flag_interaction",
];
/// Events that libraries before version 18 do not know: they never show a message with such a trigger.
const NEWER_EVENTS: [&str; 12] = [
    "in_app_display",
    "in_app_resolution",
    "in_app_button_tap",
    "in_app_permission_result",
    "in_app_form_display",
    "in_app_form_result",
    "in_app_gesture",
    "in_app_pager_completed",
    "in_app_pager_summary",
    "in_app_page_swipe",
    "in_app_page_view",
    "in_app_page_action",
];
/// Triggers that are made of others, from version 18 on.
const COMPOUND: [&str; 3] = ["and", "or", "chain"];

impl Trigger {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        check(at)?;
        Some(Self(at.json().to_value()))
    }

    /// Triggers of a message. One without an id gets one by its place: devices would name it by its content, and forget how often
    /// it has happened when that is edited.
    pub(super) fn parse_many(at: &At<'_>, least: usize) -> Option<Vec<Self>> {
        let mut triggers = at.array(least..=limits::IN_APP_TRIGGERS, Self::parse)?;
        for (n, Self(trigger)) in (1..).zip(&mut triggers) {
            if let Value::Object(trigger) = trigger {
                trigger.entry("id").or_insert_with(|| json!(format!("t{n}")));
            }
        }
        Some(triggers)
    }
}

fn types() -> Vec<&'static str> {
    [&EVENTS[..], &NEWER_EVENTS, &COMPOUND].concat()
}

fn check(at: &At<'_>) -> Option<()> {
    let words: Vec<_> = types().into_iter().map(|word| (word, word)).collect();
    let mut fields = at.object()?;
    let Some(kind) = fields.required("type", |at| at.choice(&words)) else { return fields.pass_over_rest() };
    let id = |at: &At<'_>| at.text(1..=limits::REMOTE_DATA_NAME_CHARS);
    fields.required("goal", |at| at.number(0.0..=f64::from(u32::MAX)));
    if COMPOUND.contains(&kind) {
        fields.required("id", id);
        fields.required("children", |at| at.array(1..=limits::IN_APP_TRIGGERS, child));
    } else {
        fields.optional("id", id);
        fields.optional("predicate", Predicate::parse);
    }
    fields.finish();
    Some(())
}

fn child(at: &At<'_>) -> Option<()> {
    let mut fields = at.object()?;
    fields.required("trigger", check);
    fields.optional("is_sticky", At::boolean);
    fields.optional("reset_on_increment", At::boolean);
    fields.finish();
    Some(())
}
