//! An event stays as it was recorded, whatever becomes of its device and its user: on every reading, by every reader.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::event_receiver::EventReceiver;

use crate::webhooks;

const CHANNELS: [&str; 3] = [
    "10000000-0000-4000-8000-000000000000",
    "20000000-0000-4000-8000-000000000000",
    "30000000-0000-4000-8000-000000000000",
];
const USERS: [&str; 2] = ["ann", "bob"];
const ZONES: [&str; 2] = ["Europe/Berlin", "America/New_York"];
const N_HISTORIES: usize = 6;
const N_STEPS: usize = 40;

/// The lines of all events so far, byte for byte.
async fn lines(app: &TestApp) -> Vec<String> {
    let reply = app.master().get("/api/events?follow=false").await;
    assert_eq!(reply.status.as_u16(), 200, "{}", reply.text());
    reply.text().lines().map(str::to_owned).collect()
}

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn register(app: &TestApp, channel: &str, version: &str, zone: &str) {
    let body = json!({"channel": {
        "device_type": "ios", "opt_in": true, "push_address": format!("address of {channel}"),
        "app_version": version, "timezone": zone, "locale_language": "de", "locale_country": "DE",
    }});
    app.device().put(&format!("/api/channels/{channel}"), body).await;
}

async fn associate(app: &TestApp, channel: &str, user: &str) {
    let body = json!({"channel_id": channel, "named_user_id": user});
    app.master().post("/api/named_users/associate", body).await;
}

async fn upload(app: &TestApp, channel: &str, number: usize) {
    let event = json!([{
        "type": "enhanced_custom_event", "event_id": format!("00000000-0000-4000-8000-{number:012}"),
        "time": format!("{}.000", app.clock().now().0 / 1000), "data": {"event_name": "bought"},
    }]);
    let request = app.nobody().request(Method::POST, "/warp9/");
    let request = request.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", channel);
    app.nobody().send(request.body(Bytes::from(event.to_string())).unwrap()).await.expect(200);
}

async fn push(app: &TestApp) {
    let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hello"}});
    app.master().post("/api/push", body).await.expect(200);
    app.step_all().await;
}

async fn uninstall(app: &TestApp, channel: &str) {
    let body = json!([{"channel_id": channel, "device_type": "ios"}]);
    app.master().post("/api/channels/uninstall", body).await.expect(202);
}

#[tokio::test]
async fn an_event_shows_the_device_and_user_of_its_moment() {
    on_each_database(async |app| {
        let (channel, receiver) = (CHANNELS[0], EventReceiver::start().await);
        let types = ["FIRST_OPEN", "CUSTOM", "SEND", "UNINSTALL"];
        let is_asked_for = |event: &Value| types.iter().any(|asked_for| event["type"] == *asked_for);
        webhooks::create(&app, &receiver, &types).await;
        register(&app, channel, "1.0", ZONES[0]).await;
        associate(&app, channel, "ann").await;
        upload(&app, channel, 1).await;
        push(&app).await;
        register(&app, channel, "2.0", ZONES[1]).await;
        associate(&app, channel, "bob").await;
        upload(&app, channel, 2).await;
        push(&app).await;
        uninstall(&app, channel).await;
        app.step_all().await;

        let all = lines(&app).await;
        let seen: Vec<(String, String, Option<String>)> = parsed(&all)
            .iter()
            .filter(|event| is_asked_for(event))
            .map(|event| {
                let text = |value: &Value| value.as_str().map(str::to_owned);
                let version = text(&event["device"]["attributes"]["app_version"]).unwrap_or_default();
                assert_eq!(event["device"]["named_user_id"], event["user"]["named_user_id"], "{event}");
                (text(&event["type"]).unwrap(), version, text(&event["device"]["named_user_id"]))
            })
            .collect();
        let seen: Vec<(&str, &str, Option<&str>)> =
            seen.iter().map(|(kind, version, user)| (&**kind, &**version, user.as_deref())).collect();
        let expected = [
            ("FIRST_OPEN", "1.0", None),
            ("CUSTOM", "1.0", Some("ann")),
            ("SEND", "1.0", Some("ann")),
            ("CUSTOM", "2.0", Some("bob")),
            ("SEND", "2.0", Some("bob")),
            ("UNINSTALL", "2.0", Some("bob")),
        ];
        assert_eq!(seen, expected);

        let told = parsed(&all).into_iter().filter(is_asked_for);
        assert_eq!(receiver.taken(), told.collect::<Vec<_>>(), "a webhook is told the same at once");
        register(&app, channel, "3.0", ZONES[0]).await;
        let app = app.restart().await;
        assert_eq!(lines(&app).await[..all.len()], all);
    })
    .await;
}

#[tokio::test]
async fn filters_go_by_the_user_of_the_moment() {
    on_each_database(async |app| {
        register(&app, CHANNELS[0], "1.0", ZONES[0]).await;
        associate(&app, CHANNELS[0], "ann").await;
        upload(&app, CHANNELS[0], 1).await;
        associate(&app, CHANNELS[0], "bob").await;
        let of = async |user: &str| {
            let filter = json!({"types": ["CUSTOM"], "users": [{"named_user_id": user}]});
            let body = json!({"follow": false, "start": "EARLIEST", "filters": [filter]});
            app.master().post("/api/events", body).await.text().lines().count()
        };
        assert_eq!((of("ann").await, of("bob").await), (1, 0));
    })
    .await;
}

/// Something that happens to an app.
#[derive(Clone, Debug)]
enum Step {
    Register { channel: &'static str, version: u8, zone: &'static str },
    Associate { channel: &'static str, user: &'static str },
    Uninstall(&'static str),
    Upload(&'static str),
    Push,
    Wait(Duration),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let channel = || prop::sample::select(&CHANNELS[..]);
    prop_oneof![
        6 => (channel(), 0..4_u8, prop::sample::select(&ZONES[..]))
            .prop_map(|(channel, version, zone)| Step::Register { channel, version, zone }),
        4 => (channel(), prop::sample::select(&USERS[..])).prop_map(|(channel, user)| Step::Associate { channel, user }),
        1 => channel().prop_map(Step::Uninstall),
        6 => channel().prop_map(Step::Upload),
        3 => Just(Step::Push),
        // Within the time that events are kept; summer time ends or begins now and then.
        2 => (1..60_u64).prop_map(|hours| Step::Wait(Duration::from_secs(hours * 60 * 60 / 10))),
        1 => Just(Step::Restart),
    ]
}

#[tokio::test]
async fn no_event_changes_in_any_history() {
    on_each_database(async |mut app| {
        let mut runner = TestRunner::deterministic();
        let steps = prop::collection::vec(step(), N_STEPS);
        let mut told: Vec<String> = Vec::new();
        for history in 0..N_HISTORIES {
            let steps = steps.new_tree(&mut runner).unwrap().current();
            for (number, step) in steps.iter().enumerate() {
                match step {
                    Step::Register { channel, version, zone } => {
                        register(&app, channel, &version.to_string(), zone).await
                    }
                    Step::Associate { channel, user } => associate(&app, channel, user).await,
                    Step::Uninstall(channel) => uninstall(&app, channel).await,
                    Step::Upload(channel) => upload(&app, channel, history * N_STEPS + number).await,
                    Step::Push => push(&app).await,
                    Step::Wait(time) => app.advance(*time),
                    Step::Restart => app = app.restart().await,
                }
                let now = lines(&app).await;
                assert_eq!(now[..told.len()], told, "history {history}, after step {number} of {steps:?}");
                told = now;
            }
        }
        assert!(told.len() > N_STEPS, "{} events", told.len());
    })
    .await;
}
