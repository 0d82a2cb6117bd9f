//! Content templates: texts for one kind of channel, kept under an id of the service and, if wanted, one of the caller, by which
//! pushes name them.

use std::collections::BTreeMap;

use personalization::Template;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

use crate::channel::name_text;
use crate::ids::Id;
use crate::json::At;
use crate::json::body::{Body, Words};
use crate::limits;
use crate::problem::{Problem, ProblemKind};

#[cfg(test)]
mod tests;

pub enum ContentTemplateKind {}

/// One content template.
pub type ContentTemplateId = Id<ContentTemplateKind>;

/// The kind of channel that a content template is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Words)]
#[serde(rename_all = "snake_case")]
pub enum ContentTemplateType {
    App,
    Web,
    Open,
    MessageCenter,
}

/// Texts for one kind of channel.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(ignored = READ_ONLY)]
pub struct ContentTemplate {
    #[body(rename = "type", first)]
    pub kind: ContentTemplateType,
    #[body(length = 1..=limits::TEMPLATE_NAME_CHARS, read = |at| name_text(at, limits::TEMPLATE_NAME_CHARS))]
    pub name: String,
    #[body(length = 0..=limits::TEMPLATE_DESCRIPTION_CHARS, nullable)]
    pub description: Option<String>,
    /// An id of the caller's own, which no other content template of the app has.
    #[body(length = 1..=limits::TEMPLATE_NAME_CHARS, nullable, read = |at| name_text(at, limits::TEMPLATE_NAME_CHARS))]
    pub external_id: Option<String>,
    /// The texts, by their names; those for apps, browsers and open platforms have an `alert`, those for the Message Center an
    /// `html_body`.
    #[body(read = |at| content(at, kind), schema = content_schema)]
    pub content: BTreeMap<String, Value>,
}

/// Keys of answers that callers may send back, and references that the service finds by itself.
const READ_ONLY: [&str; 5] = ["id", "created_at", "modified_at", "snippet_references", "feed_references"];

impl ContentTemplateType {
    pub const ALL: [ContentTemplateType; 4] = [
        ContentTemplateType::App,
        ContentTemplateType::Web,
        ContentTemplateType::Open,
        ContentTemplateType::MessageCenter,
    ];

    /// The text without which nothing can be sent.
    const fn needed(self) -> &'static str {
        match self {
            ContentTemplateType::App | ContentTemplateType::Web | ContentTemplateType::Open => "alert",
            ContentTemplateType::MessageCenter => "html_body",
        }
    }
}

impl ContentTemplate {
    /// The text for a key of a push.
    pub fn text(&self, key: &str) -> Option<&str> {
        // The body of a message has a name of its own in content templates.
        let key = if key == "body" { ContentTemplateType::MessageCenter.needed() } else { key };
        self.content.get(key)?.as_str()
    }

    /// What cannot be read of the variables in its texts, which pushes fill in for each device.
    pub fn mistakes(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (key, value) in &self.content {
            let Some(Err(mistakes)) = value.as_str().map(Template::parse) else { continue };
            problems.extend(mistakes.into_iter().map(|mistake| Problem {
                path: format!("content.{key}"),
                message: format!("Column {}: {}", mistake.column, mistake.message),
                kind: ProblemKind::Invalid,
            }));
        }
        problems
    }
}

fn content(at: &At<'_>, kind: Option<ContentTemplateType>) -> Option<BTreeMap<String, Value>> {
    let content = at.object()?.into_map(0..=limits::CONTENT_TEMPLATE_TEXTS, |at| Some(at.json().to_value()))?;
    let needed = kind?.needed();
    match content.get(needed) {
        Some(Value::String(text)) if !text.is_empty() => Some(content),
        Some(_) => at.invalid_key(needed, "This must be a text that is not empty."),
        None => at.missing(needed),
    }
}

fn content_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "properties": {"alert": {"type": "string"}, "html_body": {"type": "string"}}})
}
