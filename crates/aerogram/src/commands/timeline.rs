//! What `channel show` and `user show` have in common: a record, and the newest entries of a timeline as lines.

use anyhow::Result;
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::config::number_in;
use crate::output;

/// Whose record and timeline are shown, and how much of it.
#[derive(Args, Debug)]
pub(super) struct Shown {
    /// How many of the newest entries to show
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number_in(1..=1_000_u32))]
    limit: u32,
}

#[derive(Deserialize)]
struct Timeline {
    entries: Vec<Value>,
    #[serde(default)]
    before: Option<String>,
}

impl Shown {
    /// Shows what lies under `key` in the answer of `record`, and the timeline of the path `of`.
    pub(super) async fn run(
        &self,
        (client, is_json): (&Client, bool),
        (record, key): (&str, &str),
        of: &str,
        print: fn(&Value) -> Result<()>,
    ) -> Result<()> {
        let answer: Value = client.get(record).await?.read()?;
        let timeline = client.get(&format!("{of}/timeline?limit={}", self.limit)).await?;
        let Timeline { entries, before } = timeline.read()?;
        if is_json {
            let all = json!({key: answer[key], "entries": entries, "before": before});
            return output::line(format_args!("{all}"));
        }
        print(&answer[key])?;
        output::line(format_args!(""))?;
        for entry in &entries {
            output::line(format_args!("{}", line(entry)))?;
        }
        match before {
            Some(_) => output::line(format_args!("There is more before that; --limit shows up to 1,000 entries.")),
            None if entries.is_empty() => output::line(format_args!("Nothing that happened is kept.")),
            None => Ok(()),
        }
    }
}

/// A line with a name and a value, unless there is none.
pub(super) fn field(name: &str, value: &Value) -> Result<()> {
    let text = brief(value);
    if text.is_empty() { Ok(()) } else { output::line(format_args!("{name:<14}{text}")) }
}

/// One line for an entry: when, what, and the text that a person looks for.
fn line(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let what = match text("kind") {
        "send" => sent(entry),
        "change" => format!("changed   {}", changed(entry)),
        _ => format!("did       {}{}", text("type"), spaced(&event_text(&entry["type"], &entry["body"]))),
    };
    let device = entry["channel_id"].as_str().map(|id| format!("  ({})", id.split('-').next().unwrap_or(id)));
    format!("{}  {what}{}", text("at"), device.unwrap_or_default())
}

fn sent(entry: &Value) -> String {
    let word = if entry["outcome"] == "held_back" { "not sent " } else { "got      " };
    let alert = entry["alert"].as_str().map(|alert| format!("{alert:?}")).unwrap_or_default();
    let opened = if entry["opened"] == true { ", opened" } else { "" };
    let outcome = entry["outcome"].as_str().unwrap_or_default().replace('_', " ");
    let push = entry["push_id"].as_str().unwrap_or_default();
    format!("{word} {}{outcome}{opened}  push {push}", spaced_after(&alert))
}

fn changed(entry: &Value) -> String {
    let what = entry["what"].as_str().unwrap_or_default();
    match what {
        "tags" => {
            let tags = |key: &str, sign: &str| -> Vec<String> {
                let groups = entry["body"][key].as_object().cloned().unwrap_or_default();
                let of_group = |(group, tags): (String, Value)| {
                    let tags = tags.as_array().cloned().unwrap_or_default();
                    tags.into_iter().map(move |tag| format!("{group}:{}", tag.as_str().unwrap_or_default()))
                };
                groups.into_iter().flat_map(of_group).map(|tag| format!("{sign}{tag}")).collect()
            };
            format!("tags {}", [tags("add", "+"), tags("remove", "-")].concat().join(" "))
        }
        "attributes" => {
            let set = each(&entry["body"]["set"], |one| format!("{}={}", brief(&one["key"]), brief(&one["value"])));
            let removed = each(&entry["body"]["remove"], |one| format!("-{}", brief(&one["key"])));
            format!("attributes {}", [set, removed].concat().join(" "))
        }
        "subscriptions" => {
            let begun = each(&entry["body"]["enrolled"], |list| format!("+{}", brief(list)));
            let ended = each(&entry["body"]["canceled"], |list| format!("-{}", brief(list)));
            format!("subscriptions {}", [begun, ended].concat().join(" "))
        }
        "registered" | "uninstalled" => what.to_owned(),
        _ => differences(entry).join(", "),
    }
}

fn each(list: &Value, text: impl Fn(&Value) -> String) -> Vec<String> {
    list.as_array().into_iter().flatten().map(text).collect()
}

/// Each value that has changed, such as `app_version 1 → 2`.
fn differences(entry: &Value) -> Vec<String> {
    let side = |key: &str| entry[key].as_object().cloned().unwrap_or_default();
    let (before, after) = (side("before"), side("after"));
    let value = |of: &Map<String, Value>, name: &str| of.get(name).map_or_else(|| "none".to_owned(), brief);
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| format!("{name} {} → {}", value(&before, name), value(&after, name))).collect()
}

fn event_text(kind: &Value, body: &Value) -> String {
    if kind != "CUSTOM" {
        return brief(body);
    }
    let parts = ["name", "value", "properties"].map(|key| brief(&body[key]));
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A value in a few words: texts without quotes, and nothing for what is empty.
fn brief(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(brief).collect::<Vec<_>>().join(" "),
        Value::Object(map) if map.is_empty() => String::new(),
        Value::Object(_) | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn spaced(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" {text}") }
}

fn spaced_after(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{text} ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_lines_that_a_person_reads() {
        let channel = "10000000-0000-4000-8000-000000000000";
        for (entry, expected) in [
            (
                json!({"at": "T", "kind": "send", "channel_id": channel, "push_id": "P", "alert": "Hello",
                       "outcome": "delivered", "opened": true}),
                "T  got       \"Hello\" delivered, opened  push P  (10000000)",
            ),
            (
                json!({"at": "T", "kind": "send", "push_id": "P", "outcome": "held_back", "opened": false}),
                "T  not sent  held back  push P",
            ),
            (
                json!({"at": "T", "kind": "event", "type": "CUSTOM", "body": {"name": "bought", "value": 12.5}}),
                "T  did       CUSTOM bought 12.5",
            ),
            (
                json!({"at": "T", "kind": "change", "what": "tags", "body": {"add": {"crew": ["a"]}, "remove": {"x": ["y"]}}}),
                "T  changed   tags +crew:a -x:y",
            ),
            (
                json!({"at": "T", "kind": "change", "what": "named_user", "before": {}, "after": {"named_user_id": "ann"}}),
                "T  changed   named_user_id none → ann",
            ),
            (
                json!({"at": "T", "kind": "change", "what": "attributes",
                       "body": {"set": [{"key": "city", "value": "Oslo"}], "remove": [{"key": "age"}]}}),
                "T  changed   attributes city=Oslo -age",
            ),
            (
                json!({"at": "T", "kind": "change", "what": "subscriptions", "body": {"enrolled": ["a"], "canceled": ["b"]}}),
                "T  changed   subscriptions +a -b",
            ),
            (json!({"at": "T", "kind": "change", "what": "uninstalled", "body": {}}), "T  changed   uninstalled"),
        ] {
            assert_eq!(line(&entry), expected);
        }
    }
}
