//! `aerogram tag`: the tags of channels and named users.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::json;

use super::listing::Cell::At;
use super::listing::Listing;
use super::owners::{self, Owners};
use crate::client::{Client, query};
use crate::config::{AppLogin, Remote, number_in};
use crate::output::{COUNT, ID, NAME};

/// The group of the tags that apps set by themselves, which is meant where none is named.
const USUAL_GROUP: &str = "device";

const TAGS: Listing = Listing {
    path: "/api/audience/terms",
    items: "terms",
    columns: &[("CHANNELS", COUNT, At("/channels")), ("TAG", ID, At("/tag"))],
};

const GROUPS: Listing = Listing {
    path: "/api/audience/groups",
    items: "groups",
    columns: &[("GROUP", ID, At("/group")), ("TAGS", COUNT, At("/tags")), ("READ_ONLY", NAME, At("/read_only"))],
};

#[derive(Args, Debug)]
pub(crate) struct TagArgs {
    #[command(subcommand)]
    command: TagCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum TagCommand {
    /// List the tags of a group that channels have, those of most channels first
    List {
        /// The group
        #[arg(long, value_name = "GROUP", default_value = USUAL_GROUP)]
        group: String,
        #[command(flatten)]
        found: Found,
    },
    /// List the groups of tags that channels have
    Groups(Found),
    /// Give tags, besides those that there are
    Add(Change),
    /// Take tags away
    Remove(Change),
    /// Give tags, and take all others of the group away
    Set(Change),
}

#[derive(Args, Debug)]
struct Found {
    /// Only those that begin with this
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_in(1_usize..=1000))]
    limit: usize,
}

#[derive(Args, Debug)]
struct Change {
    /// The tags
    #[arg(value_name = "TAG", required = true)]
    tags: Vec<String>,
    /// Their group
    #[arg(long, value_name = "GROUP", default_value = USUAL_GROUP)]
    group: String,
    #[command(flatten)]
    owners: Owners,
}

impl TagArgs {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (client, is_json) = (Client::app(&self.remote, &self.login)?, self.remote.json);
        match &self.command {
            TagCommand::List { group, found } => found.show(&client, &TAGS, Some(group), is_json).await?,
            TagCommand::Groups(found) => found.show(&client, &GROUPS, None, is_json).await?,
            TagCommand::Add(change) => change.send(&client, "add", is_json).await?,
            TagCommand::Remove(change) => change.send(&client, "remove", is_json).await?,
            TagCommand::Set(change) => change.send(&client, "set", is_json).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Found {
    async fn show(&self, client: &Client, listing: &Listing, group: Option<&str>, is_json: bool) -> Result<()> {
        let limit = self.limit.to_string();
        let values = [("group", group), ("prefix", self.prefix.as_deref()), ("limit", Some(limit.as_str()))];
        listing.show(client, query(listing.path, &values), self.limit, is_json).await
    }
}

impl Change {
    async fn send(&self, client: &Client, what: &str, is_json: bool) -> Result<()> {
        let path = if self.owners.are_users() { "/api/named_users/tags" } else { "/api/channels/tags" };
        let tags = json!({ &self.group: self.tags });
        let reply = client.send(Method::POST, path, &json!({ "audience": self.owners.audience(), what: tags })).await?;
        owners::show_accepted(&reply, is_json)
    }
}
