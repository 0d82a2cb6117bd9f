//! `aerogram push list`: the pushes of all apps that are on their way, for the operator.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::client::Reply;
use crate::commands::Operator;
use crate::config::number_in;
use crate::output::{self, COUNT, ID, MOMENT, NAME, TEXT};

#[derive(Args, Debug)]
pub(super) struct List {
    /// Only those in this state
    #[arg(long)]
    state: Option<State>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_in(1_u32..=1000))]
    limit: u32,

    #[command(flatten)]
    operator: Operator,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    Accepted,
    Sending,
    Paused,
}

#[derive(Deserialize)]
struct Pushes {
    pushes: Vec<Push>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Push {
    app: String,
    push_id: String,
    state: String,
    created: String,
    total: PushProgress,
    platforms: BTreeMap<String, PushProgress>,
}

#[derive(Deserialize)]
struct PushProgress {
    delivered: u64,
    pending: u64,
    reason: Option<String>,
}

impl List {
    pub(super) async fn run(&self) -> Result<ExitCode> {
        let state = match self.state {
            None => "",
            Some(State::Accepted) => "&state=accepted",
            Some(State::Sending) => "&state=sending",
            Some(State::Paused) => "&state=paused",
        };
        let path = format!("/operator/pushes?limit={}{state}", self.limit);
        self.operator.run(async |client| client.get(&path).await, show).await
    }
}

fn show(reply: &Reply) -> Result<()> {
    let Pushes { pushes, next_page } = reply.read()?;
    let rows: Vec<_> = pushes.iter().map(Push::row).collect();
    let columns = [
        ("APP", ID.left_out(3)),
        ("PUSH_ID", ID),
        ("CREATED", MOMENT.left_out(1)),
        ("STATE", NAME.left_out(4)),
        ("DELIVERED", COUNT.left_out(2)),
        ("PENDING", COUNT),
        ("REASON", TEXT),
    ];
    output::table(columns, &rows)?;
    if next_page.is_some() {
        output::line(format_args!("There are more; --limit shows up to 1000."))?;
    }
    Ok(())
}

impl Push {
    fn row(&self) -> [String; 7] {
        let reasons = self.platforms.iter().filter(|(_, progress)| progress.pending > 0);
        let reasons = reasons.filter_map(|(name, progress)| Some(format!("{name}: {}", progress.reason.as_ref()?)));
        let (delivered, pending) = (self.total.delivered.to_string(), self.total.pending.to_string());
        let reasons = reasons.collect::<Vec<_>>().join(" ");
        [self.app.clone(), self.push_id.clone(), self.created.clone(), self.state.clone(), delivered, pending, reasons]
    }
}
