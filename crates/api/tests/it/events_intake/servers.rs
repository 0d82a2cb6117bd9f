//! Custom events of servers.

use std::time::Duration;

use serde_json::{Value, json};
use store::event_counters;
use testkit::app::{START, TestApp, on_each_database};

use super::{id_of, push_to, register, told};

async fn send(app: &TestApp, events: &Value) -> Value {
    app.master().post("/api/custom-events/", events).await.expect(200)
}

/// The conversions of all that was counted, with how many and how much.
async fn counted(app: &TestApp) -> Vec<(&'static str, u64, f64)> {
    let (id, hour) = (id_of(app).await, START.0 / 3_600_000);
    let totals = app.engine().store().read(move |tx| event_counters::totals(tx, id, &(hour - 9..hour + 9))).await;
    totals.unwrap().into_iter().map(|total| (total.conversion.name(), total.sum.n, total.sum.millionths)).collect()
}

#[tokio::test]
async fn events_of_servers_are_events_of_channels() {
    on_each_database(async |app| {
        let channel = register(&app, "android", "A1").await;
        let push = push_to(&app, &[&channel], json!({"alert": "Hi"})).await;
        app.advance(Duration::from_secs(60));
        let body = json!({"name": "bought", "value": 10.5, "transaction": "t-1", "properties": {"items": [1, 2]}});
        let event = json!({"occurred": "2024-05-01T12:00:30", "user": {"android_channel": channel}, "body": body});
        let answer = send(&app, &event).await;
        let operation = answer["operation_id"].clone();
        assert_eq!(answer, json!({"ok": true, "operation_id": operation, "operationId": operation}));
        let [custom] = &told(&app).await[..] else { panic!() };
        let mut wanted = body.clone();
        wanted["source"] = json!("API");
        wanted["last_delivered"] = json!({"push_id": push, "time": "2024-05-01T12:00:00.000Z"});
        assert_eq!(custom["body"], wanted);
        assert_eq!(custom["occurred"], json!("2024-05-01T12:00:30.000Z"));
        assert_eq!(custom["device"]["android_channel"], json!(channel));
        // Those whose channel is of another type, or of nobody, are passed over.
        let unknown = json!({"user": {"channel": "00000000-0000-4000-8000-000000000000"}, "body": {"name": "x"}});
        let mistaken = json!({"user": {"ios_channel": channel}, "body": {"name": "x"}});
        send(&app, &json!([unknown, mistaken])).await;
        assert_eq!(told(&app).await.len(), 1);
        assert_eq!(counted(&app).await, [("indirect", 1, 10_500_000.0)]);
    })
    .await;
}

#[tokio::test]
async fn an_event_of_a_named_user_stands_with_each_channel_and_counts_once() {
    on_each_database(async |app| {
        let channels = [register(&app, "android", "A1").await, register(&app, "ios", "A2").await];
        for channel in &channels {
            let association = json!({"channel_id": channel, "named_user_id": "jo"});
            app.master().post("/api/named_users/associate", association).await.expect(200);
        }
        let about = |user: &str| json!({"user": {"named_user_id": user}, "body": {"name": "bought", "value": 1}});
        send(&app, &about("jo")).await;
        let events = told(&app).await;
        let seen: Vec<&Value> = events.iter().map(|event| &event["device"]["channel"]).collect();
        assert_eq!(seen, [&json!(channels[0]), &json!(channels[1])]);
        assert!(events.iter().all(|event| event["body"]["customer_id"] == "jo"));
        assert!(events.iter().all(|event| event["user"] == events[0]["user"]), "whichever channel it is");
        assert_eq!(events[0]["user"]["named_user_id"], "jo");
        assert_ne!(events[0]["id"], events[1]["id"]);
        assert_eq!(counted(&app).await, [("unattributed", 1, 1_000_000.0)]);
        // A user without channels: the event is there, about no device.
        send(&app, &about("nobody")).await;
        let last = told(&app).await.pop().unwrap();
        assert_eq!((&last["body"]["customer_id"], last.get("device")), (&json!("nobody"), None));
        assert_eq!(last["user"]["named_user_id"], "nobody");
    })
    .await;
}

#[tokio::test]
async fn repeats_without_a_time_are_recognized_in_later_hours() {
    on_each_database(async |app| {
        let channel = "00000000-0000-4000-8000-000000000001";
        let event = json!({"user": {"channel": channel}, "body": {"name": "x", "unique_id": "a"}});
        // What nobody could take is not a repeat later.
        send(&app, &event).await;
        let registration = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "A1"}});
        app.device().put(&format!("/api/channels/{channel}"), registration).await.expect(200);
        for (hours, n_told) in [(0, 1), (1, 1), (23, 1), (1, 2)] {
            app.advance(Duration::from_secs(hours * 3600));
            send(&app, &event).await;
            assert_eq!(told(&app).await.len(), n_told, "{hours} hours later");
        }
    })
    .await;
}

#[tokio::test]
async fn repeats_times_and_refusals() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1").await;
        let event = |unique: Option<&str>, occurred: &str| {
            let mut event = json!({"occurred": occurred, "user": {"channel": channel}, "body": {"name": "x"}});
            if let Some(unique) = unique {
                event["body"]["unique_id"] = json!(unique);
            }
            event
        };
        let now = "2024-05-01T12:00:00";
        send(&app, &json!([event(Some("a"), now), event(Some("a"), now), event(Some("b"), now)])).await;
        send(&app, &event(Some("a"), now)).await;
        assert_eq!(told(&app).await.len(), 2);
        send(&app, &event(None, now)).await;
        send(&app, &event(None, now)).await;
        assert_eq!(told(&app).await.len(), 4);
        send(&app, &event(None, "2030-01-01T00:00:00")).await;
        assert_eq!(told(&app).await.pop().unwrap()["occurred"], json!("2024-05-01T12:00:00.000Z"));
        for (body, path) in [
            (json!([event(None, now), event(None, "2024-01-01T00:00:00")]), "[1].occurred"),
            (event(None, "2024-01-01T00:00:00"), "occurred"),
            (json!({"user": {"channel": channel}, "body": {"name": "Upper"}}), "body.name"),
            (json!([]), ""),
            (Value::Array(vec![event(None, now); 101]), ""),
        ] {
            let refused = app.master().post("/api/custom-events", body).await.expect(400);
            let details = &refused["details"];
            assert!(path.is_empty() || details["path"] == path || refused.to_string().contains(path), "{refused}");
        }
        assert_eq!(told(&app).await.len(), 5);
        app.device().post("/api/custom-events", event(None, now)).await.expect(401);
    })
    .await;
}
