//! Experiments: variants of a push, each for its share of one audience, and a share that gets none of them.

mod assignment;
mod comparison;
#[cfg(test)]
mod tests;
mod variant;
mod verdict;

pub use assignment::{Assignment, Share, Shares};
pub use comparison::{Difference, Interval, Outcome, difference, interval};
pub use variant::Variant;
pub use verdict::verdict;

use serde::Serialize;

use crate::channel::name_text;
use crate::json::{At, Fields, Json};
use crate::limits;
use crate::payload::Push;
use crate::payload::campaigns::Campaigns;
use crate::payload::device_types::DeviceTypes;
use crate::selector::{Audience, Purpose};

/// An experiment as a caller describes it, printed as it was sent with times in one form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(flatten)]
    shared: Shared,
    /// The share of the audience that gets nothing, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<f64>,
    pub variants: Vec<Variant>,
}

/// The parts that the pushes of all variants share, as they came.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Shared {
    audience: Json,
    device_types: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaigns: Option<Json>,
}

/// Keys of answers that callers may send back.
const READ_ONLY: [&str; 3] = ["id", "push_id", "created_at"];

impl Experiment {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, Purpose::Send)
    }

    /// Reads a stored experiment.
    pub fn parse_stored(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, Purpose::Stored)
    }

    fn parse_with(at: &At<'_>, purpose: Purpose) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.nullable("name", |at| name_text(at, limits::EXPERIMENT_NAME_CHARS));
        let description = fields.nullable("description", |at| at.text(0..=limits::EXPERIMENT_DESCRIPTION_CHARS));
        let shared = Shared::take(&mut fields, purpose);
        let control = fields.nullable("control", |at| at.number(0.0..=1.0));
        let variants = fields.required("variants", |list| {
            let items = list.items(1..=limits::VARIANTS_PER_EXPERIMENT)?;
            let read = (0..).zip(&items).map(|(id, item)| Variant::parse(item, at, id, shared.as_ref(), purpose));
            // All of them are read, even when an earlier one is bad.
            read.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()
        });
        for read_only in READ_ONLY {
            fields.take(read_only);
        }
        fields.finish();
        let experiment = Self { name, description, shared: shared?, control, variants: variants? };
        let is_alone = experiment.variants.len() == 1 && !experiment.has_control();
        if at.is_clean() && is_alone && purpose != Purpose::Stored {
            return at.invalid_key(
                "variants",
                "One variant alone has nothing to be compared with: give at least two, or a share for 'control'.",
            );
        }
        Some(experiment)
    }

    pub fn has_control(&self) -> bool {
        self.control.is_some_and(|control| control > 0.0)
    }

    /// Which part of the audience each variant gets.
    pub fn shares(&self) -> Shares {
        let weights: Vec<u32> = self.variants.iter().map(Variant::weight).collect();
        Shares::new(self.control.unwrap_or(0.0), &weights)
    }

    /// The push of each variant.
    pub fn pushes(&self) -> impl Iterator<Item = &Push> {
        self.variants.iter().map(|variant| &variant.push)
    }
}

impl Shared {
    fn take(fields: &mut Fields<'_>, purpose: Purpose) -> Option<Self> {
        let audience = fields.required("audience", |at| as_it_came(at, Audience::parse(at, purpose)));
        let device_types = fields.required("device_types", |at| as_it_came(at, DeviceTypes::parse(at)));
        let campaigns = fields.nullable("campaigns", |at| as_it_came(at, Campaigns::parse(at)));
        Some(Self { audience: audience?, device_types: device_types?, campaigns })
    }

    fn entries(&self) -> Vec<(String, Json)> {
        let mut entries = vec![
            ("audience".to_owned(), self.audience.clone()),
            ("device_types".to_owned(), self.device_types.clone()),
        ];
        entries.extend(self.campaigns.clone().map(|campaigns| ("campaigns".to_owned(), campaigns)));
        entries
    }
}

fn as_it_came<T>(at: &At<'_>, read: Option<T>) -> Option<Json> {
    read.map(|_| at.json().clone())
}
