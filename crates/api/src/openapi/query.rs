//! Parameters of a request, as their readers in `query.rs` understand them.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::page_size::PageSize;

pub(crate) struct Parameter {
    pub(super) name: &'static str,
    /// `path`, `query` or `header`.
    pub(super) place: &'static str,
    pub(super) text: &'static str,
    pub(super) is_required: bool,
    pub(super) schema: Value,
}

pub(crate) fn id(name: &'static str, text: &'static str) -> Parameter {
    parameter(name, text, json!({"type": "string", "format": "uuid"}))
}

pub(crate) fn number(name: &'static str, range: RangeInclusive<u32>, text: &'static str) -> Parameter {
    parameter(name, text, json!({"type": "integer", "minimum": range.start(), "maximum": range.end()}))
}

/// How many items of a listing there are on a page.
pub(crate) fn limit(size: PageSize) -> Parameter {
    page_size("limit", size, "How many to list at once.")
}

pub(crate) fn page_size(name: &'static str, size: PageSize, text: &'static str) -> Parameter {
    number(name, size.range(), text).default(json!(size.usual()))
}

pub(crate) fn choice(name: &'static str, words: &[&str], text: &'static str) -> Parameter {
    parameter(name, text, json!({"type": "string", "enum": words}))
}

/// In one of the forms of reports.
pub(crate) fn date(name: &'static str, text: &'static str) -> Parameter {
    let example = if name == "end" { "2030-02-01" } else { "2030-01-01" };
    parameter(name, text, json!({"type": "string", "examples": [example]}))
}

pub(crate) fn text(name: &'static str, text: &'static str) -> Parameter {
    parameter(name, text, json!({"type": "string"}))
}

pub(crate) fn header(name: &'static str, text: &'static str, schema: Value) -> Parameter {
    Parameter { place: "header", ..parameter(name, text, schema) }
}

pub(super) fn path(name: &'static str, text: &'static str, schema: Value) -> Parameter {
    Parameter { place: "path", ..parameter(name, text, schema) }.required()
}

fn parameter(name: &'static str, text: &'static str, schema: Value) -> Parameter {
    Parameter { name, place: "query", text, is_required: false, schema }
}

impl Parameter {
    pub(crate) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(crate) fn default(mut self, value: Value) -> Self {
        self.schema["default"] = value;
        self
    }

    pub(crate) fn example(mut self, value: &str) -> Self {
        self.schema["examples"] = json!([value]);
        self
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { name, place, text, is_required, schema } = self;
        json!({"name": name, "in": place, "description": text, "required": is_required, "schema": schema})
    }
}
