//! Phones that are reached by UnifiedPush: Android channels with an endpoint of a push service instead of an id of Google's.

use model::app::Mode;
use serde_json::{Value, json};
use sim::{Faults, Protocol, SimSettings, Simulator};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel_to;

use crate::devices::{deliveries, push, register, status};
use crate::provider::{app_id, configure, google, hello, simulator};

const N_HOSTILE: u32 = 20;

/// Registers phone number `n` of a simulator.
async fn phone(app: &TestApp, sim: &Simulator, n: u64) -> String {
    let (address, _) = sim.unified_push_subscription(n);
    register(app, "android", &address, details(sim)).await
}

fn details(sim: &Simulator) -> Value {
    let (_, keys) = sim.unified_push_subscription(0);
    let subscription = json!({"p256dh": keys.p256dh, "auth": keys.auth});
    json!({"android": {"delivery_type": "unifiedpush", "subscription": subscription}})
}

/// The key pair that requests to push services are signed with, led to the simulator.
async fn sign(app: &TestApp, sim: &Simulator) {
    let endpoint = json!({"url": sim.url(Protocol::UnifiedPush), "ca": sim.ca_pem()});
    configure(app, "webpush", &json!({"subject": "mailto:push@example.com", "endpoint": endpoint})).await;
}

async fn production(app: TestApp) -> TestApp {
    let credentials = app.another_app(Mode::Production).await;
    app.as_app(credentials)
}

async fn android(app: &TestApp, push: &str) -> Value {
    status(app, push).await["platforms"]["android"].clone()
}

fn taken(sim: &Simulator, protocol: Protocol) -> u64 {
    sim.stats().of(protocol).delivered()
}

#[tokio::test]
async fn a_phone_gets_what_the_app_would_get_from_google() {
    on_each_database(async |app| {
        let settings = SimSettings { clock: app.clock().clone(), decrypt: true, ..SimSettings::default() };
        let sim = Simulator::start(settings).await.unwrap();
        configure(&app, "fcm", &google(&sim)).await;
        sign(&app, &sim).await;
        register(&app, "android", &sim.device(Protocol::Fcm, 1), json!({})).await;
        let channel = phone(&app, &sim, 2).await;
        let override_ = json!({
            "title": "News", "collapse_key": "any key: \u{e4}", "delivery_priority": "high", "time_to_live": 3600,
            "extra": {"page": "7"},
        });
        let notification = json!({"alert": "Hello", "android": override_});
        let body = json!({"audience": "all", "device_types": ["android"], "notification": notification});
        let id = push(&app, body).await;
        app.step_all().await;
        let done = android(&app, &id).await;
        assert_eq!((&done["delivered"], &done["failed"]), (&json!(2), &json!(0)), "{done}");
        assert_eq!((taken(&sim, Protocol::Fcm), taken(&sim, Protocol::UnifiedPush)), (1, 1));

        let bodies = sim.deliveries(10);
        let of = |protocol| bodies.iter().find(|one| one.protocol == protocol).map(|one| one.body.as_str()).unwrap();
        let to_google: Value = serde_json::from_str(of(Protocol::Fcm)).unwrap();
        let mut to_phone: Value = serde_json::from_str(of(Protocol::UnifiedPush)).unwrap();
        const CHANNEL: &str = "com.urbanairship.push.APID";
        assert_eq!(to_phone[CHANNEL], channel.as_str());
        assert_eq!((&to_phone["com.urbanairship.push.ALERT"], &to_phone["page"]), (&json!("Hello"), &json!("7")));
        to_phone[CHANNEL] = to_google["message"]["data"][CHANNEL].clone();
        assert_eq!(to_phone, to_google["message"]["data"]);

        let headers = &sim.specimen(Protocol::UnifiedPush).unwrap().headers;
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert_eq!((header("ttl"), header("urgency")), ("3600", "high"));
        let topic = header("topic");
        assert!(topic.len() == 32 && topic.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)), "{topic}");
    })
    .await;
}

#[tokio::test]
async fn without_google_phones_are_reached_and_others_fail_with_the_reason() {
    on_each_database(async |app| {
        let app = production(app).await;
        let sim = simulator(&app, Faults::default()).await;
        let id_of_google = "fGw0qy4TQfmX3gW:APA91bHun4MxP5egoKMwt2KZFBaFUH";
        register(&app, "android", id_of_google, json!({})).await;
        sign(&app, &sim).await;
        phone(&app, &sim, 1).await;
        // A connection is no reason to leave out a phone that sleeps.
        let mut live = details(&sim);
        live["live"] = json!(true);
        register(&app, "android", &sim.unified_push_subscription(2).0, live).await;
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let done = android(&app, &id).await;
        assert_eq!((&done["delivered"], &done["failed"]), (&json!(2), &json!(1)), "{done}");
        assert!(done["reason"].as_str().unwrap().contains("no credentials"), "{done}");
        assert_eq!(taken(&sim, Protocol::UnifiedPush), 2);

        let unsigned = format!("/operator/apps/{}/platforms/webpush", app.app.key);
        app.operator().delete(&unsigned).await.expect(204);
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let done = android(&app, &id).await;
        // The phone with a connection is reached over that.
        assert_eq!((&done["delivered"], &done["failed"]), (&json!(1), &json!(2)), "{done}");
        assert_eq!(taken(&sim, Protocol::UnifiedPush), 2);
    })
    .await;
}

#[tokio::test]
async fn a_development_app_keeps_in_the_sandbox_what_it_has_no_way_for() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        register(&app, "android", "typed by somebody", json!({})).await;
        phone(&app, &sim, 1).await;
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let kept = deliveries(&app, &id).await;
        let mut transports: Vec<_> = kept.iter().map(|one| one["transport"].as_str().unwrap()).collect();
        transports.sort_unstable();
        assert_eq!(transports, ["fcm", "unifiedpush"]);
        let to_phone = kept.iter().find(|one| one["transport"] == "unifiedpush").unwrap();
        assert_eq!(to_phone["request"]["url"], sim.unified_push_subscription(1).0, "{to_phone}");
        assert_eq!(to_phone["request"]["body"]["com.urbanairship.push.ALERT"], "Hello", "{to_phone}");

        sign(&app, &sim).await;
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let kept = deliveries(&app, &id).await;
        assert_eq!((kept.len(), &kept[0]["transport"]), (1, &json!("fcm")), "{kept:?}");
        assert_eq!((taken(&sim, Protocol::UnifiedPush), &android(&app, &id).await["delivered"]), (1, &json!(2)));
    })
    .await;
}

#[tokio::test]
async fn a_phone_whose_registration_has_ended_is_uninstalled() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults { gone_addresses: ["phone-1".to_owned()].into(), ..Faults::default() }).await;
        sign(&app, &sim).await;
        let gone = phone(&app, &sim, 1).await;
        let there = phone(&app, &sim, 2).await;
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let done = android(&app, &id).await;
        assert_eq!((&done["delivered"], &done["gone"]), (&json!(1), &json!(1)), "{done}");
        for (channel, is_installed) in [(gone, false), (there, true)] {
            let shown = app.master().get(&format!("/api/channels/{channel}")).await.expect(200);
            assert_eq!(shown["channel"]["installed"], is_installed, "{shown}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_push_service_that_never_answers_delays_no_other_device() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults { silent_prefix: "evil".to_owned(), ..Faults::default() }).await;
        configure(&app, "fcm", &google(&sim)).await;
        sign(&app, &sim).await;
        // They are the first to be sent to. The simulator takes the place of their service.
        let hostile: Vec<_> = (0..N_HOSTILE).map(|n| format!("https://tarpit.example/up/evil-{n}")).collect();
        let first = register(&app, "android", &hostile[0], details(&sim)).await;
        let (store, id) = (app.engine().store(), app_id(&app).await);
        copy_channel_to(store, id, first.parse().unwrap(), &hostile[1..]).await;
        register(&app, "android", &sim.device(Protocol::Fcm, 1), json!({})).await;
        phone(&app, &sim, 1).await;
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let waiting = android(&app, &id).await;
        assert_eq!((&waiting["delivered"], &waiting["pending"]), (&json!(2), &json!(N_HOSTILE)), "{waiting}");
    })
    .await;
}
