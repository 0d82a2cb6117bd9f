//! Parts of the event stream: samples, partitions, events that came in time, and those that predicates hold for.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::events_intake::upload;

/// The events that a request asks for.
async fn events(app: &TestApp, mut request: Value) -> Vec<Value> {
    request["follow"] = json!(false);
    let reply = app.master().post("/api/events", request).await;
    reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(events: &[Value]) -> BTreeSet<String> {
    events.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

async fn register(app: &TestApp, n: u32) -> String {
    let channel = json!({"device_type": "ios", "opt_in": true, "push_address": format!("A{n}")});
    let made = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
    made["channel_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn partitions_have_every_event_once_and_channels_as_a_whole() {
    on_each_database(async |app| {
        for n in 0..30 {
            register(&app, n).await;
        }
        for _ in 0..2 {
            let push = json!({"audience": "all", "device_types": ["ios"], "notification": {"alert": "Hi"}});
            app.master().post("/api/push", push).await.expect(200);
            app.step_all().await;
        }
        let all = events(&app, json!({})).await;
        let mut found = BTreeSet::new();
        let mut owners: BTreeSet<(String, u32)> = BTreeSet::new();
        for selection in 0..3 {
            let request = json!({"subset": {"type": "PARTITION", "count": 3, "selection": selection}});
            let part = events(&app, request.clone()).await;
            assert_eq!(ids(&part), ids(&events(&app, request).await), "it is always the same part");
            assert!(ids(&part).is_disjoint(&found));
            found.extend(ids(&part));
            let channels = part.iter().filter_map(|event| event["device"]["channel"].as_str());
            owners.extend(channels.map(|channel| (channel.to_owned(), selection)));
        }
        assert_eq!(found, ids(&all));
        assert_eq!(owners.len(), 30, "each channel is in one part: {owners:?}");
        for (proportion, expected) in [(0, 0), (1, all.len())] {
            let sample = events(&app, json!({"subset": {"type": "SAMPLE", "proportion": proportion}})).await;
            assert_eq!(sample.len(), expected);
        }
    })
    .await;
}

#[tokio::test]
async fn events_that_came_late_can_be_left_out() {
    on_each_database(async |app| {
        let kim = register(&app, 0).await;
        let now = app.clock().now().seconds();
        app.advance(Duration::from_secs(60));
        let event = |n: u32, time: i64| {
            let id = format!("00000000-0000-4000-8000-{n:012}");
            json!({"type": "app_foreground", "event_id": id, "time": format!("{time}.000"), "data": {"session_id": id}})
        };
        upload(&app, &kim, json!([event(1, now), event(2, now + 60)])).await;
        let sessions = async |latency: i64| {
            let request = json!({"filters": [{"types": ["OPEN"], "latency": latency}]});
            events(&app, request).await.len()
        };
        assert_eq!([sessions(0).await, sessions(59_999).await, sessions(60_000).await], [1, 1, 2]);
    })
    .await;
}

#[tokio::test]
async fn predicates_look_at_the_whole_event() {
    on_each_database(async |app| {
        let channels = [register(&app, 1).await, register(&app, 2).await];
        let tablet = json!({"device_type": "android", "opt_in": true, "push_address": "B"});
        app.device().post("/api/channels", json!({ "channel": tablet })).await.expect(201);
        for (channel, name, value) in [(0, "bought", 20), (1, "bought", 5), (0, "looked", 20)] {
            let event = json!({"user": {"ios_channel": channels[channel]}, "body": {"name": name, "value": value}});
            app.master().post("/api/custom-events", event).await.expect(200);
        }
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;

        let at = |scope: &str, key: &str, value: Value| json!({"scope": [scope], "key": key, "value": value});
        let bought = at("body", "name", json!({"equals": "bought"}));
        let much = at("body", "value", json!({"at_least": 10}));
        let android = at("device", "device_type", json!({"equals": "ANDROID"}));
        let sent = json!({"key": "type", "value": {"equals": "SEND"}});
        let count = async |filters: Value| events(&app, json!({"filters": filters})).await.len();
        assert_eq!(count(json!([{"predicates": bought}])).await, 2);
        assert_eq!(count(json!([{"predicates": [bought, much]}])).await, 1, "all of them have to hold");
        assert_eq!(count(json!([{"predicates": bought}, {"predicates": [much]}])).await, 3, "one filter is enough");
        assert_eq!(count(json!([{"predicates": {"and": [sent, {"not": android}]}}])).await, 2);
        assert_eq!(count(json!([{"types": ["SEND"], "predicates": android}])).await, 1);
        assert_eq!(count(json!([{"types": ["CUSTOM"]}, {"predicates": android}])).await, 5, "with FIRST_OPEN and SEND");
        let no_channel = json!({"key": "device", "value": {"is_present": false}});
        let about_nobody = events(&app, json!({"filters": [{"predicates": no_channel}]})).await;
        assert_eq!(about_nobody.iter().map(|event| &event["type"]).collect::<Vec<_>>(), ["PUSH_BODY"]);
        // A page without events is not the end.
        let last = events(&app, json!({"limit": 1, "filters": [{"predicates": sent}]})).await;
        assert_eq!(last[0]["type"], "SEND");
        let wrong = json!({"filters": [{"predicates": [{"key": "type", "value": {"is": "SEND"}}]}]});
        let refused = app.master().post("/api/events", wrong).await.expect(400);
        assert_eq!(refused["details"]["path"], "filters[0].predicates[0].value", "{refused}");
    })
    .await;
}
