//! Uploaded lists: their names, their details, and their members.

mod csv;
mod member;

#[cfg(test)]
mod tests;

pub use csv::{CsvRows, ListRow};
pub use member::{ChannelColumn, Member, RowError};

use std::collections::BTreeMap;
use std::fmt;

use schemars::json_schema;
use serde::{Deserialize, Serialize};

use crate::json::At;
use crate::json::body::{Body, Read};
use crate::limits;

/// 1 to 64 letters, digits, underscores and hyphens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Read)]
#[serde(try_from = "String")]
#[body(schema = {
    let most = limits::STATIC_LIST_NAME_CHARS;
    json_schema!({"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "maxLength": most})
})]
pub struct ListName(String);

/// The details of a list, which callers set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Body)]
#[serde(default)]
pub struct ListDetails {
    #[body(length = 0..=limits::LIST_DESCRIPTION_CHARS, nullable)]
    pub description: Option<String>,
    #[body(length = 0..=limits::LIST_EXTRA_PAIRS, read = extra, nullable)]
    pub extra: Option<BTreeMap<String, String>>,
}

/// A list to create.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct NewList {
    pub name: ListName,
    #[body(flatten)]
    pub details: ListDetails,
}

/// Replaces the details that are given.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ListUpdate {
    #[body(nullable)]
    name: Option<ListName>,
    #[body(flatten)]
    details: ListDetails,
}

impl ListName {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if (1..=limits::STATIC_LIST_NAME_CHARS).contains(&text.len()) && text.bytes().all(is_allowed) {
            return Ok(Self(text.to_owned()));
        }
        Err("A list name has 1 to 64 characters, which are letters, digits, '_' and '-'.")
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|message| at.invalid(message).ok_or(())).ok()
    }

    /// Whether the name is reserved for lists of the service itself, which callers cannot create, change or delete.
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with("ua_")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ListUpdate {
    /// Whether the list would get another name, which is not possible.
    pub fn renames(&self, current: &ListName) -> bool {
        self.name.as_ref().is_some_and(|name| name != current)
    }

    pub fn apply(&self, details: &mut ListDetails) {
        if self.details.description.is_some() {
            details.description.clone_from(&self.details.description);
        }
        if self.details.extra.is_some() {
            details.extra.clone_from(&self.details.extra);
        }
    }
}

pub(crate) fn extra(at: &At<'_>) -> Option<BTreeMap<String, String>> {
    let value = |at: &At<'_>| at.text(0..=limits::LIST_EXTRA_VALUE_CHARS);
    let extra = at.object()?.into_map(0..=limits::LIST_EXTRA_PAIRS, value)?;
    match extra.keys().find(|key| !(1..=limits::LIST_EXTRA_KEY_CHARS).contains(&key.chars().count())) {
        None => Some(extra),
        Some(key) => at.invalid_key(key, "A key of 'extra' has 1 to 64 characters."),
    }
}

impl TryFrom<String> for ListName {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl fmt::Display for ListName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
