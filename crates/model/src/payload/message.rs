//! The Message Center message of a push: a page that stays in the device's inbox.

use std::collections::BTreeMap;

use personalization::ValueMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;

use super::campaigns::Campaigns;
use super::content::{ContentEncoding, ContentType};
use super::expiry::Expiry;
use super::extra::TextExtra;
use super::http_url::HttpUrl;
use super::template::TemplateReference;
use crate::json::body::{Body, Print, Read};
use crate::json::{At, Fields};
use crate::limits;
use crate::time::UtcMillis;

/// The texts that a template can fill in.
pub const MESSAGE_TEXTS: [&str; 2] = ["title", "body"];

/// A page that stays in the device's inbox.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct Message {
    #[body(flatten, take = |fields| MessageContent::take(fields, content_encoding))]
    pub content: MessageContent,
    /// The MIME type of the body. HTML when not given.
    #[body(first, take = |fields| either_spelling(fields, "content_type", "content-type", ContentType::parse))]
    pub content_type: Option<ContentType>,
    /// How the body is written. Plain text if it is left out.
    #[body(
        first,
        take = |fields| either_spelling(fields, "content_encoding", "content-encoding", ContentEncoding::parse)
    )]
    pub content_encoding: Option<ContentEncoding>,
    /// Here zero seconds mean that the message does not expire.
    pub expiry: Option<Expiry>,
    /// Values for the app, by name.
    pub extra: Option<TextExtra>,
    /// Pictures for the list of messages.
    pub icons: Option<Icons>,
    /// Further options, by name.
    pub options: Option<BTreeMap<String, Value>>,
    /// The names under which its results are added up.
    pub campaigns: Option<Campaigns>,
}

/// Title and body, or the template they come from.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum MessageContent {
    Text { title: String, body: String },
    Template { template: TemplateReference },
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Icons {
    /// Shown beside the title.
    pub list_icon: Icon,
}

/// A picture on the web, or one the app knows by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read, JsonSchema)]
#[serde(untagged)]
pub enum Icon {
    Url(HttpUrl),
    /// `ua:<id>`, with its prefix.
    Hosted(#[schemars(extend("pattern" = "^ua:."))] String),
}

impl Icon {
    fn parse(at: &At<'_>) -> Option<Self> {
        match at.string()? {
            hosted if is_hosted(hosted) => Some(Icon::Hosted(hosted.to_owned())),
            _ => HttpUrl::parse(at).map(Icon::Url),
        }
    }

    /// What keeps a text from naming a picture.
    pub(crate) fn complaint(text: &str) -> Option<&'static str> {
        if is_hosted(text) { None } else { HttpUrl::complaint(text) }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Icon::Url(url) => url.as_str(),
            Icon::Hosted(id) => id,
        }
    }
}

fn is_hosted(icon: &str) -> bool {
    icon.len() > 3 && icon.starts_with("ua:")
}

impl Message {
    /// The title as it is written; `None` when it has to be looked up in a template that is stored elsewhere.
    pub fn title(&self) -> Option<&str> {
        match &self.content {
            MessageContent::Text { title, .. } => Some(title),
            MessageContent::Template { template } => template.field("title"),
        }
    }

    /// The bytes of the body; `None` as for the title.
    pub fn body(&self) -> Option<Vec<u8>> {
        self.content_encoding.unwrap_or(ContentEncoding::Utf8).decode(self.written_body()?)
    }

    /// Whether title and body are in a content template.
    pub fn is_stored(&self) -> bool {
        matches!(&self.content, MessageContent::Template { template } if template.is_stored())
    }

    /// The body as it is written, which need not be text once it is decoded.
    pub fn written_body(&self) -> Option<&str> {
        match &self.content {
            MessageContent::Text { body, .. } => Some(body),
            MessageContent::Template { template } => template.field("body"),
        }
    }

    /// The values of variables for readers of whom they are not known.
    pub fn variable_defaults(&self) -> ValueMap {
        match &self.content {
            MessageContent::Text { .. } => ValueMap::new(),
            MessageContent::Template { template } => {
                let defaults = template.variable_defaults.iter().flatten();
                defaults.map(|default| (default.key.clone(), default.default_value.clone())).collect()
            }
        }
    }

    /// The type of the body.
    pub fn mime_type(&self) -> String {
        self.content_type.clone().unwrap_or_else(ContentType::html).served(self.content_encoding)
    }

    /// When the message is to vanish from inboxes, if an expiry is given.
    pub fn expires(&self, sent: UtcMillis) -> Option<UtcMillis> {
        match self.expiry.as_ref()? {
            Expiry::Seconds(0) => None,
            expiry => Some(expiry.deadline(sent)),
        }
    }
}

/// Two keys were documented over the years; only one of them may be given.
fn either_spelling<T>(fields: &mut Fields<'_>, key: &str, old_key: &str, read: fn(&At<'_>) -> Option<T>) -> Option<T> {
    if fields.has(key) && fields.has(old_key) {
        fields.take(old_key);
        fields.at().invalid_key::<()>(old_key, format!("This is the old spelling of '{key}', which is given as well."));
    }
    fields.optional(key, read).or_else(|| fields.optional(old_key, read))
}

impl Print for MessageContent {
    fn print_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            MessageContent::Text { title, body } => {
                map.serialize_entry("title", title)?;
                map.serialize_entry("body", body)
            }
            MessageContent::Template { template } => map.serialize_entry("template", template),
        }
    }
}

impl MessageContent {
    fn take(fields: &mut Fields<'_>, encoding: Option<ContentEncoding>) -> Option<Self> {
        let has_template = fields.has("template");
        let template = TemplateReference::take(fields, &MESSAGE_TEXTS);
        if has_template {
            fields.take("title");
            fields.take("body");
            return template.map(|template| MessageContent::Template { template });
        }
        let title = fields.required("title", At::any_text);
        let body = fields.required("body", At::any_text);
        let (title, body) = (title?, body?);
        if title.len() + body.len() > limits::MESSAGE_BYTES {
            return fields
                .at()
                .invalid_key("body", format!("Title and body have at most {} bytes together.", limits::MESSAGE_BYTES));
        }
        if encoding.is_some_and(|encoding| encoding.decode(&body).is_none()) {
            return fields.at().invalid_key("body", "This is not valid base64.");
        }
        Some(MessageContent::Text { title, body })
    }
}
