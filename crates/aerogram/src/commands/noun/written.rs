//! The body of a request, from a file and from parts on the command line.

use std::path::Path;

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::{Map, Value};

use crate::config::Unusable;

/// A part of a body: where it goes, and what it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    path: Vec<String>,
    value: Value,
}

/// What was written for the API. A file without settings goes as it is; the server checks it.
pub(super) enum Written<'a> {
    AsItIs(Bytes),
    Set { file: Option<Bytes>, settings: &'a [Setting] },
}

impl Setting {
    /// A value that is no JSON is a text.
    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "It must look like name=Spring or push.notification.alert=Hello.";
        let (path, value) = text.split_once('=').ok_or(FORM)?;
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        if path.iter().any(String::is_empty) {
            return Err(FORM);
        }
        Ok(Self { path, value: serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned())) })
    }

    /// Puts the value into an object, and makes the objects that lead there.
    fn put(&self, body: &mut Map<String, Value>) -> Result<()> {
        let Some((last, before)) = self.path.split_last() else { return Ok(()) };
        let mut at = body;
        for name in before {
            let below = at.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(object) = below else {
                let text = format!("--set {}: '{name}' is a value and has no parts.", self.path.join("."));
                return Err(Unusable::new(text).into());
            };
            at = object;
        }
        at.insert(last.clone(), self.value.clone());
        Ok(())
    }
}

impl<'a> Written<'a> {
    pub(super) fn read(file: Option<&Path>, settings: &'a [Setting]) -> Result<Self> {
        let file = file.map(crate::commands::read_input).transpose()?;
        Ok(match file {
            Some(file) if settings.is_empty() => Written::AsItIs(file),
            file => Written::Set { file, settings },
        })
    }

    pub(super) fn body(self) -> Result<Bytes> {
        let (file, settings) = match self {
            Written::AsItIs(body) => return Ok(body),
            Written::Set { file, settings } => (file, settings),
        };
        let mut body: Map<String, Value> = match file {
            Some(file) => serde_json::from_slice(&file).context("With --set the file must be a JSON object")?,
            None => Map::new(),
        };
        settings.iter().try_for_each(|setting| setting.put(&mut body))?;
        Ok(Value::Object(body).to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(file: Option<&str>, settings: &[&str]) -> Result<Value> {
        let settings: Vec<Setting> = settings.iter().map(|text| Setting::read(text).unwrap()).collect();
        let file = file.map(|text| Bytes::from(text.to_owned()));
        Ok(serde_json::from_slice(&Written::Set { file, settings: &settings }.body()?)?)
    }

    #[test]
    fn parts_are_put_where_they_belong() {
        let made =
            body(None, &["name=Spring sale", "push.notification.alert=7 = 7", "push.audience={\"tag\": \"a\"}", "n=7"]);
        let wanted = serde_json::json!({"name": "Spring sale", "n": 7,
            "push": {"notification": {"alert": "7 = 7"}, "audience": {"tag": "a"}}});
        assert_eq!(made.unwrap(), wanted);
        assert_eq!(body(Some(r#"{"a": {"b": 1}}"#), &["a.c=2"]).unwrap(), serde_json::json!({"a": {"b": 1, "c": 2}}));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        assert!(body(Some(r#"{"a": 1}"#), &["a.b=2"]).unwrap_err().to_string().contains("'a' is a value"));
        assert!(body(Some("[]"), &["a=2"]).unwrap_err().to_string().contains("JSON object"));
        assert!(Setting::read("name").is_err());
        assert!(Setting::read("a..b=1").is_err());
    }
}
