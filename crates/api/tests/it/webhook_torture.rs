//! A webhook at its worst, and a service that is killed in the middle: nothing is lost, and every channel's events keep their
//! order.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use model::time::Clock;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::event_receiver::{EventReceiver, Reaction};
use tokio::task::JoinHandle;

use crate::webhooks::{create_with, show, told};

const CHANNELS: usize = 24;
const ROUNDS: usize = 8;
const OUTAGE: Duration = Duration::from_secs(600);

/// The same in every run, and different from request to request.
struct Dice(u64);

impl Dice {
    fn percent(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % 100
    }
}

/// 10 % errors, 5 % without an answer, 2 % closed connections, and none taken until the outage ends.
fn torment(receiver: &EventReceiver, clock: Clock, outage_ends: Arc<AtomicI64>) {
    let mut dice = Dice(7);
    receiver.react(move |_| match dice.percent() {
        _ if clock.now().0 < outage_ends.load(Ordering::SeqCst) => Reaction::Close,
        0..10 => Reaction::Status(500),
        10..15 => Reaction::Silence,
        15..17 => Reaction::Close,
        _ => Reaction::Status(200),
    });
}

/// Runs jobs as they become due; when none is, time goes by.
fn work(app: &TestApp) -> JoinHandle<()> {
    let (worker, clock) = (app.engine().worker(), app.clock().clone());
    tokio::spawn(async move {
        loop {
            // A database that is closed under it ends the work.
            match worker.step().await {
                Ok(true) => {}
                Ok(false) => clock.step(Duration::from_secs(5)),
                Err(_) => return,
            }
        }
    })
}

/// Drops everything that is under way where it stands, and starts again.
async fn kill(app: TestApp, working: JoinHandle<()>) -> TestApp {
    working.abort();
    assert!(working.await.unwrap_err().is_cancelled());
    app.restart().await
}

async fn cause_events(app: &TestApp) {
    let mut channels = Vec::new();
    for n in 0..CHANNELS {
        let channel = json!({"device_type": "ios", "opt_in": true, "push_address": format!("device {n}")});
        let reply = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        channels.push(reply["channel_id"].clone());
    }
    for round in 0..ROUNDS {
        let body = json!({"audience": {"channel": channels}, "add": {"device": [round.to_string()]}});
        app.master().post("/api/channels/tags", body).await.expect(200);
    }
}

/// What each channel was told, every event where it came first.
fn by_channel(events: impl IntoIterator<Item = Value>) -> HashMap<String, Vec<String>> {
    let (mut offsets, mut channels) = (HashMap::new(), HashMap::<String, Vec<String>>::new());
    for event in events {
        let (id, offset) = (event["id"].to_string(), event["offset"].to_string());
        match offsets.insert(id, offset.clone()) {
            Some(before) => assert_eq!(before, offset, "a repeat is another event"),
            None => {
                let (channel, tag) = told(&event);
                channels.entry(channel).or_default().push(tag);
            }
        }
    }
    channels
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_and_channels_keep_their_order() {
    on_each_database(async |app| {
        let receiver = EventReceiver::start().await;
        let outage_ends = Arc::new(AtomicI64::new(0));
        torment(&receiver, app.clock().clone(), outage_ends.clone());
        let webhook = create_with(&app, &receiver, &["TAG_CHANGE"], 1).await;
        cause_events(&app).await;

        let working = work(&app);
        receiver.wait_for(60).await;
        let app = kill(app, working).await;
        let working = work(&app);
        receiver.wait_for(120).await;
        let n_before = receiver.received().len();
        outage_ends.store(app.clock().now().plus(OUTAGE).0, Ordering::SeqCst);
        receiver.wait_for(n_before + 36).await;
        let app = kill(app, working).await;
        let working = work(&app);
        let everything = async {
            let mut n_seen = n_before;
            while receiver.taken().iter().map(|event| event["id"].to_string()).collect::<HashSet<_>>().len()
                < CHANNELS * ROUNDS
            {
                n_seen += 1;
                receiver.wait_for(n_seen).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(300), everything).await.expect("everything arrives");
        let app = kill(app, working).await;

        let in_order: Vec<String> = (0..ROUNDS).map(|round| round.to_string()).collect();
        let received = receiver.received();
        for channels in [by_channel(receiver.taken()), by_channel(received.iter().map(|one| one.event.clone()))] {
            assert_eq!(channels.len(), CHANNELS);
            assert!(channels.values().all(|tags| *tags == in_order), "{channels:?}");
        }
        let is_away = |reaction| matches!(reaction, Reaction::Close);
        let n_during_outage = received[n_before..].iter().filter(|one| is_away(one.reaction)).count();
        assert!(n_during_outage < 100, "{n_during_outage} requests while nobody was there");
        // What was not remembered comes once more, and all of that is taken.
        receiver.react(|_| Reaction::Status(200));
        app.operator().patch(&webhook, json!({"timeout_seconds": 60})).await.expect(200);
        app.advance(OUTAGE);
        app.step_all().await;
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["dead_letters"], &shown["records_behind"]), (&json!(0), &json!(0)), "{shown}");
    })
    .await;
}
