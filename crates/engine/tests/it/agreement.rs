//! Whatever happened to an app, and however a selector is made: the index, a second node that follows the log, an index
//! restored from a snapshot, one built anew and a naive look at every channel agree on whom it selects.

mod attributes;
mod changes;
mod documents;
mod lifecycle;
mod naive;
mod registrations;
mod together;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use engine::{Engine, Retention, Settings};
use model::ids::ChannelId;
use model::payload::device_types::DeviceTypes;
use model::payload::parse_pushes;
use model::selector::{Audience, Purpose};
use model::time::Clock;
use serde_json::{Value, json};
use store::apps::App;
use store::sandbox::Filter;
use targeting::{Clause, Effect, Explanation};
use tempfile::TempDir;
use tenancy::SealKey;
use testkit::app::START;
use testkit::client::PATIENCE;
use testkit::store::{self as stores, Home};

use crate::chance::Chance;
use crate::nodes::create_app;
use changes::parsed;
use naive::{Model, TYPES};
use tree::Tree;

const SEED: u64 = 20_240_501;
const ROUNDS: usize = 70;
const CHANGES_PER_ROUND: usize = 8;
const TREES_PER_ROUND: usize = 30;
const PUSHES_PER_ROUND: usize = 1;
const LEVELS: usize = 4;
/// Some rounds are on the same day, and all of them together take longer than any list looks back.
const TIME_PER_ROUND: Duration = Duration::from_secs(17 * 60 * 60);

#[tokio::test]
async fn index_snapshot_and_naive_evaluation_agree() {
    Box::pin(async { World::new(stores::Database::Sqlite, 1).await.run().await }).await;
}

#[tokio::test]
async fn nodes_that_follow_the_log_and_naive_evaluation_agree() {
    if stores::databases().contains(&stores::Database::Postgres) {
        Box::pin(async { World::new(stores::Database::Postgres, 2).await.run().await }).await;
    }
}

/// An app on some nodes, and what the naive model thinks of it.
struct World {
    home: Home,
    snapshots: TempDir,
    clock: Clock,
    nodes: Vec<Engine>,
    app: Arc<App>,
    model: Model,
    chance: Chance,
    /// What was done, for whoever has to find out why something is wrong.
    history: Vec<String>,
}

/// A selector in all the forms it is needed in.
struct Question {
    tree: Tree,
    audience: Value,
    device_types: Value,
    /// The types that are asked for.
    types: Vec<&'static str>,
}

impl World {
    async fn new(database: stores::Database, n_nodes: usize) -> Self {
        let (home, clock) = (Home::new(database), Clock::stepped(START));
        let snapshots = tempfile::tempdir().unwrap();
        let mut nodes = Vec::new();
        for _ in 0..n_nodes {
            nodes.push(start(&home, &clock, &snapshots).await);
        }
        let app = create_app(&nodes[0]).await;
        let model = Model { today: clock.now().day(), ..Model::default() };
        let (chance, history) = (Chance::new(SEED), Vec::new());
        Self { home, snapshots, clock, nodes, app, model, chance, history }
    }

    async fn run(mut self) {
        for _ in 0..80 {
            let node = self.any_node();
            self.register(&node).await;
        }
        for round in 0..ROUNDS {
            match round {
                // The log since the snapshot is replayed.
                15 | 60 => {
                    self.any_node().index().save_indexes().await;
                    self.change_several().await;
                    assert_eq!(fs::read_dir(self.snapshots.path()).unwrap().count(), 1, "there is a snapshot");
                    self.restart().await;
                }
                30 => {
                    self.any_node().index().save_indexes().await;
                    self.restart().await;
                }
                // Without snapshots the index is built from the channels.
                45 => {
                    for file in fs::read_dir(self.snapshots.path()).unwrap() {
                        fs::remove_file(file.unwrap().path()).unwrap();
                    }
                    self.restart().await;
                }
                _ => {}
            }
            self.change_several().await;
            if round % 3 == 0 {
                self.change_together().await;
            }
            let mut n_pushes = 0;
            for _ in 0..TREES_PER_ROUND {
                let question = self.question();
                self.ask(&question).await;
                // A push must not name devices of platforms that it does not go to.
                if n_pushes < PUSHES_PER_ROUND && question.device_types == "all" {
                    n_pushes += 1;
                    self.send(&question).await;
                }
            }
        }
    }

    async fn change_several(&mut self) {
        self.clock.step(TIME_PER_ROUND);
        for _ in 0..CHANGES_PER_ROUND {
            self.clock.step(Duration::from_secs(1));
            self.model.today = self.clock.now().day();
            self.change().await;
        }
        self.run_jobs().await;
        self.model.tend_lists();
    }

    /// Stops one of the nodes and starts it again.
    async fn restart(&mut self) {
        let place = self.chance.below(self.nodes.len());
        let old = self.nodes.remove(place);
        old.store().clone().close().await;
        self.nodes.insert(place, start(&self.home, &self.clock, &self.snapshots).await);
        self.history.push(format!("restart {place}"));
    }

    fn any_node(&mut self) -> Engine {
        self.chance.pick(&self.nodes)
    }

    /// Runs jobs until none is due, on whichever node.
    async fn run_jobs(&mut self) {
        while self.any_node().worker().step().await.unwrap() {}
    }

    fn question(&mut self) -> Question {
        let tree = Tree::random(&mut self.chance, &self.model, LEVELS);
        let audience = tree.print(&mut self.chance);
        if self.chance.percent(70) {
            return Question { tree, audience, device_types: json!("all"), types: TYPES.to_vec() };
        }
        let types = self.chance.some(&TYPES, 4);
        Question { tree, audience, device_types: json!(types), types }
    }

    /// Asks every node to explain an audience.
    async fn ask(&self, question: &Question) {
        let Question { tree, audience, device_types, types } = question;
        let about = || {
            let recent = self.history[self.history.len().saturating_sub(20)..].join("\n  ");
            format!("seed {SEED}: {audience} for {device_types}, after\n  {recent}")
        };
        let mut answers = Vec::new();
        for node in &self.nodes {
            let audience = parsed(audience, |at| Audience::parse(at, Purpose::Send));
            let types = parsed(device_types, DeviceTypes::parse);
            answers.push(node.targeting().explain(self.app.id, audience, types).await.unwrap());
        }
        let answer = &answers[0];
        assert!(answers.iter().all(|other| other == answer), "the nodes agree: {answers:#?} {}", about());
        assert_eq!(by_device_type(answer), self.expected_by_device_type(question), "{}", about());
        assert_eq!(answer.matched, answer.by_device_type.iter().map(|it| it.matched).sum::<u64>(), "{}", about());
        let clause = answer.clause.as_ref().unwrap();
        assert_eq!(clause.effect, Effect::Whole);
        self.check_clause(tree, clause, &open_types(types), &about);
    }

    fn expected_by_device_type(&self, Question { tree, types, .. }: &Question) -> BTreeMap<String, [u64; 4]> {
        let open = open_types(types);
        let mut expected = BTreeMap::new();
        for channel in self.model.installed().filter(|it| types.contains(&it.device_type)) {
            if self.model.selects(tree, channel, &open) {
                let counts: &mut [u64; 4] = expected.entry(channel.device_type.to_owned()).or_default();
                counts[0] += 1;
                counts[if channel.is_reachable() {
                    1
                } else if channel.address.is_some() {
                    2
                } else {
                    3
                }] += 1;
            }
        }
        expected
    }

    /// Every part of the tree selects, keeps and adds what it should.
    fn check_clause(&self, tree: &Tree, clause: &Clause, open: &[&str], about: &impl Fn() -> String) {
        let selected = |tree: &Tree| self.model.count(|channel| self.model.selects(tree, channel, open));
        assert_eq!(clause.matched, selected(tree), "{} in {}", clause.path, about());
        let members = match tree {
            Tree::And(members) | Tree::Or(members) => members.as_slice(),
            Tree::Not(member) => std::slice::from_ref(&**member),
            _ => &[],
        };
        assert_eq!(clause.clauses.len(), members.len());
        for (i, (member, inner)) in members.iter().zip(&clause.clauses).enumerate() {
            let expected = match tree {
                Tree::And(_) => {
                    let [before, kept] = [i, i + 1].map(|n| selected(&Tree::And(members[..n].to_vec())));
                    Effect::Keeps { kept, dropped: before - kept }
                }
                Tree::Or(_) => {
                    let [before, after] = [i, i + 1].map(|n| selected(&Tree::Or(members[..n].to_vec())));
                    Effect::Adds { added: after - before }
                }
                _ => Effect::Whole,
            };
            assert_eq!(inner.effect, expected, "{} in {}", inner.path, about());
            self.check_clause(member, inner, open, about);
        }
    }

    /// Sends a push, which reaches exactly those who can be reached.
    async fn send(&mut self, question: &Question) {
        let Question { tree, audience, device_types, types } = question;
        let push = json!({"audience": audience, "device_types": device_types, "notification": {"alert": "x"}});
        let pushes = parse_pushes(push.to_string().as_bytes()).unwrap();
        let id = self.any_node().sending().accept_pushes(&self.app, pushes, None).await.unwrap().push_ids[0];
        self.run_jobs().await;
        let filter = Filter { push: Some(id), channel: None };
        let delivered = self.nodes[0].sending().sandbox(self.app.id, filter.into(), None, 1000).await.unwrap();
        let reached: BTreeSet<ChannelId> = delivered.iter().map(|(_, delivery)| delivery.channel).collect();
        assert_eq!(reached.len(), delivered.len(), "nobody is served twice");
        let open = open_types(types);
        let meant = self.model.installed().filter(|it| it.is_reachable() && types.contains(&it.device_type));
        let wanted: BTreeSet<ChannelId> =
            meant.filter(|it| self.model.selects(tree, it, &open)).map(|it| it.id).collect();
        assert_eq!(reached, wanted, "seed {SEED}: {push}");
        for channel in self.model.channels.iter_mut().filter(|channel| reached.contains(&channel.id)) {
            channel.days.sent.insert(self.model.today);
        }
    }
}

fn open_types(types: &[&'static str]) -> Vec<&'static str> {
    types.iter().copied().filter(|it| it.starts_with("open::")).collect()
}

fn by_device_type(explained: &Explanation) -> BTreeMap<String, [u64; 4]> {
    let counts = explained.by_device_type.iter().map(|count| {
        let counts = [count.matched, count.reachable, count.opted_out, count.without_address];
        (count.device_type.to_string(), counts)
    });
    counts.collect()
}

async fn start(home: &Home, clock: &Clock, snapshots: &TempDir) -> Engine {
    let settings = Settings {
        seal_key: SealKey::new(&[7; 32]),
        allow_private_addresses: true,
        trust: providers::Trust::of_system(),
        public_url: "http://localhost".to_owned(),
        snapshot_folder: Some(snapshots.path().to_owned()),
        retention: Retention::default(),
        locations: devices::LocationSettings::default(),
        timeouts: PATIENCE,
        growth: engine::GrowthLimits::NONE,
        pipelines: engine::PipelineLimits::DEFAULT,
        push_hosts: providers::webpush::PushHosts::default(),
        page_checks: engine::PageCheckTimes::default(),
    };
    Engine::start(home.open().await, clock.clone(), settings).await.unwrap()
}
