//! `aerogram schedule`: pushes that are sent later, held back and let go.

mod zone;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;

use super::noun::{self, Content, One, Verb};
use crate::client::Client;
use crate::config::{AppLogin, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Schedule {
    #[command(subcommand)]
    command: ScheduleCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum ScheduleCommand {
    #[command(flatten)]
    Verb(Verb),
    /// Hold a repeated schedule back until it is resumed
    Pause(One),
    /// Let a paused schedule go on
    Resume(One),
}

impl Schedule {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        match &self.command {
            ScheduleCommand::Verb(Verb::Create(content)) => self.create(&client, content).await?,
            ScheduleCommand::Verb(verb) => verb.run(&noun::SCHEDULES, &client, self.remote.json).await?,
            ScheduleCommand::Pause(one) => self.order(&client, one, "pause", "paused").await?,
            ScheduleCommand::Resume(one) => self.order(&client, one, "resume", "resumed").await?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Says before, and not to programs, whom it will leave out.
    async fn create(&self, client: &Client, content: &Content) -> Result<()> {
        let (body, is_json) = (content.body()?, self.remote.json);
        if !is_json && let Some(warning) = zone::warning_about(client, &body).await {
            output::note(format_args!("{warning}"));
        }
        noun::SCHEDULES.create_of(client, body, is_json).await
    }

    async fn order(&self, client: &Client, one: &One, order: &str, done: &str) -> Result<()> {
        let path = format!("/api/schedules/{}/{order}", one.id.segment());
        let reply = client.send_raw(Method::POST, &path, "{}".into()).await?;
        if self.remote.json { reply.print() } else { output::line(format_args!("{done}")) }
    }
}
