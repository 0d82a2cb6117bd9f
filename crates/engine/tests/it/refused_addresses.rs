//! Addresses that a provider refuses: they condemn themselves and nobody else, unless many that worked before are refused at once.

use std::time::Duration;

use serde_json::{Value, json};
use sim::{Faults, Protocol, Simulator};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel_to;

use crate::devices::{push, register, status};
use crate::outcomes::{arrived, total};
use crate::provider::{app_id, apple, configure, devices, hello, n_installed, simulator};

const MINUTE: Duration = Duration::from_secs(60);

/// The platforms that the operator is told of.
async fn notices(app: &TestApp) -> Value {
    app.operator().get("/operator/platforms/notices").await.expect(200)["notices"].clone()
}

async fn push_to_all(app: &TestApp) -> String {
    let id = push(app, hello(&json!(["ios"]))).await;
    app.step_all().await;
    id
}

#[tokio::test]
async fn devices_that_worked_before_and_are_refused_in_bulk_pause_the_platform() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, 200).await;
        push_to_all(&app).await;
        let mut wrong = apple(&sim);
        wrong["topic"] = json!("com.example.another");
        configure(&app, "apns", &wrong).await;
        // What worked before is remembered in the database.
        let app = app.restart().await;
        let id = push_to_all(&app).await;
        let waiting = status(&app, &id).await;
        assert_eq!((&waiting["state"], &waiting["total"]["pending"]), (&json!("sending"), &json!(200)), "{waiting}");
        let reason = waiting["platforms"]["ios"]["reason"].as_str().unwrap();
        assert!(reason.contains("DeviceTokenNotForTopic"), "{reason}");
        assert_eq!(notices(&app).await[0]["type"], "paused");
        assert_eq!(n_installed(&app).await, 200);

        // Setting the right one is enough.
        configure(&app, "apns", &apple(&sim)).await;
        app.step_all().await;
        assert_eq!(total(&app, &id).await["delivered"], 200);
        assert_eq!(arrived(&sim), 400);
    })
    .await;
}

#[tokio::test]
async fn credentials_that_never_worked_uninstall_nobody() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        let mut wrong = apple(&sim);
        wrong["topic"] = json!("com.example.another");
        configure(&app, "apns", &wrong).await;
        devices(&app, &sim, Protocol::Apns, 30).await;
        for _ in 0..12 {
            let id = push_to_all(&app).await;
            let done = status(&app, &id).await;
            assert_eq!((&done["state"], &done["total"]["failed"]), (&json!("done"), &json!(30)), "{done}");
        }
        assert_eq!(n_installed(&app).await, 30);
        let told = notices(&app).await;
        assert_eq!(told[0]["type"], "waiting");
        assert!(told[0]["reason"].as_str().unwrap().contains("DeviceTokenNotForTopic"), "{told}");

        configure(&app, "apns", &apple(&sim)).await;
        let id = push_to_all(&app).await;
        assert_eq!((&total(&app, &id).await["delivered"], notices(&app).await), (&json!(30), json!([])));
    })
    .await;
}

/// A token as Apple's look, of no device.
fn made_up(n: u32) -> String {
    format!("fade{n:060x}")
}

fn with_made_up() -> Faults {
    Faults { unknown_prefix: "fade".to_owned(), ..Faults::default() }
}

async fn made_up_devices(app: &TestApp, n: u32) {
    let addresses: Vec<String> = (0..n).map(made_up).collect();
    let original = register(app, "ios", &addresses[0], json!({})).await.parse().unwrap();
    copy_channel_to(app.engine().store(), app_id(app).await, original, &addresses[1..]).await;
}

/// The attack of issue 19, small: made-up devices are the first to be sent to, and more than the honest ones.
#[tokio::test]
async fn made_up_devices_keep_nothing_from_honest_ones() {
    on_each_database(async |app| {
        let sim = simulator(&app, with_made_up()).await;
        configure(&app, "apns", &apple(&sim)).await;
        // Refusals count once the credentials have served somebody, and a checkpoint may come before the first honest device.
        register(&app, "ios", &sim.device(Protocol::Apns, 400), json!({})).await;
        push_to_all(&app).await;
        made_up_devices(&app, 700).await;
        devices(&app, &sim, Protocol::Apns, 400).await;
        for n in 1..=5 {
            let id = push_to_all(&app).await;
            let done = status(&app, &id).await;
            assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(401)), "{n}: {done}");
            assert_eq!(notices(&app).await, json!([]));
            assert_eq!(n_installed(&app).await, if n < 3 { 1101 } else { 401 }, "after {n} refusals");
        }
        assert_eq!(arrived(&sim), 1 + 5 * 401);
        assert_eq!(sim.stats().of(Protocol::Apns).rejected, 2100, "none was tried more than three times");
    })
    .await;
}

#[tokio::test]
async fn a_refused_token_is_given_up_after_three_refusals_in_a_row() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, 40).await;
        let bad = register(&app, "ios", &made_up(1), json!({})).await;
        // It works at first, and again after two refusals.
        for (faults, n_failed) in
            [(Faults::default(), 0), (with_made_up(), 1), (with_made_up(), 1), (Faults::default(), 0)]
        {
            sim.set_faults(faults);
            let id = push_to_all(&app).await;
            assert_eq!(total(&app, &id).await["failed"], n_failed);
        }
        sim.set_faults(with_made_up());
        for _ in 0..4 {
            push_to_all(&app).await;
        }
        assert_eq!(n_installed(&app).await, 41, "it worked, and may be refused by mistake for a day");
        app.advance(24 * 60 * MINUTE);
        push_to_all(&app).await;
        assert_eq!(n_installed(&app).await, 40);

        // Another address is a new beginning.
        let again = register(&app, "ios", &made_up(2), json!({})).await;
        assert_ne!(again, bad);
        push_to_all(&app).await;
        push_to_all(&app).await;
        let changed = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": made_up(3)}});
        app.device().put(&format!("/api/channels/{again}"), changed).await.expect(200);
        push_to_all(&app).await;
        push_to_all(&app).await;
        assert_eq!(n_installed(&app).await, 41);
        push_to_all(&app).await;
        assert_eq!(n_installed(&app).await, 40);
    })
    .await;
}

/// Addresses that took a message are a reason to suspect ourselves, so they must not be had for nothing.
#[tokio::test]
async fn channels_that_exchange_a_good_address_for_a_made_up_one_prove_nothing() {
    on_each_database(async |app| {
        let sim = simulator(&app, with_made_up()).await;
        configure(&app, "apns", &apple(&sim)).await;
        let mut channels = Vec::new();
        for n in 0..40 {
            channels.push(register(&app, "ios", &sim.device(Protocol::Apns, n), json!({})).await);
        }
        push_to_all(&app).await;
        for (n, channel) in channels.iter().enumerate() {
            let address = made_up(u32::try_from(n).unwrap());
            let changed = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": address}});
            app.device().put(&format!("/api/channels/{channel}"), changed).await.expect(200);
        }
        let id = push_to_all(&app).await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["failed"]), (&json!("done"), &json!(40)), "{done}");
        assert_eq!(notices(&app).await, json!([]));
    })
    .await;
}

#[tokio::test]
async fn one_bad_token_alone_proves_nothing() {
    on_each_database(async |app| {
        let sim = simulator(&app, with_made_up()).await;
        configure(&app, "apns", &apple(&sim)).await;
        register(&app, "ios", &made_up(0), json!({})).await;
        for _ in 0..4 {
            let id = push_to_all(&app).await;
            let done = status(&app, &id).await;
            assert_eq!((&done["state"], &done["total"]["failed"]), (&json!("done"), &json!(1)));
        }
        assert_eq!(n_installed(&app).await, 1);
    })
    .await;
}

/// Forty devices that took a message once and are refused from now on, such as those of a test build.
async fn stale_devices(app: &TestApp, sim: &Simulator) -> String {
    for n in 0..40 {
        register(app, "ios", &made_up(n), json!({"tags": ["stale"]})).await;
    }
    push_to_all(app).await;
    sim.set_faults(with_made_up());
    let body = json!({"audience": {"tag": "stale"}, "device_types": ["ios"], "notification": {"alert": "Hello"}});
    let id = push(app, body).await;
    app.step_all().await;
    id
}

#[tokio::test]
async fn stale_tokens_hold_up_no_other_push_for_long() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "apns", &apple(&sim)).await;
        let stale = stale_devices(&app, &sim).await;
        assert_eq!(total(&app, &stale).await["pending"], 40, "it may be us");
        // By itself it asks for one device at a time, and then gives up on them one by one.
        for _ in 0..8 {
            app.advance(MINUTE);
            app.step_all().await;
        }
        let failed = total(&app, &stale).await["failed"].as_u64().unwrap();
        assert!((1..4).contains(&failed), "{failed}");

        // Somebody else's message proves the platform, and those that are left prove nothing any more.
        let good = register(&app, "ios", &sim.device(Protocol::Apns, 1), json!({})).await;
        let mut to_good = hello(&json!(["ios"]));
        to_good["audience"] = json!({"ios_channel": good});
        let id = push(&app, to_good).await;
        app.advance(MINUTE);
        app.step_all().await;
        assert_eq!(total(&app, &id).await["delivered"], 1);
        let done = status(&app, &stale).await;
        assert_eq!((&done["state"], &done["total"]["failed"]), (&json!("done"), &json!(40)), "{done}");
        assert_eq!(n_installed(&app).await, 41, "nobody is uninstalled on suspicion");
        assert_eq!(notices(&app).await, json!([]));
    })
    .await;
}
