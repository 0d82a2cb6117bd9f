//! `aerogram user`: named users, whose channels are whose, and what happened to one.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use http::Method;
use model::ids::{ChannelId, NamedUserId};
use providers::percent_encoded;
use serde_json::{Value, json};

use super::listing::Cell::{At, Count};
use super::listing::{ListArgs, Listing};
use super::timeline::{Shown, field};
use super::{channel, owners};
use crate::client::Client;
use crate::config::{AppLogin, Remote, channel_id};
use crate::output::{self, COUNT, ID, MOMENT};

const NAMED_USERS: Listing = Listing {
    path: "/api/named_users",
    items: "named_users",
    columns: &[
        ("NAMED_USER", ID, At("/named_user_id")),
        ("CREATED", MOMENT.left_out(1), At("/created")),
        ("MODIFIED", MOMENT.left_out(2), At("/last_modified")),
        ("CHANNELS", COUNT, Count("/channels")),
    ],
};

/// Their tags and attributes are changed with `tag` and `attribute`.
#[derive(Args, Debug)]
pub(crate) struct User {
    #[command(subcommand)]
    command: UserCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum UserCommand {
    /// List the named users, in the order of their ids
    List(ListArgs),
    /// Make channels those of a named user, who is created if there is none
    Associate(Association),
    /// Make channels of a named user those of nobody
    Disassociate(Association),
    /// Show a named user and what happened to them, newest first
    Show(Show),
    /// Delete a named user, and uninstall their channels
    #[command(visible_alias = "delete")]
    Uninstall {
        /// The id of the named user
        #[arg(value_name = "ID", value_parser = NamedUserId::new)]
        id: NamedUserId,
        /// Say that you mean it
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args, Debug)]
struct Show {
    /// The id of the named user
    #[arg(value_name = "ID", value_parser = NamedUserId::new)]
    id: NamedUserId,

    #[command(flatten)]
    shown: Shown,
}

#[derive(Args, Debug)]
struct Association {
    /// The id of the named user
    #[arg(value_name = "ID", value_parser = NamedUserId::new)]
    id: NamedUserId,
    /// The ids of the channels
    #[arg(value_name = "CHANNEL", required = true, value_parser = channel_id)]
    channels: Vec<ChannelId>,
}

impl User {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (client, is_json) = (Client::app(&self.remote, &self.login)?, self.remote.json);
        match &self.command {
            UserCommand::List(list) => {
                NAMED_USERS.show(&client, NAMED_USERS.path.to_owned(), list.limit, is_json).await?;
            }
            UserCommand::Associate(association) => association.send(&client, "associate", is_json).await?,
            UserCommand::Disassociate(association) => association.send(&client, "disassociate", is_json).await?,
            UserCommand::Show(Show { id, shown }) => {
                let path = path_of(id);
                let record = format!("{}?id={}", NAMED_USERS.path, percent_encoded(id.as_str()));
                shown.run((&client, is_json), (&record, "named_user"), &path, print).await?;
            }
            UserCommand::Uninstall { id, yes: false } => {
                let what = format!("deletes the named user {} and uninstalls all of their channels", id.as_str());
                bail!("This {what}. Repeat it with --yes to confirm.")
            }
            UserCommand::Uninstall { id, yes: true } => {
                let body = json!({ "named_user_id": [id] });
                let reply = client.send(Method::POST, "/api/named_users/uninstall", &body).await?;
                owners::show_accepted(&reply, is_json)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Association {
    /// All channels in one request, of which either all or none change.
    async fn send(&self, client: &Client, what: &str, is_json: bool) -> Result<()> {
        let channels: Vec<Value> = self.channels.iter().map(|id| json!({ "channel_id": id })).collect();
        let reply = client.send(Method::POST, &path_of(&self.id), &json!({ what: channels })).await?;
        owners::show_accepted(&reply, is_json)
    }
}

fn path_of(id: &NamedUserId) -> String {
    format!("{}/{}", NAMED_USERS.path, percent_encoded(id.as_str()))
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
