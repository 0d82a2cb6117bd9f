//! Which events a trigger means, by their content.
//!
//! ```text
//! selector = leaf | {AND: [selector, ...]} | {OR: [selector, ...]} | {NOT: selector}     operators in any letter case
//! leaf     = {"key": KEY, "scope"?: "properties", "value": test}
//! test     = {"equals": string, number or boolean} | {"array_contains": string}
//!          | any of {"at_least": N} {"greater_than": N} with any of {"at_most": N} {"less_than": N}
//! ```

use schemars::json_schema;
use serde_json::Value;

use crate::event::{Custom, CustomSource, Region};
use crate::json::body::Body;
use crate::json::{At, Fields, Json};
use crate::limits;
use crate::selector::Scalar;

#[derive(Clone, Debug, PartialEq)]
pub enum EventSelector {
    And(Vec<EventSelector>),
    Or(Vec<EventSelector>),
    Not(Box<EventSelector>),
    Leaf { field: Field, test: Test },
}

/// A part of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    Name,
    Value,
    Transaction,
    InteractionId,
    InteractionType,
    CustomerId,
    SessionId,
    Source,
    RegionId,
    Property(String),
}

/// The test for a part of an event. All given comparisons have to hold; at least one is given.
#[derive(Clone, Debug, Default, PartialEq, Body)]
#[body(not_printed, name = "EventTest", check = Test::checked)]
pub struct Test {
    #[body(read = equals, schema = |_| json_schema!({"type": ["string", "number", "boolean"]}))]
    equals: Option<Scalar>,
    array_contains: Option<String>,
    #[body(range = f64::MIN..=f64::MAX)]
    at_least: Option<f64>,
    #[body(range = f64::MIN..=f64::MAX)]
    greater_than: Option<f64>,
    #[body(range = f64::MIN..=f64::MAX)]
    at_most: Option<f64>,
    #[body(range = f64::MIN..=f64::MAX)]
    less_than: Option<f64>,
}

/// The kind of events that a selector is about, which decides the parts they have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vocabulary {
    Custom,
    Region,
}

/// The key that decides what a selector is.
#[derive(Clone, Copy)]
enum Head {
    And,
    Or,
    Not,
    Leaf,
}

/// A part of an event as a test sees it. Only properties can have any type.
enum Found<'e> {
    Text(&'e str),
    Number(f64),
    Property(&'e Value),
}

/// An event that selectors can be tried on.
#[derive(Clone, Copy)]
pub enum Subject<'e> {
    Custom(&'e Custom),
    Region(&'e Region),
}

impl Vocabulary {
    const fn fields(self) -> &'static [(&'static str, Field)] {
        match self {
            Vocabulary::Custom => &[
                ("name", Field::Name),
                ("value", Field::Value),
                ("transaction", Field::Transaction),
                ("interaction_id", Field::InteractionId),
                ("interaction_type", Field::InteractionType),
                ("customer_id", Field::CustomerId),
                ("session_id", Field::SessionId),
                ("source", Field::Source),
            ],
            Vocabulary::Region => &[
                ("region_id", Field::RegionId),
                ("name", Field::Name),
                ("source", Field::Source),
                ("session_id", Field::SessionId),
            ],
        }
    }
}

impl EventSelector {
    pub(super) fn parse(at: &At<'_>, vocabulary: Vocabulary) -> Option<Self> {
        Self::parse_level(at, vocabulary, 0)
    }

    fn parse_level(at: &At<'_>, vocabulary: Vocabulary, depth: usize) -> Option<Self> {
        if depth > limits::EVENT_SELECTOR_DEPTH {
            let most = limits::EVENT_SELECTOR_DEPTH;
            return at.invalid(format!("'and', 'or' and 'not' may be nested {most} deep at most."));
        }
        let mut fields = at.object()?;
        let member = |at: &At<'_>| Self::parse_level(at, vocabulary, depth + 1);
        let members = |at: &At<'_>| at.array(1..=limits::EVENT_SELECTORS, member);
        let operators = [("and", Head::And), ("or", Head::Or), ("not", Head::Not)];
        let operators = operators.into_iter().filter_map(|(word, head)| Some((fields.spelled(word)?, head)));
        let given: Vec<(&str, Head)> = operators.chain(fields.has("key").then_some(("key", Head::Leaf))).collect();
        let selector = match given.as_slice() {
            [] => return at.missing("key"),
            [(_, Head::Leaf)] => parse_leaf(&mut fields, vocabulary),
            [(key, Head::Not)] => fields.required(key, member).map(|member| Self::Not(Box::new(member))),
            [(key, Head::And)] => fields.required(key, members).map(Self::And),
            [(key, Head::Or)] => fields.required(key, members).map(Self::Or),
            [(first, _), (second, _), ..] => {
                at.invalid_key(second, format!("A selector has one of '{first}' and '{second}', not both."))
            }
        };
        fields.finish();
        selector
    }

    pub fn matches(&self, subject: Subject<'_>) -> bool {
        match self {
            Self::And(members) => members.iter().all(|member| member.matches(subject)),
            Self::Or(members) => members.iter().any(|member| member.matches(subject)),
            Self::Not(member) => !member.matches(subject),
            Self::Leaf { field, test } => subject.find(field).is_some_and(|found| test.holds(&found)),
        }
    }

    /// The name that all matching events have, if there is only one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::And(members) => members.iter().find_map(Self::name),
            Self::Leaf { field: Field::Name, test } => match &test.equals {
                Some(Scalar::Text(name)) => Some(name),
                Some(Scalar::Number(_) | Scalar::Boolean(_)) | None => None,
            },
            Self::Leaf { .. } | Self::Or(_) | Self::Not(_) => None,
        }
    }
}

fn parse_leaf(fields: &mut Fields<'_>, vocabulary: Vocabulary) -> Option<EventSelector> {
    let key = fields.required("key", |at| Some((at.text(1..=limits::PROPERTY_PATH_CHARS)?, at.clone())));
    let scope = fields.nullable("scope", |at| at.choice(&[("properties", ())]));
    let test = fields.required("value", Test::parse);
    let (key, at) = key?;
    let field = match (scope, vocabulary) {
        (Some(()), Vocabulary::Custom) => Field::Property(key),
        (Some(()), Vocabulary::Region) => return at.invalid("Events of regions have no properties."),
        (None, _) => match vocabulary.fields().iter().find(|(name, _)| *name == key) {
            Some((_, field)) => field.clone(),
            None => {
                let known: Vec<&str> = vocabulary.fields().iter().map(|(name, _)| *name).collect();
                return at.invalid(format!(
                    "'{key}' is not a part of these events; use one of {}, or \"scope\": \"properties\" for a property \
                     of a custom event.",
                    known.join(", ")
                ));
            }
        },
    };
    Some(EventSelector::Leaf { field, test: test? })
}

fn equals(at: &At<'_>) -> Option<Scalar> {
    match at.json() {
        Json::String(text) => Some(Scalar::Text(text.clone())),
        Json::Number(number) => Some(Scalar::Number(number.clone())),
        Json::Bool(value) => Some(Scalar::Boolean(*value)),
        Json::Null | Json::Array(_) | Json::Object(_) => at.invalid("This must be a string, a number or a boolean."),
    }
}

impl Test {
    fn checked(self, at: &At<'_>) -> Option<Self> {
        if self == Self::default() {
            return at.invalid(
                "This must have 'equals', 'array_contains', or bounds: 'at_least', 'greater_than', 'at_most', 'less_than'.",
            );
        }
        let lower = [self.at_least, self.greater_than].into_iter().flatten().reduce(f64::max);
        let upper = [self.at_most, self.less_than].into_iter().flatten().reduce(f64::min);
        if lower.zip(upper).is_some_and(|(lower, upper)| lower >= upper) {
            return at.invalid("The lower bound must be below the upper bound.");
        }
        Some(self)
    }

    fn holds(&self, found: &Found<'_>) -> bool {
        let number = found.number();
        let is = |bound: Option<f64>, holds: fn(f64, f64) -> bool| {
            bound.is_none_or(|bound| number.is_some_and(|number| holds(number, bound)))
        };
        self.equals.as_ref().is_none_or(|wanted| found.is(wanted))
            && self.array_contains.as_ref().is_none_or(|wanted| found.contains(wanted))
            && is(self.at_least, |number, bound| number >= bound)
            && is(self.greater_than, |number, bound| number > bound)
            && is(self.at_most, |number, bound| number <= bound)
            && is(self.less_than, |number, bound| number < bound)
    }
}

impl Found<'_> {
    /// Numbers are the same however they are written.
    fn is(&self, wanted: &Scalar) -> bool {
        match wanted {
            Scalar::Text(wanted) => self.text() == Some(wanted),
            Scalar::Number(wanted) => wanted.as_f64().is_some_and(|wanted| self.number() == Some(wanted)),
            Scalar::Boolean(wanted) => self.property().and_then(Value::as_bool) == Some(*wanted),
        }
    }

    fn contains(&self, wanted: &str) -> bool {
        let items = self.property().and_then(Value::as_array);
        items.is_some_and(|items| items.iter().any(|item| item.as_str() == Some(wanted)))
    }

    fn text(&self) -> Option<&str> {
        match self {
            Found::Text(text) => Some(text),
            Found::Number(_) => None,
            Found::Property(value) => value.as_str(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Found::Text(_) => None,
            Found::Number(number) => Some(*number),
            Found::Property(value) => value.as_f64(),
        }
    }

    fn property(&self) -> Option<&Value> {
        match self {
            Found::Text(_) | Found::Number(_) => None,
            Found::Property(value) => Some(value),
        }
    }
}

impl<'e> Subject<'e> {
    fn find(self, field: &Field) -> Option<Found<'e>> {
        let text = |text: &'e Option<String>| text.as_deref().map(Found::Text);
        match self {
            Subject::Custom(event) => match field {
                Field::Name => Some(Found::Text(event.name.as_str())),
                Field::Value => event.value.map(Found::Number),
                Field::Transaction => text(&event.transaction),
                Field::InteractionId => text(&event.interaction_id),
                Field::InteractionType => text(&event.interaction_type),
                Field::CustomerId => text(&event.customer_id),
                Field::SessionId => text(&event.session_id),
                Field::Source => Some(Found::Text(match event.source {
                    CustomSource::Api => "API",
                    CustomSource::Sdk => "SDK",
                })),
                Field::Property(name) => event.properties.get(name).map(Found::Property),
                Field::RegionId => None,
            },
            Subject::Region(event) => match field {
                Field::Name => text(&event.name),
                Field::RegionId => Some(Found::Text(event.region_id.as_str())),
                Field::Source => Some(Found::Text(event.source_info.source.as_str())),
                Field::SessionId => text(&event.session_id),
                Field::Value
                | Field::Transaction
                | Field::InteractionId
                | Field::InteractionType
                | Field::CustomerId
                | Field::Property(_) => None,
            },
        }
    }
}
