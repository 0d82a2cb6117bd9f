//! A look at a push before it is sent: whom it reaches, what is probably a mistake, and what devices would show.

use std::fmt;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::commands::audience::{self, Explanation};
use crate::output;

/// What becomes of the pushes of one request.
pub(super) struct Look(Vec<OfPush>);

struct OfPush {
    reach: Reply,
    preview: Reply,
}

/// Whom a push is for, in the words of the API.
#[derive(Deserialize)]
struct Addressed {
    audience: Value,
    device_types: Value,
}

#[derive(Deserialize)]
struct Previews {
    previews: Vec<Preview>,
}

#[derive(Deserialize)]
struct Preview {
    device_type: String,
    locale: Option<Locale>,
    /// Of the message; none where there is no message, for a `reason`.
    bytes: Option<u64>,
    limit: Option<u64>,
    shown: Shown,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Locale {
    language: Option<String>,
    country: Option<String>,
}

#[derive(Deserialize)]
struct Shown {
    title: Option<String>,
    body: Option<String>,
}

impl Look {
    /// A push that the server would refuse is an error here, too.
    pub(super) async fn at(client: &Client, body: &Bytes) -> Result<Self> {
        client.send_raw(Method::POST, "/api/push/validate", body.clone()).await?;
        let pushes: Vec<Value> = match serde_json::from_slice(body).context("The push is no JSON")? {
            Value::Array(all) => all,
            one => vec![one],
        };
        let mut looks = Vec::new();
        for push in pushes {
            let reach = explained(client, &push).await?;
            let preview = client.send(Method::POST, "/api/push/preview", &json!({ "push": push })).await?;
            looks.push(OfPush { reach, preview });
        }
        Ok(Self(looks))
    }

    pub(super) fn print_json(&self) -> Result<()> {
        let looks: Result<Vec<Value>> = self.0.iter().map(OfPush::json).collect();
        output::line(format_args!("{}", json!({"ok": true, "pushes": looks?})))
    }

    pub(super) fn print(&self, line: impl Fn(fmt::Arguments<'_>) -> Result<()>) -> Result<()> {
        self.0.iter().try_for_each(|look| look.print(&line))
    }
}

/// What is probably a mistake in whom a push is for that was sent without a look, and which of its devices get nothing. Empty if
/// that cannot be found out: it is sent. Several pushes of one request are left alone, because each would take a call.
pub(super) async fn warnings_about(client: &Client, body: &Bytes) -> Vec<String> {
    let push = serde_json::from_slice::<Value>(body).unwrap_or_default();
    if push["audience"].is_null() {
        return Vec::new();
    }
    let explanation = explained(client, &push).await.and_then(|reply| reply.read::<Explanation>());
    explanation.map(|explanation| explanation.warnings().collect()).unwrap_or_default()
}

/// Whom a push would reach.
async fn explained(client: &Client, push: &Value) -> Result<Reply> {
    let Addressed { audience, device_types } = Addressed::deserialize(push).context("The push is for nobody")?;
    audience::explained(client, &audience, &device_types).await
}

impl OfPush {
    fn json(&self) -> Result<Value> {
        Ok(json!({"reach": self.reach.read::<Value>()?, "preview": self.preview.read::<Value>()?}))
    }

    fn print(&self, line: &impl Fn(fmt::Arguments<'_>) -> Result<()>) -> Result<()> {
        let reach: Explanation = self.reach.read()?;
        match reach.reachable {
            0 => line(format_args!("It would reach nobody."))?,
            1 => line(format_args!("It would reach 1 device:"))?,
            n => line(format_args!("It would reach {n} devices:"))?,
        }
        reach.platforms().chain(reach.warnings()).try_for_each(|text| line(format_args!("{text}")))?;
        let Previews { mut previews } = self.preview.read()?;
        previews.retain(|preview| reach.reaches(&preview.device_type));
        if !previews.is_empty() {
            line(format_args!("They would see:"))?;
        }
        previews.iter().try_for_each(|preview| line(format_args!("  {preview}")))
    }
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device_type)?;
        if let Some(Locale { language, country }) = &self.locale {
            let parts: Vec<&str> = language.iter().chain(country).map(String::as_str).collect();
            write!(f, " ({})", parts.join("_"))?;
        }
        f.write_str(": ")?;
        if let Some(reason) = &self.reason {
            return f.write_str(reason);
        }
        let Shown { title, body } = &self.shown;
        let texts: Vec<&str> = title.iter().chain(body).map(String::as_str).collect();
        f.write_str(if texts.is_empty() { "no text" } else { "" })?;
        f.write_str(&texts.join(" | "))?;
        match (self.bytes, self.limit) {
            (Some(bytes), Some(limit)) => write!(f, " ({bytes} of {limit} bytes)"),
            (Some(bytes), None) => write!(f, " ({bytes} bytes)"),
            (None, _) => Ok(()),
        }
    }
}
