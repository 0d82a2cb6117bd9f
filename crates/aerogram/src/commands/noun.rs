//! `aerogram segment|schedule|experiment|pipeline|template|list …`: what an app keeps, by the same five words.

mod kinds;
mod written;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use bytes::Bytes;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::Value;

pub(super) use kinds::{
    ATTRIBUTE_LISTS, EXPERIMENTS, LISTS, Noun, PIPELINES, SCHEDULES, SEGMENTS, TAG_LISTS, TEMPLATES,
};
use written::{Setting, Written};

use super::listing::ListArgs;
use crate::client::{Client, Reply};
use crate::config::{AppLogin, Name, Remote, Unusable};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct NounArgs {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
pub(super) enum Verb {
    /// List them
    List(ListArgs),
    /// Show one, as JSON
    Show {
        #[command(flatten)]
        one: One,
    },
    /// Make one, from a file, standard input or `--set`
    Create(Content),
    /// Replace one by what a file, standard input or `--set` says
    Update {
        #[command(flatten)]
        one: One,
        #[command(flatten)]
        content: Content,
    },
    /// Delete one
    Delete(Delete),
}

#[derive(Args, Debug)]
pub(super) struct Delete {
    #[command(flatten)]
    one: One,
    /// Say that you mean it
    #[arg(long)]
    yes: bool,
}

#[derive(Args, Debug)]
pub(super) struct One {
    /// The id or name, as `list` shows it
    #[arg(value_name = "ID")]
    pub(super) id: Name,
}

#[derive(Args, Debug)]
pub(super) struct Content {
    /// A file with the JSON that the API takes, or `-` for standard input
    #[arg(value_name = "PATH", required_unless_present = "set")]
    file: Option<PathBuf>,
    /// A part of it, such as name=Spring, `criteria={"tag": "news"}` or push.notification.alert=Hello: a text, or a value in JSON
    #[arg(long, value_name = "PATH=VALUE", value_parser = Setting::read)]
    set: Vec<Setting>,
}

impl NounArgs {
    pub(crate) async fn run(&self, noun: &Noun) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        self.verb.run(noun, &client, self.remote.json).await?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Content {
    pub(super) fn body(&self) -> Result<Bytes> {
        Written::read(self.file.as_deref(), &self.set)?.body()
    }
}

impl Verb {
    pub(super) async fn run(&self, noun: &Noun, client: &Client, is_json: bool) -> Result<()> {
        match self {
            Verb::List(list) => noun.list(client, list, is_json).await,
            Verb::Show { one } => {
                let reply = client.get(&noun.path_of(&one.id)).await?;
                if is_json { reply.print() } else { output::pretty(&reply.read::<Value>()?) }
            }
            Verb::Create(content) => noun.create(client, content, is_json).await,
            Verb::Update { one, content } => {
                let Some(method) = &noun.update else {
                    let text = format!("The API does not change {}: delete it and create another.", noun.one);
                    return Err(Unusable::new(text).into());
                };
                let body = content.body()?;
                let reply = client.send_raw(method.clone(), &noun.path_of(&one.id), body).await?;
                if is_json { reply.print() } else { output::line(format_args!("changed")) }
            }
            Verb::Delete(delete) => noun.delete(client, delete, is_json).await,
        }
    }
}

impl Noun {
    pub(super) async fn list(&self, client: &Client, list: &ListArgs, is_json: bool) -> Result<()> {
        self.listing.show(client, self.listing.path.to_owned(), list.limit, is_json).await
    }

    pub(super) async fn create(&self, client: &Client, content: &Content, is_json: bool) -> Result<()> {
        self.create_of(client, content.body()?, is_json).await
    }

    /// The same with a body that was read already.
    pub(super) async fn create_of(&self, client: &Client, body: Bytes, is_json: bool) -> Result<()> {
        let reply = client.send_raw(Method::POST, self.listing.path, body).await?;
        if is_json { reply.print() } else { made(self, &reply) }
    }

    pub(super) async fn delete(&self, client: &Client, delete: &Delete, is_json: bool) -> Result<()> {
        let id = &delete.one.id;
        if !delete.yes {
            bail!("This deletes {} {}. Repeat it with --yes to confirm.", self.one, id.as_str());
        }
        let reply = client.delete(&self.path_to_delete(id)).await?;
        if is_json { reply.print() } else { output::line(format_args!("deleted")) }
    }
}

/// Writes the id of what was made, or of all if there were several.
fn made(noun: &Noun, reply: &Reply) -> Result<()> {
    let answer: Value = reply.read()?;
    match &answer[noun.made] {
        Value::String(id) => output::line(format_args!("{id}")),
        Value::Array(ids) => ids.iter().filter_map(Value::as_str).try_for_each(|id| output::line(format_args!("{id}"))),
        _ => output::line(format_args!("created")),
    }
}
