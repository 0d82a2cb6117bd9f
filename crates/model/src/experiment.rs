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

use crate::channel::name_text;
use crate::json::body::{Body, Read};
use crate::json::{At, Fields, Json};
use crate::limits;
use crate::payload::Push;
use crate::payload::campaigns::Campaigns;
use crate::payload::device_types::DeviceTypes;
use crate::selector::{Audience, Purpose};

/// Variants of a push, each for its share of one audience.
// Printed as it was sent, with times in one form.
#[derive(Clone, Debug, PartialEq, Body, Read)]
#[body(given(purpose: Purpose), parse = parse_with, ignored = READ_ONLY, check = |experiment, at| experiment.checked(at, purpose))]
pub struct Experiment {
    #[body(length = 1..=limits::EXPERIMENT_NAME_CHARS, read = |at| name_text(at, limits::EXPERIMENT_NAME_CHARS), nullable)]
    pub name: Option<String>,
    #[body(length = 0..=limits::EXPERIMENT_DESCRIPTION_CHARS, nullable)]
    pub description: Option<String>,
    #[body(flatten, take = |fields| Shared::read_fields(fields, purpose))]
    shared: Shared,
    /// The share of the audience that gets nothing, from 0 to 1.
    #[body(range = 0.0..=1.0, nullable)]
    pub control: Option<f64>,
    #[body(length = 1..=limits::VARIANTS_PER_EXPERIMENT, take = |fields| variants_of(fields, shared.as_ref(), purpose))]
    pub variants: Vec<Variant>,
}

/// The parts that the pushes of all variants share.
// As they came.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(given(purpose: Purpose))]
struct Shared {
    #[body(read = |at| as_it_came(at, Audience::parse(at, purpose)), schema = |schemas| schemas.subschema_for::<Audience>())]
    audience: Json,
    #[body(read = |at| as_it_came(at, DeviceTypes::parse(at)), schema = |schemas| schemas.subschema_for::<DeviceTypes>())]
    device_types: Json,
    #[body(
        read = |at| as_it_came(at, Campaigns::parse(at)),
        nullable,
        schema = |schemas| schemas.subschema_for::<Option<Campaigns>>()
    )]
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

    fn checked(self, at: &At<'_>, purpose: Purpose) -> Option<Self> {
        let is_alone = self.variants.len() == 1 && !self.has_control();
        if at.is_clean() && is_alone && purpose != Purpose::Stored {
            return at.invalid_key(
                "variants",
                "One variant alone has nothing to be compared with: give at least two, or a share for 'control'.",
            );
        }
        Some(self)
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
    fn entries(&self) -> Vec<(String, Json)> {
        let mut entries = vec![
            ("audience".to_owned(), self.audience.clone()),
            ("device_types".to_owned(), self.device_types.clone()),
        ];
        entries.extend(self.campaigns.clone().map(|campaigns| ("campaigns".to_owned(), campaigns)));
        entries
    }
}

fn variants_of(fields: &mut Fields<'_>, shared: Option<&Shared>, purpose: Purpose) -> Option<Vec<Variant>> {
    let whole = fields.at().clone();
    fields.required("variants", |list| {
        let items = list.items(1..=limits::VARIANTS_PER_EXPERIMENT)?;
        let read = (0..).zip(&items).map(|(id, item)| Variant::parse(item, &whole, id, shared, purpose));
        // All of them are read, even when an earlier one is bad.
        read.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()
    })
}

fn as_it_came<T>(at: &At<'_>, read: Option<T>) -> Option<Json> {
    read.map(|_| at.json().clone())
}
