//! Several processes on one PostgreSQL database, and what each tells of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use engine::{Engine, NodeFacts, Retention, Settings};
use model::app::{Mode, NewApp};
use model::channel::{ChannelRef, Registration, TagOperation, TagSets};
use model::json;
use model::payload::parse_pushes;
use model::tag::{Tag, TagGroup};
use model::time::Clock;
use store::apps::App;
use store::pushes::PushState;
use store::sandbox::Filter;
use tenancy::SealKey;
use testkit::app::START;
use testkit::client::PATIENCE;
use testkit::store::{self as stores, Home};
use tokio::task::JoinSet;

pub(crate) async fn node(home: &Home) -> Engine {
    node_with_snapshots(home, None).await
}

pub(crate) async fn node_with_snapshots(home: &Home, folder: Option<&Path>) -> Engine {
    node_with(home, &Clock::stepped(START), folder, Retention::default()).await
}

pub(crate) async fn node_with(home: &Home, clock: &Clock, folder: Option<&Path>, retention: Retention) -> Engine {
    let settings = Settings {
        seal_key: SealKey::new(&[7; 32]),
        allow_private_addresses: true,
        trust: providers::Trust::of_system(),
        public_url: "http://localhost".to_owned(),
        snapshot_folder: folder.map(Path::to_owned),
        retention,
        locations: devices::LocationSettings::default(),
        timeouts: PATIENCE,
        growth: engine::GrowthLimits::NONE,
        pipelines: engine::PipelineLimits::DEFAULT,
        push_hosts: providers::webpush::PushHosts::default(),
        page_checks: engine::PageCheckTimes::default(),
    };
    Engine::start(home.open().await, clock.clone(), settings).await.unwrap()
}

pub(crate) async fn create_app(engine: &Engine) -> Arc<App> {
    let name = "Two nodes".to_owned();
    let new = NewApp { name, mode: Mode::Development, key: None, app_secret: None, master_secret: None };
    let created = engine.tenancy().create_app(new, None).await.unwrap();
    engine.tenancy().app(created.key.as_str()).await.unwrap()
}

fn tags(tag: &str) -> TagSets {
    TagSets::from([(TagGroup::device(), BTreeSet::from([Tag::new(tag).unwrap()]))])
}

#[tokio::test]
async fn a_push_sees_what_was_registered_on_another_node() {
    if !stores::databases().contains(&stores::Database::Postgres) {
        return;
    }
    let home = Home::new(stores::Database::Postgres);
    let (first, second) = (node(&home).await, node(&home).await);
    let app = create_app(&first).await;
    for i in 0..10 {
        let body = format!(
            r#"{{"channel": {{"device_type": "ios", "opt_in": true, "push_address": "A{i}", "tags": ["t{i}"]}}}}"#
        );
        let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
        let (here, there) = if i % 2 == 0 { (&first, &second) } else { (&second, &first) };
        here.devices().register_channel(app.id, registration, None).await.unwrap();
        let push =
            format!(r#"{{"audience": {{"tag": "t{i}"}}, "device_types": "all", "notification": {{"alert": "x"}}}}"#);
        let accepted = there.sending().accept_pushes(&app, parse_pushes(push.as_bytes()).unwrap(), None).await.unwrap();
        // Whichever node takes the jobs, the audience includes the registration.
        while there.worker().step().await.unwrap() {}
        let filter = Filter { push: Some(accepted.push_ids[0]), channel: None };
        assert_eq!(here.sending().sandbox(app.id, filter.into(), None, 10).await.unwrap().len(), 1, "t{i}");
    }
}

#[tokio::test]
async fn a_push_to_a_place_sees_who_was_there_by_another_node() {
    if !stores::databases().contains(&stores::Database::Postgres) {
        return;
    }
    let home = Home::new(stores::Database::Postgres);
    let (first, second) = (node(&home).await, node(&home).await);
    let app = create_app(&first).await;
    let push = r#"{"audience": {"location": {"us_state": "OR", "date": {"recent": {"days": 1}, "last_seen": true}}},
                   "device_types": ["ios"], "notification": {"alert": "x"}}"#;
    for n in 1..=2 {
        let location = r#"{"latitude": 45.52, "longitude": -122.68}"#;
        let body = format!(
            r#"{{"channel": {{"device_type": "ios", "opt_in": true, "push_address": "A{n}", "location": {location}}}}}"#
        );
        let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
        first.devices().register_channel(app.id, registration, None).await.unwrap();
        let accepted =
            second.sending().accept_pushes(&app, parse_pushes(push.as_bytes()).unwrap(), None).await.unwrap();
        while second.worker().step().await.unwrap() {}
        let filter = Filter { push: Some(accepted.push_ids[0]), channel: None };
        assert_eq!(second.sending().sandbox(app.id, filter.into(), None, 10).await.unwrap().len(), n);
    }
}

#[tokio::test]
async fn a_node_tells_how_far_its_own_indexes_are_behind() {
    for database in stores::databases() {
        let home = Home::new(database);
        let behind = node(&home).await;
        let app = create_app(&behind).await;
        behind.index().current(app.id).await.unwrap();
        let body = r#"{"channel": {"device_type": "ios", "opt_in": true, "push_address": "A"}}"#;
        let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
        behind.devices().register_channel(app.id, registration, None).await.unwrap();
        behind.introduce(facts("behind")).await;
        // Another node, whose index is in step, has nothing to do with that one.
        let other = if database == stores::Database::Postgres { Some(node(&home).await) } else { None };
        if let Some(other) = &other {
            other.index().current(app.id).await.unwrap();
            other.introduce(facts("other")).await;
        }
        let lags = async || -> BTreeMap<String, i64> {
            let nodes = behind.nodes().await.unwrap().into_iter();
            nodes.map(|node| (node.facts.name.unwrap(), node.measured.unwrap().records_behind)).collect()
        };
        let found = lags().await;
        assert!(found["behind"] > 0, "{found:?}");
        assert_eq!(found.get("other").copied(), other.as_ref().map(|_| 0), "{found:?}");
        behind.index().current(app.id).await.unwrap();
        behind.note_node().await;
        assert_eq!(lags().await["behind"], 0);
    }
}

fn facts(name: &str) -> NodeFacts {
    NodeFacts {
        name: Some(name.to_owned()),
        address: "0.0.0.0:8080".to_owned(),
        version: "0.1.0".to_owned(),
        roles: Vec::new(),
        operator: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_made_on_two_nodes_at_once_are_all_kept() {
    if !stores::databases().contains(&stores::Database::Postgres) {
        return;
    }
    let home = Home::new(stores::Database::Postgres);
    let nodes = [node(&home).await, node(&home).await];
    let app = create_app(&nodes[0]).await;
    let body = |i: u32| format!(r#"{{"channel": {{"device_type": "ios", "opt_in": true, "push_address": "A{i}"}}}}"#);
    let mut ids = Vec::new();
    for i in 0..20 {
        let registration = json::parse(body(i).as_bytes(), Registration::parse).unwrap();
        ids.push(nodes[0].devices().register_channel(app.id, registration, None).await.unwrap().id);
    }
    // Every channel gets one tag from each node at the same time, and registers again meanwhile.
    let mut changes = JoinSet::new();
    for (i, id) in (0..).zip(&ids) {
        for (n, node) in nodes.iter().enumerate() {
            let (node, app, id) = (node.clone(), app.clone(), *id);
            let operation = TagOperation::Edit { add: tags(&format!("node-{n}")), remove: TagSets::new() };
            changes.spawn(async move {
                let channel = ChannelRef { id, claimed: None };
                node.devices().tag_channels(app.id, vec![channel], operation).await.unwrap();
            });
        }
        let (node, app, body) = (nodes[i as usize % 2].clone(), app.clone(), body(i));
        let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
        changes.spawn(async move {
            node.devices().register_channel(app.id, registration, None).await.unwrap();
        });
    }
    changes.join_all().await;
    for id in ids {
        let view = nodes[1].devices().channel(app.id, id).await.unwrap();
        let device: Vec<&str> = view.tags[&TagGroup::device()].iter().map(Tag::as_str).collect();
        assert_eq!(device, ["node-0", "node-1"], "{id}");
    }
    for n in 0..2 {
        let push = format!(
            r#"{{"audience": {{"tag": "node-{n}"}}, "device_types": "all", "notification": {{"alert": "x"}}}}"#
        );
        let pushes = parse_pushes(push.as_bytes()).unwrap();
        let accepted = nodes[n].sending().accept_pushes(&app, pushes, None).await.unwrap();
        while nodes[1 - n].worker().step().await.unwrap() {}
        let status = nodes[n].sending().push_status(app.id, accepted.push_ids[0]).await.unwrap();
        assert_eq!(status.platforms[0].1.delivered, 20, "the index agrees with the channels");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_worked_off_by_two_nodes_all_end() {
    if !stores::databases().contains(&stores::Database::Postgres) {
        return;
    }
    let home = Home::new(stores::Database::Postgres);
    let nodes = [node(&home).await, node(&home).await];
    let app = create_app(&nodes[0]).await;
    for device_type in ["ios", "android", "amazon", "wns"] {
        let body = format!(r#"{{"channel": {{"device_type": "{device_type}", "opt_in": true, "push_address": "A"}}}}"#);
        let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
        nodes[0].devices().register_channel(app.id, registration, None).await.unwrap();
    }
    let push = br#"{"audience": "all", "device_types": "all", "notification": {"alert": "x"}}"#;
    let mut ids = Vec::new();
    for i in 0..30 {
        let pushes = parse_pushes(push).unwrap();
        ids.extend(nodes[i % 2].sending().accept_pushes(&app, pushes, None).await.unwrap().push_ids);
    }
    let mut workers = JoinSet::new();
    for node in nodes.iter().chain(&nodes) {
        let worker = node.worker();
        workers.spawn(async move { while worker.step().await.unwrap() {} });
    }
    workers.join_all().await;
    for id in ids {
        let status = nodes[0].sending().push_status(app.id, id).await.unwrap();
        assert_eq!(status.state, PushState::Done);
        assert_eq!(status.platforms.iter().map(|(_, tally)| tally.delivered).sum::<u64>(), 4);
    }
}
