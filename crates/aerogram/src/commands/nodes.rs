//! `aerogram nodes`: the nodes of an installation, and what each is doing.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Deserialize;

use super::Operator;
use crate::client::Reply;
use crate::output;

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
    address: Option<String>,
    version: String,
    roles: Vec<String>,
    started: String,
    last_seen: String,
    alive: bool,
    jobs: u64,
}

impl Nodes {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        self.operator.run(async |client| client.get("/operator/nodes").await, show).await
    }
}

fn show(reply: &Reply) -> Result<()> {
    let Answer { nodes } = reply.read()?;
    let rows: Vec<_> = nodes.into_iter().map(Node::row).collect();
    output::table(["NODE", "STATE", "ADDRESS", "VERSION", "ROLES", "STARTED", "LAST SEEN", "JOBS"], &rows)
}

impl Node {
    fn row(self) -> [String; 8] {
        let Self { node_id, address, version, roles, started, last_seen, alive, jobs } = self;
        let state = if alive { "alive" } else { "dead" }.to_owned();
        let address = address.unwrap_or_else(|| "-".to_owned());
        [node_id, state, address, version, roles.join(","), started, last_seen, jobs.to_string()]
    }
}
