//! What holds for everybody who sends from the console: above how many devices two people are needed, and who gets tests.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::parts::fields::Field;
use crate::visit::Visit;

#[derive(Deserialize)]
struct TestGroup {
    audience: Value,
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    match set(&visit).await {
        Ok(()) => Answer::to(visit.to("/settings")),
        Err(error) => Ok(super::draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

async fn set(visit: &Visit) -> Result<()> {
    let unreadable = |_| Error::invalid("approval_above", "This has to be a number of devices, or empty.");
    let above = visit.form.text("approval_above").map(str::parse::<u32>).transpose().map_err(unreadable)?;
    let group = visit.form.text("test_group").map(selector).transpose()?;
    visit.change(Method::PUT, "/api/push/test-group", Some(json!({"audience": group}))).await?;
    visit.change(Method::PATCH, &super::call(visit)?, Some(json!({"approval_above": above}))).await
}

/// A tag, or any selector as JSON.
fn selector(text: &str) -> Result<Value> {
    if !text.starts_with('{') {
        return Ok(json!({"tag": text}));
    }
    let unreadable = |error| Error::invalid("test_group", &format!("This is no JSON: {error}."));
    serde_json::from_str(text).map_err(unreadable)
}

pub(super) async fn form(visit: &Visit, approval_above: Option<u32>, error: Option<&Error>) -> Result<Markup> {
    let TestGroup { audience } = visit.get("/api/push/test-group").await?;
    let group = match (audience.as_object().map_or(0, |keys| keys.len()), audience["tag"].as_str()) {
        (0, _) => String::new(),
        (1, Some(tag)) if !tag.starts_with('{') => tag.to_owned(),
        _ => audience.to_string(),
    };
    let above = approval_above.map(|above| above.to_string()).unwrap_or_default();
    let typed = |name: &str, stored: &str| visit.form.exact(name).unwrap_or(stored).to_owned();
    Ok(html! {
        section {
            h2 { "Sending" }
            form.narrow method="post" action=(visit.to("/settings/sending")) {
                (Field { kind: "number", ..Field::text("approval_above", "Two people above so many devices")
                    .value(&typed("approval_above", &above)).optional()
                    .hint("Whoever writes a message to more devices here needs somebody else to approve it. Empty: nobody does. Servers are \
                           not bound by it.") }.show(error))
                (Field::text("test_group", "Test group").value(&typed("test_group", &group)).optional()
                    .hint("A tag, or any selector as JSON. These devices, 100 at most, get tests of messages that are being written.").show(error))
                button { "Save" }
            }
        }
    })
}
