//! A log that is shortened: what is kept, and that nobody who reads it is led astray.

use std::time::Duration;

use engine::{Engine, Retention};
use events::EventFilter;
use model::channel::Registration;
use model::event::EventOffset;
use model::ids::{AppId, Offset};
use model::json;
use model::payload::parse_pushes;
use model::time::Clock;
use store::apps::App;
use store::sandbox::Filter;
use store::{blocks, log};
use testkit::app::START;
use testkit::store::{self as stores, Home};

use crate::nodes::{create_app, node_with};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn register(engine: &Engine, app: &App, address: &str) {
    let body = format!(r#"{{"channel": {{"device_type": "ios", "opt_in": true, "push_address": "{address}"}}}}"#);
    let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
    engine.devices().register_channel(app.id, registration, None).await.unwrap();
}

async fn work(engine: &Engine) {
    while engine.worker().step().await.unwrap() {}
}

/// How many channels a push to everybody reaches that this node resolves.
async fn reach(engine: &Engine, app: &std::sync::Arc<App>) -> usize {
    let push = r#"{"audience": "all", "device_types": "all", "notification": {"alert": "x"}}"#;
    let accepted = engine.sending().accept_pushes(app, parse_pushes(push.as_bytes()).unwrap(), None).await.unwrap();
    work(engine).await;
    let filter = Filter { push: Some(accepted.push_ids[0]), channel: None };
    engine.sending().sandbox(app.id, filter.into(), None, 1000).await.unwrap().len()
}

/// The first and the last record.
async fn bounds(engine: &Engine, app: AppId) -> (Offset, Offset) {
    let read = move |tx: &mut store::Tx<'_>| Ok::<_, store::Error>((log::start(tx, app)?, log::head(tx, app)?));
    engine.store().read(read).await.unwrap()
}

#[tokio::test]
async fn records_go_by_age_and_the_last_one_stays() {
    for kind in stores::databases() {
        let (home, clock) = (Home::new(kind), Clock::stepped(START));
        let engine = node_with(&home, &clock, None, Retention::default()).await;
        let app = create_app(&engine).await;
        for i in 0..5 {
            register(&engine, &app, &format!("A{i}")).await;
            clock.step(DAY);
        }
        let (_, head) = bounds(&engine, app.id).await;
        work(&engine).await;
        assert_eq!(bounds(&engine, app.id).await, (Offset(1), head), "nothing is seven days old");
        clock.step(4 * DAY);
        work(&engine).await;
        let per_day = head.0 / 5;
        assert_eq!(
            bounds(&engine, app.id).await,
            (Offset(2 * per_day + 1), head),
            "what is older than seven days is gone"
        );
        let page =
            engine.events().read_events(app.id, EventOffset::START, 100, &EventFilter::everything()).await.unwrap();
        assert_eq!((page.events.len(), page.missed), (3, 0), "who begins at the beginning has missed nothing");
        let after = EventOffset::end_of(Offset(1));
        let page = engine.events().read_events(app.id, after, 100, &EventFilter::everything()).await.unwrap();
        assert_eq!((page.events.len(), page.missed), (3, u64::try_from(2 * per_day - 1).unwrap()));
        let page = engine.events().read_events(app.id, page.looked, 100, &EventFilter::everything()).await.unwrap();
        assert_eq!((page.events.len(), page.missed, page.is_end), (0, 0, true));

        clock.step(30 * DAY);
        work(&engine).await;
        assert_eq!(bounds(&engine, app.id).await, (head, head));
        let left = engine.store().read(move |tx| log::n_bytes(tx, app.id)).await.unwrap();
        assert!((1..1000).contains(&left), "{left} bytes for one record");
    }
}

#[tokio::test]
async fn who_got_a_push_is_forgotten_in_time_and_how_many_is_not() {
    for kind in stores::databases() {
        let (home, clock) = (Home::new(kind), Clock::stepped(START));
        let engine = node_with(&home, &clock, None, Retention::default()).await;
        let app = create_app(&engine).await;
        register(&engine, &app, "A").await;
        let push = r#"{"audience": "all", "device_types": "all", "notification": {"alert": "x"}}"#;
        let accepted =
            engine.sending().accept_pushes(&app, parse_pushes(push.as_bytes()).unwrap(), None).await.unwrap();
        work(&engine).await;
        let (id, push) = (app.id, accepted.push_ids[0]);
        let n_sets = async || engine.store().read(move |tx| blocks::recipients(tx, id, push)).await.unwrap().len();
        let counts = async || engine.sending().push_status(id, push).await.unwrap().platforms;
        let before = counts().await;
        clock.step(29 * DAY);
        work(&engine).await;
        assert_ne!(n_sets().await, 0);
        clock.step(2 * DAY);
        work(&engine).await;
        assert_eq!(n_sets().await, 0);
        assert_eq!(counts().await, before);
    }
}

#[tokio::test]
async fn a_log_that_takes_too_much_room_loses_its_oldest() {
    for kind in stores::databases() {
        let (home, clock) = (Home::new(kind), Clock::stepped(START));
        let retention = Retention { bytes: 2_000, ..Retention::default() };
        let engine = node_with(&home, &clock, None, retention).await;
        let (small, large) = (create_app(&engine).await, create_app(&engine).await);
        register(&engine, &small, "A").await;
        for i in 0..50 {
            register(&engine, &large, &format!("A{i}")).await;
        }
        let (small_before, large_before) = (bounds(&engine, small.id).await, bounds(&engine, large.id).await);
        clock.step(Duration::from_secs(60 * 60));
        work(&engine).await;
        assert_eq!(bounds(&engine, small.id).await, small_before);
        let (start, head) = bounds(&engine, large.id).await;
        assert_eq!(head, large_before.1);
        assert!(start > large_before.0);
        let id = large.id;
        assert!(engine.store().read(move |tx| log::n_bytes(tx, id)).await.unwrap() <= 2_000);
        assert_eq!(reach(&engine, &large).await, 50);
    }
}

#[tokio::test]
async fn an_index_behind_the_kept_log_is_built_anew() {
    for kind in stores::databases() {
        let (home, clock) = (Home::new(kind), Clock::stepped(START));
        let engine = node_with(&home, &clock, None, Retention::default()).await;
        // On PostgreSQL the others do everything, and this one only wakes up when the log is gone.
        let other = match kind {
            stores::Database::Sqlite => engine.clone(),
            stores::Database::Postgres => node_with(&home, &clock, None, Retention::default()).await,
        };
        let app = create_app(&engine).await;
        register(&engine, &app, "A").await;
        assert_eq!(reach(&engine, &app).await, 1);
        for address in ["B", "C", "D"] {
            register(&other, &app, address).await;
        }
        clock.step(10 * DAY);
        work(&other).await;
        let (start, head) = bounds(&engine, app.id).await;
        assert_eq!(start, head, "nothing is left that could be replayed");
        assert_eq!(reach(&engine, &app).await, 4);
        register(&other, &app, "E").await;
        assert_eq!(reach(&engine, &app).await, 5, "and it goes on from there");
    }
}

#[tokio::test]
async fn a_snapshot_behind_the_kept_log_is_of_no_use_and_one_at_its_end_is() {
    for kind in stores::databases() {
        let (home, clock) = (Home::new(kind), Clock::stepped(START));
        let folder = tempfile::tempdir().unwrap();
        let engine = node_with(&home, &clock, Some(folder.path()), Retention::default()).await;
        let app = create_app(&engine).await;
        register(&engine, &app, "A").await;
        assert_eq!(reach(&engine, &app).await, 1);
        engine.index().save_indexes().await;
        register(&engine, &app, "B").await;
        register(&engine, &app, "C").await;
        clock.step(10 * DAY);
        work(&engine).await;
        engine.store().clone().close().await;

        let engine = node_with(&home, &clock, Some(folder.path()), Retention::default()).await;
        assert_eq!(reach(&engine, &app).await, 3, "not from the old snapshot");
        clock.step(10 * DAY);
        work(&engine).await;
        assert_eq!(reach(&engine, &app).await, 3);
        engine.store().clone().close().await;
    }
}

#[tokio::test]
async fn a_push_is_kept_as_long_as_its_message() {
    for kind in stores::databases() {
        let (home, clock) = (Home::new(kind), Clock::stepped(START));
        let retention = Retention { pushes: 31 * DAY, ..Retention::default() };
        let engine = node_with(&home, &clock, None, retention).await;
        let app = create_app(&engine).await;
        register(&engine, &app, "A").await;
        let push = |expiry: u32| {
            format!(
                r#"{{"audience": "all", "device_types": ["ios"],
                     "message": {{"title": "t", "body": "b", "expiry": {expiry}}}}}"#
            )
        };
        let mut pushes = Vec::new();
        for body in [push(0), push(60 * 24 * 60 * 60), push(60)] {
            let accepted =
                engine.sending().accept_pushes(&app, parse_pushes(body.as_bytes()).unwrap(), None).await.unwrap();
            pushes.push(accepted.push_ids[0]);
            work(&engine).await;
        }
        // The messages end after a year, after 60 days and after a minute, and are known for another day.
        let mut day = 0;
        for (until, left) in [(30, 3), (32, 2), (59, 2), (63, 1), (364, 1), (368, 0)] {
            clock.step((until - day) * DAY);
            day = until;
            work(&engine).await;
            let mut known = 0;
            for push in &pushes {
                known += usize::from(engine.sending().push_status(app.id, *push).await.is_ok());
            }
            assert_eq!(known, left, "after {until} days");
        }
    }
}

#[tokio::test]
async fn a_sweep_does_not_hold_up_the_end_of_the_process() {
    for kind in stores::databases() {
        let (home, clock) = (Home::new(kind), Clock::stepped(START));
        let engine = node_with(&home, &clock, None, Retention::default()).await;
        let app = create_app(&engine).await;
        for i in 0..5 {
            register(&engine, &app, &format!("A{i}")).await;
        }
        work(&engine).await;
        let before = bounds(&engine, app.id).await;
        clock.step(10 * DAY);
        assert!(engine.worker().step_and_stop().await.unwrap(), "the sweep is due");
        assert_eq!(bounds(&engine, app.id).await, before, "it is left for the next process");
        work(&engine).await;
        assert!(bounds(&engine, app.id).await.0 > before.0);
    }
}
