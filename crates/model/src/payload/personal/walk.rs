//! Walking through the texts of a push in which something may be filled in.

use personalization::{Part, Target, Template, ValueMap, has_tags};

use super::VaryingText;
use super::marks::{MARK, Piece, mark, pieces};
use crate::json::{At, Json};
use crate::template::{Surroundings, content_type};

/// The parts of a push with texts for recipients.
const PARTS: [&str; 4] = ["notification", "message", "in_app", "localizations"];
/// Keys whose text is a word that means something here, or has a form of its own.
const AS_WRITTEN: [&str; 10] = [
    "type",
    "content_type",
    "content-type",
    "content_encoding",
    "content-encoding",
    "icon_color",
    "language",
    "country",
    "collapse_id",
    "variable_defaults",
];
/// It is sent as a header, which is the same for all devices.
const HEADER: &str = "collapse_id";
/// Keys whose text is a URL, if it looks like one.
const URLS: [&str; 7] = ["url", "content", "media_attachment", "icon", "list_icon", "big_picture", "background_image"];

/// Takes out what varies.
#[derive(Default)]
pub(super) struct Marker {
    pub(super) texts: Vec<VaryingText>,
}

impl Marker {
    pub(super) fn push(&mut self, push: &Json) -> Json {
        let Json::Object(entries) = push else { return push.clone() };
        let nothing = ValueMap::new();
        let part = |(key, value): &(String, Json)| {
            let is_part = PARTS.contains(&key.as_str());
            let value = if is_part { self.json(value, key, Surroundings::OUTSIDE, &nothing) } else { value.clone() };
            (key.clone(), value)
        };
        Json::Object(entries.iter().map(part).collect())
    }

    fn json(&mut self, json: &Json, key: &str, around: Surroundings, defaults: &ValueMap) -> Json {
        match json {
            _ if AS_WRITTEN.contains(&key) => json.clone(),
            Json::String(text) => Json::String(self.text(text, key, around, defaults)),
            Json::Array(items) => {
                Json::Array(items.iter().map(|item| self.json(item, key, around, defaults)).collect())
            }
            Json::Object(entries) if is_hosted_page(key, entries) => json.clone(),
            Json::Object(entries) => {
                let inside = around.inside(key, content_type(entries));
                let own = json.get("variable_defaults").map(defaults_of);
                let defaults = own.as_ref().unwrap_or(defaults);
                let part = |(key, value): &(String, Json)| (key.clone(), self.json(value, key, inside, defaults));
                Json::Object(entries.iter().map(part).collect())
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => json.clone(),
        }
    }

    /// A text that cannot be parsed was accepted when it meant nothing, and stays as it is.
    fn text(&mut self, text: &str, key: &str, around: Surroundings, defaults: &ValueMap) -> String {
        let has_mark = text.contains(MARK);
        if !has_tags(text) && !has_mark {
            return text.to_owned();
        }
        let Ok(template) = Template::parse(text) else { return text.to_owned() };
        let target = match (around.is_html(key), text.split("{{").next()) {
            (true, _) => Target::Html,
            (false, Some(beginning)) if URLS.contains(&key) && beginning.contains("://") => Target::Url,
            (false, _) => Target::Text,
        };
        if has_mark {
            return self.mark(VaryingText { template, target, defaults: defaults.clone() });
        }
        let part = |part: Part| match part {
            Part::Constant(text) => text,
            Part::Varying(template) => self.mark(VaryingText { template, target, defaults: defaults.clone() }),
        };
        template.into_parts().into_iter().map(part).collect()
    }

    /// The same text has the same mark wherever it stands, so that parts of a push that are equal stay so.
    fn mark(&mut self, text: VaryingText) -> String {
        let number = self.texts.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        mark(number)
    }
}

/// Puts texts in the places of marks.
pub(super) struct Filler<'t> {
    pub(super) texts: &'t [String],
}

impl Filler<'_> {
    pub(super) fn push(&self, json: &Json) -> Json {
        match json {
            Json::String(text) if text.contains(MARK) => {
                let filled = pieces(text).map(|piece| match piece {
                    Piece::Text(text) => text,
                    Piece::Mark { number, .. } => self.texts.get(number).map_or("", String::as_str),
                });
                Json::String(filled.collect())
            }
            Json::Array(items) => Json::Array(items.iter().map(|item| self.push(item)).collect()),
            Json::Object(entries) => {
                Json::Object(entries.iter().map(|(key, value)| (key.clone(), self.push(value))).collect())
            }
            Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => json.clone(),
        }
    }
}

/// Notes the mistakes of all texts.
pub(super) fn check(push: &At<'_>) {
    let Some(mut fields) = push.object() else { return };
    for key in PARTS {
        if let Some(part) = fields.take(key) {
            check_part(&part, key);
        }
    }
    fields.rest();
}

fn check_part(at: &At<'_>, key: &str) {
    match at.json() {
        Json::String(text) if has_tags(text) => {
            if key == HEADER {
                at.invalid::<()>("Nothing can be filled in here.");
            } else if !AS_WRITTEN.contains(&key)
                && let Err(mistakes) = Template::parse(text)
            {
                for mistake in mistakes {
                    at.invalid::<()>(format!("Column {}: {}", mistake.column, mistake.message));
                }
            }
        }
        Json::Array(_) => at.items(0..=usize::MAX).iter().flatten().for_each(|item| check_part(item, key)),
        Json::Object(entries) => {
            let is_page = is_hosted_page(key, entries);
            let Some(mut fields) = at.object() else { return };
            for (key, value) in fields.rest() {
                match value.json() {
                    Json::String(text) if is_page && has_tags(text) => {
                        value.invalid::<()>("A hosted page is the same for everybody; nothing can be filled in here.");
                    }
                    _ if key == "variable_defaults" => {}
                    _ => check_part(&value, key),
                }
            }
        }
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// A landing page, which devices open without saying which of them they are.
fn is_hosted_page(key: &str, entries: &[(String, Json)]) -> bool {
    key == "content" && entries.iter().any(|(key, _)| key == "body")
}

fn defaults_of(defaults: &Json) -> ValueMap {
    let Json::Array(items) = defaults else { return ValueMap::new() };
    let default = |item: &Json| match (item.get("key")?, item.get("default_value")?) {
        (Json::String(key), value) => Some((key.clone(), value.to_value())),
        _ => None,
    };
    items.iter().filter_map(default).collect()
}
