//! `aerogram report`: the counts of an app, as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use providers::percent_encoded;
use serde::Deserialize;
use serde_json::Number;

use crate::client::{Client, Reply, own_path};
use crate::config::{AppLogin, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Report {
    /// What to count
    what: What,
    /// From when on, such as 2024-05-01 or "2024-05-01 10:00", in UTC
    #[arg(long, value_name = "DATE")]
    start: String,
    /// Until when, not included
    #[arg(long, value_name = "DATE")]
    end: String,
    /// How long a row is
    #[arg(long, value_name = "PRECISION", default_value = "daily")]
    precision: Precision,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
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

/// A page of counts over time. Its rows are under the name of the report.
#[derive(Deserialize)]
struct Counts {
    #[serde(alias = "sends", alias = "opens", alias = "optins", alias = "optouts", alias = "timeinapp")]
    #[serde(alias = "responses")]
    rows: Vec<Bucket>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Bucket {
    date: String,
    #[serde(flatten)]
    platforms: BTreeMap<String, Figure>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Figure {
    Count(Number),
    Responses { direct: u64, influenced: u64 },
}

#[derive(Deserialize)]
struct Pushes {
    pushes: Vec<Push>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Push {
    push_id: String,
    push_time: String,
    push_type: String,
    sends: u64,
    direct_responses: u64,
}

impl Report {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        match self.what {
            What::Sends => self.show_counts(&client, "sends").await?,
            What::Opens => self.show_counts(&client, "opens").await?,
            What::Optins => self.show_counts(&client, "optins").await?,
            What::Optouts => self.show_counts(&client, "optouts").await?,
            What::Timeinapp => self.show_counts(&client, "timeinapp").await?,
            What::Responses => self.show_counts(&client, "responses").await?,
            What::Pushes => self.show_pushes(&client).await?,
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn show_counts(&self, client: &Client, report: &str) -> Result<()> {
        let mut buckets = Vec::new();
        let mut next = Some(self.path(report));
        while let Some(path) = next {
            let page = self.printed(client.get(&path).await?)?.read::<Counts>()?;
            buckets.extend(page.rows);
            next = page.next_page.as_deref().map(own_path);
        }
        if self.remote.json {
            return Ok(());
        }
        let platforms: BTreeSet<&str> =
            buckets.iter().flat_map(|bucket| bucket.platforms.keys().map(String::as_str)).collect();
        let heading = std::iter::once("DATE".to_owned()).chain(platforms.iter().map(|name| name.to_uppercase()));
        let rows = buckets.iter().map(|bucket| {
            let figure = |platform: &&str| bucket.platforms.get(*platform).map_or("0".to_owned(), ToString::to_string);
            std::iter::once(bucket.date.clone()).chain(platforms.iter().map(figure)).collect()
        });
        output::columns(&heading.collect::<Vec<_>>(), &rows.collect::<Vec<Vec<_>>>())
    }

    async fn show_pushes(&self, client: &Client) -> Result<()> {
        let mut rows = Vec::new();
        let mut next = Some(self.path("responses/list"));
        while let Some(path) = next {
            let page = self.printed(client.get(&path).await?)?.read::<Pushes>()?;
            rows.extend(page.pushes.into_iter().map(|push| {
                let Push { push_id, push_time, push_type, sends, direct_responses } = push;
                [push_time, push_id, push_type, sends.to_string(), direct_responses.to_string()]
            }));
            next = page.next_page.as_deref().map(own_path);
        }
        if self.remote.json {
            return Ok(());
        }
        output::table(["TIME", "PUSH", "TYPE", "SENDS", "DIRECT RESPONSES"], &rows)
    }

    fn path(&self, report: &str) -> String {
        let (start, end) = (percent_encoded(&self.start), percent_encoded(&self.end));
        let precision = match self.precision {
            Precision::Hourly => "HOURLY",
            Precision::Daily => "DAILY",
            Precision::Monthly => "MONTHLY",
        };
        format!("/api/reports/{report}?start={start}&end={end}&precision={precision}")
    }

    /// With `--json`, prints each page as the server sent it.
    fn printed(&self, reply: Reply) -> Result<Reply> {
        if self.remote.json {
            reply.print()?;
        }
        Ok(reply)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Count(count) => write!(f, "{count}"),
            Figure::Responses { direct, influenced } => write!(f, "{direct} + {influenced}"),
        }
    }
}
