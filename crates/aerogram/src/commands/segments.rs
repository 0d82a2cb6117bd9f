//! `aerogram segment`: segments, and those that group related iOS models.

use std::collections::HashSet;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use http::Method;
use model::segment::common_model_segments;
use serde::Deserialize;

use super::noun::{self, Verb};
use crate::client::{Client, own_path};
use crate::config::{AppLogin, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Segments {
    #[command(subcommand)]
    command: SegmentsCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum SegmentsCommand {
    #[command(flatten)]
    Verb(Verb),
    /// Create the segments "… - UA Generated", one per family of iOS models, except those that there are already
    CommonModels,
}

#[derive(Deserialize)]
struct Created {
    segment_id: String,
}

#[derive(Deserialize)]
struct Page {
    segments: Vec<Listed>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    display_name: String,
}

impl Segments {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        match &self.command {
            SegmentsCommand::Verb(verb) => verb.run(&noun::SEGMENTS, &client, self.remote.json).await?,
            SegmentsCommand::CommonModels => self.make_common_models(&client).await?,
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn make_common_models(&self, client: &Client) -> Result<()> {
        let known = names(client).await?;
        for segment in common_model_segments() {
            if known.contains(&segment.display_name) {
                output::note(format_args!("'{}' is there already and stays as it is.", segment.display_name));
                continue;
            }
            let body = serde_json::to_string(&segment).context("A segment cannot be printed")?;
            let reply = client.send_raw(Method::POST, "/api/segments", body.into()).await?;
            if self.remote.json {
                reply.print()?;
            } else {
                output::line(format_args!("{}  {}", reply.read::<Created>()?.segment_id, segment.display_name))?;
            }
        }
        Ok(())
    }
}

/// The names of all segments of the app.
async fn names(client: &Client) -> Result<HashSet<String>> {
    let (mut names, mut next) = (HashSet::new(), Some("/api/segments".to_owned()));
    while let Some(path) = next {
        let page = client.get(&path).await?.read::<Page>()?;
        names.extend(page.segments.into_iter().map(|segment| segment.display_name));
        next = page.next_page.as_deref().map(own_path);
    }
    Ok(names)
}
