//! `feed_references` and `snippet_references` of a push: content kept elsewhere that its texts refer to.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json::body::{Body, Words};
use crate::limits;

#[derive(Clone, Debug, PartialEq, Body)]
pub struct FeedReferences {
    #[body(length = 1..=limits::REFERENCES)]
    pub feeds: Vec<FeedReference>,
    pub defaults: Option<BTreeMap<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct FeedReference {
    #[body(length = 1..=limits::REFERENCE_NAME_CHARS)]
    pub name: String,
    pub params: Option<BTreeMap<String, Value>>,
    pub on_error: Option<OnError>,
}

/// What happens to the push when the feed cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum OnError {
    Cancel,
    Continue,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct SnippetReferences {
    #[body(length = 1..=limits::REFERENCES)]
    pub snippets: Vec<SnippetReference>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct SnippetReference {
    #[body(length = 1..=limits::REFERENCE_NAME_CHARS)]
    pub name: String,
}
