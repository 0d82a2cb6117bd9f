//! `aerogram audience explain`: who an audience reaches and why, without sending anything.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::config::{AppLogin, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Audience {
    #[command(subcommand)]
    command: AudienceCommand,
}

#[derive(Subcommand, Debug)]
enum AudienceCommand {
    /// Count an audience, part by part
    Explain(Explain),
}

#[derive(Args, Debug)]
struct Explain {
    /// `all`, or a selector in JSON such as {"tag": "news"}
    #[arg(value_name = "SELECTOR", value_parser = super::push::audience)]
    audience: Value,
    /// `all`, or some of ios, android, amazon, web, wns and open::NAME
    #[arg(long, value_name = "TYPES", value_delimiter = ',', default_value = "all")]
    device_types: Vec<String>,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

/// The answer to the question whom an audience reaches.
#[derive(Deserialize)]
pub(super) struct Explanation {
    matched: u64,
    pub(super) reachable: u64,
    #[serde(default)]
    online: u64,
    platforms: BTreeMap<String, Platform>,
    clause: Option<Clause>,
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Platform {
    matched: u64,
    reachable: u64,
    opted_out: u64,
    without_address: u64,
}

#[derive(Deserialize)]
struct Clause {
    path: String,
    matched: u64,
    kept: Option<u64>,
    dropped: Option<u64>,
    added: Option<u64>,
    #[serde(default)]
    clauses: Vec<Clause>,
}

#[derive(Deserialize)]
struct Warning {
    path: String,
    message: String,
    near: Vec<String>,
}

impl Audience {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let AudienceCommand::Explain(explain) = &self.command;
        let client = Client::app(&explain.remote, &explain.login)?;
        let device_types = super::push::device_types(&explain.device_types);
        let reply = explained(&client, &explain.audience, &device_types).await?;
        if explain.remote.json {
            reply.print()?;
        } else {
            print(&reply.read()?)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whom an audience reaches.
pub(super) async fn explained(client: &Client, audience: &Value, device_types: &Value) -> Result<Reply> {
    let question = json!({"audience": audience, "device_types": device_types});
    client.send(Method::POST, "/api/audience/explain", &question).await
}

fn print(explanation: &Explanation) -> Result<()> {
    let Explanation { matched, reachable, online, clause, .. } = explanation;
    output::line(format_args!("{matched} channels match, {reachable} of them would see a notification"))?;
    if *online > 0 {
        output::line(format_args!("{online} of them are online now"))?;
    }
    explanation.platforms().try_for_each(|line| output::line(format_args!("{line}")))?;
    if let Some(clause) = clause {
        print_clause(clause, 0)?;
    }
    explanation.warnings().try_for_each(|line| output::line(format_args!("{line}")))
}

impl Explanation {
    /// A line for each platform.
    pub(super) fn platforms(&self) -> impl Iterator<Item = String> {
        self.platforms.iter().map(|(name, Platform { matched, reachable, opted_out, without_address })| {
            format!(
                "  {name}: {matched} match, {reachable} reachable, {opted_out} opted out, {without_address} without address"
            )
        })
    }

    /// Whether somebody on this platform would see a notification.
    pub(super) fn reaches(&self, platform: &str) -> bool {
        self.platforms.get(platform).is_some_and(|Platform { reachable, .. }| *reachable > 0)
    }

    /// A line for each part that probably is a mistake, with what was probably meant.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.warnings.iter().map(|Warning { path, message, near }| {
            let hint = if near.is_empty() { String::new() } else { format!(" Did you mean {}?", near.join(" or ")) };
            format!("warning: {path}: {message}{hint}")
        })
    }
}

fn print_clause(clause: &Clause, depth: usize) -> Result<()> {
    let Clause { path, matched, kept, dropped, added, clauses } = clause;
    let effect = match (kept, dropped, added) {
        (Some(kept), Some(dropped), _) => format!(", keeps {kept}, drops {dropped}"),
        (_, _, Some(added)) => format!(", adds {added}"),
        _ => String::new(),
    };
    output::line(format_args!("{:indent$}{path}: {matched} match{effect}", "", indent = depth * 2))?;
    clauses.iter().try_for_each(|clause| print_clause(clause, depth + 1))
}
