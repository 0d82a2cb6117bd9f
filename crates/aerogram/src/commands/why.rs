//! `aerogram why`: why a person got a push, or did not, step by step.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use model::ids::ChannelId;
use providers::percent_encoded;
use serde::Deserialize;

use crate::client::Client;
use crate::config::{AppLogin, Name, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Why {
    /// The id of the push
    #[arg(value_name = "PUSH_ID")]
    push: Name,
    /// The id of a channel or of a named user, or with --address an address
    #[arg(value_name = "CHANNEL|USER")]
    who: String,
    /// Take it for a device token or another address
    #[arg(long)]
    address: bool,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Answer {
    devices: Vec<Device>,
}

#[derive(Deserialize)]
struct Device {
    channel_id: String,
    device_type: String,
    outcome: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    text: String,
    at: Option<String>,
    clause: Option<Clause>,
}

#[derive(Deserialize)]
struct Clause {
    path: String,
    selector: Option<serde_json::Value>,
    matched: bool,
    as_of: String,
    #[serde(default)]
    clauses: Vec<Clause>,
}

impl Why {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        // Nobody calls a user by a UUID that is no channel of theirs; who does can ask the API.
        let kind = match self.address {
            true => "address",
            false if self.who.parse::<ChannelId>().is_ok() => "channel_id",
            false => "named_user_id",
        };
        let who = percent_encoded(&self.who);
        let client = Client::app(&self.remote, &self.login)?;
        let reply = client.get(&format!("/api/push/{}/why?{kind}={who}", self.push.segment())).await?;
        if self.remote.json {
            reply.print()?;
            return Ok(ExitCode::SUCCESS);
        }
        for device in reply.read::<Answer>()?.devices {
            device.show()?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Device {
    fn show(&self) -> Result<()> {
        output::line(format_args!("{} ({}): {}", self.channel_id, self.device_type, self.outcome))?;
        for Step { text, at, clause } in &self.steps {
            let at = at.as_deref().unwrap_or_default();
            output::line(format_args!("  {at:19}  {text}"))?;
            if let Some(clause) = clause {
                clause.show()?;
            }
        }
        Ok(())
    }
}

impl Clause {
    fn show(&self) -> Result<()> {
        let Self { path, selector, matched, as_of, clauses } = self;
        let answer = if *matched { "yes" } else { "no" };
        let now = if as_of == "now" { ", as of now" } else { "" };
        let selector = selector.as_ref().map(|selector| format!("  {selector}")).unwrap_or_default();
        output::line(format_args!("  {:19}  {path}{selector}: {answer}{now}", ""))?;
        clauses.iter().try_for_each(Clause::show)
    }
}
