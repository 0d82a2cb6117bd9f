//! `aerogram attribute`: the attributes of channels and named users.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::listing::Cell::{At, Each};
use super::listing::{ListArgs, Listing};
use super::owners::{self, Owners};
use crate::client::{Client, query};
use crate::config::{AppLogin, Remote};
use crate::output::{ID, NAME, TEXT};

const ATTRIBUTES: Listing = Listing {
    path: "/api/attributes",
    items: "attributes",
    columns: &[
        ("NAME", ID, At("/name")),
        ("TYPES", NAME, Each("/types", "")),
        ("FREQUENT_VALUES", TEXT, Each("/values", "/value")),
    ],
};

#[derive(Args, Debug)]
pub(crate) struct Attribute {
    #[command(subcommand)]
    command: AttributeCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum AttributeCommand {
    /// List the attributes that channels and named users have
    List {
        /// Only those whose names begin with this
        #[arg(long, value_name = "TEXT")]
        prefix: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Give attributes values
    Set {
        /// Such as city=Oslo, visits=7, born=1990-05-01T00:00:00 or 'orders#1={"total": 5}': a text, a number or an object;
        /// a text of digits is in quotes, as in 'zip="1500"'
        #[arg(value_name = "NAME=VALUE", required = true, value_parser = assignment)]
        values: Vec<(String, Value)>,
        #[command(flatten)]
        owners: Owners,
    },
    /// Remove attributes
    Remove {
        /// The names of the attributes
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
        #[command(flatten)]
        owners: Owners,
    },
}

impl Attribute {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (client, is_json) = (Client::app(&self.remote, &self.login)?, self.remote.json);
        match &self.command {
            AttributeCommand::List { prefix, list } => {
                let path = query(ATTRIBUTES.path, &[("prefix", prefix.as_deref())]);
                ATTRIBUTES.show(&client, path, list.limit, is_json).await?;
            }
            AttributeCommand::Set { values, owners } => {
                let set = |(key, value): &(String, Value)| json!({ "action": "set", "key": key, "value": value });
                send(&client, owners, &values.iter().map(set).collect::<Vec<_>>(), is_json).await?;
            }
            AttributeCommand::Remove { names, owners } => {
                let remove = |key: &String| json!({ "action": "remove", "key": key });
                send(&client, owners, &names.iter().map(remove).collect::<Vec<_>>(), is_json).await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn send(client: &Client, owners: &Owners, attributes: &[Value], is_json: bool) -> Result<()> {
    let body = json!({ "audience": owners.audience(), "attributes": attributes });
    let reply = client.send(Method::POST, "/api/channels/attributes", &body).await?;
    owners::show_accepted(&reply, is_json)
}

/// Only numbers and objects are told from texts: attributes have no other values. A text that looks like a number is in quotes.
fn assignment(text: &str) -> Result<(String, Value), &'static str> {
    let (name, value) = text.split_once('=').ok_or("It must look like city=Oslo.")?;
    let value = match serde_json::from_str(value) {
        Ok(value @ (Value::Number(_) | Value::Object(_) | Value::String(_))) => value,
        _ => Value::String(value.to_owned()),
    };
    Ok((name.to_owned(), value))
}
