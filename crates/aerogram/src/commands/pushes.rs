//! `aerogram pushes`: the pushes of an app, the newest first.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Deserialize;

use crate::client::{Client, Reply, query};
use crate::config::{AppLogin, Remote, number_in};
use crate::output::{self, COUNT, ID, MOMENT, NAME, TEXT};

/// The subcommand that most commands have which list something. This one does nothing else.
const LIST: &str = "list";

#[derive(Args, Debug)]
pub(crate) struct Pushes {
    /// Only those with this in their name, title or text; `list` alone shows all, as it does with other commands
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Only those with this in their name, title or text, whatever it is; `list`, too
    #[arg(long, value_name = "TEXT", conflicts_with = "text")]
    search: Option<String>,
    /// Only those in this state: accepted, sending, paused, done or canceled
    #[arg(long)]
    state: Option<String>,
    /// Only those sent by: api (servers), compose (people), test, template, schedule, experiment or pipeline, or the id of one
    #[arg(long)]
    origin: Option<String>,
    /// Only those for devices of this type, such as ios
    #[arg(long, value_name = "TYPE")]
    device_type: Option<String>,
    /// Only from this time on, such as 2030-01-01 or "2030-01-01 10:00" (UTC)
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number_in(1_u32..=1000))]
    limit: u32,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Page {
    pushes: Vec<Push>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Push {
    push_id: String,
    created: String,
    name: Option<String>,
    title: Option<String>,
    alert: Option<String>,
    state: String,
    author: Option<String>,
    total: Total,
    opens: Opens,
}

#[derive(Deserialize)]
struct Total {
    targeted: u64,
    delivered: u64,
}

#[derive(Deserialize)]
struct Opens {
    direct: u64,
    influenced: u64,
}

impl Pushes {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let values = [
            ("q", self.searched()),
            ("state", self.state.as_deref()),
            ("origin", self.origin.as_deref()),
            ("device_type", self.device_type.as_deref()),
            ("from", self.from.as_deref()),
            ("to", self.to.as_deref()),
            ("limit", Some(&self.limit.to_string())),
        ];
        let reply = Client::app(&self.remote, &self.login)?.get(&query("/api/pushes", &values)).await?;
        if self.remote.json {
            reply.print()?
        } else {
            show(&reply)?
        }
        Ok(ExitCode::SUCCESS)
    }

    fn searched(&self) -> Option<&str> {
        self.search.as_deref().or(self.text.as_deref().filter(|text| *text != LIST))
    }
}

fn show(reply: &Reply) -> Result<()> {
    let Page { pushes, next_page } = reply.read()?;
    let rows: Vec<_> = pushes.iter().map(Push::row).collect();
    let columns = [
        ("PUSH_ID", ID),
        ("CREATED", MOMENT.left_out(3)),
        ("STATE", NAME),
        ("DELIVERED", COUNT),
        ("OPENS", COUNT.left_out(2)),
        ("AUTHOR", TEXT.left_out(1)),
        ("NAME OR TEXT", TEXT),
    ];
    output::table(columns, &rows)?;
    if next_page.is_some() {
        output::line(format_args!("There are more; --limit shows up to 1000, and --to older ones."))?;
    }
    Ok(())
}

impl Push {
    fn row(&self) -> [String; 7] {
        let Self { push_id, created, name, title, alert, state, author, total, opens } = self;
        let text = name.as_ref().or(title.as_ref()).or(alert.as_ref()).map_or("-", String::as_str);
        let delivered = format!("{} of {}", total.delivered, total.targeted);
        let opens = format!("{} + {}", opens.direct, opens.influenced);
        let author = author.clone().unwrap_or_else(|| "-".to_owned());
        [push_id.clone(), created.clone(), state.clone(), delivered, opens, author, output::shortened(text)]
    }
}
