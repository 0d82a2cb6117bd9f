//! `aerogram user show`: a named user with all channels, and what happened to them.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use model::ids::NamedUserId;
use providers::percent_encoded;
use serde_json::Value;

use super::channel;
use super::timeline::{Shown, field};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct User {
    #[command(subcommand)]
    command: UserCommand,
}

#[derive(Subcommand, Debug)]
enum UserCommand {
    /// Show a named user and what happened to them, newest first
    Show(Show),
}

#[derive(Args, Debug)]
struct Show {
    /// The id of the named user
    #[arg(value_name = "ID", value_parser = NamedUserId::new)]
    id: NamedUserId,

    #[command(flatten)]
    shown: Shown,
}

impl User {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let UserCommand::Show(Show { id, shown }) = &self.command;
        let id = percent_encoded(id.as_str());
        let (record, of) = (format!("/api/named_users?id={id}"), format!("/api/named_users/{id}"));
        shown.run((&record, "named_user"), &of, print).await?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print(user: &Value) -> Result<()> {
    for (name, key) in [
        ("named user", "named_user_id"),
        ("created", "created"),
        ("tags", "tags"),
        ("attributes", "attributes"),
        ("subscribed to", "subscription_lists"),
    ] {
        field(name, &user[key])?;
    }
    for channel in user["channels"].as_array().into_iter().flatten() {
        output::line(format_args!(""))?;
        channel::print(channel)?;
    }
    Ok(())
}
