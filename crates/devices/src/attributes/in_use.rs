//! The attributes that there are: their names, of what types their values are, and which values are frequent.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use base::Result;
use boxed::boxed;
use model::attribute::AttributeValue;
use model::ids::AppId;
use store::Tx;
use store::attributes::{Sample, first_name, sample};

use super::parse_stored;
use crate::Devices;

/// Values that one call looks at, shared by the attributes that it may list.
const MOST_VALUES: u32 = 10_000;
/// Values that are shown of each.
const TOP: usize = 10;
/// Names without a value, which removed attributes leave, that a page may pass over.
const MOST_PASSED_OVER: usize = 1_000;

#[derive(Clone, Debug, PartialEq)]
pub struct AttributeInUse {
    pub name: String,
    pub types: BTreeSet<AttributeType>,
    /// The most frequent values, the most frequent first; none of objects and of long texts.
    pub values: Vec<ValueCount>,
    /// How many values were looked at.
    pub n_looked_at: usize,
    /// Whether these are all: then all counts are exact.
    pub is_complete: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ValueCount {
    pub value: AttributeValue,
    /// Channels and named users that have it, among those that were looked at.
    pub n_owners: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttributeType {
    Text,
    Number,
    Date,
    Json,
}

impl AttributeType {
    pub const fn name(self) -> &'static str {
        match self {
            AttributeType::Text => "text",
            AttributeType::Number => "number",
            AttributeType::Date => "date",
            AttributeType::Json => "json",
        }
    }

    const fn of(value: &AttributeValue) -> Self {
        match value {
            AttributeValue::Text(_) => AttributeType::Text,
            AttributeValue::Number(_) => AttributeType::Number,
            AttributeValue::Date(_) => AttributeType::Date,
            AttributeValue::Json(_) => AttributeType::Json,
        }
    }
}

#[boxed]
impl Devices {
    /// Up to `at_most` attributes whose names begin with a text, by name from `start` on, and where the listing continues.
    pub async fn attributes_in_use(
        &self,
        app: AppId,
        prefix: String,
        start: Option<String>,
        at_most: u32,
    ) -> Result<(Vec<AttributeInUse>, Option<String>)> {
        self.0.store.read(move |tx| list(tx, app, &prefix, start.as_deref(), at_most)).await
    }
}

fn list(
    tx: &mut Tx<'_>,
    app: AppId,
    prefix: &str,
    start: Option<&str>,
    at_most: u32,
) -> Result<(Vec<AttributeInUse>, Option<String>)> {
    let (mut found, mut n_passed_over) = (Vec::new(), 0);
    let mut from = start.filter(|start| *start > prefix).unwrap_or(prefix).to_owned();
    while let Some(name) = first_name(tx, app, &from)?.filter(|name| name.starts_with(prefix)) {
        if found.len() >= at_most as usize || n_passed_over >= MOST_PASSED_OVER {
            return Ok((found, Some(name)));
        }
        // Names have no control characters, so that nothing is between a name and this.
        from = format!("{name}\u{1}");
        let sample = sample(tx, app, &name, MOST_VALUES / at_most.max(1))?;
        if sample.values.is_empty() && sample.is_complete {
            n_passed_over += 1;
        } else {
            found.push(summary(name, sample)?);
        }
    }
    Ok((found, None))
}

fn summary(name: String, Sample { values, is_complete }: Sample) -> Result<AttributeInUse> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in &values {
        *counts.entry(value).or_default() += 1;
    }
    let mut types = BTreeSet::new();
    let mut shown = Vec::new();
    for (stored, n_owners) in counts {
        let value = parse_stored(stored)?;
        let of_type = AttributeType::of(&value);
        types.insert(of_type);
        // As long as a value in the index for short ones.
        if of_type != AttributeType::Json && stored.chars().count() <= 300 {
            shown.push(ValueCount { value, n_owners });
        }
    }
    // Equal ones stay in order of their values.
    shown.sort_by_key(|count| Reverse(count.n_owners));
    shown.truncate(TOP);
    Ok(AttributeInUse { name, types, values: shown, n_looked_at: values.len(), is_complete })
}
