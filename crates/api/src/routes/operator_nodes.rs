//! The nodes of the installation, and how it is, for the operator.

use axum::extract::State;
use engine::{Health, NodeView, Trouble};
use events::WebhookLag;
use model::ids::WebhookId;
use model::time::UtcMillis;
use schemars::JsonSchema;
use sending::{Hindrance, PlatformFact, PlatformNotice};
use serde::Serialize;

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::{Result, trouble_text};

/// Long enough to have a certificate renewed.
const NOTICE_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;
/// A webhook that is busy, or was down for a moment, catches up within this time.
const MOST_BEHIND_SECONDS: i64 = 300;

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
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Doctor")]
pub(super) struct Checks {
    checks: Vec<Check>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DoctorCheck")]
pub(super) struct Check {
    /// `database`, `clock`, `nodes`, `jobs`, `platforms` or `webhooks`.
    check: &'static str,
    /// `ok`; `warn`: fine so far, but not for long; or `fail`.
    state: &'static str,
    /// For people.
    text: String,
    /// Whose platform or webhook it is about.
    #[serde(flatten)]
    of: Option<Subject>,
}

/// What a finding is about, if it is about one thing of an app.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "DoctorSubject")]
struct Subject {
    /// The key of the app.
    app: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook_id: Option<WebhookId>,
}

/// A state and a sentence, and what they are about.
struct Finding {
    state: &'static str,
    text: String,
    of: Option<Subject>,
}

impl From<(&'static str, String)> for Finding {
    fn from((state, text): (&'static str, String)) -> Self {
        Self { state, text, of: None }
    }
}

pub(super) async fn nodes(State(edge): State<Edge>) -> Result<Answer> {
    let nodes = edge.engine.nodes().await?.into_iter().map(|node| NodeRecord {
        node_id: node.id,
        address: node.facts.address,
        version: node.facts.version,
        roles: node.facts.roles,
        started: node.started.to_api(),
        last_seen: node.seen.to_api(),
        alive: node.is_alive,
        jobs: node.n_jobs,
    });
    Ok(Answer::ok(Nodes { nodes: nodes.collect() })?.data_attribute("nodes"))
}

pub(super) async fn doctor(State(edge): State<Edge>) -> Result<Answer> {
    let health = edge.engine.health().await?;
    let checks = checks(&health, edge.engine.clock().now());
    Ok(Answer::ok(Checks { checks })?.data_attribute("checks"))
}

fn checks(health: &Health, now: UtcMillis) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut add = |check, found: Vec<Finding>, fine: &str| {
        let found = if found.is_empty() { vec![("ok", fine.to_owned()).into()] } else { found };
        checks.extend(found.into_iter().map(|Finding { state, text, of }| Check { check, state, text, of }));
    };
    add("database", database(health), "The server reaches its database and is ready.");
    if matches!(health.database, Some(Trouble::Reading | Trouble::Misplaced)) {
        return checks;
    }
    let clock = "The clock has jumped, so that schedules wait until it is trusted again, for ten minutes at most.";
    let doubt = health.is_clock_in_doubt.then(|| ("warn", clock.to_owned()));
    add("clock", doubt.into_iter().map(Finding::from).collect(), "The clock can be trusted.");
    add("nodes", health.dead_nodes.iter().map(dead_node).collect(), "No node has ended without saying so.");
    let overdue = health.overdue.map(|(n, seconds)| {
        let advice = "is a node with the role `worker` running?";
        ("fail", format!("{n} jobs are due and wait for a worker, the first for {seconds} s; {advice}")).into()
    });
    add("jobs", overdue.into_iter().collect(), "No job waits for long.");
    let platforms = health.platforms.iter().filter_map(|notice| platform(notice, now)).collect();
    add("platforms", platforms, "No platform is paused or waits, and no certificate runs out soon.");
    add("webhooks", health.webhooks.iter().filter_map(webhook).collect(), "No webhook is failing or behind.");
    checks
}

fn database(health: &Health) -> Vec<Finding> {
    let trouble = health.database.as_ref().map(|trouble| ("fail", trouble_text(trouble).to_owned()));
    let n_missing = health.n_missing_records;
    let missing = (n_missing > 0).then(|| {
        (
            "fail",
            format!("{n_missing} log records were missing when the service started; `aerogram doctor` names them."),
        )
    });
    trouble.into_iter().chain(missing).map(Finding::from).collect()
}

fn dead_node(node: &NodeView) -> Finding {
    let (address, seen) = (&node.facts.address, node.seen.to_api());
    ("warn", format!("The node {address} was last seen at {seen}; its work is taken up by others.")).into()
}

/// `None` for expiries far in the future.
fn platform(PlatformNotice { app, platform, fact }: &PlatformNotice, now: UtcMillis) -> Option<Finding> {
    let (app, platform) = (app.as_str(), platform.to_string());
    let of = Some(Subject { app: app.to_owned(), platform: Some(platform.clone()), webhook_id: None });
    let (state, text) = match fact {
        PlatformFact::Hindered(health) => {
            let (since, reason) = (health.since.to_api(), &health.reason);
            match health.hindrance {
                Hindrance::Refused => ("fail", format!("{platform} of {app} is paused since {since}: {reason}")),
                Hindrance::Held => {
                    ("warn", format!("{platform} of {app} is paused by the operator since {since}: {reason}"))
                }
                Hindrance::Down => (
                    "fail",
                    format!(
                        "{platform} of {app} has taken nothing since {since}; what is for it is tried again: {reason}"
                    ),
                ),
            }
        }
        PlatformFact::Unreadable => (
            "fail",
            format!(
                "The credentials for {platform} of {app} were encrypted with another key; restore it, or set them again."
            ),
        ),
        PlatformFact::Expires(at) if *at <= now => {
            ("fail", format!("The certificate for {platform} of {app} expired at {}.", at.to_api()))
        }
        PlatformFact::Expires(at) if at.0 - now.0 <= NOTICE_MILLIS => {
            ("warn", format!("The certificate for {platform} of {app} expires at {}; renew it.", at.to_api()))
        }
        PlatformFact::Expires(_) => return None,
    };
    Some(Finding { state, text, of })
}

/// `None` for a webhook that gets on.
fn webhook(lag: &WebhookLag) -> Option<Finding> {
    let (app, id, behind, n_dead) = (lag.app.as_str(), lag.webhook, lag.seconds_behind, lag.tally.n_dead);
    let (state, text) = if lag.is_disabled {
        ("fail", format!("The service has disabled the webhook {id} of {app}."))
    } else if behind > MOST_BEHIND_SECONDS {
        let why = if lag.is_failing { " and does not take some event" } else { "" };
        ("fail", format!("The webhook {id} of {app} is {behind} s behind{why}."))
    } else if lag.is_failing {
        ("warn", format!("The webhook {id} of {app} does not take some event."))
    } else if n_dead > 0 {
        ("warn", format!("The webhook {id} of {app} has {n_dead} dead letters."))
    } else {
        return None;
    };
    Some(Finding { state, text, of: Some(Subject { app: app.to_owned(), platform: None, webhook_id: Some(id) }) })
}
