//! Walking through the texts of a push in which something may be filled in.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use personalization::{Part, Target, Template, ValueMap, has_tags};

use super::marks::{MARK, Piece, mark, pieces};
use super::{Form, VaryingText};
use crate::json::{At, Json};
use crate::limits;
use crate::template::{Surroundings, content_type};

/// The values of an inline template that are its last resort.
const DEFAULTS: &str = "variable_defaults";
/// The parts of a push with texts for recipients.
const PARTS: [&str; 4] = ["notification", "message", "in_app", "localizations"];
/// Keys whose text is a word that means something here, or has a form of its own, unless names are the caller's own.
const AS_WRITTEN: [&str; 11] = [
    "type",
    "content_type",
    "content-type",
    "content_encoding",
    "content-encoding",
    "icon_color",
    "language",
    "country",
    "collapse_id",
    "collapse-id",
    DEFAULTS,
];
/// Of those, the keys that are sent as a header, which is the same for all devices.
const HEADERS: [&str; 2] = ["collapse_id", "collapse-id"];

/// Takes out what varies.
#[derive(Default)]
pub(super) struct Marker {
    /// Whether any text differs from how it is written.
    pub(super) has_tags: bool,
    pub(super) texts: Vec<VaryingText>,
    /// The numbers of the texts by how they are written, for what, and with which defaults.
    numbers: HashMap<(String, Target, Form, usize), usize>,
    defaults: HashMap<String, Defaults>,
}

/// The defaults of an inline template, and their number: equal ones have the same.
#[derive(Clone)]
struct Defaults {
    number: usize,
    values: Arc<ValueMap>,
}

impl Marker {
    pub(super) fn push(&mut self, push: &Json) -> Json {
        let Json::Object(entries) = push else { return push.clone() };
        let nothing = self.defaults(ValueMap::new());
        let part = |(key, value): &(String, Json)| {
            let is_part = PARTS.contains(&key.as_str());
            let value = if is_part { self.json(value, key, Surroundings::OUTSIDE, &nothing) } else { value.clone() };
            (key.clone(), value)
        };
        Json::Object(entries.iter().map(part).collect())
    }

    /// A body whose names are the caller's own.
    pub(super) fn body(&mut self, body: &Json) -> Json {
        let nothing = self.defaults(ValueMap::new());
        self.json(body, "", Surroundings::OF_OWN_NAMES, &nothing)
    }

    fn json(&mut self, json: &Json, key: &str, around: Surroundings, defaults: &Defaults) -> Json {
        match json {
            _ if is_as_written(key, around) => json.clone(),
            Json::String(text) => Json::String(self.text(text, key, around, defaults)),
            Json::Array(items) => {
                Json::Array(items.iter().map(|item| self.json(item, key, around, defaults)).collect())
            }
            Json::Object(entries) if is_hosted_page(key, around, entries) => json.clone(),
            Json::Object(entries) => {
                let inside = around.inside(key, content_type(entries));
                let own = json.get(DEFAULTS).filter(|_| is_as_written(DEFAULTS, inside));
                let own = own.map(|own| self.defaults(defaults_of(own)));
                let defaults = own.as_ref().unwrap_or(defaults);
                let part = |(key, value): &(String, Json)| (key.clone(), self.json(value, key, inside, defaults));
                Json::Object(entries.iter().map(part).collect())
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => json.clone(),
        }
    }

    /// A text that cannot be parsed was accepted when it meant nothing, and stays as it is.
    fn text(&mut self, text: &str, key: &str, around: Surroundings, defaults: &Defaults) -> String {
        let has_mark = text.contains(MARK);
        if !has_tags(text) && !has_mark {
            return text.to_owned();
        }
        let Ok(template) = Template::parse(text) else { return text.to_owned() };
        self.has_tags = true;
        let form = Form::of(key, around);
        let kind = (form.target(text, key, around), form);
        if has_mark || varies_as_a_whole(&template, form) {
            return self.mark(template, kind, defaults);
        }
        let part = |part: Part| match part {
            Part::Constant(text) => text,
            Part::Varying(template) => self.mark(template, kind, defaults),
        };
        template.into_parts().into_iter().map(part).collect()
    }

    /// The same text has the same mark wherever it stands, so that parts of a push that are equal stay so.
    fn mark(&mut self, template: Template, (target, form): (Target, Form), defaults: &Defaults) -> String {
        let texts = &mut self.texts;
        let number = self.numbers.entry((template.to_string(), target, form, defaults.number)).or_insert_with(|| {
            texts.push(VaryingText { template, target, form, defaults: defaults.values.clone() });
            texts.len() - 1
        });
        mark(*number)
    }

    fn defaults(&mut self, values: ValueMap) -> Defaults {
        let number = self.defaults.len();
        let printed = serde_json::to_string(&values).unwrap_or_default();
        self.defaults.entry(printed).or_insert_with(|| Defaults { number, values: Arc::new(values) }).clone()
    }
}

/// Whether a text is filled in as one, instead of some parts of it.
fn varies_as_a_whole(template: &Template, form: Form) -> bool {
    form != Form::Any && !template.is_constant()
}

/// The numbers of the marks in a push, each as often as it is there.
pub(super) fn marks_in(push: &Json) -> Vec<usize> {
    let of_text = |piece: Piece<'_>| match piece {
        Piece::Text(_) => None,
        Piece::Mark { number, .. } => Some(number),
    };
    match push {
        Json::String(text) => pieces(text).filter_map(of_text).collect(),
        Json::Array(items) => items.iter().flat_map(marks_in).collect(),
        Json::Object(entries) => entries.iter().flat_map(|(_, value)| marks_in(value)).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) => Vec::new(),
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
    check_parts(push, &PARTS, Surroundings::OUTSIDE);
}

/// Notes the mistakes of the texts in these parts of a body.
pub(crate) fn check_parts(body: &At<'_>, parts: &[&str], around: Surroundings) {
    let Some(mut fields) = body.object() else { return };
    let mut marks = Marks::default();
    for key in parts {
        if let Some(part) = fields.take(key) {
            check_part(&part, key, around, &mut marks);
        }
    }
    fields.rest();
}

/// Whether there are tags in the texts of a body whose names are the caller's own.
pub(crate) fn have_tags(json: &Json) -> bool {
    match json {
        Json::String(text) => has_tags(text),
        Json::Array(items) => items.iter().any(have_tags),
        Json::Object(entries) => entries.iter().any(|(_, value)| have_tags(value)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// What would be marked in the texts so far and what it asks for, to the limits and a little beyond.
#[derive(Default)]
struct Marks {
    places: HashSet<String>,
    names: BTreeSet<String>,
}

impl Marks {
    fn add(&mut self, at: &At<'_>, text: &str, template: Template, form: Form) {
        self.add_names(at, &template);
        if self.places.len() > limits::MARKS_PER_PUSH {
            return;
        }
        if text.contains(MARK) || varies_as_a_whole(&template, form) {
            self.places.insert(text.to_owned());
        } else {
            self.places.extend(template.into_parts().into_iter().filter_map(|part| match part {
                Part::Varying(template) => Some(template.to_string()),
                Part::Constant(_) => None,
            }));
        }
        if self.places.len() > limits::MARKS_PER_PUSH {
            let most = limits::MARKS_PER_PUSH;
            at.invalid::<()>(format!(
                "All texts of a push together must have at most {most} different places where something is filled in; \
                 there are more up to here."
            ));
        }
    }

    /// Each name is looked up on its own, for all recipients.
    fn add_names(&mut self, at: &At<'_>, template: &Template) {
        let most = limits::NAMES_PER_PUSH;
        if self.names.len() > most {
            return;
        }
        self.names.extend(template.names());
        if self.names.len() > most {
            at.invalid::<()>(format!(
                "All texts of a push together must ask for at most {most} different names, of which 'a.b' is two: 'a' and \
                 its 'b'; there are more up to here."
            ));
        }
    }
}

fn check_part(at: &At<'_>, key: &str, around: Surroundings, marks: &mut Marks) {
    match at.json() {
        Json::String(text) if HEADERS.contains(&key) && is_as_written(key, around) && has_tags(text) => {
            at.invalid::<()>("Nothing can be filled in here.");
        }
        Json::String(text) if (has_tags(text) || text.contains(MARK)) && !is_as_written(key, around) => {
            match Template::parse(text) {
                Ok(template) => marks.add(at, text, template, Form::of(key, around)),
                Err(mistakes) => {
                    for mistake in mistakes {
                        at.invalid::<()>(format!("Column {}: {}", mistake.column, mistake.message));
                    }
                }
            }
        }
        Json::Array(_) => {
            at.items(0..=usize::MAX).iter().flatten().for_each(|item| check_part(item, key, around, marks));
        }
        Json::Object(entries) => {
            let is_page = is_hosted_page(key, around, entries);
            let inside = around.inside(key, content_type(entries));
            let Some(mut fields) = at.object() else { return };
            for (key, value) in fields.rest() {
                match value.json() {
                    Json::String(text) if is_page && has_tags(text) => {
                        value.invalid::<()>("A hosted page is the same for everybody; nothing can be filled in here.");
                    }
                    _ if key == DEFAULTS && is_as_written(key, inside) => check_defaults(&value),
                    _ => check_part(&value, key, inside, marks),
                }
            }
        }
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn check_defaults(at: &At<'_>) {
    let Json::Array(_) = at.json() else { return };
    for item in at.items(0..=usize::MAX).iter().flatten() {
        let Json::Object(_) = item.json() else { continue };
        let Some(mut fields) = item.object() else { continue };
        for (_, value) in fields.rest().into_iter().filter(|(key, _)| *key == "default_value") {
            let (n_bytes, most) = (value.json().to_value().to_string().len(), limits::DEFAULT_VALUE_BYTES);
            if n_bytes > most {
                value.invalid::<()>(format!("A default value must have at most {most} bytes; it has {n_bytes}."));
            }
        }
    }
}

/// Whether nothing is filled in below a key.
fn is_as_written(key: &str, around: Surroundings) -> bool {
    !around.is_free_form() && AS_WRITTEN.contains(&key)
}

/// A landing page, which devices open without saying which of them they are.
fn is_hosted_page(key: &str, around: Surroundings, entries: &[(String, Json)]) -> bool {
    key == "content" && !around.is_free_form() && entries.iter().any(|(key, _)| key == "body")
}

fn defaults_of(defaults: &Json) -> ValueMap {
    let Json::Array(items) = defaults else { return ValueMap::new() };
    let default = |item: &Json| match (item.get("key")?, item.get("default_value")?) {
        (Json::String(key), value) => Some((key.clone(), value.to_value())),
        _ => None,
    };
    items.iter().filter_map(default).collect()
}
