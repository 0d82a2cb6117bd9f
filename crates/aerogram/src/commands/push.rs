//! `aerogram push`: sends a push from the command line, to whom somebody has typed, after a look at whom it reaches; and steers it
//! afterwards.

mod follow;
mod list;
mod look;
mod recipients;
mod steer;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use bytes::Bytes;
use clap::{Args, Subcommand};
use model::ids::PushId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::asking::is_agreed;
use crate::client::Client;
use crate::config::{AppLogin, Remote, Unusable};
use crate::output;
use look::{Look, warnings_about};

/// A word that is as much unlike a subcommand is a text: fewer changes make one of the other.
const ALIKE: usize = 2;

const MAY_BE_SENT: &str = "It may have been sent: see `aerogram pushes` before you send it again";

/// Shows whom it reaches and what they would see, and asks before it sends.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Push {
    #[command(subcommand)]
    steer: Option<steer::Steer>,
    /// The text to show
    #[arg(required_unless_present_any = ["alert", "file"])]
    text: Option<String>,
    /// The text to show, whatever it is; the name of a subcommand, too
    #[arg(long, value_name = "TEXT", conflicts_with = "text")]
    alert: Option<String>,
    /// Whom: `all`, or a selector in JSON such as {"tag": "news"}
    #[arg(long, value_name = "SELECTOR", required_unless_present = "file", value_parser = audience)]
    audience: Option<Value>,
    /// `all`, or some of ios, android, amazon, web, wns and open::NAME
    #[arg(long, value_name = "TYPES", value_delimiter = ',', default_value = "all")]
    device_types: Vec<String>,
    /// Read the whole push as JSON from a file, or from standard input with `-`
    #[arg(long, value_name = "PATH", conflicts_with_all = ["text", "alert", "audience", "device_types"])]
    file: Option<PathBuf>,
    /// Show whom it would reach and what they would see, and send nothing
    #[arg(long, alias = "validate", conflicts_with_all = ["yes", "follow"])]
    dry_run: bool,
    /// Send without asking
    #[arg(long, short)]
    yes: bool,
    /// Show how far it has got until it is done
    #[arg(long)]
    follow: bool,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Accepted {
    push_ids: Vec<PushId>,
}

impl Push {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        if let Some(steer) = &self.steer {
            return steer.run().await;
        }
        let body = self.body()?;
        let client = Client::app(&self.remote, &self.login)?;
        if self.dry_run {
            let look = Look::at(&client, &body).await?;
            if self.remote.json {
                look.print_json()?
            } else {
                look.print(output::line)?
            }
            return Ok(ExitCode::SUCCESS);
        }
        if !self.yes && !is_wanted(&Look::at(&client, &body).await?)? {
            output::note(format_args!("Nothing was sent."));
            return Ok(ExitCode::FAILURE);
        }
        let reply = client.post_once("/api/push", body.clone(), MAY_BE_SENT).await?;
        let Accepted { push_ids } = reply.read()?;
        if self.remote.json {
            reply.print()?;
        } else {
            push_ids.iter().try_for_each(|id| output::line(format_args!("{id}")))?;
            // Afterwards, so that they neither delay the push nor keep it from being sent. Whoever was asked has seen them.
            if self.yes {
                warnings_about(&client, &body).await.iter().for_each(|text| output::note(format_args!("{text}")));
            }
        }
        let mut has_failed = false;
        if self.follow {
            for id in push_ids {
                has_failed |= follow::until_done(&client, id, self.remote.json).await?;
            }
        }
        Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn body(&self) -> Result<Bytes> {
        if let Some(path) = &self.file {
            return super::read_input(path);
        }
        let text = match (&self.text, &self.alert) {
            (Some(text), _) => not_meant_as_subcommand(text)?,
            (None, Some(alert)) => alert,
            (None, None) => bail!("A text is needed."),
        };
        let body = json!({
            "audience": self.audience,
            "device_types": device_types(&self.device_types),
            "notification": { "alert": text },
        });
        Ok(body.to_string().into())
    }
}

/// Shows whom it reaches and what they would see, and asks the person at the terminal.
fn is_wanted(look: &Look) -> Result<bool> {
    let unasked =
        "Nothing was sent: nobody is here to be asked. Say --yes to send it, or --dry-run to see whom it would reach.";
    let show = || {
        look.print(|text| {
            output::note(text);
            Ok(())
        })
    };
    is_agreed(show, "Send it?", unasked)
}

/// A mistyped subcommand is not sent to anybody.
fn not_meant_as_subcommand(text: &str) -> Result<&str> {
    let known = steer::Steer::augment_subcommands(clap::Command::new("push"));
    let (near, lowercase) = (known.get_subcommands().map(clap::Command::get_name), text.to_lowercase());
    match near.into_iter().find(|name| strsim::osa_distance(name, &lowercase) <= ALIKE.min(name.len() / 2)) {
        Some(name) => {
            let like = format!("'{text}' looks like the subcommand `aerogram push {name}`");
            Err(Unusable::new(format!("Nothing was sent: {like}. To send it as a text, say --alert '{text}'.")).into())
        }
        None => Ok(text),
    }
}

/// The names given on the command line, as the API wants them.
pub(super) fn device_types(names: &[String]) -> Value {
    match names {
        [all] if all == "all" => json!("all"),
        some => json!(some),
    }
}

pub(super) fn audience(text: &str) -> Result<Value, &'static str> {
    if text == "all" {
        return Ok(json!("all"));
    }
    serde_json::from_str(text).map_err(|_| "It must be `all` or a selector in JSON such as {\"tag\": \"news\"}.")
}
