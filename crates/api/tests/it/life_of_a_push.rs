//! The life of a push, from the registration of the devices to the last figure of its reports: what is told of it by the stream and
//! to a webhook, compared with what somebody wrote down who knew what would happen.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::event_receiver::EventReceiver;

use crate::event_schema;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// The devices by their names: who taps the notification, who opens the app later, who does nothing, and who uninstalls.
const DEVICES: [(&str, &str); 4] = [("tapper", "ios"), ("opener", "android"), ("idler", "ios"), ("leaver", "android")];

struct Devices([String; 4]);

impl Devices {
    async fn register(app: &TestApp) -> Self {
        let mut ids = Vec::new();
        for (name, device_type) in DEVICES {
            let channel = json!({
                "device_type": device_type, "opt_in": true, "push_address": format!("address-of-{name}"),
                "timezone": "Europe/Berlin", "locale_language": "de",
            });
            let answer = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
            ids.push(answer["channel_id"].as_str().unwrap().to_owned());
        }
        Self(ids.try_into().unwrap())
    }

    fn id(&self, name: &str) -> &str {
        let place = DEVICES.iter().position(|(known, _)| *known == name).unwrap();
        &self.0[place]
    }

    /// The name of the device of an event.
    fn name(&self, event: &Value) -> &'static str {
        let place = self.0.iter().position(|id| event["device"]["channel"] == json!(id));
        place.map_or("nobody", |place| DEVICES[place].0)
    }
}

/// What a device uploads.
async fn upload(app: &TestApp, channel: &str, kind: &str, event_id: &str, data: Value) {
    let now = app.clock().now().0;
    let time = format!("{}.{:03}", now / 1000, now % 1000);
    let events = json!([{"type": kind, "event_id": event_id, "time": time, "data": data}]);
    let request = app.nobody().request(Method::POST, "/warp9/");
    let request = request.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", channel);
    app.nobody().send(request.body(Bytes::from(events.to_string())).unwrap()).await.expect(200);
}

/// Everything that is told so far, and that each of it has the form it must have.
async fn told(app: &TestApp, query: &str) -> Vec<Value> {
    let reply = app.master().get(&format!("/api/events?follow=false{query}")).await;
    assert_eq!(reply.status.as_u16(), 200, "{}", reply.text());
    let events: Vec<Value> = reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        event_schema::check(event).unwrap_or_else(|wrong| panic!("{wrong}: {event}"));
    }
    events
}

fn offset(event: &Value) -> u64 {
    event["offset"].as_str().unwrap().parse().unwrap()
}

/// The type of an event, its device, the time on the clock, and what it says.
fn gist(event: &Value, devices: &Devices) -> (String, &'static str, String, Value) {
    let kind = event["type"].as_str().unwrap().to_owned();
    let time = event["occurred"].as_str().unwrap().to_owned();
    (kind, devices.name(event), time, event.get("body").cloned().unwrap_or(Value::Null))
}

/// Without what is known of the device, which is told as it is at the time of telling.
fn lasting(event: &Value) -> Value {
    let mut event = event.clone();
    if let Some(device) = event.get_mut("device") {
        device.as_object_mut().unwrap().remove("attributes");
    }
    event
}

#[tokio::test]
async fn the_life_of_a_push() {
    on_each_database(async |app| {
        let receiver = EventReceiver::start().await;
        let types = ["FIRST_OPEN", "PUSH_BODY", "SEND", "OPEN", "CLOSE", "UNINSTALL", "TAG_CHANGE", "CUSTOM"];
        let hooks = format!("/operator/apps/{}/webhooks", app.app.key);
        let hook = json!({"url": receiver.url(), "types": types});
        app.operator().post(&hooks, hook).await.expect(201);

        // At noon four devices register, half an hour later they are sent to.
        let devices = Devices::register(&app).await;
        app.step_all().await;
        app.advance(30 * MINUTE);
        let payload = json!({
            "audience": "all", "device_types": "all", "notification": {"alert": "Hello"},
            "campaigns": {"categories": ["spring"]},
        });
        let answer = app.master().post("/api/push", &payload).await.expect(200);
        let push_id = answer["push_ids"][0].as_str().unwrap().to_owned();
        app.step_all().await;

        // One taps the notification and looks around for ten minutes. Its upload comes twice, as uploads do.
        app.advance(30 * MINUTE);
        let sent_at = app.clock().now().0 - 30 * 60 * 1000;
        let metadata = json!({"version_id": 1, "time": sent_at, "push_id": push_id}).to_string();
        let tap = json!({"session_id": "session-1", "push_id": push_id, "metadata": BASE64_STANDARD.encode(metadata)});
        for _ in 0..2 {
            upload(&app, devices.id("tapper"), "app_foreground", "00000000-0000-4000-8000-000000000001", tap.clone()).await;
        }
        app.step_all().await;
        app.advance(10 * MINUTE);
        let close = json!({"session_id": "session-1"});
        upload(&app, devices.id("tapper"), "app_background", "00000000-0000-4000-8000-000000000002", close).await;
        app.step_all().await;

        // Another opens the app by itself almost twelve hours after the push, and another leaves. The service was stopped
        // meanwhile.
        let app = app.restart().await;
        app.advance(11 * HOUR);
        let open = json!({"session_id": "session-2"});
        upload(&app, devices.id("opener"), "app_foreground", "00000000-0000-4000-8000-000000000003", open).await;
        app.advance(20 * MINUTE);
        let uninstall = json!([{"channel_id": devices.id("leaver"), "device_type": "android"}]);
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        // Too late to have to do with the push.
        app.advance(HOUR);
        let late = json!({"session_id": "session-3"});
        upload(&app, devices.id("opener"), "app_foreground", "00000000-0000-4000-8000-000000000004", late).await;
        app.step_all().await;

        let mut all = told(&app, "").await;
        assert!(all.is_sorted_by(|a, b| offset(a) < offset(b)), "offsets grow from event to event");
        for (n_seen, event) in (1..).zip(&all) {
            assert_eq!(told(&app, &format!("&offset={}", offset(event))).await, all[n_seen..]);
        }
        let in_log = all.clone();
        // Which of two platforms is sent to first is nobody's business.
        all[5..9].sort_by_key(|event| devices.name(event));
        let associated = json!({
            "push_id": push_id, "time": "2024-05-01T12:30:00.000Z", "campaigns": {"categories": ["spring"]},
        });
        let sent = json!({"push_id": push_id, "alerting": true, "campaigns": {"categories": ["spring"]}});
        // The text has an order of its own.
        let submitted = all[4]["body"]["payload"].clone();
        let said = BASE64_STANDARD.decode(submitted.as_str().unwrap()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&said).unwrap(), payload);
        let expected = [
            ("FIRST_OPEN", "tapper", "2024-05-01T12:00:00.000Z", Value::Null),
            ("FIRST_OPEN", "opener", "2024-05-01T12:00:00.000Z", Value::Null),
            ("FIRST_OPEN", "idler", "2024-05-01T12:00:00.000Z", Value::Null),
            ("FIRST_OPEN", "leaver", "2024-05-01T12:00:00.000Z", Value::Null),
            (
                "PUSH_BODY",
                "nobody",
                "2024-05-01T12:30:00.000Z",
                json!({
                    "push_id": push_id, "resource": "PUSH", "campaigns": {"categories": ["spring"]},
                    "payload": submitted, "trimmed": false,
                }),
            ),
            ("SEND", "idler", "2024-05-01T12:30:00.000Z", sent.clone()),
            ("SEND", "leaver", "2024-05-01T12:30:00.000Z", sent.clone()),
            ("SEND", "opener", "2024-05-01T12:30:00.000Z", sent.clone()),
            ("SEND", "tapper", "2024-05-01T12:30:00.000Z", sent),
            (
                "OPEN",
                "tapper",
                "2024-05-01T13:00:00.000Z",
                json!({"session_id": "session-1", "triggering_push": associated, "last_delivered": associated}),
            ),
            ("CLOSE", "tapper", "2024-05-01T13:10:00.000Z", json!({"session_id": "session-1"})),
            (
                "OPEN",
                "opener",
                "2024-05-02T00:10:00.000Z",
                json!({"session_id": "session-2", "last_delivered": associated}),
            ),
            ("UNINSTALL", "leaver", "2024-05-02T00:30:00.000Z", json!({"decay": false})),
            ("OPEN", "opener", "2024-05-02T01:30:00.000Z", json!({"session_id": "session-3"})),
        ];
        let expected = expected.map(|(kind, name, time, body)| (kind.to_owned(), name, time.to_owned(), body));
        assert_eq!(all.iter().map(|event| gist(event, &devices)).collect::<Vec<_>>(), expected);

        // The webhook was told the same, each device in order.
        let received = receiver.taken();
        assert_eq!(received.len(), in_log.len());
        for name in DEVICES.map(|(name, _)| name).into_iter().chain(["nobody"]) {
            let of = |events: &[Value]| -> Vec<Value> {
                events.iter().filter(|event| devices.name(event) == name).map(lasting).collect()
            };
            assert_eq!(of(&received), of(&in_log), "{name}");
        }
        for event in &received {
            event_schema::check(event).unwrap_or_else(|wrong| panic!("{wrong}: {event}"));
        }
        let first = received.iter().find(|event| devices.name(event) == "leaver").unwrap();
        assert_eq!(
            first["device"]["attributes"],
            json!({
                "push_opt_in": "true", "iana_timezone": "Europe/Berlin", "locale_timezone": "7200",
                "locale_language_code": "de",
            })
        );

        let report = async |path: &str| app.master().get(&format!("/api/reports/{path}")).await.expect(200);
        let of_push = report(&format!("responses/{push_id}")).await;
        assert_eq!((&of_push["sends"], &of_push["direct_responses"]), (&json!(4), &json!(1)));
        let detail = report(&format!("perpush/detail/{push_id}")).await;
        let figures = |sends: u64, direct: u64, influenced: u64| {
            json!({"sends": sends, "direct_responses": direct, "influenced_responses": influenced})
        };
        assert_eq!(detail["platforms"], json!({"ios": figures(2, 1, 0), "android": figures(2, 0, 1)}));
        let whole = ["sends", "alerting_sends", "silent_sends", "direct_responses", "influenced_responses"];
        assert_eq!(whole.map(|key| detail[key].as_u64().unwrap()), [4, 4, 0, 1, 1]);
        // Two days, by day: what was sent, opened and closed on iOS and on Android.
        let days = "start=2024-05-01&end=2024-05-03&precision=DAILY";
        let by_day = async |name: &str| {
            let days = report(&format!("{name}?{days}")).await[name].clone();
            let figure = |day: usize, platform: &str| days[day][platform].as_f64().unwrap();
            [figure(0, "ios"), figure(0, "android"), figure(1, "ios"), figure(1, "android")]
        };
        assert_eq!(by_day("sends").await, [2.0, 2.0, 0.0, 0.0]);
        assert_eq!(by_day("opens").await, [1.0, 0.0, 0.0, 2.0]);
        assert_eq!(by_day("optins").await, [1.0, 0.0, 0.0, 1.0], "all of them were opted in, and count once a day");
        assert_eq!(by_day("optouts").await, [0.0; 4]);
        assert_eq!(by_day("timeinapp").await, [600.0, 0.0, 0.0, 0.0], "seconds of one session");
        let responses = report(&format!("responses?{days}")).await;
        assert_eq!(responses["responses"][0]["ios"], json!({"direct": 1, "influenced": 0}), "{responses}");
        assert_eq!(responses["responses"][1]["android"], json!({"direct": 0, "influenced": 1}), "{responses}");
        let hours = "start=2024-05-01%2012:00&end=2024-05-02%2002:00&precision=HOURLY";
        let hours = report(&format!("opens?{hours}")).await;
        let opened: Vec<_> = hours["opens"].as_array().unwrap().iter().map(|hour| (&hour["ios"], &hour["android"])).collect();
        let opened_in = |hour: usize| (opened[hour].0.as_u64().unwrap(), opened[hour].1.as_u64().unwrap());
        assert_eq!((opened_in(1), opened_in(12), opened_in(13)), ((1, 0), (0, 1), (0, 1)));
        let series = report(&format!("perpush/series/{push_id}?precision=DAILY&start=2024-05-01&end=2024-05-03")).await;
        let told = ["sends", "direct_responses", "influenced_responses"];
        let of_day = |day: usize| told.map(|key| series["counts"][day]["push_platforms"]["all"][key].as_u64().unwrap());
        assert_eq!([of_day(0), of_day(1)], [[4, 1, 0], [0, 0, 1]], "{series}");
        let devices = report("devices?date=2024-05-02").await;
        let android = &devices["counts"]["android"];
        assert_eq!((&android["unique_devices"], &android["uninstalled"]), (&json!(1), &json!(1)), "{devices}");
        let status = app.master().get(&format!("/api/push/{push_id}")).await.expect(200);
        assert_eq!(status["push"]["state"], "done", "{status}");
    })
    .await;
}
