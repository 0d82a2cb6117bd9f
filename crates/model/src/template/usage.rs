//! Requests that send a template, now or later.

use std::collections::BTreeMap;

use super::value::variable_value;
use crate::json::{At, Fields, Json, OneOrMany};
use crate::limits;
use crate::payload::campaigns::Campaigns;
use crate::payload::device_types::DeviceTypes;
use crate::payload::options::Options;
use crate::payload::template::TemplateId;
use crate::schedule::{self, Schedule, ScheduledPush};
use crate::selector::{Audience, Purpose};

/// A use of a template: its audience and values. The parts of the push are kept as they came, because it is read as a
/// whole when it is filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateUse {
    pub merge_data: MergeData,
    audience: Json,
    device_types: Json,
    campaigns: Option<Json>,
    options: Option<Json>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeData {
    pub template_id: TemplateId,
    /// Values that the template does not know are ignored.
    pub substitutions: BTreeMap<String, String>,
}

/// A template that is sent later.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateSchedule {
    pub name: Option<String>,
    pub schedule: Schedule,
    pub usage: TemplateUse,
}

/// A schedule in place of another. Whatever that one was made from, either of them will do.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduleReplacement {
    Push(Box<ScheduledPush>),
    Template(Box<TemplateSchedule>),
}

impl TemplateUse {
    pub fn parse_one_or_many(at: &At<'_>) -> Option<OneOrMany<Self>> {
        at.one_or_many(1..=limits::PUSHES_PER_REQUEST, Self::parse)
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let usage = Self::take(&mut fields);
        fields.finish();
        usage
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        let audience = fields.required("audience", |at| as_it_came(at, Audience::parse(at, Purpose::Send)));
        let device_types = fields.required("device_types", |at| as_it_came(at, DeviceTypes::parse(at)));
        let merge_data = fields.required("merge_data", MergeData::parse);
        let campaigns = fields.nullable("campaigns", |at| as_it_came(at, Campaigns::parse(at)));
        let options = fields.nullable("options", |at| as_it_came(at, Options::parse(at)));
        Some(Self { merge_data: merge_data?, audience: audience?, device_types: device_types?, campaigns, options })
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

    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.nullable("name", schedule::schedule_name);
        let schedule = fields.required("schedule", Schedule::parse);
        let usage = TemplateUse::take(&mut fields);
        fields.finish();
        Some(Self { name, schedule: schedule?, usage: usage? })
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

impl MergeData {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let template_id = fields.required("template_id", TemplateId::parse);
        let substitutions = fields.nullable("substitutions", |at| {
            let given = at.object()?.into_map(0..=limits::SUBSTITUTIONS, variable_value)?;
            Some(given.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
        });
        fields.finish();
        Some(Self { template_id: template_id?, substitutions: substitutions.unwrap_or_default() })
    }
}

fn as_it_came<T>(at: &At<'_>, read: Option<T>) -> Option<Json> {
    read.map(|_| at.json().clone())
}
