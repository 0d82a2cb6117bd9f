//! `feed_references` and `snippet_references` of a push: content kept elsewhere that its texts refer to.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::json::At;
use crate::limits;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeedReferences {
    pub feeds: Vec<FeedReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<BTreeMap<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeedReference {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_error: Option<OnError>,
}

/// What happens to the push when the feed cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    Cancel,
    Continue,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnippetReferences {
    pub snippets: Vec<SnippetReference>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnippetReference {
    pub name: String,
}

impl FeedReferences {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let feeds = fields.required("feeds", |at| at.array(1..=limits::REFERENCES, FeedReference::parse));
        let defaults = fields.optional("defaults", free_map);
        fields.finish();
        Some(Self { feeds: feeds?, defaults })
    }
}

impl FeedReference {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.required("name", name);
        let params = fields.optional("params", free_map);
        let on_error = fields
            .optional("on_error", |at| at.choice(&[("cancel", OnError::Cancel), ("continue", OnError::Continue)]));
        fields.finish();
        Some(Self { name: name?, params, on_error })
    }
}

impl SnippetReferences {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let snippets = fields.required("snippets", |at| at.array(1..=limits::REFERENCES, SnippetReference::parse));
        fields.finish();
        Some(Self { snippets: snippets? })
    }
}

impl SnippetReference {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.required("name", name);
        fields.finish();
        Some(Self { name: name? })
    }
}

fn name(at: &At<'_>) -> Option<String> {
    at.text(1..=limits::REFERENCE_NAME_CHARS)
}

fn free_map(at: &At<'_>) -> Option<BTreeMap<String, Value>> {
    at.object()?.into_map(0..=usize::MAX, |at| Some(at.json().to_value()))
}
