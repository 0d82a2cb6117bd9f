//! Requests that send a template, now or later.

use std::collections::BTreeMap;

use schemars::json_schema;

use super::value::VariableValue;
use crate::json::body::{Body, Read};
use crate::json::{At, Json, OneOrMany};
use crate::limits;
use crate::payload::campaigns::Campaigns;
use crate::payload::device_types::DeviceTypes;
use crate::payload::options::Options;
use crate::payload::template::TemplateId;
use crate::schedule::{self, Schedule, ScheduledPush};
use crate::selector::{Audience, Purpose};

/// A use of a template: its audience and values.
// The parts of the push are kept as they came, because it is read as a whole when it is filled in.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct TemplateUse {
    #[body(read = |at| as_it_came(at, Audience::parse(at, Purpose::Send)), like = Audience)]
    audience: Json,
    #[body(read = |at| as_it_came(at, DeviceTypes::parse(at)), like = DeviceTypes)]
    device_types: Json,
    pub merge_data: MergeData,
    #[body(
        read = |at| as_it_came(at, Campaigns::parse(at)),
        nullable,
        like = Campaigns
    )]
    campaigns: Option<Json>,
    #[body(
        read = |at| as_it_came(at, Options::parse(at)),
        nullable,
        like = Options
    )]
    options: Option<Json>,
}

/// Which template, and the values for its variables.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct MergeData {
    pub template_id: TemplateId,
    /// Values that the template does not know are ignored.
    #[body(length = 0..=limits::SUBSTITUTIONS, read = substitutions, nullable, default)]
    pub substitutions: BTreeMap<String, VariableValue>,
}

/// A template that is sent later.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct TemplateSchedule {
    #[body(length = 1..=limits::SCHEDULE_NAME_CHARS, read = schedule::schedule_name, nullable)]
    pub name: Option<String>,
    pub schedule: Schedule,
    #[body(flatten)]
    pub usage: TemplateUse,
}

/// A schedule in place of another. Whatever that one was made from, either of them will do.
#[derive(Clone, Debug, PartialEq, Read)]
#[body(schema = {
    let (push, template) = (schemas.subschema_for::<ScheduledPush>(), schemas.subschema_for::<TemplateSchedule>());
    json_schema!({"anyOf": [push, template]})
})]
pub enum ScheduleReplacement {
    Push(Box<ScheduledPush>),
    Template(Box<TemplateSchedule>),
}

impl TemplateUse {
    pub fn parse_one_or_many(at: &At<'_>) -> Option<OneOrMany<Self>> {
        at.one_or_many(1..=limits::PUSHES_PER_REQUEST, Self::parse)
    }

    /// The parts of the push that come from here. The rest comes from the template.
    pub(super) fn given(&self) -> Vec<(&'static str, Json)> {
        let mut given = vec![("audience", self.audience.clone()), ("device_types", self.device_types.clone())];
        given.extend(self.campaigns.clone().map(|campaigns| ("campaigns", campaigns)));
        given.extend(self.options.clone().map(|options| ("options", options)));
        given
    }
}

impl TemplateSchedule {
    pub fn parse_one_or_many(at: &At<'_>) -> Option<OneOrMany<Self>> {
        schedule::parse_many(at, Self::parse, |scheduled| &scheduled.schedule)
    }
}

impl ScheduleReplacement {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        match at.json().get("merge_data") {
            Some(_) => TemplateSchedule::parse(at).map(|scheduled| Self::Template(Box::new(scheduled))),
            None => ScheduledPush::parse_replacement(at).map(|scheduled| Self::Push(Box::new(scheduled))),
        }
    }
}

fn substitutions(at: &At<'_>) -> Option<BTreeMap<String, VariableValue>> {
    let value = |at: &At<'_>| if at.is_null() { Some(None) } else { VariableValue::parse(at).map(Some) };
    let given = at.object()?.into_map(0..=limits::SUBSTITUTIONS, value)?;
    Some(given.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
}

fn as_it_came<T>(at: &At<'_>, read: Option<T>) -> Option<Json> {
    read.map(|_| at.json().clone())
}
