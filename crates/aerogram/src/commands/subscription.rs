//! `aerogram subscription`: who subscribes to which lists.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::listing::Cell::{At, Each};
use super::listing::{ListArgs, Listing};
use super::owners::{self, Owners};
use crate::client::Client;
use crate::config::{AppLogin, Remote};
use crate::output::{ID, TEXT};

const SUBSCRIPTION_LISTS: Listing = Listing {
    path: "/api/subscription_lists",
    items: "subscription_lists",
    columns: &[("LIST", ID, At("/list_id")), ("SCOPES", TEXT, Each("/scopes", ""))],
};

/// `channel show` and `user show` tell to what somebody subscribes.
#[derive(Args, Debug)]
pub(crate) struct Subscription {
    #[command(subcommand)]
    command: SubscriptionCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum SubscriptionCommand {
    /// List the subscription lists that anybody has ever subscribed to
    List(ListArgs),
    /// Subscribe channels or named users, the latter in all scopes
    Add(Change),
    /// Unsubscribe channels or named users
    Remove(Change),
}

#[derive(Args, Debug)]
struct Change {
    /// The ids of the lists, which need not be there yet
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<String>,
    #[command(flatten)]
    owners: Owners,
}

impl Subscription {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (client, is_json) = (Client::app(&self.remote, &self.login)?, self.remote.json);
        match &self.command {
            SubscriptionCommand::List(list) => {
                SUBSCRIPTION_LISTS.show(&client, SUBSCRIPTION_LISTS.path.to_owned(), list.limit, is_json).await?;
            }
            SubscriptionCommand::Add(change) => change.send(&client, "subscribe", is_json).await?,
            SubscriptionCommand::Remove(change) => change.send(&client, "unsubscribe", is_json).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Change {
    async fn send(&self, client: &Client, action: &str, is_json: bool) -> Result<()> {
        let operations: Vec<Value> =
            self.lists.iter().map(|list| json!({ "action": action, "list_id": list })).collect();
        let body = json!({ "audience": self.owners.audience(), "subscription_lists": operations });
        let reply = client.send(Method::POST, "/api/channels/subscription_lists", &body).await?;
        owners::show_accepted(&reply, is_json)
    }
}
