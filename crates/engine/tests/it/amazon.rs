//! Devices that Amazon reaches: those it knows by another address now, and Android devices without Google.

use std::collections::BTreeSet;
use std::time::Duration;

use model::device_type::DeviceType;
use serde_json::{Value, json};
use sim::{Faults, Protocol, keys};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::devices::{push, register, status};
use crate::provider::{app_id, configure, google, hello, simulator};

/// Whoever waits for a provider that is silent waits for longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What becomes of every message.
#[derive(Clone, Copy)]
enum Messages {
    /// It is taken as one for the device that is called `new` by now.
    Moved,
    /// It is never answered.
    Silent,
    /// It is refused with as many words as are read of an answer.
    Refused,
}

/// Hands out tokens, and does the same with all messages.
async fn amazon_with(messages: Messages) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, messages));
        }
    });
    url
}

async fn serve(stream: TcpStream, messages: Messages) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if stream.read_line(&mut first).await.unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        stream.read_exact(&mut vec![0; length]).await.unwrap();
        let (status, answer) = match (first.contains("/messages"), messages) {
            (true, Messages::Silent) => std::future::pending().await,
            (true, Messages::Moved) => ("200 OK", json!({"registrationID": "new"})),
            (true, Messages::Refused) => ("400 Bad Request", json!({"reason": "a\0\u{1b}[31mb".repeat(3_000)})),
            (false, _) => (
                "200 OK",
                json!({"access_token": "t", "token_type": "bearer", "expires_in": 3600, "scope": "messaging:push"}),
            ),
        };
        let answer = answer.to_string();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", answer.len());
        stream.write_all(format!("{head}{answer}").as_bytes()).await.unwrap();
    }
}

fn amazon(url: &str) -> Value {
    json!({"client_id": keys::ADM_CLIENT_ID, "client_secret": keys::CLIENT_SECRET, "endpoint": {"url": url}})
}

async fn channel(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"].clone()
}

#[tokio::test]
async fn a_device_that_moved_is_found_at_its_new_address() {
    on_each_database(async |app| {
        configure(&app, "adm", &amazon(&amazon_with(Messages::Moved).await)).await;
        let device = register(&app, "amazon", "old", json!({"tags": ["kept"]})).await;
        let id = push(&app, hello(&json!(["amazon"]))).await;
        app.step_all().await;
        assert_eq!(status(&app, &id).await["total"]["delivered"], 1);
        let moved = channel(&app, &device).await;
        assert_eq!((&moved["push_address"], &moved["installed"]), (&json!("new"), &json!(true)), "{moved}");
        assert_eq!(moved["tags"], json!(["kept"]));
        // A device that a server registers with the new address is recognized, with the old one it is somebody else.
        assert_eq!(registered(&app, "new", 200).await, device);
        assert_ne!(registered(&app, "old", 201).await, device);
    })
    .await;
}

async fn registered(app: &TestApp, address: &str, status: u16) -> String {
    let channel = json!({"channel": {"device_type": "amazon", "opt_in": true, "push_address": address}});
    let reply = app.master().post("/api/channels", channel).await.expect(status);
    reply["channel_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn android_devices_are_reached_through_the_provider_they_name() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "fcm", &google(&sim)).await;
        let by = |delivery_type: &str| json!({"android": {"delivery_type": delivery_type}});
        register(&app, "android", &sim.device(Protocol::Fcm, 1), json!({})).await;
        register(&app, "android", &sim.device(Protocol::Fcm, 2), by("fcm")).await;
        register(&app, "android", &sim.device(Protocol::Adm, 3), by("adm")).await;
        register(&app, "android", "huawei", by("hms")).await;
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let android = status(&app, &id).await["platforms"]["android"].clone();
        assert_eq!((&android["delivered"], &android["failed"]), (&json!(2), &json!(2)), "{android}");

        configure(&app, "adm", &amazon(&sim.plain_url(Protocol::Adm))).await;
        let id = push(&app, hello(&json!(["android"]))).await;
        app.advance(Duration::from_secs(1));
        app.step_all().await;
        let android = status(&app, &id).await["platforms"]["android"].clone();
        assert_eq!((&android["delivered"], &android["failed"]), (&json!(3), &json!(1)), "{android}");
        assert!(android["reason"].as_str().unwrap().contains("Huawei"), "{android}");
        let stats = sim.stats();
        assert_eq!((stats.of(Protocol::Fcm).delivered(), stats.of(Protocol::Adm).delivered()), (4, 1), "{stats:?}");
    })
    .await;
}

#[tokio::test]
async fn what_amazon_takes_says_nothing_about_google() {
    on_each_database(async |app| {
        let refusing = Faults { refuse_credentials: BTreeSet::from([Protocol::Fcm]), ..Faults::default() };
        let sim = simulator(&app, refusing).await;
        configure(&app, "fcm", &google(&sim)).await;
        configure(&app, "adm", &amazon(&sim.plain_url(Protocol::Adm))).await;
        register(&app, "android", &sim.device(Protocol::Fcm, 0), json!({})).await;
        push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let app_id = app_id(&app).await;
        let health = app.engine().sending().platform_health(app_id, &DeviceType::Android).await.unwrap().unwrap();
        for i in 1..4 {
            let by_amazon = json!({"android": {"delivery_type": "adm"}});
            register(&app, "android", &sim.device(Protocol::Adm, i), by_amazon).await;
        }
        push(&app, hello(&json!(["android"]))).await;
        for _ in 0..6 {
            app.advance(Duration::from_secs(60));
            app.step_all().await;
        }
        let still = app.engine().sending().platform_health(app_id, &DeviceType::Android).await.unwrap().unwrap();
        assert_eq!(still.since, health.since, "it was never taken for well");
    })
    .await;
}

#[tokio::test]
async fn amazon_is_paused_when_it_refuses_us_whoever_finds_out() {
    on_each_database(async |app| {
        let refusing = Faults { refuse_credentials: BTreeSet::from([Protocol::Adm]), ..Faults::default() };
        let sim = simulator(&app, refusing).await;
        configure(&app, "fcm", &google(&sim)).await;
        configure(&app, "adm", &amazon(&sim.plain_url(Protocol::Adm))).await;
        register(&app, "android", &sim.device(Protocol::Fcm, 0), json!({})).await;
        let by_amazon = json!({"android": {"delivery_type": "adm"}});
        register(&app, "android", &sim.device(Protocol::Adm, 1), by_amazon).await;
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let (engine, app_id) = (app.engine(), app_id(&app).await);
        assert!(engine.sending().platform_health(app_id, &DeviceType::Amazon).await.unwrap().is_some());
        assert!(engine.sending().platform_health(app_id, &DeviceType::Android).await.unwrap().is_none());
        let total = status(&app, &id).await["total"].clone();
        assert_eq!((&total["delivered"], &total["pending"]), (&json!(1), &json!(1)), "{total}");
    })
    .await;
}

#[tokio::test]
async fn nobody_waits_for_amazon_who_is_not_reached_through_it() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "fcm", &google(&sim)).await;
        configure(&app, "adm", &amazon(&amazon_with(Messages::Silent).await)).await;
        let by_amazon = json!({"android": {"delivery_type": "adm"}});
        let first = register(&app, "android", &sim.device(Protocol::Adm, 0), by_amazon).await;
        // More than are sent to Google at once at first.
        copy_channel(app.engine().store(), app_id(&app).await, first.parse().unwrap(), 300).await;
        register(&app, "android", &sim.device(Protocol::Fcm, 1), json!({})).await;
        push(&app, hello(&json!(["android"]))).await;
        let is_served = sim.wait_until(|stats| stats.of(Protocol::Fcm).delivered() == 1);
        let served = tokio::select! {
            _ = app.step_all() => panic!("Amazon does not answer"),
            served = tokio::time::timeout(PATIENCE, is_served) => served,
        };
        served.expect("the device that Google reaches does not wait for those that Amazon reaches");
    })
    .await;
}

#[tokio::test]
async fn what_a_provider_says_is_kept_in_500_characters_that_can_be_stored_and_shown() {
    on_each_database(async |app| {
        configure(&app, "adm", &amazon(&amazon_with(Messages::Refused).await)).await;
        register(&app, "amazon", "a", json!({})).await;
        let id = push(&app, hello(&json!(["amazon"]))).await;
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["failed"]), (&json!("done"), &json!(1)), "{done}");
        let reason = done["platforms"]["amazon"]["reason"].as_str().unwrap();
        assert_eq!(reason.chars().count(), 500, "{reason}");
        assert!(reason.starts_with("Amazon answered 400 Bad Request: a  [31mb") && reason.ends_with('…'), "{reason}");
    })
    .await;
}
