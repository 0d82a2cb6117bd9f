//! `aerogram tag-list`, `aerogram attribute-list`: files by which the tags or attributes of many change once.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::list::{self, Rows};
use super::listing::ListArgs;
use super::noun::{self, Content, Delete, Noun, One};
use crate::client::Client;
use crate::config::{AppLogin, Remote};

#[derive(Args, Debug)]
pub(crate) struct TagList {
    #[command(subcommand)]
    command: TagListCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(crate) struct AttributeList {
    #[command(subcommand)]
    command: ChangeListCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum TagListCommand {
    #[command(flatten)]
    Common(ChangeListCommand),
    /// Delete one; tags that it has changed stay as they are
    Delete(Delete),
}

#[derive(Subcommand, Debug)]
enum ChangeListCommand {
    /// List them, and what became of the last upload of each
    List(ListArgs),
    /// Make one, from a file, standard input or `--set`
    Create(Content),
    /// Change everybody in a CSV file, whose first column is `channel_id` or `named_user`
    Upload(Rows),
    /// Print the rows that the last upload left out, as CSV
    Errors(One),
}

impl TagList {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (client, is_json) = (Client::app(&self.remote, &self.login)?, self.remote.json);
        match &self.command {
            TagListCommand::Common(common) => common.run(&noun::TAG_LISTS, &client, is_json).await?,
            TagListCommand::Delete(delete) => noun::TAG_LISTS.delete(&client, delete, is_json).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl AttributeList {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        self.command.run(&noun::ATTRIBUTE_LISTS, &client, self.remote.json).await?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ChangeListCommand {
    async fn run(&self, noun: &Noun, client: &Client, is_json: bool) -> Result<()> {
        match self {
            ChangeListCommand::List(list) => noun.list(client, list, is_json).await,
            ChangeListCommand::Create(content) => noun.create(client, content, is_json).await,
            ChangeListCommand::Upload(rows) => rows.send(noun, client, is_json).await,
            ChangeListCommand::Errors(one) => list::print(noun, client, one, "errors").await,
        }
    }
}
