//! `aerogram.toml`: one key per setting, each value remembered with the line it stands on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use toml::de::{DeTable, DeValue};

use super::SECRET;

#[derive(Debug, Default)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    values: BTreeMap<String, FileValue>,
}

#[derive(Debug)]
struct FileValue {
    text: String,
    line: usize,
}

impl SettingsFile {
    pub(crate) fn read(path: &Path, known: &[String]) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("The settings file {} cannot be read", path.display()))?;
        Self::parse(path, &text, known)
    }

    pub(crate) fn parse(path: &Path, text: &str, known: &[String]) -> Result<Self> {
        let file = path.display();
        let table = DeTable::parse(text).map_err(|error| {
            // Only the message: the full form quotes the line, which may hold a secret.
            let line = error.span().map_or(1, |span| line_at(text, span.start));
            anyhow::anyhow!("{file} line {line}: this is not valid TOML: {}.", error.message())
        })?;
        let mut values = BTreeMap::new();
        for (key, value) in table.get_ref().iter() {
            let (name, line) = (key.get_ref(), line_at(text, key.span().start));
            if !known.iter().any(|setting| setting.as_str() == name) {
                bail!("{file} line {line}: there is no setting named '{name}'; the settings are {}.", known.join(", "));
            }
            let Some(text) = as_text(value.get_ref()) else {
                bail!("{file} line {line}: '{name}' must be a string, a number, true or false, or a list of strings.");
            };
            values.insert(name.clone().into_owned(), FileValue { text, line });
        }
        Ok(Self { path: path.to_owned(), values })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a value in it is not for everybody: a secret, or a database URL with a password.
    pub(crate) fn holds_secrets(&self) -> bool {
        let is_secret = |(name, value): (&String, &FileValue)| match DATABASES.contains(&name.as_str()) {
            true => has_password(&value.text),
            false => SECRET.contains(&name.as_str()),
        };
        self.values.iter().any(is_secret)
    }

    /// The value of a setting and where it stands.
    pub(crate) fn get(&self, name: &str) -> Option<(&str, String)> {
        let value = self.values.get(name)?;
        Some((&value.text, format!("{} line {}", self.path.display(), value.line)))
    }
}

/// Which of the settings that are never shown are database URLs.
const DATABASES: [&str; 3] = ["copy_from", "copy_to", "database"];

fn has_password(url: &str) -> bool {
    let user = url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    user.is_some_and(|(user, _)| user.contains(':')) || url.contains("password=")
}

/// The form the value would have on the command line.
fn as_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Boolean(yes) => Some(yes.to_string()),
        DeValue::Array(items) => {
            let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
            Some(texts.collect::<Option<Vec<_>>>()?.join(","))
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

fn line_at(text: &str, position: usize) -> usize {
    1 + text.bytes().take(position).filter(|byte| *byte == b'\n').count()
}
