//! Webhooks that never answer, next to one that does, with everything running at once as it does in the service.

use std::time::Duration;

use model::app::Mode;
use serde_json::json;
use testkit::app::on_each_database;
use testkit::client::Credentials;
use testkit::event_receiver::{EventReceiver, Reaction};
use tokio::sync::watch;

const APPS: usize = 3;
/// All that an app can have, but one.
const SILENT: usize = 19;
const GIVEN_UP_AFTER: Duration = Duration::from_secs(60);
/// Whoever waits for those that are silent waits for longer.
const PATIENCE: Duration = Duration::from_secs(50);

#[tokio::test(flavor = "multi_thread")]
async fn silent_webhooks_hold_up_nobody_in_their_own_app_or_in_others() {
    on_each_database(async |app| {
        let register = async |credentials: &Credentials, address: &str| {
            let device = app.nobody().basic(&credentials.key, &credentials.app_secret);
            let channel = json!({"device_type": "ios", "opt_in": true, "push_address": address});
            device.post("/api/channels", json!({ "channel": channel })).await.expect(201);
        };
        let forward = async |credentials: &Credentials, receiver: &EventReceiver| {
            let body =
                json!({"url": receiver.url(), "types": ["FIRST_OPEN"], "timeout_seconds": GIVEN_UP_AFTER.as_secs()});
            app.operator().post(&format!("/operator/apps/{}/webhooks", credentials.key), body).await.expect(201);
        };
        let silent = EventReceiver::start().await;
        silent.react(|_| Reaction::Silence);
        let mut others = Vec::new();
        for _ in 0..APPS {
            let other = app.another_app(Mode::Development).await;
            for _ in 0..SILENT {
                forward(&other, &silent).await;
            }
            register(&other, "first").await;
            others.push(other);
        }
        let (stop, stopped) = watch::channel(false);
        let working = tokio::spawn(app.engine().worker().run(stopped));
        let most = tokio::time::timeout(PATIENCE, silent.wait_for(APPS * SILENT)).await;
        most.expect("none of them waits for another");

        let receiver = EventReceiver::start().await;
        for (n, of) in others.iter().chain([&app.app]).enumerate() {
            forward(of, &receiver).await;
            register(of, "second").await;
            let came = tokio::time::timeout(PATIENCE, receiver.wait_for(n + 1)).await;
            came.expect("neither does one that answers, in whichever app");
        }
        drop(stop);
        working.abort();
        assert!(working.await.unwrap_err().is_cancelled());
    })
    .await;
}
