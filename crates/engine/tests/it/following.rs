//! What a process has in memory follows the database, also when the signals of other nodes are lost.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use engine::{Engine, MetricsForm};
use model::channel::Registration;
use model::event::RecordKind;
use model::ids::{AppId, ChannelId, DeliveryId, Id};
use model::json;
use model::payload::device_types::DeviceTypes;
use model::selector::{Audience, Purpose};
use store::apps::App;
use store::channels::{self, Channel};
use store::log::{self, NewRecord};
use store::sandbox::{self, Filter, SandboxDelivery};
use testkit::app::{START, on_each_database};
use testkit::bulk::copy_channel;
use testkit::store::{self as stores, Home};
use tokio::sync::watch;
use tokio::time;
use uuid::Uuid;

use crate::devices::register;
use crate::nodes::{create_app, node, node_with_snapshots};

/// For what must happen without anybody asking for it; when it does not, the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(120);

async fn append_to_log(engine: &Engine, app: AppId) {
    let record = NewRecord { kind: RecordKind::Send, ordinal: None, body: Vec::new() };
    engine.store().write(app, move |tx| log::append(tx, app, START, vec![record.clone()])).await.unwrap();
}

/// As another node would, with its signal lost on the way.
async fn rename_silently(engine: &Engine, app: &App) {
    let id = app.id;
    let rename = move |tx: &mut store::Tx<'_>| tx.execute("update app set name = 'New' where id = $1", &[id.into()]);
    let renamed: store::Result<u64> = engine.store().write(id, rename).await;
    assert_eq!(renamed.unwrap(), 1);
}

#[tokio::test]
async fn what_nobody_can_stop_any_more_stops_by_itself() {
    let home = Home::new(stores::Database::Sqlite);
    let engine = node(&home).await;
    let (stop, stops) = watch::channel(false);
    drop(stop);
    let ends = async {
        engine.follow(stops.clone()).await;
        engine.worker().run(stops).await;
    };
    time::timeout(PATIENCE, ends).await.expect("nobody is left to work for");
}

#[tokio::test]
async fn a_lost_change_of_an_app_is_noticed_however_busy_the_log_is() {
    let home = Home::new(stores::Database::Sqlite);
    let engine = node(&home).await;
    let app = create_app(&engine).await;
    let (_stop, stops) = watch::channel(false);
    let follower = engine.clone();
    tokio::spawn(async move { follower.follow(stops).await });
    let noticed = async {
        // The first look of the follower is over when it has heard of something.
        append_to_log(&engine, app.id).await;
        rename_silently(&engine, &app).await;
        while engine.tenancy().app(app.key.as_str()).await.unwrap().name != "New" {
            append_to_log(&engine, app.id).await;
        }
    };
    time::timeout(PATIENCE, noticed).await.expect("the cache is emptied now and then");
}

#[tokio::test]
async fn snapshots_of_deleted_apps_are_removed() {
    for kind in stores::databases() {
        let (home, folder) = (Home::new(kind), tempfile::tempdir().unwrap());
        let engine = node_with_snapshots(&home, Some(folder.path())).await;
        let (doomed, other) = (create_app(&engine).await, create_app(&engine).await);
        for app in [&doomed, &other] {
            append_to_log(&engine, app.id).await;
            engine.devices().channel(app.id, ChannelId::random()).await.unwrap_err();
        }
        engine.index().save_indexes().await;
        let files = |app: &App| {
            ["snapshot", "unfinished"].map(|kind| folder.path().join(format!("audience-{}.{kind}", app.id.0)))
        };
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&files(&other)[0]), 0o600);
        // Something that was left over keeps no other mode.
        std::fs::write(&files(&other)[1], "half of it").unwrap();
        std::fs::set_permissions(&files(&other)[1], Permissions::from_mode(0o644)).unwrap();
        append_to_log(&engine, other.id).await;
        engine.devices().channel(other.id, ChannelId::random()).await.unwrap_err();
        engine.index().save_indexes().await;
        assert_eq!(mode(&files(&other)[0]), 0o600);
        std::fs::write(&files(&doomed)[1], "half of it").unwrap();
        std::fs::write(folder.path().join("audience-x.snapshot"), "not ours").unwrap();
        engine.look_at_apps().await;
        assert!(files(&doomed).iter().all(|file| file.exists()), "the app is still there");

        engine.tenancy().delete_app(doomed.key.as_str()).await.unwrap();
        engine.look_at_apps().await;
        assert!(files(&doomed).iter().all(|file| !file.exists()));
        assert!(files(&other)[0].exists());
        assert!(folder.path().join("audience-x.snapshot").exists());
        // Nor does it come back when everything is saved at the end.
        engine.index().save_indexes().await;
        assert!(!files(&doomed)[0].exists());
    }
}

#[tokio::test]
async fn a_snapshot_counts_only_if_the_log_has_both_ends_of_it() {
    for kind in stores::databases() {
        let (home, folder) = (Home::new(kind), tempfile::tempdir().unwrap());
        let engine = node_with_snapshots(&home, Some(folder.path())).await;
        let app = create_app(&engine).await.id;
        let device = json::parse(br#"{"channel": {"device_type": "ios"}}"#, Registration::parse).unwrap();
        let channel = engine.devices().register_channel(app, device, None).await.unwrap().id;
        let matched = async |engine: &Engine| {
            let everybody = json::parse(br#""all""#, |at| Audience::parse(at, Purpose::Send)).unwrap();
            engine.targeting().explain(app, everybody, DeviceTypes::all()).await.unwrap().matched
        };
        assert_eq!(matched(&engine).await, 1);
        engine.index().save_indexes().await;
        // Behind the back of the log: an index that is built anew knows of it, one from the snapshot does not.
        let uninstall = move |tx: &mut store::Tx<'_>| -> store::Result<()> {
            let row = channels::by_id(tx, app, channel)?.unwrap();
            channels::update(tx, app, &Channel { installed: false, ..row })
        };
        engine.store().write(app, uninstall).await.unwrap();
        engine.store().clone().close().await;

        let file = folder.path().join(format!("audience-{}.snapshot", app.0));
        let whole = std::fs::read(&file).unwrap();
        // The file ends in a fingerprint of each.
        for (changed, expected) in [(None, 1), (Some(whole.len() - 33), 0), (Some(whole.len() - 1), 0)] {
            let mut bytes = whole.clone();
            if let Some(place) = changed {
                bytes[place] ^= 1;
            }
            std::fs::write(&file, bytes).unwrap();
            let engine = node_with_snapshots(&home, Some(folder.path())).await;
            assert_eq!(matched(&engine).await, expected, "{changed:?}");
            engine.store().clone().close().await;
        }
    }
}

#[tokio::test]
async fn the_sandbox_feed_looks_by_itself() {
    let home = Home::new(stores::Database::Sqlite);
    let engine = node(&home).await;
    let (app, other) = (create_app(&engine).await, create_app(&engine).await.id);
    let caller = engine.tenancy().caller_by_key(app.key.as_str()).await.unwrap().unwrap();
    let app = app.id;
    let delivery = SandboxDelivery {
        delivery: DeliveryId::from_uuid(Uuid::nil()),
        push: Id::from_uuid(Uuid::nil()),
        channel: ChannelId::from_uuid(Uuid::nil()),
        device_type: "ios".to_owned(),
        transport: "apns".to_owned(),
        at: START,
        request: "{}".to_owned(),
    };
    let mut feed = engine.sending().sandbox_feed(caller, Filter::default().into(), None).await.unwrap();
    let next = tokio::spawn(async move { feed.next().await.unwrap() });
    // Meanwhile the feed finds nothing and begins to wait.
    for _ in 0..20 {
        append_to_log(&engine, other).await;
    }
    let (write, written) = (engine.store().clone(), delivery.clone());
    write.write(app, move |tx| sandbox::add(tx, app, std::slice::from_ref(&written))).await.unwrap();
    let found = time::timeout(PATIENCE, next).await.expect("the feed looks without being told").unwrap();
    assert_eq!(found, Some(vec![(1, delivery)]));
}

#[tokio::test]
async fn every_node_forgets_the_index_of_a_deleted_app() {
    for kind in stores::databases() {
        let home = Home::new(kind);
        let first = node(&home).await;
        let second = if kind == stores::Database::Postgres { node(&home).await } else { first.clone() };
        let app = create_app(&first).await;
        let (_stop, stops) = watch::channel(false);
        let follower = second.clone();
        tokio::spawn(async move { follower.follow(stops).await });
        second.devices().tag_channels(app.id, Vec::new(), no_tags()).await.unwrap();
        let has_indexes = async |n: u32| {
            second
                .metrics_text(MetricsForm::OpenMetrics)
                .await
                .unwrap()
                .contains(&format!("aerogram_audience_indexes {n}\n"))
        };
        assert!(has_indexes(1).await);
        first.tenancy().delete_app(app.key.as_str()).await.unwrap();
        let forgotten = async { while !has_indexes(0).await {} };
        time::timeout(PATIENCE, forgotten).await.expect("the index of the deleted app is given up");
    }
}

fn no_tags() -> model::channel::TagOperation {
    model::channel::TagOperation::Edit { add: Default::default(), remove: Default::default() }
}

#[tokio::test]
async fn erasing_an_app_stops_between_slices_and_goes_on_later() {
    const N_CHANNELS: usize = 2500;
    on_each_database(async |app| {
        let original = register(&app, "ios", "A1", serde_json::json!({})).await.parse().unwrap();
        let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let store = app.engine().store().clone();
        copy_channel(&store, id, original, N_CHANNELS).await;
        app.operator().delete(&format!("/operator/apps/{}", app.app.key)).await.expect(204);

        let n_channels = async || -> i64 {
            let count = "select count(*) from channel where app = $1";
            let read = move |tx: &mut store::Tx<'_>| tx.query_one(count, &[id.into()], |row| row.get(0));
            let n_channels: store::Result<i64> = store.read(read).await;
            n_channels.unwrap()
        };
        let before = n_channels().await;
        let mut left = before;
        while left == before {
            assert!(app.engine().worker().step_and_stop().await.unwrap(), "there is more to erase");
            left = n_channels().await;
        }
        assert_ne!(left, 0, "a node that stops does not finish first");
        app.step_all().await;
        assert_eq!(n_channels().await, 0);
    })
    .await;
}
