//! `aerogram privacy`: exports and erases what is stored about a person, and searches the database for what is left.

mod verify;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use http::Method;
use model::ids::{ChannelId, PrivacyId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::progress::Progress;
use crate::client::{AttendedCalls, Client, Reply};
use crate::config::{AppLogin, Remote, channel_id};
use crate::output;

/// How often a request is looked up while it runs.
const LOOK_EVERY: Duration = Duration::from_secs(1);

#[derive(Args, Debug)]
pub(crate) struct Privacy {
    #[command(subcommand)]
    command: PrivacyCommand,
}

#[derive(Subcommand, Debug)]
enum PrivacyCommand {
    /// Collect everything that is stored about a person, and wait for it
    Export(Export),
    /// Erase everything that is stored about a person; there is no way back
    Erase(Erase),
    /// Show how far an export or an erasure has come, and its receipt
    Show(Show),
    /// Search the whole database and the snapshots for texts, such as the ids of a person who was erased
    Verify(verify::Verify),
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Person {
    /// The named user, with all of its channels
    #[arg(long, value_name = "ID")]
    named_user: Option<String>,
    /// One channel; its named user stays
    #[arg(long, value_name = "ID", value_parser = channel_id)]
    channel: Option<ChannelId>,
    /// All channels with this device token, registration id, address or endpoint
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
}

#[derive(Args, Debug)]
struct Export {
    #[command(flatten)]
    person: Person,
    /// Where the lines go; standard output when absent
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
struct Erase {
    #[command(flatten)]
    person: Person,
    /// Confirm it
    #[arg(long)]
    yes: bool,
    /// Wait until it is done, which takes more than five minutes
    #[arg(long)]
    wait: bool,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
struct Show {
    /// The id that an export or an erasure has printed
    #[arg(value_name = "ID")]
    id: PrivacyId,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Asked {
    privacy_id: String,
}

#[derive(Deserialize)]
struct Request {
    kind: String,
    state: String,
    receipt: Vec<Table>,
    clean_up: Option<String>,
}

#[derive(Deserialize)]
struct Table {
    table: String,
    found: u64,
    done: String,
}

impl Privacy {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        match &self.command {
            PrivacyCommand::Export(export) => export.run().await?,
            PrivacyCommand::Erase(erase) => erase.run().await?,
            PrivacyCommand::Show(Show { id, login, remote }) => {
                let reply = Client::app(remote, login)?.get(&format!("/api/privacy/{id}")).await?;
                if remote.json {
                    reply.print()?;
                } else {
                    reply.read::<Request>()?.show()?;
                }
            }
            PrivacyCommand::Verify(verify) => return verify.run().await,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Person {
    fn body(&self) -> Value {
        match (&self.named_user, &self.channel, &self.address) {
            (Some(user), ..) => json!({"named_user_id": user}),
            (None, Some(channel), _) => json!({"channel_id": channel}),
            (None, None, address) => json!({"address": address}),
        }
    }
}

impl Export {
    async fn run(&self) -> Result<()> {
        let client = Client::app(&self.remote, &self.login)?;
        let Asked { privacy_id: id } = ask(&client, "export", &self.person).await?.read()?;
        wait(&client, &id, "collecting everything").await?;
        let reply = client.get(&format!("/api/privacy/{id}/result")).await?;
        match &self.output {
            Some(path) => {
                std::fs::write(path, reply.text()?).with_context(|| format!("{} cannot be written", path.display()))?;
                if self.remote.json {
                    output::line(format_args!(
                        "{}",
                        json!({"ok": true, "privacy_id": id, "file": path.display().to_string()})
                    ))?;
                } else {
                    output::note(format_args!("{} has everything; keep it safe.", path.display()));
                }
            }
            None => reply.print()?,
        }
        Ok(())
    }
}

impl Erase {
    async fn run(&self) -> Result<()> {
        anyhow::ensure!(self.yes, "Everything about the person will be erased for ever; add --yes if that is meant.");
        let client = Client::app(&self.remote, &self.login)?;
        let asked = ask(&client, "erase", &self.person).await?;
        let Asked { privacy_id: id } = asked.read()?;
        if self.wait {
            let done = wait(&client, &id, "erasing, which takes some minutes").await?;
            return if self.remote.json { done.print() } else { done.read::<Request>()?.show() };
        }
        if self.remote.json {
            return asked.print();
        }
        output::line(format_args!("{id}"))?;
        output::note(format_args!("It takes some minutes; `aerogram privacy show {id}` shows the receipt."));
        Ok(())
    }
}

async fn ask(client: &Client, what: &str, person: &Person) -> Result<Reply> {
    client.send(Method::POST, &format!("/api/privacy/{what}"), &person.body()).await
}

/// Returns the answer about a request that is done.
async fn wait(client: &Client, id: &str, what: &str) -> Result<Reply> {
    let (path, progress) = (format!("/api/privacy/{id}"), Progress::of_unknown()?);
    let mut calls = AttendedCalls::new(|text: &str| progress.note(text));
    let done = async {
        loop {
            let reply = calls.ask(|| client.get(&path)).await?;
            if reply.read::<Request>()?.state == "done" {
                return Ok::<_, anyhow::Error>(reply);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    progress.during(what, done).await
}

impl Request {
    fn show(&self) -> Result<()> {
        output::line(format_args!("{}  {}", self.kind, self.state))?;
        for Table { table, found, done } in self.receipt.iter().filter(|table| table.found > 0) {
            output::line(format_args!("  {table}  {found} {done}"))?;
        }
        match self.clean_up.as_deref() {
            Some("without_vacuum") => output::line(format_args!(
                "The file is large: traces of earlier changes stay in it until `vacuum` is run on it, with the service stopped."
            )),
            Some("blocked") => output::line(format_args!(
                "The write-ahead log could not be emptied, because something reads it for long; a restart of the service does it."
            )),
            Some(_) | None => Ok(()),
        }
    }
}
