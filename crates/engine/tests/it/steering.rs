//! Pausing, resuming and canceling a push: in every state, across restarts, and while it is being sent.

use std::collections::BTreeSet;
use std::time::Duration;

use model::app::Mode;
use model::ids::ChannelId;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel;
use testkit::receiver::OpenReceiver;

use crate::devices::{push, reached, register, register_open, status};
use crate::provider::{hello, n_jobs};

/// More than may be under way or unrecorded at once.
const CROWD: usize = 9_000;

/// What the API says the push is after an order.
async fn order(app: &TestApp, id: &str, order: &str) -> Value {
    let reply = app.master().post(&format!("/api/push/{id}/{order}"), "").await.expect(200);
    assert!(reply["operation_id"].is_string(), "{reply}");
    reply["push"].clone()
}

async fn refused(app: &TestApp, id: &str, order: &str) -> String {
    let reply = app.master().post(&format!("/api/push/{id}/{order}"), "").await.expect(409);
    reply["error"].as_str().unwrap().to_owned()
}

/// An endpoint with a crowd of devices behind it.
async fn kiosks(app: &TestApp, n: usize) -> OpenReceiver {
    let receiver = OpenReceiver::start().await;
    let path = format!("/operator/apps/{}/platforms/open::kiosk", app.app.key);
    app.operator().put(&path, json!({"url": receiver.url(), "validate": false})).await.expect(200);
    let original: ChannelId = register_open(app, "kiosk", "lobby", json!({})).await.parse().unwrap();
    let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
    copy_channel(app.engine().store(), id, original, n - 1).await;
    receiver
}

/// Everybody who has been sent something; nobody twice.
fn served(receiver: &OpenReceiver) -> BTreeSet<String> {
    let values = receiver.values();
    let served: BTreeSet<_> = values.iter().map(|value| value["target"]["address"].to_string()).collect();
    assert_eq!(served.len(), values.len(), "nobody is served twice");
    served
}

/// Sends the push until the endpoint holds its first requests, gives the order, and lets the endpoint answer.
async fn order_in_flight(app: &TestApp, receiver: &OpenReceiver, id: &str, wanted: &str) -> Value {
    let worker = app.engine().worker();
    assert!(worker.step().await.unwrap(), "the audience is resolved");
    receiver.hold();
    let (_, ordered) = tokio::join!(worker.step(), async {
        receiver.wait_for(1).await;
        let ordered = order(app, id, wanted).await;
        receiver.release();
        ordered
    });
    app.step_all().await;
    ordered
}

#[tokio::test]
async fn a_push_can_be_paused_before_its_audience_is_chosen() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        register(&app, "android", "A2", json!({})).await;
        let id = push(&app, hello(&json!("all"))).await;
        assert_eq!(order(&app, &id, "pause").await["state"], "paused");
        assert_eq!(order(&app, &id, "pause").await["state"], "paused", "once more is once");
        app.step_all().await;
        let app = app.restart().await;
        app.advance(Duration::from_secs(86_400));
        app.step_all().await;
        let paused = status(&app, &id).await;
        assert_eq!((&paused["state"], &paused["total"]["pending"]), (&json!("paused"), &json!(2)));
        assert_eq!(reached(&app, &id).await.len(), 0);

        assert_eq!(order(&app, &id, "resume").await["state"], "sending");
        assert_eq!(order(&app, &id, "resume").await["state"], "sending");
        app.step_all().await;
        assert_eq!(reached(&app, &id).await.len(), 2);
        assert_eq!(status(&app, &id).await["state"], "done");
    })
    .await;
}

#[tokio::test]
async fn pausing_in_flight_lets_go_what_is_out_and_holds_the_rest() {
    on_each_database(async |app| {
        let receiver = kiosks(&app, CROWD).await;
        let id = push(&app, hello(&json!(["open::kiosk"]))).await;
        assert_eq!(order_in_flight(&app, &receiver, &id, "pause").await["state"], "paused");
        let app = app.restart().await;
        app.step_all().await;
        let early = served(&receiver).len();
        let paused = status(&app, &id).await;
        assert!(0 < early && early < CROWD, "{early} were out");
        assert_eq!((&paused["state"], &paused["total"]["delivered"]), (&json!("paused"), &json!(early)));
        assert_eq!(paused["total"]["pending"], json!(CROWD - early));

        order(&app, &id, "resume").await;
        app.step_all().await;
        assert_eq!(served(&receiver).len(), CROWD);
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(CROWD)));
    })
    .await;
}

#[tokio::test]
async fn canceling_in_flight_is_for_good() {
    on_each_database(async |app| {
        let receiver = kiosks(&app, CROWD).await;
        let id = push(&app, hello(&json!(["open::kiosk"]))).await;
        assert_eq!(order_in_flight(&app, &receiver, &id, "cancel").await["state"], "canceled");
        let early = served(&receiver).len();
        assert!(0 < early && early < CROWD, "{early} were out");
        let app = app.restart().await;
        app.advance(Duration::from_secs(86_400));
        app.step_all().await;
        assert_eq!(served(&receiver).len(), early);
        let total = status(&app, &id).await["total"].clone();
        assert_eq!((&total["delivered"], &total["canceled"]), (&json!(early), &json!(CROWD - early)));
        assert_eq!(total["pending"], 0);
        assert_eq!(n_jobs(&app).await, 0, "nothing is left of it");
        assert_eq!(order(&app, &id, "cancel").await["state"], "canceled", "once more is once");
        for wanted in ["pause", "resume"] {
            assert!(refused(&app, &id, wanted).await.contains("was canceled"));
        }
    })
    .await;
}

#[tokio::test]
async fn a_push_that_waits_can_be_canceled() {
    on_each_database(async |app| {
        let receiver = kiosks(&app, 3).await;
        // Before its audience is chosen, while it is paused, and while it waits for a platform.
        let accepted = push(&app, hello(&json!(["open::kiosk"]))).await;
        order(&app, &accepted, "cancel").await;
        let paused = push(&app, hello(&json!(["open::kiosk"]))).await;
        order(&app, &paused, "pause").await;
        app.step_all().await;
        order(&app, &paused, "cancel").await;
        receiver.answer_with([503]);
        let waiting = push(&app, hello(&json!(["open::kiosk"]))).await;
        app.step_all().await;
        assert_eq!(status(&app, &waiting).await["state"], "sending");
        order(&app, &waiting, "cancel").await;
        app.step_all().await;
        assert_eq!(n_jobs(&app).await, 0, "nothing is left of them");
        app.advance(Duration::from_secs(3600));
        app.step_all().await;
        assert_eq!(receiver.received().len(), 1, "the one that was answered with 503");
        for (id, canceled) in [(accepted, 0), (paused, 3), (waiting, 3)] {
            let total = status(&app, &id).await["total"].clone();
            assert_eq!((&total["canceled"], &total["delivered"]), (&json!(canceled), &json!(0)), "{total}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_paused_push_still_expires() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let mut body = hello(&json!(["ios"]));
        body["options"] = json!({"expiry": 600});
        let id = push(&app, body).await;
        order(&app, &id, "pause").await;
        app.step_all().await;
        app.advance(Duration::from_secs(599));
        app.step_all().await;
        assert_eq!(status(&app, &id).await["state"], "paused");
        app.advance(Duration::from_secs(1));
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["expired"]), (&json!("done"), &json!(1)));
        assert_eq!(done["platforms"]["ios"]["reason"], "The push was paused until it expired.");
        for wanted in ["pause", "resume", "cancel"] {
            assert!(refused(&app, &id, wanted).await.contains("is done"));
        }
    })
    .await;
}

#[tokio::test]
async fn only_the_owner_of_a_push_steers_it() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        let other = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&other.key, &other.master_secret);
        for wanted in ["pause", "resume", "cancel"] {
            let path = format!("/api/push/{id}/{wanted}");
            stranger.post(&path, "").await.expect(404);
            app.device().post(&path, "").await.expect(401);
            app.nobody().post(&path, "").await.expect(401);
            app.master().post(&format!("/api/push/no-id/{wanted}"), "").await.expect(404);
        }
        app.step_all().await;
        assert_eq!(status(&app, &id).await["state"], "done");
    })
    .await;
}
