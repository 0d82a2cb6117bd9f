//! Templates: pushes that are stored with variables in their texts, and are filled in when they are sent.

mod html;
mod placeholder;
mod render;
#[cfg(test)]
mod tests;
mod usage;
mod value;
mod variable;

pub(crate) use html::{Surroundings, content_type};
pub use usage::{MergeData, ScheduleReplacement, TemplateSchedule, TemplateUse};
pub use value::VariableValue;
pub(crate) use variable::key_rule;
pub use variable::{Variable, VariableKey};

use std::collections::BTreeSet;

use schemars::json_schema;
use serde::Serialize;

use crate::channel::name_text;
use crate::json::body::{Body, Read};
use crate::json::{self, At, Fields, Json};
use crate::limits;
use crate::payload::Push;
use crate::payload::personal::asks_for_values;
use crate::problem::{Problem, ProblemKind, Problems};
use variable::parse_variables;

/// How the push of a template is read: a stored one is not checked again.
type ReadPush = fn(&At<'_>) -> Option<TemplatePush>;

/// A push whose texts have variables, to be filled in when it is sent.
// Its push is printed as it was sent.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(given(read_push: ReadPush), parse = parse_with, ignored = READ_ONLY)]
pub struct Template {
    #[body(length = 1..=limits::TEMPLATE_NAME_CHARS, read = template_name)]
    pub name: String,
    #[body(length = 0..=limits::TEMPLATE_DESCRIPTION_CHARS, read = description, nullable)]
    pub description: Option<String>,
    #[body(take = required_variables, like = Option<Vec<Variable>>)]
    pub variables: Vec<Variable>,
    #[body(read = read_push)]
    pub push: TemplatePush,
}

/// A push without audience and device types, whose texts may have variables.
// Everything in it is valid, except that the final form of texts with variables is not known yet.
#[derive(Clone, Debug, PartialEq, Serialize, Read)]
#[body(schema = json_schema!({"type": "object"}))]
pub struct TemplatePush(Json);

/// The parts of a template that are to be replaced.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, ignored = READ_ONLY, keys = require_change)]
pub struct TemplateChange {
    #[body(length = 1..=limits::TEMPLATE_NAME_CHARS, read = template_name, nullable)]
    pub name: Option<String>,
    #[body(length = 0..=limits::TEMPLATE_DESCRIPTION_CHARS, read = description, nullable)]
    pub description: Option<String>,
    #[body(length = 0..=limits::TEMPLATE_VARIABLES, read = parse_variables, nullable)]
    pub variables: Option<Vec<Variable>>,
    #[body(nullable)]
    pub push: Option<TemplatePush>,
}

/// Keys of answers that callers may send back.
const READ_ONLY: [&str; 5] = ["id", "template_id", "created_at", "modified_at", "last_used"];
const GIVEN_LATER: [&str; 2] = ["audience", "device_types"];

impl Template {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let template = Self::parse_with(at, TemplatePush::parse)?;
        if at.is_clean() {
            for Problem { path, message, .. } in template.undeclared_variables() {
                at.invalid_key::<()>(&path, message);
            }
        }
        Some(template)
    }

    /// Reads a stored template. Rules that have become stricter since then do not apply to it.
    pub fn parse_stored(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, |at| at.object().map(|_| TemplatePush(at.json().clone())))
    }

    /// The template after a change, or the problems it would have.
    pub fn changed(mut self, change: TemplateChange) -> Result<Self, Problems> {
        let TemplateChange { name, description, variables, push } = change;
        self.name = name.unwrap_or(self.name);
        self.description = description.or(self.description);
        self.push = push.unwrap_or(self.push);
        self.variables = match variables {
            Some(variables) if !variables.is_empty() || !self.push.has_variables() => variables,
            // One client library sends an empty list when it got no variables.
            Some(_) | None => self.variables,
        };
        match Problems::from_vec(self.undeclared_variables()) {
            None => Ok(self),
            Some(problems) => Err(problems),
        }
    }

    /// A variable that is not declared is most likely a typing mistake.
    fn undeclared_variables(&self) -> Vec<Problem> {
        let declared: BTreeSet<&str> = self.variables.iter().map(|variable| variable.key.as_str()).collect();
        let problem = |(path, key): (String, String)| Problem {
            path: format!("push.{path}"),
            message: format!("The variable '{key}' is not among 'variables'."),
            kind: ProblemKind::Invalid,
        };
        undeclared(&self.push.0, &declared).into_iter().map(problem).collect()
    }
}

impl TemplatePush {
    fn parse(at: &At<'_>) -> Option<Self> {
        let Json::Object(entries) = at.json() else { return at.object().and(None) };
        for key in GIVEN_LATER.iter().filter(|key| entries.iter().any(|(given, _)| given == *key)) {
            at.invalid_key::<()>(key, format!("A template has no '{key}'; it is given when the template is sent."));
        }
        let push = Self(at.json().clone());
        for Problem { path, message, kind } in push.problems() {
            match kind {
                ProblemKind::Missing => at.missing::<()>(&path),
                ProblemKind::Invalid => at.invalid_key::<()>(&path, message),
            };
        }
        at.is_clean().then_some(push)
    }

    /// The problems it has with any values and for any audience.
    fn problems(&self) -> Vec<Problem> {
        let whole = self.with(&GIVEN_LATER.map(|key| (key, Json::String("all".to_owned()))));
        let Err(problems) = json::read_tree(&whole, Push::parse) else { return Vec::new() };
        let texts = self.texts();
        // The problems of a text with variables show when they have values.
        let is_open = |path: &str| texts.iter().any(|(open, text)| open == path && placeholder::is_in(text));
        problems.iter().filter(|problem| !is_open(&problem.path)).cloned().collect()
    }

    /// The push with these keys replacing its own.
    fn with(&self, more: &[(&str, Json)]) -> Json {
        let Json::Object(own) = &self.0 else { return Json::Null };
        let kept = own.iter().filter(|(key, _)| more.iter().all(|(given, _)| key != given)).cloned();
        Json::Object(kept.chain(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone()))).collect())
    }

    fn has_variables(&self) -> bool {
        self.texts().iter().any(|(_, text)| placeholder::is_in(text))
    }

    /// Every text with its path.
    fn texts(&self) -> Vec<(String, String)> {
        texts(&self.0)
    }
}

/// The variables that texts of a push name and that are not among those declared, each as often as it occurs, with the path of its
/// text. None of a personalized push, whose other variables are attributes of its recipients.
pub fn undeclared(push: &Json, declared: &BTreeSet<&str>) -> Vec<(String, String)> {
    if asks_for_values(push) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (path, text) in texts(push) {
        let keys = placeholder::keys(&text).filter(|key| !declared.contains(key));
        found.extend(keys.map(|key| (path.clone(), key.to_owned())));
    }
    found
}

fn texts(push: &Json) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let collect = |at: &At<'_>| {
        collect_texts(at, &mut found);
        Some(())
    };
    // A key that is given twice is noted elsewhere.
    let _ = json::read_tree(push, collect);
    found
}

fn collect_texts(at: &At<'_>, found: &mut Vec<(String, String)>) {
    match at.json() {
        Json::String(text) => found.push((at.path(), text.clone())),
        Json::Array(_) => at.items(0..=usize::MAX).iter().flatten().for_each(|item| collect_texts(item, found)),
        Json::Object(_) => {
            if let Some(mut fields) = at.object() {
                fields.rest().iter().for_each(|(_, value)| collect_texts(value, found));
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// `null` means that there are no variables, but the key has to be given.
fn required_variables(fields: &mut Fields<'_>) -> Option<Vec<Variable>> {
    match fields.has("variables") {
        true => Some(fields.nullable("variables", parse_variables).unwrap_or_default()),
        false => fields.at().missing("variables"),
    }
}

fn require_change(fields: &Fields<'_>) {
    if !["name", "description", "variables", "push"].iter().any(|key| fields.has(key)) {
        fields.at().invalid::<()>("Give what is to be replaced: 'name', 'description', 'variables' or 'push'.");
    }
}

fn template_name(at: &At<'_>) -> Option<String> {
    name_text(at, limits::TEMPLATE_NAME_CHARS)
}

fn description(at: &At<'_>) -> Option<String> {
    at.text(0..=limits::TEMPLATE_DESCRIPTION_CHARS)
}
