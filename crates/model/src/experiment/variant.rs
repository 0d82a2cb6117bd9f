//! One variant of an experiment: its content and when it is sent.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Shared;
use crate::channel::name_text;
use crate::json::{self, At, Json, schema};
use crate::limits;
use crate::payload::Push;
use crate::payload::in_app::InApp;
use crate::payload::notification::Notification;
use crate::payload::options::Options;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::schedule::Schedule;
use crate::selector::Purpose;

/// One variant of an experiment: its content and when it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ExperimentVariant", deny_unknown_fields)]
pub struct Variant {
    /// Its place among the variants, counted from 0. Callers may leave it out.
    // Not required: bodies and answers share the schema.
    #[schemars(skip_serializing_if = "Option::is_none")]
    pub id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::EXPERIMENT_NAME_CHARS))]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::EXPERIMENT_DESCRIPTION_CHARS))]
    pub description: Option<String>,
    /// Without one it is sent at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::VARIANT_WEIGHT))]
    weight: Option<u32>,
    #[serde(rename = "push")]
    #[schemars(schema_with = "own_schema")]
    given: Json,
    /// The whole push, with the parts that all variants share.
    #[serde(skip)]
    pub push: Push,
}

/// The keys of a push that are the same for all variants, and given beside them.
const SHARED: [&str; 3] = ["audience", "device_types", "campaigns"];
const OWN: [&str; 4] = ["notification", "in_app", "options", "name"];

/// The parts of a push that a variant gives itself.
fn own_schema(schemas: &mut SchemaGenerator) -> Schema {
    let parts = [
        schemas.subschema_for::<Notification>(),
        schemas.subschema_for::<Option<InApp>>(),
        schemas.subschema_for::<Option<Options>>(),
        schema::text(1..=limits::PUSH_NAME_CHARS),
    ];
    let properties: Map<String, Value> =
        OWN.iter().zip(parts).map(|(key, schema)| ((*key).to_owned(), schema.to_value())).collect();
    json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
}

impl Variant {
    /// `whole` is the experiment, where problems with the shared parts are noted.
    pub(super) fn parse(
        at: &At<'_>,
        whole: &At<'_>,
        id: u32,
        shared: Option<&Shared>,
        purpose: Purpose,
    ) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.nullable("name", |at| name_text(at, limits::EXPERIMENT_NAME_CHARS));
        let description = fields.nullable("description", |at| at.text(0..=limits::EXPERIMENT_DESCRIPTION_CHARS));
        let schedule = fields.nullable("schedule", parse_schedule);
        let weight = fields.nullable("weight", |at| at.integer(1..=limits::VARIANT_WEIGHT));
        let push = fields.required("push", |at| parse_push(at, whole, id, shared, purpose));
        fields.take("id"); // callers send back what they were told
        fields.finish();
        let weight = weight.and_then(|weight| u32::try_from(weight).ok());
        let (given, push) = push?;
        Some(Self { id, name, description, schedule, weight, given, push })
    }

    pub fn weight(&self) -> u32 {
        self.weight.unwrap_or(1)
    }

    /// Prints the push as it is now, and no longer as it was sent.
    pub fn reprint_push(&mut self) -> Result<(), Problems> {
        if let Json::Object(entries) = self.push.reprinted()? {
            self.given = Json::Object(entries.into_iter().filter(|(key, _)| OWN.contains(&key.as_str())).collect());
        }
        Ok(())
    }

    /// How reports name it: by its name, or else by a letter.
    pub fn title(&self) -> String {
        let letter = u8::try_from(self.id).ok().and_then(|id| b'A'.checked_add(id)).map(char::from);
        self.name.clone().or(letter.map(String::from)).unwrap_or_else(|| self.id.to_string())
    }
}

fn parse_schedule(at: &At<'_>) -> Option<Schedule> {
    let schedule = Schedule::parse(at)?;
    if schedule.first.best_hour().is_some() {
        let text = "Variants can only be compared when each has a time; use 'local_scheduled_time'.";
        return at.invalid_key("best_time", text);
    }
    match schedule.recurring {
        None => Some(schedule),
        Some(_) => at.invalid_key("recurring", "A variant is sent once; leave this out."),
    }
}

/// The push as it came, and the whole push with the shared parts.
fn parse_push(at: &At<'_>, whole: &At<'_>, id: u32, shared: Option<&Shared>, purpose: Purpose) -> Option<(Json, Push)> {
    let mut fields = at.object()?;
    for key in SHARED.iter().filter(|key| fields.take(key).is_some()) {
        at.invalid_key::<()>(key, format!("'{key}' is the same for all variants; give it beside 'variants'."));
    }
    if fields.take("message").is_some() {
        at.invalid_key::<()>("message", "Variants cannot have a Message Center message.");
    }
    let own: Vec<_> =
        OWN.iter().filter_map(|key| Some(((*key).to_owned(), fields.take(key)?.json().clone()))).collect();
    fields.finish();
    // Without a readable audience, everything else is still checked.
    let everybody = || SHARED[..2].iter().map(|key| ((*key).to_owned(), Json::String("all".to_owned()))).collect();
    let common = shared.map_or_else(everybody, Shared::entries);
    let tree = Json::Object(common.into_iter().chain(own).collect());
    match json::read_tree(&tree, |at| Push::parse_with(at, purpose)) {
        Ok(push) if push.is_redacted() && purpose != Purpose::Stored => at.invalid_key(
            "options.redact_payload",
            "The payload of an experiment cannot be redacted, because it is kept with the experiment.",
        ),
        Ok(push) => at.is_clean().then(|| (at.json().clone(), push)),
        Err(problems) => {
            problems.iter().for_each(|problem| note(at, whole, id, problem));
            None
        }
    }
}

/// Notes a problem where it is to be solved. A problem of the shared parts is noted once.
fn note(at: &At<'_>, whole: &At<'_>, id: u32, Problem { path, message, kind }: &Problem) {
    if path.starts_with("device_types[") {
        at.invalid::<()>(message.clone());
        return;
    }
    let is_common = SHARED.contains(&path.split(['.', '[']).next().unwrap_or_default());
    let place = match (is_common, id) {
        (false, _) => at,
        (true, 0) => whole,
        (true, _) => return,
    };
    match kind {
        ProblemKind::Missing => place.missing::<()>(path),
        ProblemKind::Invalid => place.invalid_key::<()>(path, message.clone()),
    };
}
