//! Values in the query of a request, read into types. A query may have other keys; they are ignored.

use std::ops::{Range, RangeInclusive};

use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use model::device_type::DeviceType;
use model::ids::Id;
use model::problem::{Problem, ProblemKind, Problems};
use model::report::parse_date;
use model::time::UtcMillis;
use providers::percent_encoded;
use targeting::Order;

use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::page_size::PageSize;

/// How a listing may be ordered.
pub(crate) const ORDERS: [(&str, Order); 2] = [("asc", Order::Ascending), ("desc", Order::Descending)];

pub(crate) const fn order_word(order: Order) -> &'static str {
    match order {
        Order::Ascending => "asc",
        Order::Descending => "desc",
    }
}

/// A text that may reach the database, which has no room for control characters.
pub(crate) fn plain_text(text: &str) -> Result<String, &'static str> {
    if text.contains(char::is_control) {
        return Err("This must not contain control characters.");
    }
    Ok(text.to_owned())
}

/// The query, read value by value; problems are collected until [`Params::finish`].
pub(crate) struct Params {
    pairs: Vec<(String, String)>,
    problems: Vec<Problem>,
}

impl Params {
    /// An empty value counts as none.
    fn value(&self, name: &str) -> Option<&str> {
        let pair = self.pairs.iter().rfind(|(key, _)| key == name);
        pair.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// All values of a name, in their order.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The names of all values.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|(name, _)| name.as_str())
    }

    /// Adds a value that was found elsewhere.
    pub(crate) fn add(&mut self, name: &str, value: Option<String>) {
        self.pairs.extend(value.map(|value| (name.to_owned(), value)));
    }

    pub(crate) fn id<Kind>(&mut self, name: &str) -> Option<Id<Kind>> {
        let id = self.value(name)?.parse().ok();
        if id.is_none() {
            self.refuse(name, "This must be a UUID, such as 9c36e8c7-5a73-47c0-9716-99fd3d4197d5.".to_owned());
        }
        id
    }

    pub(crate) fn number(&mut self, name: &str, range: RangeInclusive<u32>) -> Option<u32> {
        let number = self.value(name)?.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            self.refuse(name, format!("This must be a number from {} to {}.", range.start(), range.end()));
        }
        number
    }

    /// How many items to list at once.
    pub(crate) fn limit(&mut self, size: PageSize) -> u32 {
        self.page_size("limit", size).unwrap_or(size.usual())
    }

    /// As [`Params::limit`], where it has another name, if it is given.
    pub(crate) fn page_size(&mut self, name: &str, size: PageSize) -> Option<u32> {
        self.number(name, size.range())
    }

    /// The number of a page, counted from 1. An invalid page number means page 1.
    pub(crate) fn page(&self, name: &str, most: u32) -> u32 {
        let number = self.value(name).and_then(|text| text.parse().ok());
        number.filter(|number| (1..=most).contains(number)).unwrap_or(1)
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(str::to_owned)
    }

    /// Some of the values as they were given, to go on with the next page by.
    pub(crate) fn repeated(&self, names: &[&str]) -> String {
        let values = names.iter().filter_map(|name| Some((name, self.value(name)?)));
        values.map(|(name, value)| format!("&{name}={}", percent_encoded(value))).collect()
    }

    /// Any number of a few words, given one by one or with commas between them.
    pub(crate) fn choices<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Vec<T> {
        let given: Vec<String> = self.all(name).flat_map(|text| text.split(',')).map(str::to_owned).collect();
        let mut chosen = Vec::with_capacity(given.len());
        for word in given.iter().filter(|word| !word.is_empty()) {
            match choices.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)) {
                Some((_, value)) => chosen.push(*value),
                None => self.refuse_word(name, choices),
            }
        }
        chosen
    }

    fn refuse_word<T>(&mut self, name: &str, choices: &[(&str, T)]) {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        self.refuse(name, format!("This must be one of {}.", words.join(", ")));
    }

    /// One of a few words, which stand for values.
    pub(crate) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let value = self.value(name)?;
        let chosen = choices.iter().find(|(word, _)| value.eq_ignore_ascii_case(word)).map(|(_, chosen)| *chosen);
        if chosen.is_none() {
            self.refuse_word(name, choices);
        }
        chosen
    }

    pub(crate) fn device_type(&mut self, name: &str) -> Option<DeviceType> {
        let device_type = DeviceType::from_name(self.value(name)?);
        if device_type.is_none() {
            self.refuse(name, "This must be a device type, such as ios, android, amazon or web.".to_owned());
        }
        device_type
    }

    /// A text that `read` can turn into a value; its error is the problem.
    pub(crate) fn parsed<T>(&mut self, name: &str, read: fn(&str) -> Result<T, &'static str>) -> Option<T> {
        match read(self.value(name)?) {
            Ok(parsed) => Some(parsed),
            Err(message) => {
                self.refuse(name, message.to_owned());
                None
            }
        }
    }

    /// As [`Params::parsed`], but an empty value is wrong: without it, something else is asked for.
    pub(crate) fn parsed_as_given<T>(&mut self, name: &str, read: fn(&str) -> Result<T, &'static str>) -> Option<T> {
        if self.value(name).is_none() && self.names().any(|given| given == name) {
            self.refuse(name, format!("'{name}' is empty; say which one is meant, or leave it out."));
        }
        self.parsed(name, read)
    }

    /// A date in one of the forms of reports.
    pub(crate) fn date(&mut self, name: &str) -> Option<UtcMillis> {
        let date = parse_date(self.value(name)?);
        if date.is_none() {
            self.refuse(name, "This must be a date, such as 2024-05-01 or 2024-05-01 10:00.".to_owned());
        }
        date
    }

    pub(crate) fn required_date(&mut self, name: &str) -> Option<UtcMillis> {
        self.require(name, "a date, such as 2024-05-01 or 2024-05-01 10:00");
        self.date(name)
    }

    /// Notes that a value is missing, unless it is there. `what` says what it would be.
    pub(crate) fn require(&mut self, name: &str, what: &str) {
        if self.value(name).is_none() {
            let message = format!("The parameter '{name}' is required: {what}.");
            self.problems.push(Problem { path: name.to_owned(), message, kind: ProblemKind::Missing });
        }
    }

    /// The time from `start` up to `end`, both of which are required.
    pub(crate) fn dates(&mut self) -> Option<Range<UtcMillis>> {
        let (start, end) = (self.required_date("start"), self.required_date("end"));
        let (start, end) = (start?, end?);
        if end < start {
            self.refuse("end", "The end must not be before the start.".to_owned());
            return None;
        }
        Some(start..end)
    }

    pub(crate) fn finish(self) -> Result<()> {
        Problems::from_vec(self.problems).map_or(Ok(()), |problems| Err(problems.into()))
    }

    /// As [`Params::finish`], for a value that is there unless something is wrong.
    pub(crate) fn finish_with<T>(self, value: Option<T>) -> Result<T> {
        self.finish()?;
        value.ok_or_else(|| Error::internal("a value of the query was refused without a reason"))
    }

    fn refuse(&mut self, name: &str, message: String) {
        self.problems.push(Problem { path: name.to_owned(), message, kind: ProblemKind::Invalid });
    }
}

impl FromRequestParts<Edge> for Params {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        let query = Query::from_request_parts(parts, edge).await;
        let Query(pairs) = query.map_err(|error| Error::invalid("", format!("The query cannot be read: {error}.")))?;
        Ok(Self { pairs, problems: Vec::new() })
    }
}
