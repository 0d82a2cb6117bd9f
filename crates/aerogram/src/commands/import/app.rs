//! The line about the app itself: what it changes, and whether the app lets in more afterwards than before.

use std::fmt;

use anyhow::{Result, bail};
use http::Method;
use serde_json::Value;

use super::answers::patiently;
use super::documents::Object;
use crate::client::Client;

/// Who may say something about named users, the strictest first.
const RULES: [&str; 3] = ["servers", "signed", "devices"];

/// The operator's calls about the app that rows go to.
pub(super) struct OfApp {
    pub(super) client: Client,
    pub(super) path: String,
}

/// What a line makes different.
pub(super) struct Changes(Vec<Change>);

struct Change {
    /// As a path, such as `named_users.tags`.
    what: String,
    before: String,
    after: String,
    /// Whether the app lets in, sends or believes more than before.
    is_looser: bool,
}

impl OfApp {
    pub(super) async fn changes(&self, wanted: &Object) -> Result<Changes> {
        let answer: Value = patiently(|| self.client.get(&self.path)).await?.read()?;
        let Some(now) = answer["app"].as_object() else {
            bail!("The server's answer has no 'app' (do the versions match?)");
        };
        Ok(Changes::between(now, wanted))
    }

    pub(super) async fn set(&self, wanted: Object) -> Result<()> {
        let wanted = Value::Object(wanted);
        patiently(|| self.client.send(Method::PATCH, &self.path, &wanted)).await.map(drop)
    }
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn are_looser(&self) -> bool {
        self.0.iter().any(|change| change.is_looser)
    }

    fn between(now: &Object, wanted: &Object) -> Self {
        let mut changes = Vec::new();
        for (key, value) in wanted {
            match (now.get(key), value) {
                (Some(Value::Object(now)), Value::Object(wanted)) => {
                    let parts = wanted.iter().map(|(part, value)| (format!("{key}.{part}"), now.get(part), value));
                    changes.extend(parts.filter_map(|(what, now, wanted)| Change::of(&what, now, wanted)));
                }
                (now, wanted) => changes.extend(Change::of(key, now, wanted)),
            }
        }
        Self(changes)
    }
}

impl Change {
    fn of(what: &str, now: Option<&Value>, wanted: &Value) -> Option<Self> {
        let now = now.unwrap_or(&Value::Null);
        if now == wanted {
            return None;
        }
        let is_rule = what.starts_with("named_users.");
        let is_looser = match what {
            "mode" => wanted == "development",
            // Without it nobody needs approval.
            "approval_above" => now.as_u64().is_some_and(|now| wanted.as_u64().is_none_or(|wanted| wanted > now)),
            "web_origins" => {
                let (known, all) = (elements(now), elements(wanted));
                all.iter().any(|origin| !known.contains(origin))
            }
            // Another key is somebody else who is believed.
            "proof_public_key" => !wanted.is_null(),
            _ if is_rule => rank(wanted) > rank(now),
            _ => false,
        };
        let shown = |value: &Value, key: &str| match value {
            Value::Null if is_rule => "what the mode says".to_owned(),
            Value::String(_) if what == "proof_public_key" => key.to_owned(),
            _ => text(value),
        };
        let (before, after) = (shown(now, "the key that is there"), shown(wanted, "another key"));
        Some(Self { what: one_line(what), before, after, is_looser })
    }
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// How much a rule allows. What is no rule allows most: which one then holds is up to the server.
fn rank(rule: &Value) -> usize {
    RULES.iter().position(|known| rule == *known).unwrap_or(RULES.len())
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Array(all) if all.is_empty() => "none".to_owned(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::String(text) => one_line(text),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => one_line(&value.to_string()),
    }
}

/// A file says what it likes, also to a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Each on a line of its own.
impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|Change { what, before, after, is_looser }| {
            write!(f, "\n  {what}: {before} -> {after}{}", if *is_looser { " (looser)" } else { "" })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_lets_in_more_is_told_apart() {
        let now = json!({"name": "Shop", "mode": "production", "approval_above": 500, "web_origins": ["https://a.example"],
            "named_users": {"associate": "signed", "tags": "signed"}, "proof_public_key": null, "created": "2030"});
        let open = json!({"mode": "development", "approval_above": null, "named_users": {"associate": "signed"}});
        let (now, unset) = (now.as_object().unwrap(), open.as_object().unwrap());
        for (now, wanted, shown) in [
            (now, json!({"name": "Shop", "mode": "production", "web_origins": ["https://a.example"]}), ""),
            (now, json!({"name": "Web\nShop"}), "\n  name: Shop -> Web Shop"),
            (now, json!({"mode": "development"}), "\n  mode: production -> development (looser)"),
            (unset, json!({"mode": "production"}), "\n  mode: development -> production"),
            (now, json!({"approval_above": 501}), "\n  approval_above: 500 -> 501 (looser)"),
            (now, json!({"approval_above": null}), "\n  approval_above: 500 -> none (looser)"),
            (now, json!({"approval_above": 499}), "\n  approval_above: 500 -> 499"),
            (unset, json!({"approval_above": 7}), "\n  approval_above: none -> 7"),
            (now, json!({"web_origins": []}), "\n  web_origins: https://a.example -> none"),
            (
                now,
                json!({"web_origins": ["https://a.example", "https://b.example"]}),
                "\n  web_origins: https://a.example -> https://a.example, https://b.example (looser)",
            ),
            (
                now,
                json!({"named_users": {"associate": "devices", "tags": "servers"}}),
                "\n  named_users.associate: signed -> devices (looser)\n  named_users.tags: signed -> servers",
            ),
            (
                now,
                json!({"named_users": {"tags": null}}),
                "\n  named_users.tags: signed -> what the mode says (looser)",
            ),
            (now, json!({"proof_public_key": "PEM"}), "\n  proof_public_key: none -> another key (looser)"),
            (now, json!({"proof_public_key": null}), ""),
        ] {
            let changes = Changes::between(now, wanted.as_object().unwrap());
            assert_eq!(changes.to_string(), shown, "{wanted}");
            assert_eq!((changes.is_empty(), changes.are_looser()), (shown.is_empty(), shown.contains("(looser)")));
        }
    }
}
