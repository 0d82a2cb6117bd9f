//! The nodes of the installation: each notes now and then that it is there, and what it is.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use base::{Error, Result};
use boxed::boxed;
use model::ids::Id;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind};
use store::nodes::Node;
use tenancy::OPERATOR;

use crate::Engine;

/// How often a node notes that it is there. A write for nothing else is worth avoiding on an idle node.
pub(crate) const NOTE_EVERY: Duration = Duration::from_secs(15);
/// A node that has missed two notes is taken for dead.
const ALIVE_FOR: Duration = Duration::from_secs(45);
/// For how long a node that ended without saying so is remembered.
const REMEMBERED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// What a node says about itself when it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// What the operator calls it, or else the host name. Not told by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it listens, which may be the same on every machine.
    pub address: String,
    pub version: String,
    pub roles: Vec<String>,
    /// What the audit log calls its operator token, which tells tokens apart and reveals none. Not told by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
}

/// A node as it was seen last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeView {
    pub id: String,
    pub facts: NodeFacts,
    pub started: UtcMillis,
    pub seen: UtcMillis,
    pub is_alive: bool,
    /// How many jobs it was running.
    pub n_jobs: u64,
    pub measured: Option<Measured>,
}

/// How a node was getting on when it was seen last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// How many log records its audience index that is furthest behind had not applied. Earlier versions told that of the reader of
    /// logs for all nodes.
    pub records_behind: i64,
    /// How long the database took to tell where the logs end, with the time in which the question waited for a connection.
    pub database_micros: u64,
    /// By how many milliseconds its clock was ahead of the database's; behind it if negative. Not told where no server has a clock,
    /// and by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ahead_millis: Option<i64>,
}

impl NodeView {
    /// By how many milliseconds the clock of a node that lives is ahead of the database's, if that is so much that it runs no jobs
    /// beside other nodes.
    pub fn clock_wrong_by(&self) -> Option<i64> {
        let ahead = self.measured.filter(|_| self.is_alive)?.clock_ahead_millis?;
        base::are_apart(ahead).then_some(ahead)
    }
}

/// This node, once it has said what it is.
pub(crate) type ThisNode = OnceLock<(String, NodeFacts)>;

#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    facts: NodeFacts,
    n_jobs: u64,
    /// The number under which it holds jobs: by it others find the node that has died. Not told by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease: Option<Node>,
    /// Not told by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
}

enum NodeKind {}

#[boxed]
impl Engine {
    /// Says what this node is, and forgets nodes that ended long ago. From here on it is among the nodes, under the id that is
    /// returned.
    pub async fn introduce(&self, facts: NodeFacts) -> String {
        let now = self.rooms.clock.now();
        let (id, _) = self.rooms.this_node.get_or_init(|| (Id::<NodeKind>::at(now).to_string(), facts));
        self.note_and(forget_old).await;
        if let Err(error) = self.compare_operators().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "this node cannot look at the others");
        }
        id.clone()
    }

    /// Tells in the log of nodes with another operator token: a command or a script that one node lets in is refused by the other,
    /// now and then, wherever a balancer sends it.
    async fn compare_operators(&self) -> Result<()> {
        let Some((id, NodeFacts { operator: Some(own), .. })) = self.rooms.this_node.get() else { return Ok(()) };
        for other in self.nodes().await?.iter().filter(|other| other.is_alive && other.id != *id) {
            if let Some(theirs) = other.facts.operator.as_ref().filter(|theirs| *theirs != own) {
                let text =
                    "another node has another operator token; set AEROGRAM_OPERATOR_TOKEN to the same on all nodes";
                let NodeView { id: node, facts: NodeFacts { name, address, .. }, .. } = other;
                tracing::warn!(event = "node.operator_token", node, name, address, own, theirs, "{text}");
            }
        }
        Ok(())
    }

    /// Notes that this node is there, if it has said what it is.
    pub async fn note_node(&self) {
        self.note_and(|_, _| Ok(())).await;
    }

    /// Notes that this node is there, and does something more in the same transaction: one that changes nothing would be taken for
    /// a sign that the database takes changes.
    async fn note_and(&self, more: fn(&mut Tx<'_>, UtcMillis) -> store::Result<()>) {
        let Some((id, facts)) = self.rooms.this_node.get().cloned() else { return };
        // On a disk that is almost full, a note still fits, and would be taken for a sign that there is room.
        if self.rooms.store.trouble().is_some() {
            return;
        }
        // Other nodes tell by their clocks whether it is alive.
        let (now, n_jobs) = (self.rooms.shared_clock.now(), self.jobs.n_running() as u64);
        let (lease, measured) = (Some(self.rooms.store.node()), self.measure().await.ok());
        let write = move |tx: &mut Tx<'_>| {
            more(tx, now)?;
            let stored = Stored { facts: facts.clone(), n_jobs, lease, measured };
            let body = serde_json::to_string(&stored).map_err(Error::internal)?;
            Ok::<_, Error>(documents::put(tx, OPERATOR, DocumentKind::Node, &id, &body, now)?)
        };
        // A database that takes no changes is told of elsewhere, and it is tried again.
        if let Err(error) = self.rooms.store.write(OPERATOR, write).await
            && !error.is_of_database()
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "this node cannot be noted");
        }
    }

    async fn measure(&self) -> Result<Measured> {
        let asked = Instant::now();
        let lags = self.rooms.index.records_behind().await?;
        let records_behind = lags.into_iter().map(|(_, n_records)| n_records).max().unwrap_or(0);
        let database_micros = u64::try_from(asked.elapsed().as_micros()).unwrap_or(u64::MAX);
        let clock_ahead_millis = self.rooms.shared_clock.ahead_by();
        Ok(Measured { records_behind, database_micros, clock_ahead_millis })
    }

    /// This node ends in order.
    pub(crate) async fn leave(&self) {
        let Some((id, _)) = self.rooms.this_node.get().cloned() else { return };
        let delete = move |tx: &mut Tx<'_>| documents::delete(tx, OPERATOR, DocumentKind::Node, &id);
        // Otherwise it is taken for dead, which is as good.
        drop(self.rooms.store.write(OPERATOR, delete).await);
    }

    /// The nodes that were there in the last day and have not ended in order, the oldest first.
    pub async fn nodes(&self) -> Result<Vec<NodeView>> {
        let now = self.rooms.shared_clock.now();
        let found = self.rooms.store.read(|tx| documents::list(tx, OPERATOR, DocumentKind::Node)).await?;
        let remembered = found.into_iter().filter(|document| document.modified > now.minus(REMEMBERED_FOR));
        Ok(remembered.filter_map(|document| view(document, now)).collect())
    }
}

fn view(document: Document, now: UtcMillis) -> Option<NodeView> {
    let read = serde_json::from_str(&document.body).map_err(Error::internal);
    let Stored { facts, n_jobs, measured, .. } = base::readable(DocumentKind::Node, &document.id, read)?;
    Some(NodeView {
        facts,
        started: document.created,
        seen: document.modified,
        is_alive: document.modified >= now.minus(ALIVE_FOR),
        n_jobs,
        measured,
        id: document.id,
    })
}

fn forget_old(tx: &mut Tx<'_>, now: UtcMillis) -> store::Result<()> {
    for head in documents::heads(tx, OPERATOR, DocumentKind::Node)? {
        if head.modified <= now.minus(REMEMBERED_FOR) {
            documents::delete(tx, OPERATOR, DocumentKind::Node, &head.id)?;
        }
    }
    Ok(())
}
