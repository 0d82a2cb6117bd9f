//! `aerogram push recipients`: everybody whom a push concerned, and what became of it for each.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Deserialize;

use super::steer::OnePush;
use crate::client::Client;
use crate::config::number_in;
use crate::output::{self, ID, MOMENT, NAME, TEXT};

#[derive(Args, Debug)]
pub(super) struct Recipients {
    /// Only those with this outcome: delivered, failed, gone, expired, opted_out, no_address, not_addressed, held_back, pending,
    /// canceled, not_matched, received, opened, influenced or read
    #[arg(long)]
    outcome: Option<String>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_in(1_u32..=1000))]
    limit: u32,
    /// All of them as a table for spreadsheets
    #[arg(long, conflicts_with = "limit")]
    csv: bool,

    #[command(flatten)]
    push: OnePush,
}

#[derive(Deserialize)]
struct Page {
    recipients: Vec<Recipient>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Recipient {
    channel_id: String,
    device_type: String,
    named_user_id: Option<String>,
    outcome: String,
    reason: Option<String>,
    at: Option<String>,
    opened: bool,
}

impl Recipients {
    pub(super) async fn run(&self) -> Result<ExitCode> {
        let OnePush { id, login, remote } = &self.push;
        let (client, id) = (Client::app(remote, login)?, id.segment());
        let outcome = self.outcome.as_ref().map(|outcome| format!("outcome={outcome}")).unwrap_or_default();
        if self.csv {
            let mut rows = client.stream(&format!("/api/push/{id}/recipients/csv?{outcome}")).await?;
            while let Some(some) = rows.chunk().await? {
                output::bytes(&some)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let reply = client.get(&format!("/api/push/{id}/recipients?limit={}&{outcome}", self.limit)).await?;
        if remote.json {
            reply.print()?;
            return Ok(ExitCode::SUCCESS);
        }
        let Page { recipients, next_page } = reply.read()?;
        let rows: Vec<_> = recipients.into_iter().map(Recipient::row).collect();
        let columns = [
            ("CHANNEL_ID", ID),
            ("TYPE", NAME.left_out(1)),
            ("USER", NAME.left_out(4)),
            ("OUTCOME", NAME),
            ("AT", MOMENT.left_out(3)),
            ("OPENED", NAME.left_out(2)),
            ("REASON", TEXT),
        ];
        output::table(columns, &rows)?;
        if next_page.is_some() {
            output::line(format_args!("There are more; --limit shows up to 1000, --csv all of them."))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Recipient {
    fn row(self) -> [String; 7] {
        let opened = if self.opened { "yes" } else { "" };
        let text = Option::unwrap_or_default;
        [
            self.channel_id,
            self.device_type,
            text(self.named_user_id),
            self.outcome,
            text(self.at),
            opened.to_owned(),
            text(self.reason),
        ]
    }
}
