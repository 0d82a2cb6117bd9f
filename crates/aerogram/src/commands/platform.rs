//! `aerogram platform`: how an app reaches the devices of each platform.

mod pkcs12;
mod set;
mod show;

use std::process::ExitCode;

use anyhow::{Result, bail};
use bytes::Bytes;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::json;

use super::{OfApp, Operator};
use crate::client::{Client, Reply};
use crate::config::Name;
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Platform {
    #[command(flatten)]
    operator: Operator,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Configure a platform, or add a key to it
    Set(Box<set::Set>),
    /// List the configured platforms of an app
    List(OfApp),
    /// Show how a platform is configured, without its secrets
    Show(Which),
    /// Ask a platform whether it accepts the app's configuration; nothing is sent to any device
    Test(Which),
    /// Send nothing to a platform any more until it is resumed; pushes wait
    Pause {
        #[command(flatten)]
        which: Which,
        /// Why, for whoever looks at it next
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let everything go on that waits for a platform
    Resume(Which),
    /// Remove the configuration of a platform, or one of its keys
    Delete {
        #[command(flatten)]
        which: Which,
        /// Remove only the key with this fingerprint, as `platform show` has it
        #[arg(long, value_name = "FINGERPRINT")]
        key: Option<Name>,
        /// Say that you mean it
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args, Debug)]
struct Which {
    #[command(flatten)]
    of: OfApp,
    /// apns, fcm, adm, wns, webpush, or `open::NAME` for a platform of your own
    platform: Name,
}

impl Platform {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        self.operator.run(async |client| self.action.ask(client).await, |reply| self.action.show(reply)).await
    }
}

impl Action {
    async fn ask(&self, client: &Client) -> Result<Reply> {
        match self {
            Action::Set(set) => set.ask(client).await,
            Action::List(OfApp { app }) => client.get(&format!("/operator/apps/{app}/platforms")).await,
            Action::Show(which) => client.get(&which.path()).await,
            Action::Test(which) => client.send_raw(Method::POST, &format!("{}/test", which.path()), Bytes::new()).await,
            Action::Pause { which, reason } => {
                let body = reason.as_ref().map_or(json!({}), |reason| json!({ "reason": reason }));
                client.send_raw(Method::POST, &format!("{}/pause", which.path()), body.to_string().into()).await
            }
            Action::Resume(which) => {
                client.send_raw(Method::POST, &format!("{}/resume", which.path()), Bytes::new()).await
            }
            Action::Delete { which, key: None, yes: false } => bail!(
                "This removes the configuration of {} with its credentials. Repeat it with --yes to confirm.",
                which.platform
            ),
            Action::Delete { which, key: Some(key), yes: false } => {
                bail!("This removes the key {key} of {}. Repeat it with --yes to confirm.", which.platform)
            }
            Action::Delete { which, key: None, yes: true } => client.delete(&which.path()).await,
            Action::Delete { which, key: Some(key), yes: true } => {
                client.delete(&format!("{}/keys/{}", which.path(), key.segment())).await
            }
        }
    }

    fn show(&self, reply: &Reply) -> Result<()> {
        match self {
            Action::Set(set) => set.show(reply),
            Action::List(_) => show::list(reply),
            Action::Show(_) => show::one(reply),
            Action::Test(which) => output::line(format_args!("{} accepts the configuration.", which.platform)),
            Action::Pause { which, .. } => {
                output::line(format_args!("Nothing is sent to {} any more; pushes to it wait.", which.platform))
            }
            Action::Resume(which) => output::line(format_args!("Deliveries to {} go on.", which.platform)),
            Action::Delete { which, key: None, .. } => {
                output::line(format_args!("{} is no longer configured.", which.platform))
            }
            Action::Delete { which, key: Some(key), .. } => {
                output::line(format_args!("{} is no longer used for {}.", key, which.platform))
            }
        }
    }
}

impl Which {
    fn path(&self) -> String {
        format!("/operator/apps/{}/platforms/{}", self.of.app, self.platform.segment())
    }
}
