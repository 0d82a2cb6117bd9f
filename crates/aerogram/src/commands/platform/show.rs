//! Shows platforms to people.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;

use crate::client::Reply;
use crate::output::{self, MOMENT, NAME, TEXT};

#[derive(Deserialize)]
struct Platforms {
    platforms: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    platform: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    auth: Option<Auth>,
    #[serde(default)]
    enabled: Option<bool>,
    #[serde(default)]
    validation_code: Option<String>,
    #[serde(default)]
    keys: Vec<Key>,
    /// Sealed with a `secrets.key` that the server does not have.
    #[serde(default)]
    unreadable: bool,
    #[serde(default)]
    paused: Option<Hindrance>,
    #[serde(default)]
    waiting: Option<Hindrance>,
    /// Absent when nothing is configured.
    modified: Option<String>,
}

#[derive(Deserialize)]
struct Hindrance {
    reason: String,
    since: String,
}

#[derive(Deserialize)]
struct Auth {
    r#type: String,
}

#[derive(Deserialize)]
struct Key {
    fingerprint: String,
    #[serde(default)]
    expires: Option<String>,
    /// The provider's own identifiers of the key, which differ between providers.
    #[serde(flatten)]
    details: BTreeMap<String, String>,
}

pub(super) fn list(reply: &Reply) -> Result<()> {
    let Platforms { platforms } = reply.read()?;
    let mut rows = Vec::new();
    for shown in &platforms {
        let row = |expires: Option<&String>, details: String| {
            [shown.platform.clone(), shown.state().to_owned(), expires.cloned().unwrap_or_default(), details]
        };
        match &shown.url {
            Some(url) => rows.push(row(None, url.clone())),
            None if shown.unreadable => {
                rows.push(row(None, "restore secrets.key, or set the platform again".to_owned()))
            }
            None if shown.modified.is_none() => rows.push(row(None, "not configured".to_owned())),
            None => rows.extend(shown.keys.iter().map(|key| row(key.expires.as_ref(), key.summary()))),
        }
    }
    output::table([("PLATFORM", NAME), ("STATE", NAME), ("EXPIRES", MOMENT), ("DETAILS", TEXT)], &rows)
}

pub(super) fn one(reply: &Reply) -> Result<()> {
    let shown: Shown = reply.read()?;
    let field = |name: &str, value: &str| output::line(format_args!("{name:<16} {value}"));
    field("platform", &shown.platform)?;
    field("state", shown.state())?;
    for (name, hindrance) in [("paused", &shown.paused), ("waiting", &shown.waiting)] {
        if let Some(Hindrance { reason, since }) = hindrance {
            field(name, &format!("since {since}: {reason}"))?;
        }
    }
    if shown.modified.is_none() {
        return field("configured", "no");
    }
    for (name, value) in
        [("modified", &shown.modified), ("url", &shown.url), ("validation_code", &shown.validation_code)]
    {
        if let Some(value) = value {
            field(name, value)?;
        }
    }
    if let Some(auth) = &shown.auth {
        field("auth", &auth.r#type)?;
    }
    for key in &shown.keys {
        output::line(format_args!(""))?;
        field("key", &key.fingerprint)?;
        for (name, value) in &key.details {
            field(name, value)?;
        }
        if let Some(expires) = &key.expires {
            field("expires", expires)?;
        }
    }
    Ok(())
}

impl Shown {
    fn state(&self) -> &'static str {
        match (&self.paused, self.enabled, &self.waiting) {
            (_, _, _) if self.unreadable => "unreadable",
            (Some(_), _, _) => "paused",
            (None, Some(false), _) => "disabled",
            (None, Some(true) | None, Some(_)) => "waiting",
            (None, Some(true) | None, None) => "enabled",
        }
    }
}

impl Key {
    /// The details that distinguish keys at a glance, in this order.
    fn summary(&self) -> String {
        const NAMES: [&str; 8] =
            ["topic", "environment", "key_id", "project_id", "package_sid", "client_id", "subject", "endpoint"];
        let known: Vec<&str> = NAMES.iter().filter_map(|name| self.details.get(*name).map(String::as_str)).collect();
        format!("{} ({})", known.join(" "), self.fingerprint)
    }
}
