//! Live connections, with an independent client of WebSockets: who is reached, in which order, what a device that comes back is
//! told, and the other forms.

mod ending;
mod forms;
mod inbox;
mod limits;
mod model;
mod nodes;
mod positions;
mod presence;
mod slow;

use std::time::Duration;

use ::model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::live::{Device, Socket};

use crate::events_intake::upload;

/// Sends a push and lets the workers run.
pub(crate) async fn push(app: &TestApp, audience: Value, alert: &str) -> String {
    let body = json!({"audience": audience, "device_types": "all", "notification": {"alert": alert}});
    send(app, body).await
}

pub(crate) async fn send(app: &TestApp, body: Value) -> String {
    let answer = app.master().post("/api/push", body).await.expect(200);
    app.step_all().await;
    answer["push_ids"][0].as_str().unwrap().to_owned()
}

async fn status(app: &TestApp, push: &str) -> Value {
    app.master().get(&format!("/api/push/{push}")).await.expect(200)["push"].clone()
}

#[tokio::test]
async fn a_page_without_a_subscription_gets_what_it_is_sent() {
    on_each_database(async |app| {
        let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        let shown = app.master().get(&format!("/api/channels/{}", device.channel)).await.expect(200);
        assert_eq!(shown["channel"]["live"], true);
        let mut socket = Socket::open(&app, &device, None).await;
        let hello = socket.next().await;
        assert_eq!((&hello["type"], &hello["channel"]), (&json!("hello"), &json!(device.channel)));
        assert_eq!((&hello["ping"], &hello["complete"]), (&json!(45), &json!(true)));
        let body = json!({
            "audience": {"channel": device.channel}, "device_types": ["web"], "options": {"expiry": 3600},
            "notification": {"alert": "Hello", "web": {"title": "T", "extra": {"a": "b"}}},
        });
        let id = send(&app, body).await;
        let message = socket.next().await;
        assert_eq!(message["type"], "push");
        let push = &message["push"];
        assert_eq!((&push["push_id"], &push["alert"], &push["title"]), (&json!(id), &json!("Hello"), &json!("T")));
        assert_eq!((&push["extra"], &push["sent"]), (&json!({"a": "b"}), &json!("2024-05-01T12:00:00")));
        assert_eq!(push["expires"], "2024-05-01T13:00:00");
        let status = status(&app, &id).await;
        assert_eq!((&status["state"], &status["total"]["delivered"]), (&json!("done"), &json!(1)));
        assert_eq!(status.get("received"), None);
        let sent = app.master().get("/api/events?follow=false&types=SEND").await;
        assert!(sent.text().contains(&device.channel), "{}", sent.text());
        let kept = app.master().get("/api/sandbox?transport=live").await.expect(200);
        assert_eq!(kept["deliveries"][0]["request"]["body"]["alert"], "Hello");
    })
    .await;
}

#[tokio::test]
async fn the_provider_goes_first_and_live_stands_in() {
    on_each_database(async |app| {
        // A development app shows on live connections what its sandbox keeps.
        let iphone = json!({"device_type": "ios", "live": true, "push_address": "a".repeat(64)});
        let iphone = Device::register(&app, iphone).await;
        let mut socket = Socket::open(&app, &iphone, None).await;
        socket.next().await;
        let first = push(&app, json!("all"), "kept and shown").await;
        assert_eq!(socket.next().await["push"]["alert"], "kept and shown");
        let kept = app.master().get(&format!("/api/sandbox?push_id={first}")).await.expect(200);
        assert_eq!(kept["deliveries"][0]["transport"], "apns");
        assert_eq!(status(&app, &first).await["total"]["delivered"], 1);

        // A production app without credentials reaches only who is live.
        let production = app.another_app(Mode::Production).await;
        let app = app.as_app(production);
        let kiosk = json!({"channel": {
            "type": "open", "opt_in": true, "live": true, "address": "kiosk-1", "open": {"open_platform_name": "kiosk"},
        }});
        let kiosk = app.master().post("/api/channels/open", kiosk).await.expect(200);
        let kiosk = Device::of(&app, kiosk["channel_id"].as_str().unwrap()).await;
        let dumb = json!({"device_type": "ios", "push_address": "b".repeat(64)});
        Device::register(&app, dumb).await;
        let mut socket = Socket::open(&app, &kiosk, None).await;
        socket.next().await;
        let second = push(&app, json!("all"), "to the kiosk").await;
        assert_eq!(socket.next().await["push"]["alert"], "to the kiosk");
        let status = status(&app, &second).await;
        assert_eq!((&status["total"]["delivered"], &status["total"]["failed"]), (&json!(1), &json!(1)));
    })
    .await;
}

#[tokio::test]
async fn everybody_gets_their_own_in_order_and_in_their_language() {
    on_each_database(async |app| {
        let page = |language: &str| {
            json!({"device_type": "web", "live": true, "locale_language": language, "locale_country": "DE"})
        };
        let (german, english) = (Device::register(&app, page("de")).await, Device::register(&app, page("en")).await);
        let mut sockets = [Socket::open(&app, &german, None).await, Socket::open(&app, &english, None).await];
        for socket in &mut sockets {
            socket.next().await;
        }
        let localized = json!({
            "audience": "all", "device_types": ["web"], "notification": {"alert": "Hello"},
            "localizations": [{"language": "de", "notification": {"alert": "Hallo"}}],
        });
        send(&app, localized).await;
        push(&app, json!({"channel": german.channel}), "only German").await;
        for n in 0..20 {
            push(&app, json!("all"), &n.to_string()).await;
        }
        let mut positions = Vec::new();
        for (socket, first) in sockets.iter_mut().zip([&["Hallo", "only German"][..], &["Hello"]]) {
            let numbers = (0..20).map(|n| n.to_string());
            for wanted in first.iter().map(|text| (*text).to_owned()).chain(numbers) {
                let message = socket.next().await;
                assert_eq!(message["push"]["alert"], json!(wanted));
                positions.push(message["at"].as_str().unwrap().parse::<u64>().unwrap());
            }
            assert!(positions.is_sorted());
            positions.clear();
        }
    })
    .await;
}

#[tokio::test]
async fn a_device_that_comes_back_is_told_what_it_missed() {
    on_each_database(async |app| {
        let page = json!({"device_type": "web", "live": true});
        let (device, other) = (Device::register(&app, page.clone()).await, Device::register(&app, page).await);
        let mut socket = Socket::open(&app, &device, None).await;
        let start = socket.next().await["at"].as_str().unwrap().to_owned();
        push(&app, json!({"channel": device.channel}), "one").await;
        let one = socket.next().await;
        drop(socket);
        push(&app, json!({"channel": device.channel}), "two").await;
        push(&app, json!({"channel": other.channel}), "of another").await;
        let expiring = json!({
            "audience": {"channel": device.channel}, "device_types": "all", "options": {"expiry": 60},
            "notification": {"alert": "expired"},
        });
        send(&app, expiring).await;
        push(&app, json!({"channel": device.channel}), "three").await;
        app.advance(Duration::from_secs(120));
        let app = app.restart().await;
        for (after, wanted) in
            [(start.as_str(), &["one", "two", "three"][..]), (one["at"].as_str().unwrap(), &["two", "three"])]
        {
            let mut socket = Socket::open(&app, &device, Some(after)).await;
            assert_eq!(socket.next().await["complete"], true);
            for alert in wanted {
                assert_eq!(socket.next().await["push"]["alert"], *alert);
            }
            push(&app, json!({"channel": device.channel}), "and on").await;
            assert_eq!(socket.next().await["push"]["alert"], "and on");
        }
        // After the hours that a node remembers, the log is read.
        app.advance(Duration::from_secs(14 * 3600));
        let app = app.restart().await;
        let mut socket = Socket::open(&app, &device, Some(&start)).await;
        assert_eq!(socket.next().await["complete"], true);
        assert_eq!(socket.next().await["push"]["alert"], "one");
    })
    .await;
}

#[tokio::test]
async fn a_push_that_is_canceled_half_way_is_told_to_nobody_who_comes_back() {
    on_each_database(async |app| {
        let devices = [
            Device::register(&app, json!({"device_type": "web", "live": true})).await,
            Device::register(&app, json!({"device_type": "android", "live": true})).await,
        ];
        let mut connected = Vec::new();
        for device in &devices {
            let mut socket = Socket::open(&app, device, None).await;
            let start = socket.next().await["at"].as_str().unwrap().to_owned();
            connected.push((device, socket, start));
        }
        let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "canceled"}});
        let accepted = app.master().post("/api/push", body).await.expect(200);
        let id = accepted["push_ids"][0].as_str().unwrap();
        // Each device type has a job of its own, and the push is canceled between the two.
        let worker = app.engine().worker();
        while status(&app, id).await["total"]["delivered"] != 1 {
            assert!(worker.step().await.unwrap(), "there is a job for each device type");
        }
        app.master().post(&format!("/api/push/{id}/cancel"), "").await.expect(200);
        push(&app, json!("all"), "and on").await;
        let mut n_told = 0;
        for (device, socket, start) in &mut connected {
            while socket.next().await["push"]["alert"] != "and on" {
                n_told += 1;
            }
            let polled = forms::poll(&app, device, &format!("after={start}&wait=0")).await;
            assert_eq!(polled["messages"].as_array().map(Vec::len), Some(1), "{polled}");
            assert_eq!(
                (&polled["messages"][0]["push"]["alert"], &polled["complete"]),
                (&json!("and on"), &json!(true))
            );
        }
        assert_eq!(n_told, 1, "the device that was delivered to, and was connected");
    })
    .await;
}

#[tokio::test]
async fn what_is_gone_is_not_told_as_complete() {
    on_each_database(async |app| {
        let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        let mut socket = Socket::open(&app, &device, None).await;
        let start = socket.next().await["at"].as_str().unwrap().to_owned();
        drop(socket);
        let bodies: Vec<Value> = (0..70)
            .map(|n| json!({"audience": "all", "device_types": ["web"], "notification": {"alert": n.to_string()}}))
            .collect();
        app.master().post("/api/push", json!(bodies)).await.expect(200);
        app.step_all().await;
        let mut socket = Socket::open(&app, &device, Some(&start)).await;
        assert_eq!(socket.next().await["complete"], false, "more than sixty-four");
        for _ in 0..64 {
            assert_eq!(socket.next().await["type"], "push");
        }
        let mut socket = Socket::open(&app, &device, Some("999999999")).await;
        assert_eq!(socket.next().await["complete"], false, "a position that is yet to come");
        push(&app, json!("all"), "and on").await;
        assert_eq!(socket.next().await["push"]["alert"], "and on");
    })
    .await;
}

#[tokio::test]
async fn what_devices_have_acknowledged_is_shown() {
    on_each_database(async |app| {
        let page = json!({"device_type": "web", "live": true});
        let devices = [Device::register(&app, page.clone()).await, Device::register(&app, page).await];
        let mut sockets = Vec::new();
        for device in &devices {
            let mut socket = Socket::open(&app, device, None).await;
            socket.next().await;
            sockets.push(socket);
        }
        let ids = [push(&app, json!("all"), "one").await, push(&app, json!("all"), "two").await];
        let (one, two) = (sockets[0].next().await, sockets[0].next().await);
        // A browser that tells of a push both ways counts once, whichever comes first.
        let receipt = |n: usize, id: &str| {
            let (event, time) = (format!("00000000-0000-4000-8000-{n:012}"), app.clock().now().seconds().to_string());
            json!([{"type": "push_received", "event_id": event, "time": time, "data": {"push_id": id}}])
        };
        upload(&app, &devices[0].channel, receipt(1, &ids[0])).await;
        assert_eq!(status(&app, &ids[0]).await["received"], 1);
        sockets[0].say(&json!({"ack": two["at"]})).await;
        let (status_code, _) = devices[1].post(&app, "/live/ack", &json!({"at": one["at"]})).await;
        assert_eq!(status_code, 200);
        for (id, wanted) in ids.iter().zip([2, 1]) {
            let mut received = Value::Null;
            while received != json!(wanted) {
                received = status(&app, id).await["received"].clone();
                tokio::task::yield_now().await;
            }
        }
        upload(&app, &devices[0].channel, receipt(2, &ids[1])).await;
        received_is_told(&app, &ids, &devices).await;
    })
    .await;
}

/// Both devices have the first push, and one of them the second.
async fn received_is_told(app: &TestApp, ids: &[String; 2], devices: &[Device; 2]) {
    let get = async |path: String| app.master().get(&path).await.expect(200);
    for (id, wanted) in ids.iter().zip([2, 1]) {
        for report in ["responses", "perpush/detail"] {
            let report = get(format!("/api/reports/{report}/{id}")).await;
            assert_eq!((&report["sends"], &report["received"]), (&json!(2), &json!(wanted)));
        }
        let detail = get(format!("/api/reports/perpush/detail/{id}")).await;
        assert_eq!(detail["platforms"]["web"]["received"], wanted);
        let series = get(format!("/api/reports/perpush/series/{id}")).await;
        assert_eq!(series["counts"][0]["push_platforms"]["all"]["received"], wanted);
        let recipients = get(format!("/api/push/{id}/recipients?outcome=received")).await;
        assert_eq!(recipients["recipients"].as_array().map(Vec::len), Some(wanted));
        assert_eq!(recipients["recipients"][0]["channel_id"], json!(devices[0].channel));
    }
    let day = "start=2024-05-01&end=2024-05-02";
    let lines = get(format!("/api/reports/series?metrics=sends,received&{day}")).await;
    assert_eq!((&lines["series"][0]["total"], &lines["series"][1]["total"]), (&json!(4), &json!(3)));
    let all = get(format!("/api/push/{}/recipients", ids[1])).await;
    let received = |n: usize| all["recipients"][n]["received"].clone();
    assert_eq!((received(0), received(1)), (json!(true), json!(false)));
    for (device, is_told) in devices.iter().zip([true, false]) {
        let why = get(format!("/api/push/{}/why?channel_id={}", ids[1], device.channel)).await;
        assert_eq!(why.to_string().contains("told that it received the message"), is_told);
    }
}

/// Pages cannot see the pings of the service.
#[tokio::test]
async fn a_device_that_asks_whether_anybody_is_there_is_answered() {
    on_each_database(async |app| {
        let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        let mut socket = Socket::open(&app, &device, None).await;
        let at = socket.next().await["at"].clone();
        socket.say(&json!({})).await;
        assert_eq!(socket.next().await, json!({"type": "pong"}));
        // Who says something has no question.
        socket.say(&json!({"ack": at})).await;
        socket.say(&json!({"token": device.token})).await;
        socket.say(&json!({})).await;
        assert_eq!(socket.next().await, json!({"type": "pong"}));
        push(&app, json!("all"), "still here").await;
        assert_eq!(socket.next().await["push"]["alert"], "still here");
    })
    .await;
}

#[tokio::test]
async fn a_push_that_is_not_kept_does_not_wait_in_the_log() {
    on_each_database(async |app| {
        let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        let secret = json!({
            "audience": {"channel": device.channel}, "device_types": "all", "notification": {"alert": "secret"},
            "options": {"redact_payload": true},
        });
        let id = send(&app, secret).await;
        let status = status(&app, &id).await;
        assert_eq!((&status["total"]["failed"], &status["total"]["delivered"]), (&json!(1), &json!(0)));
    })
    .await;
}
