//! `aerogram webhook`: where the events of an app are forwarded to.

mod settings;
mod show;

use std::process::ExitCode;

use anyhow::Result;
use bytes::Bytes;
use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use model::app::AppKey;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Operator;
use crate::client::{Client, Reply, segment};
use crate::config::app_key;
use crate::output;
use settings::Settings;

#[derive(Args, Debug)]
pub(crate) struct Webhook {
    #[command(flatten)]
    operator: Operator,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Forward events to a URL
    Add(Box<Add>),
    /// List the webhooks of an app
    List {
        #[arg(value_name = "KEY", value_parser = app_key)]
        app: AppKey,
    },
    /// Show a webhook and how it is doing, without its secrets
    Show(Which),
    /// Change a webhook
    Set(Box<Set>),
    /// Delete a webhook with its history and its dead letters
    Delete(Which),
    /// Let a webhook go on where it stopped
    Enable(Which),
    /// Send no more events; they wait until it is enabled again
    Disable(Which),
    /// Send one made-up event and show what it is answered
    Test(Which),
    /// Show the latest requests
    History {
        #[command(flatten)]
        which: Which,
        /// How many, at most 1000
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Send events again from an earlier place
    Replay(Replay),
    /// Show the events that were given up, send them once more, or discard them
    Dead {
        #[command(flatten)]
        which: Which,
        #[arg(default_value = "list")]
        what: Dead,
        /// List or send those after this offset, as a page before has it
        #[arg(long, value_name = "OFFSET")]
        after: Option<String>,
        /// How many to list, at most 1000
        #[arg(long, default_value_t = 100)]
        limit: u32,
    },
}

#[derive(Args, Debug)]
struct Which {
    /// Key of the app
    #[arg(value_name = "KEY", value_parser = app_key)]
    app: AppKey,
    /// Id of the webhook, as `webhook list` has it
    #[arg(value_name = "WEBHOOK")]
    webhook: String,
}

#[derive(Args, Debug)]
struct Add {
    #[arg(value_name = "KEY", value_parser = app_key)]
    app: AppKey,
    /// Where events are posted to
    #[arg(value_name = "URL")]
    to: String,
    #[command(flatten)]
    settings: Settings,
    /// Begin with the oldest event that is kept instead of with what happens from now on
    #[arg(long)]
    from_earliest: bool,
    /// Save without sending anything yet
    #[arg(long)]
    disabled: bool,
}

#[derive(Args, Debug)]
struct Set {
    #[command(flatten)]
    which: Which,
    /// Where events are posted to
    #[arg(long = "to", value_name = "URL")]
    to: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// Send no `Authorization` header any longer
    #[arg(long, conflicts_with = "authorization_file")]
    no_authorization: bool,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("place").required(true))]
struct Replay {
    #[command(flatten)]
    which: Which,
    /// After the event with this offset; 0 for the oldest that is kept
    #[arg(long, group = "place")]
    offset: Option<String>,
    /// With what was recorded at this time, in UTC, such as 2024-05-01T08:00
    #[arg(long, group = "place")]
    time: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Dead {
    List,
    Redeliver,
    Discard,
}

/// What came of sending some dead letters once more.
#[derive(Default, Deserialize, Serialize)]
struct Redelivered {
    delivered: u32,
    failed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl Webhook {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        if let Action::Dead { which, what: Dead::Redeliver, after, .. } = &self.action {
            let came = which.redeliver(&self.operator.connect()?, after.clone()).await?;
            if self.operator.remote.json {
                output::line(format_args!("{}", serde_json::to_string_pretty(&came)?))?;
            } else {
                came.show()?;
            }
            return Ok(if came.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        self.operator.run(async |client| self.action.ask(client).await, |reply| self.action.show(reply)).await
    }
}

impl Action {
    async fn ask(&self, client: &Client) -> Result<Reply> {
        match self {
            Action::Add(add) => client.send(Method::POST, &webhooks(&add.app), &add.body()?).await,
            Action::List { app } => client.get(&webhooks(app)).await,
            Action::Show(which) => client.get(&which.path()).await,
            Action::Set(set) => client.send(Method::PATCH, &set.which.path(), &set.body()?).await,
            Action::Delete(which) => client.delete(&which.path()).await,
            Action::Enable(which) => client.send(Method::PATCH, &which.path(), &json!({ "enabled": true })).await,
            Action::Disable(which) => client.send(Method::PATCH, &which.path(), &json!({ "enabled": false })).await,
            Action::Test(which) => which.post(client, "test").await,
            Action::History { which, limit } => client.get(&format!("{}/history?limit={limit}", which.path())).await,
            Action::Replay(replay) => {
                client.send(Method::POST, &format!("{}/replay", replay.which.path()), &replay.body()).await
            }
            Action::Dead { which, what: Dead::List, after, limit } => {
                let after = after.as_ref().map(|after| format!("&after={}", segment(after))).unwrap_or_default();
                client.get(&format!("{}/dead?limit={limit}{after}", which.path())).await
            }
            Action::Dead { which, what: Dead::Discard, .. } => client.delete(&format!("{}/dead", which.path())).await,
            Action::Dead { which, what: Dead::Redeliver, .. } => which.post(client, "dead/redeliver").await,
        }
    }

    fn show(&self, reply: &Reply) -> Result<()> {
        match self {
            Action::List { .. } => show::list(reply),
            Action::Add(_) | Action::Show(_) | Action::Set(_) | Action::Enable(_) | Action::Disable(_) => {
                show::one(reply)
            }
            Action::Delete(which) => output::line(format_args!("Deleted {}.", which.webhook)),
            Action::Test(_) => show::proof(reply),
            Action::History { .. } => show::history(reply),
            Action::Replay(replay) => output::line(format_args!("{} begins again.", replay.which.webhook)),
            Action::Dead { what: Dead::List | Dead::Redeliver, .. } => show::dead(reply),
            Action::Dead { what: Dead::Discard, .. } => show::discarded(reply),
        }
    }
}

impl Which {
    fn path(&self) -> String {
        format!("{}/{}", webhooks(&self.app), segment(&self.webhook))
    }

    async fn post(&self, client: &Client, action: &str) -> Result<Reply> {
        client.send_raw(Method::POST, &format!("{}/{action}", self.path()), Bytes::new()).await
    }

    /// The server sends some at a time. What comes after several that are not taken is left for another time.
    async fn redeliver(&self, client: &Client, after: Option<String>) -> Result<Redelivered> {
        let mut all = Redelivered { after, ..Redelivered::default() };
        loop {
            let from = all.after.as_ref().map(|after| format!("?after={}", segment(after))).unwrap_or_default();
            let came: Redelivered = self.post(client, &format!("dead/redeliver{from}")).await?.read()?;
            all.delivered += came.delivered;
            all.failed += came.failed;
            all.reason = came.reason.or(all.reason);
            all.after = came.after;
            if all.after.is_none() || came.delivered == 0 {
                return Ok(all);
            }
        }
    }
}

impl Redelivered {
    fn show(&self) -> Result<()> {
        if let Some(reason) = &self.reason {
            output::note(format_args!("{reason}"));
        }
        if let Some(after) = &self.after {
            output::note(format_args!("There are more: go on with --after {after}."));
        }
        output::line(format_args!("{} delivered, {} not taken.", self.delivered, self.failed))
    }
}

impl Add {
    fn body(&self) -> Result<Value> {
        let mut body = self.settings.fields()?;
        body.insert("url".to_owned(), json!(self.to));
        body.insert("enabled".to_owned(), json!(!self.disabled));
        body.insert("start".to_owned(), json!(if self.from_earliest { "earliest" } else { "now" }));
        body.entry("types").or_insert_with(settings::all_types);
        Ok(body.into())
    }
}

impl Set {
    fn body(&self) -> Result<Value> {
        let mut body = self.settings.fields()?;
        body.extend(self.to.as_ref().map(|to| ("url".to_owned(), json!(to))));
        if self.no_authorization {
            body.insert("authorization".to_owned(), Value::Null);
        }
        Ok(body.into())
    }
}

impl Replay {
    fn body(&self) -> Value {
        match (&self.offset, &self.time) {
            (Some(offset), _) => json!({ "offset": offset }),
            (None, time) => json!({ "time": time }),
        }
    }
}

fn webhooks(app: &AppKey) -> String {
    format!("/operator/apps/{app}/webhooks")
}
