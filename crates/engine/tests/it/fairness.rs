//! Who is served next when more is due than can be worked on: with everything running at once, as it does in the service.

use std::time::Duration;

use model::app::Mode;
use model::ids::AppId;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Credentials;
use testkit::receiver::OpenReceiver;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use crate::devices::{push, register, register_open, status};

async fn configure(app: &TestApp, of: &Credentials, platform: &str, receiver: &OpenReceiver) {
    let path = format!("/operator/apps/{}/platforms/open::{platform}", of.key);
    let config = json!({"url": receiver.url(), "auth": {"type": "none"}, "validate": false});
    app.operator().put(&path, config).await.expect(200);
}

fn message(device_types: Value, alert: &str) -> Value {
    let mut push = json!({"audience": "all", "notification": {"alert": alert}});
    push["device_types"] = device_types;
    push
}

#[tokio::test(flavor = "multi_thread")]
async fn two_busy_apps_do_not_stop_the_deliveries_of_a_third() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        receiver.hold();
        let platforms: Vec<String> = (0..5).map(|n| format!("slow{n}")).collect();
        for _ in 0..2 {
            let busy = app.another_app(Mode::Development).await;
            let master = app.nobody().basic(&busy.key, &busy.master_secret);
            for platform in &platforms {
                configure(&app, &busy, platform, &receiver).await;
                let open = json!({"open_platform_name": platform});
                let channel = json!({"type": "open", "opt_in": true, "address": "lobby", "open": open});
                master.post("/api/channels/open", json!({ "channel": channel })).await.expect(200);
            }
            let all: Value = platforms.iter().map(|platform| format!("open::{platform}")).collect();
            for _ in 0..4 {
                master.post("/api/push", message(all.clone(), "Slow")).await.expect(200);
            }
        }
        register(&app, "android", "A1", json!({})).await;
        let (stop, stops) = watch::channel(false);
        let worker = tokio::spawn(app.engine().worker().run(stops));
        receiver.wait_for(20).await;
        let quick = push(&app, message(json!(["android"]), "Quick")).await;
        let path = format!("/api/sandbox?push_id={quick}&wait=30");
        let delivered = app.master().get(&path).await.expect(200)["deliveries"].clone();
        assert_eq!(delivered.as_array().unwrap().len(), 1);
        assert_eq!(receiver.received().len(), 20, "each of the busy ones has as many as an app may have");
        receiver.release();
        stop.send_replace(true);
        worker.await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_push_goes_out_between_two_blocks_of_a_large_one() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        configure(&app, &app.app, "kiosk", &receiver).await;
        receiver.hold();
        let mut kiosks = Vec::new();
        for n in 0..6 {
            kiosks.push(register_open(&app, "kiosk", &format!("kiosk-{n}"), json!({})).await);
            // As if a block were full.
            let skip =
                |tx: &mut store::Tx<'_>| tx.execute("update app_numbers set next_ordinal = next_ordinal + 65536", &[]);
            app.engine().store().write(AppId(0), skip).await.unwrap();
        }
        push(&app, message(json!(["open::kiosk"]), "Large")).await;
        let (stop, stops) = watch::channel(false);
        let worker = tokio::spawn(app.engine().worker().run(stops));
        receiver.wait_for(2).await;
        app.advance(Duration::from_secs(1));
        for _ in 0..2 {
            let mut small = message(json!(["open::kiosk"]), "Small");
            small["audience"] = json!({"open_channel": kiosks[0]});
            let small = push(&app, small).await;
            while status(&app, &small).await["state"] != "sending" {
                tokio::task::yield_now().await;
            }
        }
        let alerts = || receiver.received().iter().map(|request| request.body.to_string()).collect::<Vec<_>>();
        for (n_answered, expected) in [(1, "Small"), (2, "Large"), (3, "Small"), (4, "Large")] {
            receiver.hold_after(n_answered);
            receiver.wait_for(n_answered + 2).await;
            let next = &alerts()[n_answered + 1];
            assert!(next.contains(expected), "after {n_answered}: {next}");
        }
        receiver.release();
        stop.send_replace(true);
        worker.await.unwrap();
    })
    .await;
}

/// A push to a thousand is one to many.
const CROWD: usize = 1500;
/// For what must happen by itself; when it does not, the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(120);

async fn until(app: &TestApp, push: &str, state: &str) {
    let is_reached = async {
        while status(app, push).await["state"] != state {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, is_reached).await.unwrap_or_else(|_| panic!("the push should be {state}"));
}

#[tokio::test]
async fn a_push_to_a_few_needs_nothing_of_the_thread_that_sends_to_a_crowd() {
    on_each_database(async |app| {
        let device = |n: usize| json!({"device_type": "ios", "opt_in": true, "push_address": format!("{n:064X}")});
        let lines: String = (0..CROWD).map(|n| format!("{}\n", device(n))).collect();
        app.master().post("/api/channels/import", lines).await.expect(200);
        let mut phones = Vec::new();
        for address in ["A1", "A2"] {
            phones.push(register(&app, "android", address, json!({})).await);
            // In two parts of the push.
            let skip =
                |tx: &mut store::Tx<'_>| tx.execute("update app_numbers set next_ordinal = next_ordinal + 65536", &[]);
            app.engine().store().write(AppId(0), skip).await.unwrap();
        }

        // Nobody turns what is on it.
        let busy = Builder::new_current_thread().enable_all().build().unwrap();
        let (stop, stops) = watch::channel(false);
        let worker = app.engine().worker().with_long_jobs_on(busy.handle().clone());
        let working = tokio::spawn(worker.run(stops));
        let large = push(&app, message(json!(["ios"]), "Large")).await;
        until(&app, &large, "sending").await;
        let mut small = message(json!(["android"]), "Small");
        small["audience"] = json!({"android_channel": phones});
        let small = push(&app, small).await;
        until(&app, &small, "done").await;
        let delivered =
            app.master().get(&format!("/api/sandbox?push_id={small}")).await.expect(200)["deliveries"].clone();
        assert_eq!(delivered.as_array().unwrap().len(), 2);
        assert_eq!(status(&app, &large).await["state"], "sending");

        let (turned, ended) = oneshot::channel::<()>();
        let turning = tokio::task::spawn_blocking(move || busy.block_on(ended));
        until(&app, &large, "done").await;
        stop.send_replace(true);
        working.await.unwrap();
        drop(turned);
        turning.await.unwrap().unwrap_err();
    })
    .await;
}
