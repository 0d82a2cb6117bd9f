//! `aerogram push pause|resume|cancel|status`: steers a push that is on its way; and `list`, for the pushes of all apps.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde::Deserialize;

use super::list::List;
use crate::client::{Client, Reply};
use crate::config::{AppLogin, Name, Remote};
use crate::output;

#[derive(Subcommand, Debug)]
pub(super) enum Steer {
    /// Hold a push back until it is resumed
    Pause(OnePush),
    /// Let a paused push go on
    Resume(OnePush),
    /// Call a push off for good; what has been sent stays sent
    Cancel(OnePush),
    /// Show how far a push has got
    Status(OnePush),
    /// List the pushes of all apps that are on their way, and why they wait; needs the operator token
    List(List),
}

#[derive(Args, Debug)]
pub(super) struct OnePush {
    /// The id that sending it printed
    #[arg(value_name = "PUSH_ID")]
    id: Name,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Status {
    push: StatusOfPush,
}

#[derive(Deserialize)]
struct StatusOfPush {
    state: String,
    total: Progress,
    platforms: BTreeMap<String, Progress>,
}

#[derive(Deserialize)]
struct Progress {
    targeted: u64,
    delivered: u64,
    gone: u64,
    failed: u64,
    expired: u64,
    canceled: u64,
    pending: u64,
    reason: Option<String>,
}

impl Steer {
    pub(super) async fn run(&self) -> Result<ExitCode> {
        let (push, action) = match self {
            Steer::Pause(push) => (push, Some("pause")),
            Steer::Resume(push) => (push, Some("resume")),
            Steer::Cancel(push) => (push, Some("cancel")),
            Steer::Status(push) => (push, None),
            Steer::List(list) => return list.run().await,
        };
        let client = Client::app(&push.remote, &push.login)?;
        let path = format!("/api/push/{}", push.id.segment());
        let reply = match action {
            Some(action) => client.send_raw(Method::POST, &format!("{path}/{action}"), "{}".into()).await?,
            None => client.get(&path).await?,
        };
        if push.remote.json {
            reply.print()?
        } else {
            show(&reply)?
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(reply: &Reply) -> Result<()> {
    let StatusOfPush { state, total, platforms } = reply.read::<Status>()?.push;
    output::line(format_args!("{state}"))?;
    let mut rows: Vec<_> = platforms.iter().map(|(name, progress)| progress.row(name)).collect();
    rows.push(total.row("total"));
    let heading = ["PLATFORM", "TARGETED", "DELIVERED", "GONE", "FAILED", "EXPIRED", "CANCELED", "PENDING", "REASON"];
    output::table(heading, &rows)
}

impl Progress {
    fn row(&self, name: &str) -> [String; 9] {
        let Self { targeted, delivered, gone, failed, expired, canceled, pending, reason } = self;
        let [targeted, delivered, gone, failed, expired, canceled, pending] =
            [targeted, delivered, gone, failed, expired, canceled, pending].map(u64::to_string);
        let reason = reason.clone().unwrap_or_default();
        [name.to_owned(), targeted, delivered, gone, failed, expired, canceled, pending, reason]
    }
}
