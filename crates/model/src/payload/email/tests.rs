//! The email override: what is accepted, how it prints, and where mistakes are reported.

use serde_json::{Value, json};

use super::*;
use crate::json::parse;

fn read(body: &Value) -> Result<EmailOverride, String> {
    parse(body.to_string().as_bytes(), EmailOverride::parse).map_err(|problems| problems.first().path.clone())
}

/// A complete email with some keys changed, or taken away by null.
fn email(changes: Value) -> Value {
    let mut email = json!({
        "message_type": "commercial", "subject": "Hi", "plaintext_body": "Hello", "sender_name": "Us",
        "sender_address": "us@example.com", "reply_to": "reply@example.com"
    });
    let Value::Object(changes) = changes else { panic!("changes are an object") };
    for (key, value) in changes {
        match value {
            Value::Null => drop(email.as_object_mut().unwrap().remove(&key)),
            value => email[key] = value,
        }
    }
    email
}

#[test]
fn good_overrides_print_as_they_came() {
    for body in [
        email(json!({})),
        email(json!({"message_type": "transactional", "html_body": "<p>", "bcc": ["a@example.com"],
            "attachments": [{"id": "7f7b2c3e-0d1f-4f0e-9a51-5b8f3b9d0c11"}], "click_tracking": false,
            "open_tracking": true, "bypass_opt_in_level": true, "url_parameters": {"utm": "x"}})),
        email(json!({"subject": null, "plaintext_body": null,
            "template": {"fields": {"subject": "s", "plaintext_body": "p"},
                "variable_defaults": [{"key": "name", "default_value": "you"}]}})),
    ] {
        let email = read(&body).unwrap_or_else(|path| panic!("{body}: {path}"));
        assert_eq!(json!(email), body);
    }
}

#[test]
fn mistakes_are_reported_where_they_are() {
    for key in ["message_type", "subject", "plaintext_body", "sender_name", "sender_address", "reply_to"] {
        assert_eq!(read(&email(json!({key: null}))).unwrap_err(), key);
    }
    for (changes, path) in [
        (json!({"alert": "x"}), "alert"),
        (json!({"message_type": "spam"}), "message_type"),
        (json!({"sender_address": "us"}), "sender_address"),
        (json!({"sender_address": "@example.com"}), "sender_address"),
        (json!({"reply_to": "a b@example.com"}), "reply_to"),
        (json!({"subject": ""}), "subject"),
        (json!({"plaintext_body": "x".repeat(102_401)}), "plaintext_body"),
        (json!({"html_body": 1}), "html_body"),
        (json!({"bcc": ["a@example.com", "b"]}), "bcc[1]"),
        (json!({"attachments": [{"id": "x"}]}), "attachments[0].id"),
        (json!({"click_tracking": 1}), "click_tracking"),
        (json!({"url_parameters": {"a": 1}}), "url_parameters.a"),
        (json!({"template": {"external_id": "x"}}), "subject"),
    ] {
        assert_eq!(read(&email(changes.clone())).unwrap_err(), path, "{changes}");
    }
}
