//! The variables of a template.

use std::collections::BTreeSet;

use schemars::json_schema;
use serde::Serialize;

use super::description;
use crate::channel::name_text;
use crate::json::At;
use crate::json::body::{Body, Read};
use crate::limits;

/// A variable of a template, which its texts name in double braces.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Variable {
    pub key: VariableKey,
    #[body(length = 1..=limits::TEMPLATE_NAME_CHARS, read = |at| name_text(at, limits::TEMPLATE_NAME_CHARS), nullable)]
    pub name: Option<String>,
    #[body(length = 0..=limits::TEMPLATE_DESCRIPTION_CHARS, read = description, nullable)]
    pub description: Option<String>,
    /// Without one, the caller that sends the template has to give a value.
    #[body(nullable)]
    pub default_value: Option<String>,
}

/// 1 to 32 letters, digits and underscores, none of the latter at the ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Read)]
#[body(schema = {
    let most = limits::TEMPLATE_VARIABLE_CHARS;
    json_schema!({"type": "string", "pattern": "^[A-Za-z0-9]([A-Za-z0-9_]*[A-Za-z0-9])?$", "maxLength": most})
})]
pub struct VariableKey(String);

/// All variables of a template, none of them twice.
pub(super) fn parse_variables(at: &At<'_>) -> Option<Vec<Variable>> {
    let variables = at.array(0..=limits::TEMPLATE_VARIABLES, Variable::parse)?;
    let mut seen = BTreeSet::new();
    for (n, variable) in variables.iter().enumerate() {
        if !seen.insert(&variable.key) {
            let message = format!("The variable '{}' is given more than once.", variable.key.as_str());
            return at.items(0..=usize::MAX)?.get(n)?.invalid_key("key", message);
        }
    }
    Some(variables)
}

impl VariableKey {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let key = Self::new(at.string()?);
        if key.is_some() { key } else { at.invalid(key_rule()) }
    }

    /// `None` for a text that is not a key.
    pub fn new(text: &str) -> Option<Self> {
        is_key(text).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The rule for keys, as a message to callers.
pub(crate) fn key_rule() -> String {
    let most = limits::TEMPLATE_VARIABLE_CHARS;
    format!("A key has 1 to {most} letters, digits and underscores, and no underscore at either end.")
}

pub(super) const fn is_in_keys(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn is_key(text: &str) -> bool {
    (1..=limits::TEMPLATE_VARIABLE_CHARS).contains(&text.len())
        && text.bytes().all(is_in_keys)
        && !text.starts_with('_')
        && !text.ends_with('_')
}
