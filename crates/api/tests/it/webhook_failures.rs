//! Webhooks that do not take what they are sent: order, retries, giving up, and beginning again.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::event_receiver::{EventReceiver, Reaction};

use crate::crowd::Crowd;
use crate::logs::Log;
use crate::webhooks::{DEVICES, create, show, tag, told};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Tags that the channel's events told of, in the order in which they were taken.
fn tags_of(receiver: &EventReceiver, channel: &str) -> Vec<String> {
    receiver.taken().iter().map(told).filter(|(of, _)| of == channel).map(|(_, tag)| tag).collect()
}

#[tokio::test]
async fn a_channel_waits_for_its_own_events_only() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
        let log = Log::begin();
        let bad = crowd.id("a").to_owned();
        let refused = bad.clone();
        receiver
            .react(move |event| if told(event).0 == refused { Reaction::Status(500) } else { Reaction::Status(200) });
        for name in ["one", "two", "three"] {
            for (device, _) in DEVICES {
                tag(&app, crowd.id(device), name).await;
            }
        }
        app.step_all().await;
        assert_eq!(tags_of(&receiver, &bad), [""; 0]);
        assert_eq!(tags_of(&receiver, crowd.id("b")), ["one", "two", "three"]);
        let n_attempts = receiver.received().iter().filter(|received| told(&received.event).0 == bad).count();
        assert_eq!(n_attempts, 1, "the second event waits for the first");
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["state"], &shown["delivered"]), (&json!("failing"), &json!(6)));
        assert!(shown["reason"].as_str().unwrap().contains("500"), "{shown}");
        let told = log.events("webhook.failing");
        assert!(!told.is_empty() && log.events("webhook.recovered").is_empty(), "{told:?}");
        let fields = &told[0]["fields"];
        assert_eq!((&told[0]["level"], &fields["app"]), (&json!("WARN"), &json!(app.app.key)));
        assert!(webhook.ends_with(fields["webhook"].as_str().unwrap()), "{fields}");
        assert!(fields["why"].as_str().unwrap().contains("500"), "{fields}");

        // What waits survives a restart, others go on meanwhile, and nothing is sent twice.
        let app = app.restart().await;
        tag(&app, crowd.id("b"), "four").await;
        app.step_all().await;
        assert_eq!(tags_of(&receiver, crowd.id("b")), ["one", "two", "three", "four"]);
        assert_eq!(receiver.received().len(), 8);
        let metrics = app.operator().get("/metrics").await.text().to_owned();
        assert!(metrics.contains("aerogram_webhook_failing{") && metrics.contains("aerogram_webhook_seconds_behind{"));
        assert!(show(&app, &webhook).await["records_behind"].as_i64().unwrap() > 0);

        receiver.react(|_| Reaction::Status(200));
        app.advance(Duration::from_secs(2));
        app.step_all().await;
        assert_eq!(tags_of(&receiver, &bad), ["one", "two", "three"]);
        assert_eq!(receiver.received().len(), 11);
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["state"], &shown["records_behind"]), (&json!("live"), &json!(0)));
        let back = log.events("webhook.recovered");
        assert!(!back.is_empty(), "nobody is told");
        assert_eq!((&back[0]["level"], &back[0]["fields"]["app"]), (&json!("INFO"), &json!(app.app.key)));
        assert!(webhook.ends_with(back[0]["fields"]["webhook"].as_str().unwrap()), "{back:?}");
        let history = app.operator().get(&format!("{webhook}/history?limit=3")).await.expect(200);
        assert_eq!(history["attempts"][2]["attempt"], 2);
    })
    .await;
}

#[tokio::test]
async fn a_webhook_that_is_away_costs_one_request_at_a_time() {
    on_each_database(async |app| {
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["FIRST_OPEN"]).await;
        receiver.react(|_| Reaction::Close);
        for n in 0..60 {
            let channel = json!({"device_type": "ios", "opt_in": true, "push_address": format!("d{n}")});
            app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        }
        app.step_all().await;
        let n_first = receiver.received().len();
        assert!(n_first <= 40, "{n_first}: hardly more than may be under way at once");
        for _ in 0..20 {
            app.advance(5 * MINUTE);
            app.step_all().await;
        }
        let n_probes = receiver.received().len() - n_first;
        assert!((15..=20).contains(&n_probes), "{n_probes} in {} minutes", 20 * 5);
        assert_eq!(show(&app, &webhook).await["state"], "failing");

        receiver.react(|_| Reaction::Status(200));
        app.advance(5 * MINUTE);
        app.step_all().await;
        let ids: HashSet<String> = receiver.taken().iter().map(|event| event["id"].to_string()).collect();
        assert_eq!((ids.len(), receiver.taken().len()), (60, 60));
        assert_eq!(show(&app, &webhook).await["dead_letters"], 0);
    })
    .await;
}

/// More channels than failures make a webhook rest.
const MANY: [(&str, &str); 8] = [
    ("bad 1", "ios"),
    ("bad 2", "ios"),
    ("bad 3", "ios"),
    ("bad 4", "ios"),
    ("bad 5", "ios"),
    ("bad 6", "ios"),
    ("good 1", "ios"),
    ("good 2", "android"),
];

#[tokio::test]
async fn events_that_fail_stop_nobody_else_however_many_there_are() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &MANY).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
        receiver.react(|event| match told(event).1.as_str() {
            "refused" => Reaction::Status(422),
            "broken" => Reaction::Status(500),
            _ => Reaction::Status(200),
        });
        let (bad, good) = MANY.split_at(6);
        for (device, _) in bad {
            tag(&app, crowd.id(device), "refused").await;
        }
        app.step_all().await;
        assert_eq!(receiver.received().len(), 6);
        for (device, _) in good {
            tag(&app, crowd.id(device), "at once").await;
        }
        app.step_all().await;
        assert_eq!((receiver.taken().len(), receiver.received().len()), (2, 8));

        // The same where it does not say that it is about the events: the next try is with one that may be fine.
        app.operator().post(&format!("{webhook}/replay"), json!({"time": "2030-01-01T00:00"})).await.expect(200);
        for (device, _) in bad {
            tag(&app, crowd.id(device), "broken").await;
        }
        app.step_all().await;
        assert_eq!(receiver.received().len(), 14);
        for (device, _) in good {
            tag(&app, crowd.id(device), "soon").await;
        }
        app.advance(Duration::from_secs(2));
        app.step_all().await;
        let received = receiver.received();
        assert_eq!(told(&received[14].event).1, "soon");
        assert_eq!(receiver.taken().len(), 4);

        // However long they have failed, others wait a moment at most; and not at all once it is known that it is about them.
        let hour_passes = async || {
            for _ in 0..12 {
                app.advance(5 * MINUTE);
                app.step_all().await;
            }
        };
        hour_passes().await;
        tag(&app, crowd.id("good 1"), "in a moment").await;
        app.step_all().await;
        app.advance(Duration::from_secs(5));
        app.step_all().await;
        assert_eq!(receiver.taken().len(), 5);
        hour_passes().await;
        tag(&app, crowd.id("good 2"), "at once again").await;
        app.step_all().await;
        assert_eq!(receiver.taken().len(), 6);
        assert_eq!(show(&app, &webhook).await["dead_letters"], 0);
    })
    .await;
}

#[tokio::test]
async fn what_is_never_taken_becomes_a_dead_letter_and_can_be_sent_once_more() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
        receiver.react(|event| if told(event).1 == "poison" { Reaction::Status(400) } else { Reaction::Status(200) });
        tag(&app, crowd.id("a"), "poison").await;
        tag(&app, crowd.id("a"), "after").await;
        app.step_all().await;
        for hour in 0..26 {
            app.advance(HOUR);
            tag(&app, crowd.id("b"), &format!("hour {hour}")).await;
            app.step_all().await;
        }
        assert_eq!(tags_of(&receiver, crowd.id("a")), ["after"]);
        let dead = app.operator().get(&format!("{webhook}/dead")).await.expect(200)["dead_letters"].clone();
        assert_eq!(dead.as_array().unwrap().len(), 1);
        assert_eq!(told(&dead[0]["event"]).1, "poison");
        assert!(dead[0]["reason"].as_str().unwrap().contains("400"), "{dead}");
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["dead_letters"], &shown["state"]), (&json!(1), &json!("live")));

        let redeliver = format!("{webhook}/dead/redeliver");
        let came = app.operator().post(&redeliver, "").await.expect(200);
        assert_eq!((&came["delivered"], &came["failed"]), (&json!(0), &json!(1)));
        receiver.react(|_| Reaction::Status(200));
        let came = app.operator().post(&redeliver, "").await.expect(200);
        assert_eq!((&came["delivered"], &came["failed"]), (&json!(1), &json!(0)));
        assert_eq!(tags_of(&receiver, crowd.id("a")), ["after", "poison"]);
        assert_eq!(receiver.taken().last().unwrap()["id"], dead[0]["id"]);
        assert_eq!(show(&app, &webhook).await["dead_letters"], 0);
        let discarded = app.operator().delete(&format!("{webhook}/dead")).await.expect(200);
        assert_eq!(discarded["discarded"], 0);
    })
    .await;
}

#[tokio::test]
async fn a_replay_sends_the_same_events_again() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES[..1]).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
        for name in ["one", "two", "three"] {
            tag(&app, crowd.id("a"), name).await;
            app.advance(MINUTE);
        }
        app.step_all().await;
        let first = receiver.taken();
        let replay = async |app: &TestApp, body: Value| {
            app.operator().post(&format!("{webhook}/replay"), body).await.expect(200);
            app.step_all().await;
        };
        replay(&app, json!({"offset": first[0]["offset"]})).await;
        assert_eq!(receiver.taken()[3..], first[1..]);
        replay(&app, json!({"time": "2024-05-01T12:00:30"})).await;
        assert_eq!(receiver.taken()[5..], first[1..]);
        replay(&app, json!({"offset": "0"})).await;
        assert_eq!(receiver.taken()[7..], first[..]);
        replay(&app, json!({"time": "2030-01-01T00:00"})).await;
        assert_eq!(receiver.taken().len(), 10);
        tag(&app, crowd.id("a"), "four").await;
        app.step_all().await;
        assert_eq!(receiver.taken().len(), 11);
    })
    .await;
}
