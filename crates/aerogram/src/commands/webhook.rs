//! `aerogram webhook`: where the events of an app are forwarded to.

mod dead;
mod settings;
mod show;

use std::process::ExitCode;

use anyhow::{Result, bail};
use bytes::Bytes;
use clap::{Args, Subcommand};
use http::Method;
use model::app::AppKey;
use serde_json::{Value, json};

use super::{OfApp, Operator};
use crate::client::{Client, Reply};
use crate::config::{Name, number_in};
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
    List(OfApp),
    /// Show a webhook and how it is doing, without its secrets
    Show(Which),
    /// Change a webhook
    Set(Box<Set>),
    /// Delete a webhook with its history and its dead letters
    Delete {
        #[command(flatten)]
        which: Which,
        /// Say that you mean it
        #[arg(long)]
        yes: bool,
    },
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
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = number_in(1_u32..=1000))]
        limit: u32,
    },
    /// Send events again from an earlier place
    Replay(Replay),
    /// Show the events that were given up, send them once more, or discard them
    Dead(dead::Dead),
}

#[derive(Args, Debug)]
struct Which {
    #[command(flatten)]
    of: OfApp,
    /// Id of the webhook, as `webhook list` has it
    #[arg(value_name = "WEBHOOK")]
    webhook: Name,
}

#[derive(Args, Debug)]
struct Add {
    #[command(flatten)]
    of: OfApp,
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

impl Webhook {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let operator = &self.operator;
        match &self.action {
            Action::Add(add) => {
                let body = add.body()?;
                operator
                    .run(async |client| client.send(Method::POST, &webhooks(&add.of.app), &body).await, show::one)
                    .await
            }
            Action::List(OfApp { app }) => {
                operator.run(async |client| client.get(&webhooks(app)).await, show::list).await
            }
            Action::Show(which) => operator.run(async |client| client.get(&which.path()).await, show::one).await,
            Action::Set(set) => set.which.change(operator, &set.body()?).await,
            Action::Enable(which) => which.change(operator, &json!({ "enabled": true })).await,
            Action::Disable(which) => which.change(operator, &json!({ "enabled": false })).await,
            Action::Delete { which, yes: false } => bail!(
                "This deletes the webhook {} with its history and its dead letters. Repeat it with --yes to confirm.",
                which.webhook
            ),
            Action::Delete { which, yes: true } => {
                let deleted = |_: &Reply| output::line(format_args!("Deleted {}.", which.webhook));
                operator.run(async |client| client.delete(&which.path()).await, deleted).await
            }
            Action::Test(which) => operator.run(async |client| which.post(client, "test").await, show::proof).await,
            Action::History { which, limit } => {
                let path = format!("{}/history?limit={limit}", which.path());
                operator.run(async |client| client.get(&path).await, show::history).await
            }
            Action::Replay(replay) => {
                let path = format!("{}/replay", replay.which.path());
                let begins = |_: &Reply| output::line(format_args!("{} begins again.", replay.which.webhook));
                operator.run(async |client| client.send(Method::POST, &path, &replay.body()).await, begins).await
            }
            Action::Dead(dead) => dead.run(operator).await,
        }
    }
}

impl Which {
    fn path(&self) -> String {
        format!("{}/{}", webhooks(&self.of.app), self.webhook.segment())
    }

    async fn post(&self, client: &Client, action: &str) -> Result<Reply> {
        client.send_raw(Method::POST, &format!("{}/{action}", self.path()), Bytes::new()).await
    }

    async fn change(&self, operator: &Operator, body: &Value) -> Result<ExitCode> {
        operator.run(async |client| client.send(Method::PATCH, &self.path(), body).await, show::one).await
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
