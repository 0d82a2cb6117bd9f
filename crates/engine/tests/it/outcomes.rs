//! What the answers of a provider lead to: devices that are gone, credentials that are refused, and platforms that are paused until
//! they work again. Refused addresses: `refused_addresses`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use sim::{Faults, Protocol, Simulator};
use testkit::app::{TestApp, on_each_database};

use crate::devices::{push, status};
use crate::provider::{apple, configure, devices, hello, n_installed, simulator, work_off};

const MINUTE: Duration = Duration::from_secs(60);

fn refusing() -> Faults {
    Faults { refuse_credentials: BTreeSet::from([Protocol::Apns]), ..Faults::default() }
}

pub(crate) async fn total(app: &TestApp, id: &str) -> Value {
    status(app, id).await["total"].clone()
}

pub(crate) fn arrived(sim: &Simulator) -> u64 {
    let tally = sim.stats().of(Protocol::Apns);
    assert_eq!(tally.duplicates, 0, "{tally:?}");
    tally.delivered()
}

#[tokio::test]
async fn every_device_gets_its_message_over_one_provider() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, 300).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(300)), "{done}");
        assert_eq!(arrived(&sim), 300);
    })
    .await;
}

/// When the next message is tried was noted by a clock that was wrong.
#[tokio::test]
async fn a_platform_that_was_paused_by_a_wrong_clock_is_tried_again_in_time() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    on_each_database(async |app| {
        let sim = simulator(&app, refusing()).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, 50).await;
        app.clock().set_forward(DAY);
        let id = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        assert_eq!(total(&app, &id).await["pending"], 50);
        app.clock().set_forward(-DAY);
        sim.set_faults(Faults::default());
        app.step_all().await;
        app.advance(MINUTE);
        app.step_all().await;
        assert_eq!(total(&app, &id).await["delivered"], 50);
    })
    .await;
}

#[tokio::test]
async fn refused_credentials_pause_the_platform_until_they_work_again() {
    on_each_database(async |app| {
        let sim = simulator(&app, refusing()).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, 50).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        let paused = status(&app, &id).await;
        assert_eq!((&paused["state"], &paused["total"]["pending"]), (&json!("sending"), &json!(50)));
        assert!(paused["platforms"]["ios"]["reason"].as_str().unwrap().contains("Apple answered 403"), "{paused}");

        // One message a minute, whatever else is waiting, for longer than tries would last; a restart changes nothing.
        let another = push(&app, hello(&json!(["ios"]))).await;
        let app = app.restart().await;
        let before = sim.stats().of(Protocol::Apns).unauthorized;
        for _ in 0..30 {
            app.advance(MINUTE);
            app.step_all().await;
        }
        assert_eq!(sim.stats().of(Protocol::Apns).unauthorized - before, 30);
        assert_eq!(total(&app, &id).await["pending"], 50);

        sim.set_faults(Faults::default());
        app.advance(MINUTE);
        app.step_all().await;
        for id in [&id, &another] {
            let done = status(&app, id).await;
            assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(50)), "{done}");
        }
        assert_eq!(arrived(&sim), 100);
    })
    .await;
}

#[tokio::test]
async fn a_push_expires_while_its_platform_is_paused() {
    on_each_database(async |app| {
        let sim = simulator(&app, refusing()).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, 20).await;
        let mut body = hello(&json!(["ios"]));
        body["options"] = json!({"expiry": 90});
        let id = push(&app, body).await;
        app.step_all().await;
        app.advance(Duration::from_secs(90));
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["expired"]), (&json!("done"), &json!(20)), "{done}");
    })
    .await;
}

#[tokio::test]
async fn the_next_key_takes_over() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        // A key of somebody else.
        let other = simulator(&app, Faults::default()).await;
        let mut revoked = apple(&sim);
        revoked["key"] = json!(other.apns_key());
        configure(&app, "apns", &json!({"keys": [revoked, apple(&sim)]})).await;
        devices(&app, &sim, Protocol::Apns, 200).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(200)), "{done}");
        assert_eq!(arrived(&sim), 200);
        let refused = sim.stats().of(Protocol::Apns).unauthorized;

        push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        assert_eq!(sim.stats().of(Protocol::Apns).unauthorized, refused, "the refused key is not tried again");
    })
    .await;
}

#[tokio::test]
async fn whoever_registers_while_being_given_up_is_kept() {
    on_each_database(async |app| {
        let gone = Faults { gone: 1.0, latency: Duration::from_millis(300), ..Faults::default() };
        let sim = simulator(&app, gone).await;
        configure(&app, "apns", &apple(&sim)).await;
        let addresses = devices(&app, &sim, Protocol::Apns, 20).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        let worker = app.engine().worker();
        worker.step().await.unwrap();
        tokio::join!(worker.step(), async {
            sim.wait_until(|stats| stats.messages() > 0).await;
            app.advance(Duration::from_secs(1));
            let again = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": addresses[7]}});
            app.master().post("/api/channels", again).await.expect(200);
        })
        .0
        .unwrap();
        let total = total(&app, &id).await;
        assert_eq!((&total["gone"], &total["delivered"]), (&json!(20), &json!(0)), "{total}");
        assert_eq!(n_installed(&app).await, 1, "the one that came back");
    })
    .await;
}

#[tokio::test]
async fn a_provider_is_left_alone_for_as_long_as_it_asks() {
    on_each_database(async |app| {
        let busy = Faults { unavailable: 1.0, retry_after: Some(90), ..Faults::default() };
        let sim = simulator(&app, busy).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, 3000).await;
        let first = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        let asked = sim.stats().messages();
        assert!((1..3000).contains(&asked), "{asked} were asked before the rest was spared");
        // Not those of another push either, which come the same way.
        let second = push(&app, hello(&json!(["ios"]))).await;
        app.advance(Duration::from_secs(89));
        app.step_all().await;
        assert_eq!(sim.stats().messages(), asked);
        sim.set_faults(Faults::default());
        work_off(&app).await;
        for id in [&first, &second] {
            assert_eq!(total(&app, id).await["delivered"], 3000);
        }
        assert_eq!(arrived(&sim), 6000);
    })
    .await;
}

#[tokio::test]
async fn a_long_wait_is_told_of_at_once_and_ends_with_a_successful_test() {
    // One message is waited for by itself; of many, most are spared.
    for n_devices in [1, 200] {
        on_each_database(async |app| {
            let busy = Faults { unavailable: 1.0, retry_after: Some(3600), ..Faults::default() };
            let sim = simulator(&app, busy).await;
            configure(&app, "apns", &apple(&sim)).await;
            devices(&app, &sim, Protocol::Apns, n_devices).await;
            let id = push(&app, hello(&json!(["ios"]))).await;
            app.step_all().await;
            let notices = app.operator().get("/operator/platforms/notices").await.expect(200);
            let notices = notices["notices"].as_array().unwrap();
            assert_eq!(notices.len(), 1, "{notices:?}");
            assert_eq!((&notices[0]["type"], &notices[0]["platform"]), (&json!("waiting"), &json!("apns")));

            sim.set_faults(Faults::default());
            app.step_all().await;
            assert_eq!(total(&app, &id).await["delivered"], 0, "not before its time");
            let test = format!("/operator/apps/{}/platforms/apns/test", app.app.key);
            app.operator().post(&test, "").await.expect(200);
            app.step_all().await;
            assert_eq!(total(&app, &id).await["delivered"], n_devices);
        })
        .await;
    }
}

#[tokio::test]
async fn what_one_device_has_too_much_of_holds_up_no_other() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults { throttled: 0.3, retry_after: Some(90), ..Faults::default() }).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, 500).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        let early = arrived(&sim);
        assert!((250..450).contains(&early), "{early}");
        app.advance(Duration::from_secs(89));
        app.step_all().await;
        assert_eq!(arrived(&sim), early, "not before its time");
        work_off(&app).await;
        assert_eq!(total(&app, &id).await["delivered"], 500);
        assert_eq!(arrived(&sim), 500);
    })
    .await;
}
