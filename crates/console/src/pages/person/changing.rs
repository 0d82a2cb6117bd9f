//! Changing what is known about a person, and sending them a test, for senders.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Who, nobody};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::{Fields, encode};
use crate::parts::fields::{Field, choice};
use crate::parts::once::once;
use crate::visit::Visit;

/// Where a named user can be subscribed.
const SCOPES: [(&str, &str); 4] = [("app", "apps"), ("web", "browsers"), ("email", "e-mail"), ("sms", "text messages")];

#[derive(Deserialize)]
struct Sent {
    push_ids: Vec<String>,
}

pub(super) fn section(visit: &Visit, who: Who<'_>) -> Markup {
    let (name, id) = who.field();
    let form = |below: &str, fields: &Markup| {
        html! {
            form.filter method="post" action=(visit.to(below)) {
                input type="hidden" name=(name) value=(id);
                (fields)
            }
        }
    };
    let test = html! {
        (once(visit))
        (Field::text("text", "Send a test").value("A test, just for you").show(None))
        button { "Send it" }
    };
    let tags = html! {
        (Field::text("tag", "Tag").show(None))
        (Field::text("group", "Group").optional().hint(group_hint(who)).show(None))
        button name="do" value="add-tag" { "Add" } button name="do" value="remove-tag" { "Remove" }
    };
    let attributes = html! {
        (Field::text("attribute", "Attribute").show(None))
        (Field::text("value", "Value").optional().hint("A number is kept as one.").show(None))
        button name="do" value="set" { "Set" } button name="do" value="unset" { "Remove" }
    };
    let lists = html! {
        (Field::text("list", "Subscription list").show(None))
        @if matches!(who, Who::User(_)) { (choice("scope", "For", &SCOPES, "app")) }
        button name="do" value="subscribe" { "Subscribe" } button name="do" value="unsubscribe" { "Unsubscribe" }
    };
    html! {
        section.card #change {
            (form("/people/test", &test))
            details {
                summary { "Change tags, attributes and subscriptions…" }
                (form("/people/change", &tags)) (form("/people/change", &attributes)) (form("/people/change", &lists))
            }
        }
    }
}

const fn group_hint(who: Who<'_>) -> &'static str {
    match who {
        Who::User(_) => "Tags of people are in groups.",
        Who::Channel(_) => "Empty for the tags of the device itself.",
    }
}

/// Sends a text to the person alone.
pub(crate) async fn test(visit: Arc<Visit>) -> Result<Answer> {
    let who = Who::named_in(&visit.form).ok_or_else(nobody)?;
    let text = visit.form.text("text").ok_or_else(|| Error::invalid("text", "Write what the test is to say."))?;
    let audience = match who {
        Who::User(id) => json!({"named_user": id}),
        Who::Channel(id) => json!({"channel": id}),
    };
    let push = json!({"name": format!("Test: {text}"), "audience": audience, "device_types": "all",
                      "notification": {"alert": text}});
    let Sent { push_ids } = visit.post_form("/api/push", push).await?;
    Answer::to(visit.to(&format!("/messages/{}", push_ids.first().map_or("", String::as_str))))
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    let who = Who::named_in(&visit.form).ok_or_else(nobody)?;
    let (path, body) = call(who, &visit.form)?;
    visit.change(Method::POST, &path, Some(body)).await?;
    Answer::to(who.page(&visit))
}

/// The call that changes what the form says.
fn call(who: Who<'_>, form: &Fields) -> Result<(String, Value)> {
    let needed = |name: &str, sentence: &str| form.text(name).ok_or_else(|| Error::invalid(name, sentence));
    let what = form.text("do").unwrap_or_default();
    // What is changed, by the key that has it in either call.
    let (key, change) = match what {
        "add-tag" | "remove-tag" => {
            let tag = needed("tag", "Say which tag.")?;
            let group = match (who, form.text("group")) {
                (_, Some(group)) => group,
                (Who::Channel(_), None) => "device",
                (Who::User(_), None) => return Err(Error::invalid("group", "Say in which group the tag is.")),
            };
            let verb = if what == "add-tag" { "add" } else { "remove" };
            ("tags", json!({verb: {group: [tag]}}))
        }
        "set" | "unset" => {
            let key = needed("attribute", "Say which attribute.")?;
            let change = if what == "set" {
                json!({"action": "set", "key": key, "value": value(needed("value", "Say which value it gets.")?)})
            } else {
                json!({"action": "remove", "key": key})
            };
            ("attributes", json!([change]))
        }
        action @ ("subscribe" | "unsubscribe") => {
            let list = needed("list", "Say which list.")?;
            if let Who::User(id) = who {
                let scope = form.text("scope").unwrap_or("app");
                let scoped = json!([{"scope": [scope], "subscription_lists": {action: [list]}}]);
                return Ok((format!("/api/named_users/scoped/{}", encode(id)), json!({ "scoped": scoped })));
            }
            ("subscription_lists", json!([{"action": action, "list_id": list}]))
        }
        _ => return Err(Error::NotFound("There is no such change.".to_owned())),
    };
    Ok(match who {
        Who::User(id) => (format!("/api/named_users/{}", encode(id)), json!({key: change})),
        Who::Channel(id) if key == "tags" => {
            let mut body = json!({"audience": {"channel": id}});
            body.as_object_mut()
                .into_iter()
                .for_each(|body| body.extend(change.as_object().cloned().into_iter().flatten()));
            ("/api/channels/tags".to_owned(), body)
        }
        Who::Channel(id) => (format!("/api/channels/{key}"), json!({"audience": {"channel": id}, key: change})),
    })
}

/// A number where it is one, and else the text.
fn value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Number(number)) => Value::Number(number),
        _ => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_become_calls() {
        let made = |who: Who<'_>, form: &str| call(who, &Fields::parse(form));
        let (user, channel) = (Who::User("a/b"), Who::Channel("c"));
        assert_eq!(
            made(user, "do=set&attribute=age&value=42").unwrap(),
            (
                "/api/named_users/a%2Fb".to_owned(),
                json!({"attributes": [{"action": "set", "key": "age", "value": 42}]})
            )
        );
        assert_eq!(
            made(channel, "do=add-tag&tag=news").unwrap(),
            ("/api/channels/tags".to_owned(), json!({"audience": {"channel": "c"}, "add": {"device": ["news"]}}))
        );
        assert_eq!(
            made(channel, "do=unsubscribe&list=weekly").unwrap().1["subscription_lists"],
            json!([{"action": "unsubscribe", "list_id": "weekly"}])
        );
        for wrong in ["do=add-tag&tag=news", "do=set&attribute=age", "do=subscribe", "do=nothing"] {
            assert!(made(user, wrong).is_err(), "{wrong}");
        }
    }
}
