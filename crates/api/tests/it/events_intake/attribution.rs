//! Which pushes openings and custom events are due to.

use std::time::Duration;

use model::app::Mode;
use model::event::RecordKind;
use serde_json::{Value, json};
use store::counters::{Metric, Pushes};
use store::event_counters;
use store::log::{self, NewRecord};
use testkit::app::{START, TestApp, on_each_database};

use super::{count, count_of_push, event_at, id_of, metadata, push_to, register, told, upload};
use crate::logs::Log;

const HOUR: i64 = 3_600_000;

/// The pushes that the last event names: the one that was tapped, and the one that was delivered last.
async fn due(app: &TestApp) -> (Value, Value) {
    let last = told(app).await.pop().unwrap();
    let push = |key: &str| last["body"][key]["push_id"].clone();
    (push("triggering_push"), push("last_delivered"))
}

#[tokio::test]
async fn openings_are_due_to_the_push_that_was_tapped_or_delivered() {
    on_each_database(async |app| {
        let mut app = app;
        let (tapper, other) = (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await);
        let (third, late) = (register(&app, "ios", "A3").await, register(&app, "ios", "A4").await);
        let push = push_to(&app, &[&tapper, &third, &late], json!({"alert": "Hi"})).await;
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        let foreign = json!({"audience": "all", "device_types": "all", "notification": {"alert": "x"}});
        let foreign = stranger.post("/api/push", foreign).await.expect(200)["push_ids"][0].as_str().unwrap().to_owned();
        let nowhere = "00000000-0000-4000-8000-000000000000";
        let (yes, no) = (json!(push), Value::Null);
        for (n, (channel, after, data, direct, last)) in [
            (&tapper, 1, json!({"push_id": push, "metadata": metadata(&push)}), &yes, &yes),
            (&tapper, 1, json!({"push_id": push}), &no, &yes),
            (&third, 1, json!({"metadata": metadata(&push)}), &yes, &yes),
            (&other, 1, json!({"metadata": metadata(&push)}), &no, &no),
            (&tapper, 1, json!({}), &no, &yes),
            (&other, 1, json!({}), &no, &no),
            (&other, 1, json!({"last_metadata": metadata(&push)}), &no, &no),
            (&tapper, 1, json!({"metadata": metadata(&foreign), "push_id": foreign}), &no, &yes),
            (&other, 1, json!({"last_metadata": metadata(&foreign)}), &no, &no),
            (&tapper, 1, json!({"metadata": metadata(nowhere)}), &no, &yes),
            (&tapper, 1, json!({"metadata": "nonsense", "push_id": "MISSING_SEND_ID"}), &no, &yes),
            (&tapper, 12 * HOUR, json!({}), &no, &yes),
            (&tapper, 12 * HOUR + 1, json!({}), &no, &no),
            (&late, 12 * HOUR + 1, json!({"metadata": metadata(&push)}), &yes, &no),
            (&other, 12 * HOUR + 1, json!({"last_metadata": metadata(&push)}), &no, &no),
        ]
        .into_iter()
        .enumerate()
        {
            let at = START.0 + after;
            let now = app.clock().now().0;
            app.advance(Duration::from_millis(u64::try_from(at - now).unwrap_or(0)));
            let mut event = event_at("app_foreground", at, data.clone());
            event["event_id"] = json!(uuid::Uuid::from_u128(n as u128).to_string());
            upload(&app, channel, json!([event])).await;
            assert_eq!(due(&app).await, (direct.clone(), last.clone()), "{after} {data}");
            if n == 4 {
                // The deliveries are read from the log again.
                app = app.restart().await;
            }
        }
        assert_eq!(count(&app, Metric::Opens, "ios").await, 15);
        assert_eq!(count(&app, Metric::DirectResponses, "ios").await, 3);
        assert_eq!(count(&app, Metric::InfluencedResponses, "ios").await, 5);
        assert_eq!(count_of_push(&app, &push, Metric::DirectResponses).await, 3);
        assert_eq!(count_of_push(&app, &push, Metric::InfluencedResponses).await, 5);
        assert_eq!(count_of_push(&app, &push, Metric::UnprovenResponses).await, 1);
        assert_eq!(count_of_push(&app, &foreign, Metric::DirectResponses).await, 0);
        // Of those who opened the app from a notification, with whom only the last day counts.
        let list = app.master().get("/api/lists/ua_direct_open_last_1_day").await.expect(200);
        assert_eq!(list["channel_count"], json!(3), "{list}");
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_cannot_be_read_keeps_no_other_from_influencing() {
    on_each_database(async |app| {
        let kept = Log::begin();
        let (first, second) = (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await);
        let before = push_to(&app, &[&first], json!({"alert": "Hi"})).await;
        let (id, now) = (id_of(&app).await, app.clock().now());
        let spoil = move |tx: &mut store::Tx<'_>| {
            let record = NewRecord { kind: RecordKind::Send, ordinal: None, body: vec![0xff] };
            log::append(tx, id, now, vec![record])
        };
        app.engine().store().write(id, spoil).await.unwrap();
        let after = push_to(&app, &[&second], json!({"alert": "Hi"})).await;
        app.advance(Duration::from_secs(60));
        for (channel, push) in [(&first, &before), (&second, &after)] {
            upload(
                &app,
                channel,
                json!([event_at("app_foreground", START.0 + 60_000, json!({"session_id": channel}))]),
            )
            .await;
            assert_eq!(count_of_push(&app, push, Metric::InfluencedResponses).await, 1);
        }
        let lines = kept.events("record.unreadable");
        let told: Vec<_> = lines.iter().map(|line| [&line["fields"]["reader"], &line["fields"]["kind"]]).collect();
        assert_eq!(json!(told), json!([["recent_deliveries", "Send"]]), "once, whoever asks");
    })
    .await;
}

#[tokio::test]
async fn the_newest_push_influences_and_says_what_it_belongs_to() {
    on_each_database(async |app| {
        let channel = register(&app, "android", "A1").await;
        push_to(&app, &[&channel], json!({"alert": "old"})).await;
        app.advance(Duration::from_secs(3600));
        let push = json!({"audience": {"channel": channel}, "device_types": "all", "notification": {"alert": "new"},
                          "campaigns": {"categories": ["spring"]}});
        let cadence = json!({"schedule": {"scheduled_time": "2024-05-01T13:30:00"}, "push": push});
        let schedule = app.master().post("/api/schedules", cadence).await.expect(201);
        app.advance(Duration::from_secs(1800));
        app.step_all().await;
        let at = START.0 + 2 * HOUR;
        app.advance(Duration::from_secs(1800));
        upload(&app, &channel, json!([event_at("app_foreground", at, json!({"session_id": "s"}))])).await;
        let body = told(&app).await.pop().unwrap()["body"].clone();
        let last = &body["last_delivered"];
        assert_eq!(last["group_id"], schedule["schedule_ids"][0], "{body}");
        assert_eq!(
            (&last["campaigns"], &last["time"]),
            (&json!({"categories": ["spring"]}), &json!("2024-05-01T13:30:00.000Z"))
        );
    })
    .await;
}

#[tokio::test]
async fn custom_events_are_counted_by_how_they_came_about() {
    on_each_database(async |app| {
        let (reached, other) = (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await);
        let push = push_to(&app, &[&reached], json!({"alert": "Hi"})).await;
        let bought = |n: i64, data: Value| {
            let mut data = data;
            data["event_name"] = json!("bought");
            data["event_value"] = json!(n);
            event_at("enhanced_custom_event", START.0 + n, data)
        };
        upload(
            &app,
            &reached,
            json!([
                bought(100, json!({"conversion_send_id": push, "conversion_metadata": metadata(&push)})),
                bought(200, json!({"conversion_metadata": metadata(&push)})),
                bought(300, json!({})),
            ]),
        )
        .await;
        upload(&app, &other, json!([bought(400, json!({}))])).await;
        let (id, hour, of_push) = (id_of(&app).await, START.0 / HOUR, Pushes::One(push.parse().unwrap()));
        let read = move |tx: &mut store::Tx<'_>| {
            let counted = event_counters::totals(tx, id, &(hour..hour + 1))?;
            Ok::<_, store::Error>((counted, event_counters::totals_of_pushes(tx, id, of_push)?))
        };
        let (counted, of_push) = app.engine().store().read(read).await.unwrap();
        let figures: Vec<_> =
            counted.iter().map(|total| (total.conversion.name(), total.sum.n, total.sum.millionths)).collect();
        assert_eq!(figures, [("direct", 2, 300.0), ("indirect", 1, 300.0), ("unattributed", 1, 400.0)]);
        assert_eq!(of_push, counted[..2]);
        let customs = told(&app).await;
        assert!(customs.iter().all(|event| event["type"] == RecordKind::Custom.public_name().unwrap()));
        assert_eq!(customs[0]["body"]["triggering_push"]["push_id"], json!(push));
        assert_eq!(customs[2]["body"]["last_delivered"]["push_id"], json!(push));
    })
    .await;
}
