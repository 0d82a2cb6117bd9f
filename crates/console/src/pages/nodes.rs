//! The processes that the installation consists of, for its owners.

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;

use crate::answer::Answer;
use crate::dates::time;
use crate::error::Result;
use crate::parts::numbers::{count, grouped};
use crate::parts::states::badge_saying;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Nodes {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    node_id: String,
    /// Absent from a node of an earlier version.
    name: Option<String>,
    address: String,
    version: String,
    roles: Vec<String>,
    started: String,
    last_seen: String,
    alive: bool,
    jobs: u64,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let Nodes { nodes } = visit.get("/operator/nodes").await?;
    let n_alive = nodes.iter().filter(|node| node.alive).count() as u64;
    let mut versions: Vec<&str> = nodes.iter().filter(|node| node.alive).map(|node| node.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let body = html! {
        @if nodes.is_empty() {
            div.empty {
                p { "No node has noted yet that it is there; each does so every few seconds." }
                p { "Start " code { "aerogram serve" } " on another machine with the same database, and it appears here." }
            }
        } @else {
            p.line { (count(n_alive, "node is", "nodes are")) " running. Work that a node leaves behind is taken up by the others." }
            @if versions.len() > 1 {
                div.notice.warn {
                    p { "The nodes have different versions: " (versions.join(", ")) ". Finish the upgrade; one version apart is fine \
                         meanwhile." }
                }
            }
            (table(&nodes))
        }
        p { a href="/console/-/doctor" { "How the installation is" } }
    };
    Answer::page("Nodes", body)
}

fn table(nodes: &[Node]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Nodes" {
            table.stack {
                caption.hidden { "Nodes, the one that started first comes first" }
                thead {
                    tr {
                        th scope="col" { "Node" } th scope="col" { "State" } th scope="col" { "Roles" } th scope="col" { "Version" }
                        th.number scope="col" { "Running jobs" } th scope="col" { "Started" } th scope="col" { "Last seen" }
                    }
                }
                tbody {
                    @for node in nodes {
                        tr {
                            th.wide scope="row" {
                                (node.name.as_ref().unwrap_or(&node.address))
                                p.quiet {
                                    @if node.name.is_some() { (node.address) " " }
                                    code { (node.node_id) }
                                }
                            }
                            td { @if node.alive { (badge_saying("ok", "running")) } @else { (badge_saying("gone", "not seen lately")) } }
                            td data-is="Roles" { (node.roles.join(", ")) }
                            td data-is="Version" { (node.version) }
                            td.number data-is="Running jobs" { (grouped(node.jobs)) }
                            td data-is="Started" { (time(&node.started)) }
                            td data-is="Last seen" { (time(&node.last_seen)) }
                        }
                    }
                }
            }
        }
    }
}
