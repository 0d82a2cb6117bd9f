//! `aerogram webhook dead`: the events that a webhook never took.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use providers::percent_encoded;
use serde::{Deserialize, Serialize};

use super::{Which, show};
use crate::client::Client;
use crate::commands::Operator;
use crate::config::number_in;
use crate::output;

#[derive(Args, Debug)]
pub(super) struct Dead {
    #[command(flatten)]
    which: Which,
    /// What to do with them
    #[arg(default_value = "list")]
    what: What,
    /// List or send those after this offset, as a page before has it
    #[arg(long, value_name = "OFFSET")]
    after: Option<String>,
    /// How many to list, at most 1000
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_in(1_u32..=1000))]
    limit: u32,
    /// Say that you mean it, to discard them
    #[arg(long)]
    yes: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Show them
    List,
    /// Send them once more
    Redeliver,
    /// Forget them
    Discard,
}

/// The result of sending some dead letters once more.
#[derive(Default, Deserialize, Serialize)]
struct Redelivered {
    delivered: u32,
    failed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl Dead {
    pub(super) async fn run(&self, operator: &Operator) -> Result<ExitCode> {
        let path = format!("{}/dead", self.which.path());
        match self.what {
            What::List => {
                let after =
                    self.after.as_ref().map(|after| format!("&after={}", percent_encoded(after))).unwrap_or_default();
                let page = format!("{path}?limit={}{after}", self.limit);
                operator.run(async |client| client.get(&page).await, show::dead).await
            }
            What::Discard if !self.yes => bail!(
                "This discards all events that the webhook {} has given up. Repeat it with --yes to confirm.",
                self.which.webhook
            ),
            What::Discard => operator.run(async |client| client.delete(&path).await, show::discarded).await,
            What::Redeliver => {
                let came = self.redeliver(&operator.connect()?).await?;
                if operator.remote.json {
                    output::line(format_args!("{}", serde_json::to_string_pretty(&came)?))?;
                } else {
                    came.show()?;
                }
                Ok(if came.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
            }
        }
    }

    /// The server sends some at a time. After several failures the rest is left for another time.
    async fn redeliver(&self, client: &Client) -> Result<Redelivered> {
        let mut all = Redelivered { after: self.after.clone(), ..Redelivered::default() };
        loop {
            let from = all.after.as_ref().map(|after| format!("?after={}", percent_encoded(after))).unwrap_or_default();
            let came: Redelivered = self.which.post(client, &format!("dead/redeliver{from}")).await?.read()?;
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
