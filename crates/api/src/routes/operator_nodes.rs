//! The nodes of the installation, for the operator.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::Result;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Nodes")]
pub(super) struct Nodes {
    /// The one that started first comes first.
    nodes: Vec<NodeRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Node")]
pub(super) struct NodeRecord {
    node_id: String,
    /// What the operator calls it (`AEROGRAM_NODE`), or else its host name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Where it listens.
    address: String,
    version: String,
    /// `api`, `worker` or both.
    roles: Vec<String>,
    started: String,
    /// When it last noted that it is there, which it does every 15 seconds.
    last_seen: String,
    /// Whether that was less than 45 seconds ago.
    alive: bool,
    /// How many jobs it was running then.
    jobs: u64,
    /// How many log records the audience index of this node that is furthest behind its log had not applied then.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_records_behind: Option<i64>,
    /// How many milliseconds the database took then to answer a question of this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    database_milliseconds: Option<f64>,
    /// By how many milliseconds its clock was ahead of that of the database's server then; behind it if negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_ahead_milliseconds: Option<i64>,
}

pub(super) async fn nodes(State(edge): State<Edge>) -> Result<Answer> {
    let nodes = edge.engine.nodes().await?.into_iter().map(|node| NodeRecord {
        node_id: node.id,
        name: node.facts.name,
        address: node.facts.address,
        version: node.facts.version,
        roles: node.facts.roles,
        started: node.started.to_api(),
        last_seen: node.seen.to_api(),
        alive: node.is_alive,
        jobs: node.n_jobs,
        log_records_behind: node.measured.map(|measured| measured.records_behind),
        database_milliseconds: node.measured.map(|measured| measured.database_micros as f64 / 1000.0),
        clock_ahead_milliseconds: node.measured.and_then(|measured| measured.clock_ahead_millis),
    });
    Ok(Answer::ok(Nodes { nodes: nodes.collect() })?.data_attribute("nodes"))
}
