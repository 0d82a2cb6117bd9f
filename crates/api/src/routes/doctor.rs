//! How the installation is, for the operator: one line for each check, or for everything that it finds.

use std::collections::{BTreeMap, HashMap};

use axum::extract::State;
use engine::{Health, NodeView, Trouble, WithoutCredentials};
use events::WebhookLag;
use model::app::AppKey;
use model::ids::WebhookId;
use model::time::UtcMillis;
use schemars::JsonSchema;
use sending::{Hindrance, Lacking, PlatformFact, PlatformNotice};
use serde::Serialize;

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::{Result, trouble_text};

/// Long enough to have a certificate renewed.
const NOTICE_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;
/// A webhook that is busy, or was down for a moment, catches up within this time.
const MOST_BEHIND_SECONDS: i64 = 300;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Doctor")]
pub(super) struct Checks {
    checks: Vec<Check>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DoctorCheck")]
pub(super) struct Check {
    /// `database`, `clock`, `nodes`, `jobs`, `live`, `platforms` or `webhooks`.
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

pub(super) async fn doctor(State(edge): State<Edge>) -> Result<Answer> {
    let health = edge.engine.health().await?;
    let checks = checks(&health, edge.live_connections_lacking, edge.engine.clock().now());
    Ok(Answer::ok(Checks { checks })?.data_attribute("checks"))
}

fn checks(health: &Health, n_live_lacking: usize, now: UtcMillis) -> Vec<Check> {
    let names = Names(health.apps.iter().map(|app| (&app.key, app.name.as_str())).collect());
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
    let doubt = health.is_clock_in_doubt.then(|| Finding::from(("warn", clock.to_owned())));
    let wrong = health.nodes.iter().filter_map(wrong_clock);
    add("clock", doubt.into_iter().chain(wrong).collect(), "The clock can be trusted.");
    add("nodes", nodes(&health.nodes), "No node has ended without saying so, and all have the same version and token.");
    let overdue = health.overdue.map(|(n, seconds)| {
        let advice = "is a node with the role `worker` running?";
        ("fail", format!("{n} jobs are due and wait for a worker, the first for {seconds} s; {advice}")).into()
    });
    add("jobs", overdue.into_iter().collect(), "No job waits for long.");
    let live = "The limit of open files allows all live connections that the settings do.";
    add("live", live_connections(n_live_lacking), live);
    let platforms = health.platforms.iter().filter_map(|notice| platform(notice, &names, now));
    let lacking = health.without_credentials.iter().map(|lacking| without_credentials(lacking, &names));
    let fine = "No platform is paused, waits or lacks credentials, and no certificate runs out soon.";
    add("platforms", platforms.chain(lacking).collect(), fine);
    let webhooks = health.webhooks.iter().filter_map(|lag| webhook(lag, &names));
    add("webhooks", webhooks.collect(), "No webhook is failing or behind.");
    checks
}

/// What people call the apps.
struct Names<'a>(HashMap<&'a AppKey, &'a str>);

impl Names<'_> {
    /// The name, with the key by which commands know the app.
    fn of(&self, app: &AppKey) -> String {
        match self.0.get(app) {
            Some(name) if *name != app.as_str() => format!("{name} ({app})"),
            Some(_) | None => app.to_string(),
        }
    }
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

fn nodes(nodes: &[NodeView]) -> Vec<Finding> {
    let mut found: Vec<Finding> = nodes.iter().filter(|node| !node.is_alive).map(dead_node).collect();
    if let Some(versions) = different(nodes, |node| Some(node.facts.version.as_str())) {
        let text = format!("Nodes of different versions run: {versions}.");
        found.push(("warn", format!("{text} Go on with the upgrade until all have the same.")).into());
    }
    if let Some(operators) = different(nodes, |node| node.facts.operator.as_deref()) {
        let text =
            format!("Nodes have different operator tokens, so that what one lets in another refuses: {operators}.");
        found.push(("fail", format!("{text} Set AEROGRAM_OPERATOR_TOKEN to the same on all of them.")).into());
    }
    found
}

/// Which of the living nodes have which value, if they do not all have the same.
fn different(nodes: &[NodeView], value: impl Fn(&NodeView) -> Option<&str>) -> Option<String> {
    let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.is_alive) {
        if let Some(value) = value(node) {
            values.entry(value).or_default().push(called(node));
        }
    }
    let each = values.iter().map(|(value, nodes)| format!("{value} at {}", nodes.join(", ")));
    (values.len() > 1).then(|| each.collect::<Vec<_>>().join("; "))
}

/// Several machines may listen on the same address, and several nodes may be on one machine.
fn called(node: &NodeView) -> String {
    let address = &node.facts.address;
    node.facts.name.as_ref().map_or_else(|| address.clone(), |name| format!("{name} ({address})"))
}

fn live_connections(n_lacking: usize) -> Vec<Finding> {
    let text = || {
        format!(
            "The limit of open files allows {n_lacking} fewer live connections than AEROGRAM_LIVE_CONNECTIONS; raise it (ulimit -n, \
             LimitNOFILE) or lower the setting."
        )
    };
    (n_lacking > 0).then(|| ("fail", text()).into()).into_iter().collect()
}

fn without_credentials(WithoutCredentials { app, lacking }: &WithoutCredentials, names: &Names<'_>) -> Finding {
    let Lacking { device_type, delivery_type, platform, n_devices } = lacking;
    let (key, name) = (app.as_str(), names.of(app));
    let devices = if *n_devices == 1 { "device of" } else { "devices of" };
    let of_which = delivery_type.map(|it| format!(" with the delivery type {}", it.word())).unwrap_or_default();
    let text = format!(
        "{n_devices} {device_type} {devices} {name}{of_which} and no credentials for {platform}, so that what is for them fails; \
         run `aerogram platform set {key} {platform} …` (its --help has examples)."
    );
    let of = Subject { app: key.to_owned(), platform: Some(platform.to_string()), webhook_id: None };
    Finding { state: "warn", text, of: Some(of) }
}

fn dead_node(node: &NodeView) -> Finding {
    let (node, seen) = (called(node), node.seen.to_api());
    ("warn", format!("The node {node} was last seen at {seen}; its work is taken up by others.")).into()
}

/// `None` for a node whose clock agrees with that of the database.
fn wrong_clock(node: &NodeView) -> Option<Finding> {
    let ahead = node.clock_wrong_by()?;
    let (node, seconds) = (called(node), ahead.unsigned_abs() / 1000);
    let side = if ahead > 0 { "ahead of" } else { "behind" };
    let text = format!(
        "The clock of the node {node} is {seconds} s {side} that of the database, so that it runs no jobs beside other nodes; \
         set it right, or that of the database's server if this is said of all nodes."
    );
    Some(("fail", text).into())
}

/// `None` for expiries far in the future.
fn platform(
    PlatformNotice { app: key, platform, fact }: &PlatformNotice,
    names: &Names<'_>,
    now: UtcMillis,
) -> Option<Finding> {
    let (app, platform) = (names.of(key), platform.to_string());
    let of = Some(Subject { app: key.to_string(), platform: Some(platform.clone()), webhook_id: None });
    let (state, text) = match fact {
        PlatformFact::Hindered(health) => {
            let (since, reason) = (health.since.to_api(), &health.reason);
            match health.hindrance {
                Hindrance::Refused => ("fail", format!("{platform} of {app} is paused since {since}: {reason}")),
                Hindrance::Held => (
                    "warn",
                    format!("{platform} of {app} is paused since {since}, by `aerogram platform pause`: {reason}"),
                ),
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
fn webhook(lag: &WebhookLag, names: &Names<'_>) -> Option<Finding> {
    let (key, id, behind, n_dead) = (lag.app.as_str(), lag.webhook, lag.seconds_behind, lag.tally.n_dead);
    let (app, see) = (names.of(&lag.app), format!("see `aerogram webhook show {key} {id}`"));
    let (state, text) = if lag.is_disabled {
        ("fail", format!("The service has disabled the webhook {id} of {app}; {see}."))
    } else if behind > MOST_BEHIND_SECONDS {
        let why = if lag.is_failing { " and does not take some event" } else { "" };
        ("fail", format!("The webhook {id} of {app} is {behind} s behind{why}; {see}."))
    } else if lag.is_failing {
        ("warn", format!("The webhook {id} of {app} does not take some event; {see}."))
    } else if n_dead > 0 {
        let see = format!("see `aerogram webhook dead {key} {id}`");
        ("warn", format!("The webhook {id} of {app} has {n_dead} dead letters; {see}."))
    } else {
        return None;
    };
    Some(Finding { state, text, of: Some(Subject { app: key.to_owned(), platform: None, webhook_id: Some(id) }) })
}

#[cfg(test)]
mod tests {
    use engine::NodeFacts;

    use super::*;

    fn node(version: &str, operator: &str) -> NodeView {
        let facts = NodeFacts {
            name: Some(format!("push-{}", version.len())),
            address: "0.0.0.0:8080".to_owned(),
            version: version.to_owned(),
            roles: Vec::new(),
            operator: Some(operator.to_owned()),
        };
        let (started, seen) = (UtcMillis(0), UtcMillis(0));
        NodeView { id: String::new(), facts, started, seen, is_alive: true, n_jobs: 0, measured: None }
    }

    #[test]
    fn nodes_that_differ_are_told() {
        let told = |nodes_of: &[NodeView]| -> Vec<String> { nodes(nodes_of).into_iter().map(|it| it.text).collect() };
        assert_eq!(told(&[node("0.1.0", "a"), node("0.1.0", "a")]), Vec::<String>::new());
        let versions = told(&[node("0.1.0", "a"), node("0.10.0", "a")]);
        let each = "0.1.0 at push-5 (0.0.0.0:8080); 0.10.0 at push-6 (0.0.0.0:8080)";
        assert!(versions[0].contains(each) && versions.len() == 1, "{versions:?}");
        let mut of_before = node("0.1.0", "b");
        of_before.facts.name = None;
        let tokens = told(&[node("0.1.0", "a"), of_before]);
        let each = "a at push-5 (0.0.0.0:8080); b at 0.0.0.0:8080";
        assert!(tokens[0].contains(each) && tokens[0].contains("AEROGRAM_OPERATOR_TOKEN"), "{tokens:?}");
        assert_eq!(tokens.len(), 1, "{tokens:?}");
        let dead = told(&[node("0.1.0", "a"), NodeView { is_alive: false, ..node("0.2.0", "b") }]);
        let expected = "The node push-5 (0.0.0.0:8080) was last seen at";
        assert!(dead[0].starts_with(expected) && dead.len() == 1, "{dead:?}");
    }

    #[test]
    fn live_connections_without_files_fail() {
        assert!(live_connections(0).is_empty());
        let [lacking] = &live_connections(81_000)[..] else { panic!("one line") };
        assert!(
            lacking.state == "fail" && lacking.text.contains("81000 fewer") && lacking.text.contains("LimitNOFILE")
        );
    }
}
