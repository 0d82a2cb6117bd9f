//! Webhooks that never answer, next to one that does, with everything running at once as it does in the service.

use std::time::Duration;

use engine::Worker;
use model::app::Mode;
use serde_json::json;
use testkit::app::on_each_engine;
use testkit::client::Credentials;
use testkit::event_receiver::{EventReceiver, Reaction};
use tokio::sync::watch;

/// Several times as many as one app has at work at once.
const APPS: usize = 3;
const SILENT: usize = 10;

#[tokio::test(flavor = "multi_thread")]
async fn silent_webhooks_of_several_apps_hold_up_no_other_app() {
    on_each_engine(async |app| {
        let register = async |credentials: &Credentials| {
            let device = app.nobody().basic(&credentials.key, &credentials.app_secret);
            let channel = json!({"device_type": "ios", "opt_in": true, "push_address": "x"});
            device.post("/api/channels", json!({ "channel": channel })).await.expect(201);
        };
        let forward = async |credentials: &Credentials, receiver: &EventReceiver| {
            let body = json!({"url": receiver.url(), "types": ["FIRST_OPEN"], "timeout_seconds": 60});
            app.operator().post(&format!("/operator/apps/{}/webhooks", credentials.key), body).await.expect(201);
        };
        let silent = EventReceiver::start().await;
        silent.react(|_| Reaction::Silence);
        for _ in 0..APPS {
            let other = app.another_app(Mode::Development).await;
            for _ in 0..SILENT {
                forward(&other, &silent).await;
            }
            register(&other).await;
        }
        let (stop, stopped) = watch::channel(false);
        let working = tokio::spawn(Worker::new(app.engine().clone()).run(stopped));
        let patience = Duration::from_secs(30);
        let most = tokio::time::timeout(patience, silent.wait_for(APPS * 8)).await;
        most.expect("the other apps do not hold up each other");

        let receiver = EventReceiver::start().await;
        forward(&app.app, &receiver).await;
        register(&app.app).await;
        tokio::time::timeout(patience, receiver.wait_for(1)).await.expect("an app waits for none of the others");
        drop(stop);
        working.abort();
        assert!(working.await.unwrap_err().is_cancelled());
    })
    .await;
}
