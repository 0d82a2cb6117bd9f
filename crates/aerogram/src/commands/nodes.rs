//! `aerogram nodes`: the nodes of an installation, and what each is doing.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Deserialize;

use super::Operator;
use crate::client::Reply;
use crate::output::{self, COUNT, Column, ID, MOMENT, NAME};

#[derive(Args, Debug)]
pub(crate) struct Nodes {
    #[command(flatten)]
    operator: Operator,
}

#[derive(Deserialize)]
struct Answer {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    node_id: String,
    /// Absent from a node of an earlier version.
    name: Option<String>,
    address: Option<String>,
    version: String,
    roles: Vec<String>,
    started: String,
    last_seen: String,
    alive: bool,
    jobs: u64,
    /// Absent, as the next.
    log_records_behind: Option<i64>,
    database_milliseconds: Option<f64>,
    /// Absent with SQLite, too.
    clock_ahead_milliseconds: Option<i64>,
}

impl Nodes {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        self.operator.run(async |client| client.get("/operator/nodes").await, show).await
    }
}

fn show(reply: &Reply) -> Result<()> {
    let Answer { nodes } = reply.read()?;
    let rows: Vec<_> = nodes.into_iter().map(Node::row).collect();
    output::table(COLUMNS, &rows)
}

/// LOG LAG is in records, of the audience index that is furthest behind; CLOCK MS is by how much the clock is ahead of the
/// database's.
const COLUMNS: [(&str, Column); 12] = [
    // No command takes it, and nodes have names.
    ("NODE", ID.left_out(6)),
    ("NAME", NAME),
    ("STATE", NAME),
    ("ADDRESS", NAME.left_out(4)),
    ("VERSION", NAME.left_out(3)),
    ("ROLES", NAME.left_out(2)),
    ("STARTED", MOMENT.left_out(1)),
    ("LAST SEEN", MOMENT.left_out(5)),
    ("JOBS", COUNT),
    ("LOG LAG", COUNT),
    ("DATABASE MS", COUNT),
    ("CLOCK MS", COUNT),
];

impl Node {
    fn row(self) -> [String; COLUMNS.len()] {
        let unknown = || "-".to_owned();
        [
            self.node_id,
            self.name.unwrap_or_else(unknown),
            if self.alive { "alive" } else { "dead" }.to_owned(),
            self.address.unwrap_or_else(unknown),
            self.version,
            self.roles.join(","),
            self.started,
            self.last_seen,
            self.jobs.to_string(),
            self.log_records_behind.map_or_else(unknown, |records| records.to_string()),
            self.database_milliseconds.map_or_else(unknown, |millis| format!("{millis:.1}")),
            self.clock_ahead_milliseconds.map_or_else(unknown, |millis| format!("{millis:+}")),
        ]
    }
}
