//! Events that anybody with the key of an app can send, in order to have its webhooks disabled: a burst disables none, days in
//! which nothing is taken do.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::event_receiver::{EventReceiver, Reaction};

use crate::crowd::Crowd;
use crate::webhook_room::{cause, name};
use crate::webhooks::{DEVICES, create, show, tag};

const HOUR: Duration = Duration::from_secs(60 * 60);
/// No webhook keeps more dead letters.
const MOST_DEAD: u64 = 10_000;

async fn hours_pass(app: &TestApp, n: u32) {
    for _ in 0..n {
        app.advance(HOUR);
        app.step_all().await;
    }
}

#[tokio::test]
async fn a_burst_of_refused_events_disables_no_webhook() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["CUSTOM"]).await;
        receiver.react(|event| if name(event) == "poison" { Reaction::Status(400) } else { Reaction::Status(200) });
        let poison = vec![(crowd.id("a"), "poison"); 100];
        for _ in 0..150 {
            cause(&app, &poison).await;
        }
        cause(&app, &[(crowd.id("b"), "honest")]).await;
        app.step_all().await;
        for _ in 0..60 {
            app.advance(Duration::from_secs(5));
            app.step_all().await;
        }
        let taken = receiver.taken();
        let names: Vec<&str> = taken.iter().map(name).collect();
        assert_eq!(names, ["honest"], "it is not held up by what came before it");
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["enabled"], &shown["state"]), (&json!(true), &json!("failing")), "{shown}");
        let (n_dead, n_given_up) = (shown["dead_letters"].as_u64().unwrap(), shown["given_up"].as_u64().unwrap());
        assert!(n_given_up > MOST_DEAD && n_dead == MOST_DEAD, "{shown}");
        // The last ones are kept.
        let listed = app.operator().get(&format!("{webhook}/dead?limit=1")).await.expect(200);
        let first: u64 =
            listed["dead_letters"][0]["offset"].as_str().unwrap().split('.').next().unwrap().parse().unwrap();
        assert!(first > n_given_up - MOST_DEAD, "{listed}");
    })
    .await;
}

/// Answers that say nothing about the event, and answers that do.
#[tokio::test]
async fn a_webhook_that_takes_nothing_for_five_days_is_disabled() {
    for status in [500, 400, 404] {
        on_each_database(async |app| {
            let crowd = Crowd::register(&app, &DEVICES).await;
            let receiver = EventReceiver::start().await;
            let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
            receiver.react(move |_| Reaction::Status(status));
            let wait = async |days: u32| {
                for day in 0..days {
                    tag(&app, crowd.id("b"), &format!("{day} of {days}, {status}")).await;
                    app.step_all().await;
                    hours_pass(&app, 24).await;
                }
            };
            wait(4).await;
            let shown = show(&app, &webhook).await;
            assert_eq!((&shown["state"], &shown["enabled"]), (&json!("failing"), &json!(true)), "{shown}");
            assert_eq!(shown["nothing_taken_since"], "2024-05-01T12:00:00", "{shown}");
            wait(2).await;
            let shown = show(&app, &webhook).await;
            assert_eq!((&shown["state"], &shown["enabled"]), (&json!("disabled"), &json!(false)), "{shown}");
            let reason = shown["reason"].as_str().unwrap();
            assert!(reason.contains("since 2024-05-01T12:00:00") && reason.contains(&status.to_string()), "{reason}");

            // What happened meanwhile is sent when it is enabled again, and it has five days again.
            app.operator().patch(&webhook, json!({"enabled": true})).await.expect(200);
            app.step_all().await;
            assert_eq!(show(&app, &webhook).await["enabled"], true);
            receiver.react(|_| Reaction::Status(200));
            hours_pass(&app, 1).await;
            let shown = show(&app, &webhook).await;
            assert_eq!((&shown["state"], &shown["nothing_taken_since"]), (&json!("live"), &Value::Null), "{shown}");
            assert!(!receiver.taken().is_empty());
        })
        .await;
    }
}

#[tokio::test]
async fn one_event_a_day_keeps_a_webhook_enabled() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["CUSTOM"]).await;
        receiver.react(|event| if name(event) == "poison" { Reaction::Status(400) } else { Reaction::Status(200) });
        for _ in 0..8 {
            cause(&app, &vec![(crowd.id("a"), "poison"); 20]).await;
            cause(&app, &[(crowd.id("b"), "honest")]).await;
            app.step_all().await;
            hours_pass(&app, 24).await;
        }
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["enabled"], &shown["delivered"]), (&json!(true), &json!(8)), "{shown}");
        assert!(shown["dead_letters"].as_u64().unwrap() > 0, "{shown}");
    })
    .await;
}
