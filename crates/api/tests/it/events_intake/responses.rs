//! How often a channel can respond to a push: once, and only to a push that was sent to it.

use std::time::Duration;

use serde_json::{Value, json};
use store::counters::Metric;
use store::documents::{self, DocumentKind};
use testkit::app::{START, TestApp, on_each_database};
use testkit::rows::row_counts;
use uuid::Uuid;

use super::{count, count_of_push, event_at, id_of, metadata, push_to, register, told, upload};

/// Openings of the app from a notification, each with an id of its own.
fn openings(push: &str, first: u128, n: u128) -> Value {
    let opening = |id: u128| {
        let mut event = event_at("app_foreground", START.0 + 1, json!({"push_id": push, "metadata": metadata(push)}));
        event["event_id"] = json!(Uuid::from_u128(first + id).to_string());
        event
    };
    Value::Array((0..n).map(opening).collect())
}

#[tokio::test]
async fn one_channel_cannot_make_up_responses() {
    on_each_database(async |app| {
        let mut channels = Vec::new();
        for n in 0..20 {
            channels.push(register(&app, "ios", &format!("A{n}")).await);
        }
        let stranger = register(&app, "ios", "B1").await;
        let sent_to: Vec<&str> = channels.iter().map(String::as_str).collect();
        let push = push_to(&app, &sent_to, json!({"alert": "Hi"})).await;
        app.advance(Duration::from_secs(1));
        // The attacker has the app key, one device that got the push, and one that did not.
        for round in 0..2 {
            upload(&app, &channels[0], openings(&push, round * 1000, 250)).await;
        }
        upload(&app, &stranger, openings(&push, 9000, 100)).await;
        let button = |id: u128| {
            let data = json!({"button_id": "yes", "send_id": push, "foreground": "false"});
            let mut event = event_at("interactive_notification_action", START.0 + 1, data);
            event["event_id"] = json!(Uuid::from_u128(id).to_string());
            event
        };
        upload(&app, &channels[0], json!([button(20_000), button(20_001)])).await;
        upload(&app, &stranger, json!([button(20_002)])).await;
        // An honest device that got it, twice, for want of an answer.
        for _ in 0..2 {
            upload(&app, &channels[1], openings(&push, 30_000, 1)).await;
        }
        let app = app.restart().await;
        // And after a restart, when nothing is in memory.
        upload(&app, &channels[0], openings(&push, 40_000, 10)).await;
        upload(&app, &channels[2], openings(&push, 50_000, 1)).await;
        // When the delivery is no longer remembered, the recipients of the push still are.
        app.advance(Duration::from_secs(14 * 60 * 60));
        upload(&app, &channels[3], openings(&push, 60_000, 2)).await;
        upload(&app, &stranger, openings(&push, 70_000, 1)).await;

        assert_eq!(count_of_push(&app, &push, Metric::DirectResponses).await, 4);
        assert_eq!(count(&app, Metric::DirectResponses, "ios").await, 4);
        // Those of the stranger. What a recipient repeats is not counted.
        let unproven = 100 + 1 + 1;
        assert_eq!(count_of_push(&app, &push, Metric::UnprovenResponses).await, unproven);
        assert_eq!(count_of_push(&app, &push, Metric::InfluencedResponses).await, 0);
        assert_eq!(
            count(&app, Metric::Opens, "ios").await,
            500 + 100 + 1 + 10 + 1 + 3,
            "openings they are all the same"
        );
        let report = app.master().get(&format!("/api/reports/responses/{push}")).await.expect(200);
        assert_eq!((&report["sends"], &report["direct_responses"]), (&json!(20), &json!(4)));
        assert_eq!(report["unproven_responses"], json!(unproven));
        let detail = app.master().get(&format!("/api/reports/perpush/detail/{push}")).await.expect(200);
        assert_eq!((&detail["direct_responses"], &detail["unproven_responses"]), (&json!(4), &json!(unproven)));
        let day = "/api/reports/responses?start=2024-05-01&end=2024-05-02&precision=DAILY";
        let day = app.master().get(day).await.expect(200)["responses"][0]["ios"].clone();
        assert_eq!(day, json!({"direct": 4, "influenced": 0, "unproven": unproven}));
        // Nor do readers of events see more.
        let direct = told(&app).await.into_iter().filter(|event| !event["body"]["triggering_push"].is_null());
        let mut direct: Vec<Value> = direct.map(|event| event["device"]["channel"].clone()).collect();
        direct.sort_by_key(Value::to_string);
        let mut honest = channels[..4].to_vec();
        honest.sort();
        assert_eq!(direct, honest);
    })
    .await;
}

#[tokio::test]
async fn in_app_figures_of_a_push_come_from_its_recipients_and_from_after_it_was_sent() {
    on_each_database(async |app| {
        let (sent_to, stranger) = (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await);
        let push = push_to(&app, &[&sent_to], json!({"alert": "Hi"})).await;
        let n_rows = async |app: &TestApp| row_counts(app.engine().store()).await["push_counter"];
        let before = n_rows(&app).await;
        let said = |kind: &str, hour: i64, mut data: Value| {
            (data["id"], data["session_id"]) = (json!(push), json!("s"));
            event_at(kind, START.0 - hour * 3_600_000, data)
        };
        let resolution = json!({"resolution": {"type": "button_click", "display_time": "1.00", "button_id": "go"}});
        let hourly = (0..40).map(|hour| said("in_app_display", hour, json!({})));
        let events: Vec<Value> = hourly.chain([said("in_app_resolution", 0, resolution)]).collect();
        for channel in [&sent_to, &stranger] {
            upload(&app, channel, Value::Array(events.clone())).await;
        }
        for (metric, of_push) in
            [(Metric::InAppDisplays, 40), (Metric::InAppOptedInDisplays, 40), (Metric::InAppClicks, 1)]
        {
            assert_eq!(count_of_push(&app, &push, metric).await, of_push, "{metric:?}");
            assert_eq!(count(&app, metric, "ios").await, 2 * of_push, "{metric:?}");
        }
        // Whatever hour the device tells, it is no other row.
        assert_eq!(n_rows(&app).await - before, 3);
    })
    .await;
}

/// Most in-app messages came with no push. An app that shows many loses no response by that, and neither can an upload that names
/// hundreds have each looked for.
#[tokio::test]
async fn in_app_messages_use_up_nothing_that_is_looked_up_for_responses() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let push = push_to(&app, &[&channel], json!({"alert": "Hi"})).await;
        // When the delivery is not remembered any more.
        app.advance(Duration::from_secs(14 * 60 * 60));
        let (id, now) = (id_of(&app).await, app.clock().now());
        let kept: Vec<String> = (0..25u128).map(|n| Uuid::from_u128(n).to_string()).collect();
        let ids = kept.clone();
        let write = move |tx: &mut store::Tx<'_>| {
            for message in &ids {
                documents::put(tx, id, DocumentKind::InAppMessage, message, "{}", now)?;
            }
            Ok::<_, store::Error>(())
        };
        app.engine().store().write(id, write).await.unwrap();
        let displays = kept.iter().zip(0u128..).map(|(message, n)| {
            let mut event = event_at("in_app_display", now.0, json!({"id": message, "session_id": "s"}));
            event["event_id"] = json!(Uuid::from_u128(5000 + n).to_string());
            event
        });
        let events = displays.chain([openings(&push, 1, 1)[0].take()]).collect();
        upload(&app, &channel, Value::Array(events)).await;
        assert_eq!(count_of_push(&app, &push, Metric::DirectResponses).await, 1);
        let mut counted = 0;
        for message in &kept {
            counted += count_of_push(&app, message, Metric::InAppDisplays).await;
        }
        assert_eq!(counted, 20);
        assert_eq!(count(&app, Metric::InAppDisplays, "ios").await, 25);
    })
    .await;
}

#[tokio::test]
async fn custom_events_are_due_to_a_push_that_was_sent_to_the_channel() {
    on_each_database(async |app| {
        let (sent_to, stranger) = (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await);
        let push = push_to(&app, &[&sent_to], json!({"alert": "Hi"})).await;
        for (channel, name) in [(&sent_to, "honest"), (&sent_to, "honest again"), (&stranger, "made up")] {
            let data = json!({"event_name": name, "conversion_metadata": metadata(&push), "conversion_send_id": push});
            upload(&app, channel, json!([event_at("custom_event", START.0 + 1, data)])).await;
        }
        let told = told(&app).await;
        let due: Vec<(&str, bool)> = told
            .iter()
            .map(|event| (event["body"]["name"].as_str().unwrap(), !event["body"]["triggering_push"].is_null()))
            .collect();
        assert_eq!(due, [("honest", true), ("honest again", true), ("made up", false)]);
        let summary = app.master().get(&format!("/api/reports/events/summary/perpush/{push}")).await.expect(200);
        assert!(!summary.to_string().contains("made up"), "{summary}");
    })
    .await;
}

#[tokio::test]
async fn responses_are_forgotten_with_the_recipients() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let push = push_to(&app, &[&channel], json!({"alert": "Hi"})).await;
        upload(&app, &channel, openings(&push, 0, 1)).await;
        assert_eq!(row_counts(app.engine().store()).await["push_response"], 1);
        app.advance(Duration::from_secs(31 * 24 * 60 * 60));
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["push_response"], 0);
        // Nobody is known to have got it any more, or not to have.
        let now = app.clock().now().0;
        let late = event_at("app_foreground", now, json!({"push_id": push}));
        upload(&app, &channel, json!([late])).await;
        assert_eq!(count_of_push(&app, &push, Metric::DirectResponses).await, 1);
        assert_eq!(count_of_push(&app, &push, Metric::UnprovenResponses).await, 0);
        assert_eq!(count_of_push(&app, &push, Metric::LateResponses).await, 1);
        let report = app.master().get(&format!("/api/reports/responses/{push}")).await.expect(200);
        assert_eq!((&report["late_responses"], &report["unproven_responses"]), (&json!(1), &Value::Null));
        let detail = app.master().get(&format!("/api/reports/perpush/detail/{push}")).await.expect(200);
        assert_eq!(detail["late_responses"], json!(1));
        let june = "/api/reports/responses?start=2024-06-01&end=2024-06-02&precision=DAILY";
        let day = app.master().get(june).await.expect(200)["responses"][0]["ios"].clone();
        assert_eq!(day, json!({"direct": 0, "influenced": 0, "late": 1}));
    })
    .await;
}

#[tokio::test]
async fn another_tap_is_an_opening_all_the_same() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let old = push_to(&app, &[&channel], json!({"alert": "Old"})).await;
        upload(&app, &channel, openings(&old, 0, 1)).await;
        let tap_again = async |name: &str| {
            let at = app.clock().now().0;
            let opened = event_at("app_foreground", at, json!({"push_id": old, "session_id": name}));
            let closed = event_at("app_background", at + 1000, json!({"session_id": name}));
            app.advance(Duration::from_secs(1));
            upload(&app, &channel, json!([opened, closed])).await;
        };
        let direct_openers = async || {
            let list = app.master().get("/api/lists/ua_direct_open_last_1_day").await.expect(200);
            list["channel_count"].clone()
        };
        // The same push did not influence what is due to it, on a day on which it is still remembered and later.
        tap_again("same day").await;
        assert_eq!(count_of_push(&app, &old, Metric::InfluencedResponses).await, 0);
        app.advance(Duration::from_secs(5 * 24 * 60 * 60));
        assert_eq!(direct_openers().await, json!(0));
        // Another push did.
        let new = push_to(&app, &[&channel], json!({"alert": "New"})).await;
        tap_again("days later").await;
        assert_eq!(direct_openers().await, json!(1));
        assert_eq!(count_of_push(&app, &new, Metric::InfluencedResponses).await, 1);
        // Nor does it matter that nobody can tell any more.
        app.advance(Duration::from_secs(31 * 24 * 60 * 60));
        let newest = push_to(&app, &[&channel], json!({"alert": "Newest"})).await;
        tap_again("too late").await;
        assert_eq!(count_of_push(&app, &newest, Metric::InfluencedResponses).await, 1);
        for (metric, wanted) in [
            (Metric::DirectResponses, 1),
            (Metric::InfluencedResponses, 0),
            (Metric::UnprovenResponses, 0),
            (Metric::LateResponses, 1),
        ] {
            assert_eq!(count_of_push(&app, &old, metric).await, wanted, "{metric:?}");
        }
        assert_eq!((count(&app, Metric::Opens, "ios").await, count(&app, Metric::Sessions, "ios").await), (4, 3));
    })
    .await;
}

#[tokio::test]
async fn an_upload_looks_up_no_more_than_20_pushes() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let mut pushes = Vec::new();
        for n in 0..25 {
            pushes.push(push_to(&app, &[&channel], json!({"alert": format!("Push {n}")})).await);
        }
        let taps = |first: u128| {
            let taps = pushes.iter().zip(first..).map(|(push, id)| openings(push, id, 1)[0].take());
            Value::Array(taps.collect())
        };
        // When the deliveries are not remembered any more. Pushes that nobody ever sent are looked up as well.
        app.advance(Duration::from_secs(14 * 60 * 60));
        let made_up: Vec<_> = (0..15u128).map(|n| openings(&Uuid::from_u128(n).to_string(), n, 1)[0].take()).collect();
        let mixed = made_up.into_iter().chain(taps(1000).as_array().unwrap().clone()).collect();
        upload(&app, &channel, Value::Array(mixed)).await;
        assert_eq!(count(&app, Metric::DirectResponses, "ios").await, 5);
        upload(&app, &channel, taps(2000)).await;
        assert_eq!(count(&app, Metric::DirectResponses, "ios").await, 20);
        assert_eq!(count(&app, Metric::Opens, "ios").await, 15 + 25 + 25);
        // Those that are remembered cost nothing.
        let recent = push_to(&app, &[&channel], json!({"alert": "Now"})).await;
        let mut after_all = taps(3000);
        after_all.as_array_mut().unwrap().push(openings(&recent, 4000, 1)[0].take());
        upload(&app, &channel, after_all).await;
        assert_eq!(count_of_push(&app, &recent, Metric::DirectResponses).await, 1);
        assert_eq!(count(&app, Metric::UnprovenResponses, "ios").await, 0);
    })
    .await;
}
