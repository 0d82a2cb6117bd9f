//! `aerogram channel`: the channels of an app, what happened to one, and its end.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use model::ids::ChannelId;
use serde_json::Value;

use super::listing::Cell::{At, Each};
use super::listing::{ListArgs, Listing};
use super::timeline::{Shown, field};
use crate::client::{Client, query};
use crate::config::{AppLogin, Remote, channel_id};
use crate::output::{self, ID, MOMENT, NAME, TEXT};

const CHANNELS: Listing = Listing {
    path: "/api/channels",
    items: "channels",
    columns: &[
        ("CHANNEL_ID", ID, At("/channel_id")),
        ("TYPE", NAME, At("/device_type")),
        ("INSTALLED", NAME.left_out(1), At("/installed")),
        ("OPTED_IN", NAME.left_out(2), At("/opt_in")),
        ("LAST_REGISTRATION", MOMENT.left_out(3), At("/last_registration")),
        ("NAMED_USER", NAME, At("/named_user_id")),
        ("TAGS", TEXT, Each("/tags", "")),
    ],
};

#[derive(Args, Debug)]
pub(crate) struct Channel {
    #[command(subcommand)]
    command: ChannelCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum ChannelCommand {
    /// List the channels, in the order of their ids
    List {
        /// Only those with this device token or other address
        #[arg(long, value_name = "ADDRESS")]
        address: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a channel and what happened to it, newest first
    Show(Show),
    /// Uninstall a channel, as a device does that is to be forgotten: it is sent nothing more until it registers again
    #[command(visible_alias = "delete")]
    Uninstall {
        /// The id of the channel
        #[arg(value_name = "ID", value_parser = channel_id)]
        id: ChannelId,
        /// Say that you mean it
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args, Debug)]
struct Show {
    /// The id of the channel
    #[arg(value_name = "ID", value_parser = channel_id)]
    id: ChannelId,

    #[command(flatten)]
    shown: Shown,
}

impl Channel {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (client, is_json) = (Client::app(&self.remote, &self.login)?, self.remote.json);
        match &self.command {
            ChannelCommand::List { address, list } => {
                let path = query(CHANNELS.path, &[("address", address.as_deref())]);
                CHANNELS.show(&client, path, list.limit, is_json).await?;
            }
            ChannelCommand::Show(Show { id, shown }) => {
                let path = format!("/api/channels/{id}");
                shown.run((&client, is_json), (&path, "channel"), &path, print).await?;
            }
            ChannelCommand::Uninstall { id, yes: false } => {
                bail!("This uninstalls the channel {id}. Repeat it with --yes to confirm.")
            }
            ChannelCommand::Uninstall { id, yes: true } => {
                let reply = client.delete(&format!("/api/channels/{id}")).await?;
                if is_json { reply.print()? } else { output::line(format_args!("uninstalled"))? }
            }
        }
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
