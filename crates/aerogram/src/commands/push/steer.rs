//! `aerogram push pause|resume|cancel|status`: steers a push that is on its way; and what lists pushes and their recipients.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde::Deserialize;

use super::list::List;
use super::recipients::Recipients;
use crate::client::{Client, Reply};
use crate::config::{AppLogin, Data, Name, Remote, Unusable};
use crate::output::{self, COUNT, NAME, TEXT};

#[derive(Subcommand, Debug)]
pub(super) enum Steer {
    /// Hold a push back until it is resumed
    Pause(OnePush),
    /// Let a paused push go on
    Resume(OnePush),
    /// Call a push off for good; what has been sent stays sent
    Cancel(OnePush),
    /// Show how far a push has got, as its app, or as the operator when no app is set
    Status(AnyPush),
    /// List everybody whom a push concerned, and what became of it for each
    Recipients(Recipients),
    /// List the pushes of all apps that are on their way, and why they wait; needs the operator token
    List(List),
}

#[derive(Args, Debug)]
pub(super) struct OnePush {
    /// The id that sending it printed
    #[arg(value_name = "PUSH_ID")]
    pub(super) id: Name,

    #[command(flatten)]
    pub(super) login: AppLogin,
    #[command(flatten)]
    pub(super) remote: Remote,
}

#[derive(Args, Debug)]
pub(super) struct AnyPush {
    #[command(flatten)]
    push: OnePush,
    #[command(flatten)]
    data: Data,
}

#[derive(Deserialize)]
pub(super) struct Status {
    pub(super) push: StatusOfPush,
}

#[derive(Deserialize)]
pub(super) struct StatusOfPush {
    /// Only the operator need be told.
    app: Option<String>,
    pub(super) state: String,
    pub(super) total: PushProgress,
    platforms: BTreeMap<String, PushProgress>,
    /// How many inboxes its message was put into.
    #[serde(default)]
    inboxes: u64,
}

#[derive(Deserialize)]
pub(super) struct PushProgress {
    pub(super) targeted: u64,
    delivered: u64,
    pub(super) gone: u64,
    pub(super) failed: u64,
    pub(super) expired: u64,
    canceled: u64,
    pub(super) pending: u64,
    reason: Option<String>,
}

impl StatusOfPush {
    /// Whether it is over, and nothing arrived because it failed, neither a notification nor a message in an inbox.
    pub(super) fn has_failed(&self) -> bool {
        self.state == "done" && self.total.delivered == 0 && self.total.failed > 0 && self.inboxes == 0
    }
}

impl Steer {
    pub(super) async fn run(&self) -> Result<ExitCode> {
        match self {
            Steer::Pause(push) => push.order("pause").await,
            Steer::Resume(push) => push.order("resume").await,
            Steer::Cancel(push) => push.order("cancel").await,
            Steer::Status(any) => any.status().await,
            Steer::Recipients(recipients) => recipients.run().await,
            Steer::List(list) => list.run().await,
        }
    }
}

impl OnePush {
    async fn order(&self, action: &str) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        let path = format!("/api/push/{}/{action}", self.id.segment());
        self.show(&client.send_raw(Method::POST, &path, "{}".into()).await?)
    }

    fn show(&self, reply: &Reply) -> Result<ExitCode> {
        if self.remote.json {
            reply.print()?
        } else {
            show(reply)?
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl AnyPush {
    async fn status(&self) -> Result<ExitCode> {
        let OnePush { id, login, remote } = &self.push;
        let reply = match login {
            AppLogin { app_key: None, master_secret: None } => {
                let client = Client::operator_if_token(remote, &self.data)?.ok_or_else(Unusable::no_login)?;
                client.get(&format!("/operator/pushes/{}", id.segment())).await?
            }
            AppLogin { .. } => Client::app(remote, login)?.get(&format!("/api/push/{}", id.segment())).await?,
        };
        self.push.show(&reply)
    }
}

pub(super) fn show(reply: &Reply) -> Result<()> {
    let push = reply.read::<Status>()?.push;
    // The state in the answer would look like a success.
    let state = if push.has_failed() { "failed" } else { push.state.as_str() };
    let StatusOfPush { app, total, platforms, .. } = &push;
    match app {
        Some(app) => output::line(format_args!("{state} (app {app})"))?,
        None => output::line(format_args!("{state}"))?,
    }
    let mut rows: Vec<_> = platforms.iter().map(|(name, progress)| progress.row(name)).collect();
    rows.push(total.row("total"));
    let columns = [
        ("PLATFORM", NAME),
        ("TARGETED", COUNT.left_out(4)),
        ("DELIVERED", COUNT),
        ("GONE", COUNT.left_out(3)),
        ("FAILED", COUNT),
        ("EXPIRED", COUNT.left_out(2)),
        ("CANCELED", COUNT.left_out(1)),
        ("PENDING", COUNT),
        ("REASON", TEXT),
    ];
    output::table(columns, &rows)
}

impl PushProgress {
    fn row(&self, name: &str) -> [String; 9] {
        let Self { targeted, delivered, gone, failed, expired, canceled, pending, reason } = self;
        let [targeted, delivered, gone, failed, expired, canceled, pending] =
            [targeted, delivered, gone, failed, expired, canceled, pending].map(u64::to_string);
        let reason = reason.clone().unwrap_or_default();
        [name.to_owned(), targeted, delivered, gone, failed, expired, canceled, pending, reason]
    }
}
