//! Content that lives on the screens of devices: a Live Activity and a Live Update from start to end, at simulated providers that
//! check the requests.

use std::time::Duration;

use serde_json::{Value, json};
use sim::{Faults, Protocol, Simulator};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::devices::{push, register, status};
use crate::provider::{apple, configure, google, n_installed, simulator};

const STARTED: i64 = 1_714_564_800;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The only message that a provider got since the last time.
fn taken(sim: &Simulator, protocol: Protocol) -> (String, Value) {
    let all = sim.deliveries(10);
    let [one] = &all[..] else { panic!("one message and not {all:?}") };
    assert_eq!(one.protocol, protocol);
    let taken = (one.address.clone(), serde_json::from_str(&one.body).unwrap());
    sim.reset();
    taken
}

/// A token of 64 digits.
fn token(digit: char) -> String {
    std::iter::repeat_n(digit, 64).collect()
}

async fn tell(app: &TestApp, channel: &str, platform: &str, batch: Value) {
    let path = format!("/api/channels/sdk/batch/{channel}?platform={platform}");
    app.device().put(&path, batch).await.expect(200);
}

async fn tell_activity(app: &TestApp, channel: &str, change: Value) {
    tell(app, channel, "ios", json!({ "live_activities": [change] })).await;
}

/// The events of a type, in order.
async fn events_of(app: &TestApp, kind: &str) -> Vec<Value> {
    let told = app.master().get(&format!("/api/events?follow=false&types={kind}")).await;
    told.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn change(activity: Value) -> Value {
    let mut push =
        json!({"audience": "all", "device_types": ["ios"], "notification": {"alert": "not shown", "ios": {}}});
    push["notification"]["ios"]["live_activity"] = activity;
    push
}

#[tokio::test]
async fn a_live_activity_from_start_to_end() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "apns", &apple(&sim)).await;
        let kim = register(&app, "ios", &sim.device(Protocol::Apns, 1), json!({})).await;
        register(&app, "ios", &sim.device(Protocol::Apns, 2), json!({})).await;

        // Only devices that let such activities be started are sent the start, under the token for that.
        let start = token('a');
        let told = json!({"type": "start_token", "action": "set", "attributes_type": "Order", "token": start, "action_ts_ms": 1});
        tell_activity(&app, &kim, told).await;
        let id = push(&app, change(json!({"name": "order-17", "event": "start", "attributes_type": "Order",
            "attributes": {"number": "17"}, "content_state": {"step": 1}, "alert": {"title": "Packed", "body": "Soon"}}))).await;
        app.step_all().await;
        assert_eq!(status(&app, &id).await["total"]["delivered"], 1, "{}", status(&app, &id).await);
        let headers = sim.specimen(Protocol::Apns).unwrap().headers.clone();
        assert_eq!(headers["apns-push-type"], "liveactivity");
        assert_eq!(headers["apns-priority"], "10");
        assert_eq!(headers["apns-topic"], format!("{}.push-type.liveactivity", sim.topic()));
        let body = json!({"aps": {"timestamp": STARTED, "event": "start", "content-state": {"step": 1},
            "alert": {"title": "Packed", "body": "Soon"}, "attributes-type": "Order", "attributes": {"number": "17"}}});
        assert_eq!(taken(&sim, Protocol::Apns), (start, body));

        // The activity is on the screen, and has a token of its own, which is replaced after a while.
        let set = |id: &str, digit: char, at: i64| {
            json!({"type": "update_token", "action": "set", "id": id, "name": "order-17", "token": token(digit),
                   "start_ts_ms": 10, "action_ts_ms": at})
        };
        tell_activity(&app, &kim, set("A1", 'b', 20)).await;
        tell_activity(&app, &kim, set("A1", 'c', 30)).await;
        // What was said before arrives after it.
        tell_activity(&app, &kim, set("A1", 'b', 20)).await;
        app.advance(Duration::from_secs(60));
        let update = json!({"name": "order-17", "event": "update", "content_state": {"step": 2}, "priority": 5,
                            "stale_date": STARTED + 1800, "relevance_score": 75});
        push(&app, change(update)).await;
        app.step_all().await;
        let body = json!({"aps": {"timestamp": STARTED + 60, "event": "update", "content-state": {"step": 2},
                                  "stale-date": STARTED + 1800, "relevance-score": 75}});
        assert_eq!(taken(&sim, Protocol::Apns), (token('c'), body));

        // Another of the same name takes its place, and the end of the first does not concern it.
        tell_activity(&app, &kim, set("A2", 'd', 40)).await;
        let remove = |id: &str, at: i64| {
            json!({"action": "remove", "id": id, "name": "order-17", "start_ts_ms": 10, "action_ts_ms": at})
        };
        tell_activity(&app, &kim, remove("A1", 50)).await;
        push(&app, change(json!({"name": "order-17", "event": "end", "timestamp": 5, "dismissal_date": 6}))).await;
        app.step_all().await;
        let body = json!({"aps": {"timestamp": 5, "event": "end", "dismissal-date": 6}});
        assert_eq!(taken(&sim, Protocol::Apns), (token('d'), body));

        // SEND events tell whether the device made itself heard.
        let events = events_of(&app, "SEND").await;
        let alerting: Vec<_> = events.iter().map(|event| event["body"]["alerting"].as_bool().unwrap()).collect();
        assert_eq!(alerting, [true, false, false], "{events:?}");

        // Nobody has it any more, nor had anybody another one.
        tell_activity(&app, &kim, remove("A2", 60)).await;
        for name in ["order-17", "order-18"] {
            let id = push(&app, change(json!({"name": name, "event": "update", "content_state": {}}))).await;
            app.step_all().await;
            let status = status(&app, &id).await;
            assert_eq!(status["total"]["targeted"], 0);
            let why = status["total"]["reason"].as_str().unwrap();
            assert_eq!(why, "2 match the audience: 2 without the Live Activity or Live Update.");
        }
        assert!(sim.deliveries(10).is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_token_that_apple_does_not_take_costs_no_device() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "apns", &apple(&sim)).await;
        let address = sim.device(Protocol::Apns, 1);
        let kim = register(&app, "ios", &address, json!({})).await;
        let set = |digit: char, at: i64| {
            json!({"action": "set", "id": "A1", "name": "n", "token": token(digit), "start_ts_ms": 1, "action_ts_ms": at})
        };
        // No device has the token of zeros.
        tell_activity(&app, &kim, set('0', 2)).await;
        let update = change(json!({"name": "n", "event": "update", "content_state": {}}));
        let id = push(&app, update.clone()).await;
        app.step_all().await;
        let failed = status(&app, &id).await;
        assert_eq!(failed["total"]["failed"], 1, "{failed}");
        let recipients = app.master().get(&format!("/api/push/{id}/recipients")).await.expect(200);
        let reason = recipients["recipients"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("The Live Activity has ended"), "{recipients}");
        let hello = json!({"audience": "all", "device_types": ["ios"], "notification": {"alert": "Hello"}});
        push(&app, hello).await;
        app.step_all().await;
        assert_eq!(taken(&sim, Protocol::Apns).0, address, "the device is reached as before");

        // The token is not used again, until the device tells another.
        let id = push(&app, update.clone()).await;
        app.step_all().await;
        assert_eq!(status(&app, &id).await["total"]["targeted"], 0);
        app.advance(Duration::from_secs(1));
        tell_activity(&app, &kim, set('b', 3)).await;
        push(&app, update).await;
        app.step_all().await;
        assert_eq!(taken(&sim, Protocol::Apns).0, token('b'));

        // iOS has taken it from the screen by then.
        assert_eq!(row_counts(app.engine().store()).await["live_token"], 1);
        for _ in 0..2 {
            app.advance(DAY);
            app.step_all().await;
        }
        assert_eq!(row_counts(app.engine().store()).await["live_token"], 0);
    })
    .await;
}

#[tokio::test]
async fn a_sandbox_that_says_gone_ends_the_activity_and_not_the_device() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "aabb", json!({})).await;
        let told =
            json!({"action": "set", "id": "A1", "name": "n", "token": "ccdd", "start_ts_ms": 1, "action_ts_ms": 2});
        tell_activity(&app, &kim, told).await;
        let gone = json!({"faults": [{"device_type": "ios", "answer": "gone", "count": 1}]});
        app.master().put("/api/sandbox/faults", gone).await.expect(200);
        push(&app, change(json!({"name": "n", "event": "end"}))).await;
        app.step_all().await;
        assert_eq!(n_installed(&app).await, 1);
        // Nobody follows it any more, and what was on the screens of an uninstalled device is forgotten.
        assert_eq!(row_counts(app.engine().store()).await["live_token"], 1);
        app.master()
            .post("/api/channels/uninstall", json!([{"channel_id": kim, "device_type": "ios"}]))
            .await
            .expect(202);
        assert_eq!(row_counts(app.engine().store()).await["live_token"], 0);
    })
    .await;
}

#[tokio::test]
async fn what_a_device_tells_without_end_replaces_what_it_told_first() {
    on_each_database(async |app| {
        let kim = register(&app, "android", "A1", json!({})).await;
        for part in 0..3 {
            let names = (0..60).map(|n| json!({"action": "set", "name": format!("{part}-{n}"), "action_ts_ms": 1}));
            app.advance(Duration::from_secs(1));
            tell(&app, &kim, "android", json!({"live_updates": names.collect::<Vec<_>>()})).await;
        }
        assert_eq!(row_counts(app.engine().store()).await["live_token"], 100);
        let targeted = async |name: &str| {
            let update = json!({"android": {"live_update": {"name": name, "event": "update", "content_state": {}}}});
            let id = push(&app, json!({"audience": "all", "device_types": ["android"], "notification": update})).await;
            app.step_all().await;
            status(&app, &id).await["total"]["targeted"].clone()
        };
        assert_eq!([targeted("0-7").await, targeted("2-7").await], [json!(0), json!(1)]);
    })
    .await;
}

#[tokio::test]
async fn live_updates_reach_those_who_follow_them() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "fcm", &google(&sim)).await;
        let addresses = [sim.device(Protocol::Fcm, 1), sim.device(Protocol::Fcm, 2)];
        let kim = register(&app, "android", &addresses[0], json!({})).await;
        register(&app, "android", &addresses[1], json!({})).await;
        let change = |update: Value| {
            let notification = json!({"android": {"live_update": update}});
            json!({"audience": "all", "device_types": ["android"], "notification": notification})
        };
        // Everybody is sent the start, because it makes devices follow.
        push(
            &app,
            change(json!({"name": "order-17", "event": "start", "type": "order", "content_state": {"step": 1}})),
        )
        .await;
        app.step_all().await;
        assert_eq!(sim.deliveries(10).len(), 2);
        sim.reset();
        let told = |action: &str, at: i64| {
            let change = json!({"action": action, "name": "order-17", "start_ts_ms": 1, "action_ts_ms": at});
            json!({ "live_updates": [change] })
        };
        tell(&app, &kim, "android", told("set", 10)).await;
        push(&app, change(json!({"name": "order-17", "event": "update", "content_state": {"step": 2}}))).await;
        app.step_all().await;
        let (address, body) = taken(&sim, Protocol::Fcm);
        assert_eq!(address, addresses[0]);
        let text = body["message"]["data"]["com.urbanairship.live_update"].as_str().unwrap();
        let update: Value = serde_json::from_str(text).unwrap();
        assert_eq!(
            update,
            json!({"name": "order-17", "event": "update", "content_state": {"step": 2}, "timestamp": STARTED})
        );
        tell(&app, &kim, "android", told("remove", 20)).await;
        let id = push(&app, change(json!({"name": "order-17", "event": "end"}))).await;
        app.step_all().await;
        assert_eq!(status(&app, &id).await["total"]["targeted"], 0);
    })
    .await;
}
