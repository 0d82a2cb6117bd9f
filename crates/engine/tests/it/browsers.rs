//! Browsers name their push services themselves: one that never answers or refuses everything holds up nobody else's browsers.

use model::channel::WebSubscription;
use serde_json::{Value, json};
use sim::{Faults, Protocol, Simulator};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel_to;

use crate::devices::{push, status};
use crate::provider::{app_id, configure, hello, n_installed, simulator};

const N_HONEST: u32 = 60;
const N_HOSTILE: u32 = 300;

async fn browsers(app: &TestApp, keys: &WebSubscription, addresses: &[String]) {
    let web = json!({"subscription": {"p256dh": keys.p256dh, "auth": keys.auth}});
    let channel = json!({"device_type": "web", "opt_in": true, "push_address": addresses[0], "web": web});
    let registered = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
    let original = registered["channel_id"].as_str().unwrap().parse().unwrap();
    copy_channel_to(app.engine().store(), app_id(app).await, original, &addresses[1..]).await;
}

async fn honest(app: &TestApp, sim: &Simulator) {
    let endpoint = json!({"url": sim.url(Protocol::WebPush), "ca": sim.ca_pem()});
    configure(app, "webpush", &json!({"subject": "mailto:push@example.com", "endpoint": endpoint})).await;
    let addresses: Vec<String> = (0..N_HONEST).map(|n| sim.web_subscription(n.into()).0).collect();
    browsers(app, &sim.web_subscription(0).1, &addresses).await;
}

fn arrived(sim: &Simulator) -> u64 {
    sim.stats().of(Protocol::WebPush).delivered()
}

async fn notices(app: &TestApp) -> Value {
    app.operator().get("/operator/platforms/notices").await.expect(200)["notices"].clone()
}

#[tokio::test]
async fn a_push_service_that_never_answers_delays_no_other_browser() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults { silent_prefix: "evil".to_owned(), ..Faults::default() }).await;
        // They are the first to be sent to. The simulator takes the place of their service.
        let addresses: Vec<String> =
            (0..N_HOSTILE).map(|n| format!("https://tarpit.example/webpush/evil-{n}")).collect();
        browsers(&app, &sim.web_subscription(0).1, &addresses).await;
        honest(&app, &sim).await;
        let id = push(&app, hello(&json!(["web"]))).await;
        let worker = app.engine().worker();
        assert!(worker.step().await.unwrap(), "the audience is resolved");
        let mut step = std::pin::pin!(worker.step());
        tokio::select! {
            biased;
            _ = sim.wait_until(|stats| stats.of(Protocol::WebPush).delivered() == u64::from(N_HONEST)) => {}
            _ = &mut step => panic!("everybody waited until the silent service was given up"),
        }
        assert!(step.await.unwrap());
        assert_eq!(status(&app, &id).await["total"]["delivered"], N_HONEST);

        // It rests now, and is not even asked.
        let n_unanswered = sim.stats().unanswered;
        assert!((1..=8).contains(&n_unanswered), "{n_unanswered}");
        for n in 2..=4 {
            push(&app, hello(&json!(["web"]))).await;
            app.step_all().await;
            assert_eq!(arrived(&sim), u64::from(N_HONEST) * n);
        }
        assert_eq!((sim.stats().unanswered, notices(&app).await), (n_unanswered, json!([])));
    })
    .await;
}

#[tokio::test]
async fn subscriptions_that_are_refused_pause_nothing() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults { unknown_prefix: "evil".to_owned(), ..Faults::default() }).await;
        let root = sim.url(Protocol::WebPush);
        let addresses: Vec<String> = (0..N_HOSTILE).map(|n| format!("{root}/webpush/evil-{n}")).collect();
        browsers(&app, &sim.web_subscription(0).1, &addresses).await;
        honest(&app, &sim).await;
        for n in 1..=10 {
            let id = push(&app, hello(&json!(["web"]))).await;
            app.step_all().await;
            let done = status(&app, &id).await;
            assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(N_HONEST)), "{done}");
            assert_eq!(notices(&app).await, json!([]));
            let n_left = if n < 10 { N_HONEST + N_HOSTILE } else { N_HONEST };
            assert_eq!(n_installed(&app).await, i64::from(n_left), "after {n} refusals");
        }
    })
    .await;
}

/// With another key pair every subscription is refused. Those that worked wait for the operator.
#[tokio::test]
async fn a_push_service_that_refuses_what_worked_is_left_alone() {
    on_each_database(async |app| {
        let sim = simulator(&app, Faults::default()).await;
        honest(&app, &sim).await;
        push(&app, hello(&json!(["web"]))).await;
        app.step_all().await;
        sim.set_faults(Faults { unknown_prefix: "browser".to_owned(), ..Faults::default() });
        let id = push(&app, hello(&json!(["web"]))).await;
        app.step_all().await;
        let waiting = status(&app, &id).await["total"].clone();
        let (n_failed, n_pending) = (waiting["failed"].as_u64().unwrap(), waiting["pending"].as_u64().unwrap());
        assert!(n_failed < 20 && n_failed + n_pending == u64::from(N_HONEST), "{waiting}");
        sim.set_faults(Faults::default());
        app.advance(std::time::Duration::from_secs(60));
        app.step_all().await;
        assert_eq!(status(&app, &id).await["total"]["delivered"], n_pending);
        assert_eq!(n_installed(&app).await, i64::from(N_HONEST));
    })
    .await;
}
