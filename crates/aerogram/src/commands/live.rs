//! `aerogram live`: how many devices of an app have a live connection now.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Deserialize;

use crate::client::Client;
use crate::config::{AppLogin, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Live {
    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Presence {
    connected: u64,
    live_channels: u64,
    platforms: BTreeMap<String, u64>,
}

impl Live {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let reply = Client::app(&self.remote, &self.login)?.get("/api/live").await?;
        if self.remote.json {
            reply.print()?;
            return Ok(ExitCode::SUCCESS);
        }
        let Presence { connected, live_channels, platforms } = reply.read()?;
        output::line(format_args!("{connected} of {live_channels} live channels are connected"))?;
        for (platform, n) in platforms {
            output::line(format_args!("  {platform}: {n}"))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
