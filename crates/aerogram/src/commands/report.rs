//! `aerogram report`: the counts of an app over a period, as a table or as CSV.

mod counts;
mod pushes;
mod sheet;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use model::time::{Clock, UtcMillis};

use crate::client::{Client, Reply, query};
use crate::config::{AppLogin, Remote};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Args, Debug)]
pub(crate) struct Report {
    /// What to count
    what: What,
    /// From when on, such as 2024-05-01 or "2024-05-01 10:00", in UTC; 7 days ago when hourly, 30 when daily and 365 when monthly
    #[arg(long, value_name = "DATE")]
    start: Option<String>,
    /// Until when, not included; now when absent
    #[arg(long, value_name = "DATE", requires = "start")]
    end: Option<String>,
    /// How long a row is
    #[arg(long, value_name = "PRECISION", default_value = "daily")]
    precision: Precision,
    /// Print comma-separated values, with whole texts and without totals
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Messages handed to providers
    Sends,
    /// Openings of the app
    Opens,
    /// Devices that opened the app and were opted in, each once a row
    Optins,
    /// Devices that opened the app and were opted out
    Optouts,
    /// Seconds per session, on average
    Timeinapp,
    /// Openings that pushes led to, direct and influenced
    Responses,
    /// The pushes of the time, the newest first
    Pushes,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Precision {
    Hourly,
    Daily,
    Monthly,
}

/// The dates of a report, as the API reads them.
struct Dates {
    start: String,
    end: String,
}

impl Report {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        let dates = self.dates(Clock::System.now());
        let sheet = match self.what.counted() {
            Some((name, has_totals)) => counts::read(self, &client, &self.path(name, &dates), has_totals).await?,
            None => pushes::read(self, &client, &self.path("responses/list", &dates), &dates).await?,
        };
        if !self.remote.json {
            sheet.print(self.csv)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn dates(&self, now: UtcMillis) -> Dates {
        let n_days = match self.precision {
            Precision::Hourly => 7,
            Precision::Daily => 30,
            Precision::Monthly => 365,
        };
        Dates {
            start: self.start.clone().unwrap_or_else(|| now.minus(DAY * n_days).to_date()),
            // The current second is counted, too.
            end: self.end.clone().unwrap_or_else(|| now.plus(Duration::from_secs(1)).to_api()),
        }
    }

    fn path(&self, report: &str, Dates { start, end }: &Dates) -> String {
        let precision = match self.precision {
            Precision::Hourly => "HOURLY",
            Precision::Daily => "DAILY",
            Precision::Monthly => "MONTHLY",
        };
        let values = [("start", Some(start.as_str())), ("end", Some(end)), ("precision", Some(precision))];
        query(&format!("/api/reports/{report}"), &values)
    }

    /// With `--json`, prints each page as the server sent it.
    fn printed(&self, reply: Reply) -> Result<Reply> {
        if self.remote.json {
            reply.print()?;
        }
        Ok(reply)
    }
}

impl What {
    /// The name of a report of counts over time, and whether its rows can be added: a device that is in two rows is one device,
    /// and averages have no sum.
    const fn counted(self) -> Option<(&'static str, bool)> {
        match self {
            What::Sends => Some(("sends", true)),
            What::Opens => Some(("opens", true)),
            What::Optins => Some(("optins", false)),
            What::Optouts => Some(("optouts", false)),
            What::Timeinapp => Some(("timeinapp", false)),
            What::Responses => Some(("responses", true)),
            What::Pushes => None,
        }
    }
}
