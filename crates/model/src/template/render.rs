//! Filling a template in: every text gets the values of its variables, and the result is a push like any other.

use std::collections::{BTreeMap, BTreeSet};

use personalization::html_escaped;

use super::html::{Surroundings, content_type};
use super::placeholder::{Piece, pieces};
use super::value::VariableValue;
use super::{Template, TemplateUse};
use crate::json::{self, Json};
use crate::limits;
use crate::payload::Push;
use crate::payload::personal::asks_for_values;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::selector::Purpose;

impl Template {
    /// The push that a use of this template makes, or all of its problems. Paths are those of the request; parts of the
    /// template are under `push`.
    pub fn render(&self, usage: &TemplateUse) -> Result<Push, Vec<Problem>> {
        let substitutions = &usage.merge_data.substitutions;
        let values = self.variables.iter().filter_map(|variable| {
            let key = variable.key.as_str();
            let default = || variable.default_value.as_deref().map(VariableValue::of_text);
            Some((key, substitutions.get(key).cloned().or_else(default)?))
        });
        let mut filling = Filling { values: values.collect(), missing: BTreeSet::new(), n_bytes: 0 };
        let given = usage.given();
        let is_given = |key: &str| given.iter().any(|(given, _)| *given == key);
        let whole = self.push.with(&given);
        let filled = match asks_for_values(&whole) {
            true => filling.with_values(&whole),
            false => filling.push(&whole, is_given),
        };
        filling.problems()?;
        self.read(&filled).map_err(|problems| {
            let place = |problem: &Problem| {
                let first = problem.path.split(['.', '[']).next().unwrap_or_default();
                let path = if is_given(first) { problem.path.clone() } else { format!("push.{}", problem.path) };
                Problem { path, ..problem.clone() }
            };
            problems.iter().map(place).collect()
        })
    }

    /// A rule that has become stricter since the template was stored does not keep it from being sent. A problem that arises
    /// only from the present use does.
    fn read(&self, filled: &Json) -> Result<Push, Problems> {
        let problems = match json::read_tree(filled, Push::parse) {
            Ok(push) => return Ok(push),
            Err(problems) => problems,
        };
        let known = self.push.problems();
        if problems.iter().all(|problem| known.contains(problem)) {
            return json::read_tree(filled, |at| Push::parse_with(at, Purpose::Stored));
        }
        Err(problems)
    }
}

struct Filling<'t> {
    values: BTreeMap<&'t str, VariableValue>,
    missing: BTreeSet<String>,
    /// Of all texts, as they are filled in.
    n_bytes: usize,
}

impl Filling<'_> {
    /// A push that is filled in for each recipient gets the values along with those for everybody.
    fn with_values(&self, push: &Json) -> Json {
        let Json::Object(entries) = push else { return push.clone() };
        let is_global = |key: &str| key == "global_attributes";
        let mut global = match push.get("global_attributes") {
            Some(Json::Object(attributes)) => attributes.clone(),
            _ => Vec::new(),
        };
        global.retain(|(key, _)| !self.values.contains_key(key.as_str()));
        let value = |(key, value): (&&str, &VariableValue)| ((*key).to_owned(), value.json().clone());
        global.extend(self.values.iter().map(value));
        let others = entries.iter().filter(|(key, _)| !is_global(key)).cloned();
        Json::Object(others.chain([("global_attributes".to_owned(), Json::Object(global))]).collect())
    }

    /// Parts given by the request have no variables.
    fn push(&mut self, push: &Json, is_given: impl Fn(&str) -> bool) -> Json {
        let Json::Object(entries) = push else { return push.clone() };
        let part = |(key, value): &(String, Json)| {
            let value = if is_given(key) { value.clone() } else { self.fill(value, key, Surroundings::OUTSIDE) };
            (key.clone(), value)
        };
        Json::Object(entries.iter().map(part).collect())
    }

    fn fill(&mut self, json: &Json, key: &str, around: Surroundings) -> Json {
        match json {
            Json::String(text) => Json::String(self.text(text, around.is_html(key))),
            Json::Array(items) => Json::Array(items.iter().map(|item| self.fill(item, key, around)).collect()),
            Json::Object(entries) => {
                let content_type = content_type(entries).map(|text| self.text(text, false));
                let inside = around.inside(key, content_type.as_deref());
                let part = |(key, value): &(String, Json)| (key.clone(), self.fill(value, key, inside));
                Json::Object(entries.iter().map(part).collect())
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => json.clone(),
        }
    }

    fn text(&mut self, text: &str, is_html: bool) -> String {
        let mut filled = String::new();
        for piece in pieces(text) {
            let more = match piece {
                Piece::Text(text) => text.into(),
                Piece::Variable(key) => match self.values.get(key) {
                    Some(value) if is_html => html_escaped(&value.text()).into_owned().into(),
                    Some(value) => value.text(),
                    None => {
                        self.missing.insert(key.to_owned());
                        continue;
                    }
                },
            };
            self.n_bytes = self.n_bytes.saturating_add(more.len());
            // One long value in thousands of places would fill the memory.
            if self.n_bytes <= limits::RENDERED_TEMPLATE_BYTES {
                filled.push_str(&more);
            }
        }
        filled
    }

    fn problems(self) -> Result<(), Vec<Problem>> {
        let mut problems: Vec<Problem> = self.missing.iter().map(|key| missing(key)).collect();
        if self.n_bytes > limits::RENDERED_TEMPLATE_BYTES {
            let most = limits::RENDERED_TEMPLATE_BYTES;
            problems.push(Problem {
                path: "merge_data.substitutions".to_owned(),
                message: format!("With these values the texts of the push have more than {most} bytes."),
                kind: ProblemKind::Invalid,
            });
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

fn missing(key: &str) -> Problem {
    Problem {
        path: format!("merge_data.substitutions.{key}"),
        message: format!("The template needs a value for its variable '{key}', which has no default."),
        kind: ProblemKind::Missing,
    }
}
