//! The flags for how a webhook is reached and which events it gets. The server checks them.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use model::event::EventTypes;
use serde_json::{Map, Value, json};

use crate::commands::read_text;
use crate::config::number_in;

#[derive(Args, Debug)]
pub(super) struct Settings {
    /// For people
    #[arg(long)]
    name: Option<String>,
    /// Types of events, with commas between them; all when none are named for a new webhook
    #[arg(long, value_delimiter = ',', value_name = "TYPE")]
    types: Vec<String>,
    /// File with the value of the `Authorization` header; `-` for standard input
    #[arg(long, value_name = "PATH")]
    authorization_file: Option<PathBuf>,
    /// File with a header that every request gets on each line, as in `X-Tenant: one`; they replace those there are
    #[arg(long, value_name = "PATH")]
    headers_file: Option<PathBuf>,
    /// How long to wait for an answer, 1 to 60 seconds
    #[arg(long, value_name = "SECONDS", value_parser = number_in(1_u32..=60))]
    timeout: Option<u32>,
    /// How long to try an event that is not taken, 1 to 168 hours
    #[arg(long, value_name = "HOURS", value_parser = number_in(1_u32..=168))]
    give_up: Option<u32>,
    /// How many events a request has at most, 1 to 1000; with more than 1 its body is an array
    #[arg(long, value_name = "EVENTS", value_parser = number_in(1_u32..=1000))]
    batch_size: Option<u32>,
}

impl Settings {
    pub(super) fn fields(&self) -> Result<Map<String, Value>> {
        let mut fields = Map::new();
        let mut set = |name: &str, value: Option<Value>| fields.extend(value.map(|value| (name.to_owned(), value)));
        set("name", self.name.as_ref().map(|name| json!(name)));
        set("types", (!self.types.is_empty()).then(|| json!(self.types)));
        set("timeout_seconds", self.timeout.map(Value::from));
        set("give_up_hours", self.give_up.map(Value::from));
        set("batch_size", self.batch_size.map(Value::from));
        if let Some(path) = &self.authorization_file {
            set("authorization", Some(json!(read_text(path)?.trim())));
        }
        if let Some(path) = &self.headers_file {
            set("headers", Some(headers(&read_text(path)?)?));
        }
        Ok(fields)
    }
}

pub(super) fn all_types() -> Value {
    json!(EventTypes::all().names())
}

fn headers(text: &str) -> Result<Value> {
    let mut headers = Map::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (name, value) = line.split_once(':').with_context(|| {
            let start: String = line.chars().take(20).collect();
            format!("A header is a name, a colon and a value; '{start}…' is not")
        })?;
        headers.insert(name.trim().to_owned(), json!(value.trim()));
    }
    Ok(headers.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines() {
        let read = headers("X-One: 1\n\nX-Url:https://example.com/\n").unwrap();
        assert_eq!(read, json!({"X-One": "1", "X-Url": "https://example.com/"}));
        assert!(headers("nothing").is_err());
    }
}
