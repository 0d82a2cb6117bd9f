//! Whether a push, as it is written, asks for something to be filled in: its parser has to know before it reads the texts.

use crate::json::Json;
use crate::{bulk, create_and_send};

/// Whether it says so, or brings values for everybody along.
pub(crate) fn asks_for_values(push: &Json) -> bool {
    let is_asked = push.get("options").and_then(|options| options.get("personalization")) == Some(&Json::Bool(true));
    is_asked || matches!(push.get("global_attributes"), Some(Json::Object(attributes)) if !attributes.is_empty())
}

/// Whether tags in its texts mean something, as [`Push::is_personalized`](crate::payload::Push::is_personalized) says once it is
/// read. Content templates are not in their places yet: a push that names one is either personalized then or refused.
pub(crate) fn may_have_tags(push: &Json) -> bool {
    let localizations = match push.get("localizations") {
        Some(Json::Array(localizations)) => localizations.as_slice(),
        _ => &[],
    };
    asks_for_values(push)
        || ["feed_references", "snippet_references"].iter().any(|key| push.get(key).is_some())
        || std::iter::once(push).chain(localizations).any(has_template)
        || push.get("audience").is_some_and(brings_values)
}

fn has_template(content: &Json) -> bool {
    let is_given = |part: &Json| part.get("template").is_some();
    let overrides = match content.get("notification") {
        Some(Json::Object(overrides)) => overrides.as_slice(),
        _ => &[],
    };
    content.get("message").is_some_and(is_given) || overrides.iter().any(|(_, part)| is_given(part))
}

fn brings_values(audience: &Json) -> bool {
    let has_values = |recipient: &Json| match recipient {
        Json::Object(entries) => {
            entries.iter().any(|(key, value)| key != create_and_send::ADDRESS && *value != Json::Null)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => false,
    };
    let recipients = match audience.get(create_and_send::KEY) {
        Some(Json::Array(recipients)) => recipients.as_slice(),
        _ => &[],
    };
    audience.get(bulk::KEY).is_some() || recipients.iter().any(has_values)
}
