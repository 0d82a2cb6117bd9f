//! `aerogram segments common-models`: the segments that group related iOS models, made through the API.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use http::Method;
use model::segment::common_model_segments;
use serde::Deserialize;

use crate::client::Client;
use crate::config::{AppLogin, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Segments {
    #[command(subcommand)]
    command: SegmentsCommand,
}

#[derive(Subcommand, Debug)]
enum SegmentsCommand {
    /// Create the segments "… - UA Generated", one per family of iOS models
    CommonModels(CommonModels),
}

#[derive(Args, Debug)]
struct CommonModels {
    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Created {
    segment_id: String,
}

impl Segments {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let SegmentsCommand::CommonModels(CommonModels { login, remote }) = &self.command;
        let client = Client::app(remote, login)?;
        for segment in common_model_segments() {
            let body = serde_json::to_string(&segment).context("A segment cannot be printed")?;
            let reply = client.send_raw(Method::POST, "/api/segments", body.into()).await?;
            if remote.json {
                reply.print()?;
            } else {
                output::line(format_args!("{}  {}", reply.read::<Created>()?.segment_id, segment.display_name))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
