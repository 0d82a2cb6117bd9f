//! `aerogram channel show`: a channel, and what happened to it.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use model::ids::ChannelId;
use serde_json::Value;

use super::timeline::{Shown, field};

#[derive(Args, Debug)]
pub(crate) struct Channel {
    #[command(subcommand)]
    command: ChannelCommand,
}

#[derive(Subcommand, Debug)]
enum ChannelCommand {
    /// Show a channel and what happened to it, newest first
    Show(Show),
}

#[derive(Args, Debug)]
struct Show {
    /// The id of the channel
    #[arg(value_name = "ID")]
    id: ChannelId,

    #[command(flatten)]
    shown: Shown,
}

impl Channel {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let ChannelCommand::Show(Show { id, shown }) = &self.command;
        let path = format!("/api/channels/{id}");
        shown.run((&path, "channel"), &path, print).await?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The fields of a channel that a person looks for.
pub(super) fn print(channel: &Value) -> Result<()> {
    for (name, key) in [
        ("channel", "channel_id"),
        ("device type", "device_type"),
        ("installed", "installed"),
        ("opted in", "opt_in"),
        ("address", "push_address"),
        ("named user", "named_user_id"),
        ("created", "created"),
        ("last seen", "last_registration"),
        ("tags", "tags"),
        ("tag groups", "tag_groups"),
        ("attributes", "attributes"),
        ("subscribed to", "subscription_lists"),
    ] {
        field(name, &channel[key])?;
    }
    Ok(())
}
