//! Data for apps: kept by servers, downloaded by devices, and what follows from it.

mod asking;
mod counting;
mod device;
mod keeping;
mod personal;
mod serving;
mod stories;

use serde_json::{Value, json};
use testkit::app::TestApp;

/// A modal that a custom event sets off.
pub(crate) fn modal(event: &str) -> Value {
    json!({"in_app_message": {
        "type": "in_app_message", "limit": 2,
        "triggers": [{"type": "custom_event_count", "goal": 1,
                      "predicate": {"and": [{"key": "event_name", "value": {"equals": event}}]}}],
        "campaigns": {"categories": ["spring"]},
        "message": {"name": "Cart", "display_type": "modal", "display": {
            "heading": {"text": "Sale"}, "body": {"text": "Today only"},
            "template": "header_media_body", "button_layout": "separate",
            "buttons": [{"id": "go", "label": {"text": "Show"}, "behavior": "dismiss", "actions": {"^u": "https://shop.example"}}],
        }},
    }})
}

pub(crate) fn banner() -> Value {
    let mut body = modal("opened");
    body["in_app_message"]["message"] =
        json!({"display_type": "banner", "display": {"body": {"text": "Hi"}, "duration": 20}});
    body
}

pub(crate) fn in_app(app: &TestApp) -> String {
    format!("/api/in-app/{}", app.app.key)
}

/// The id of a new message.
pub(crate) async fn keep(app: &TestApp, body: &Value) -> String {
    app.master().post(&in_app(app), body).await.expect(201)["message_id"].as_str().unwrap().to_owned()
}
