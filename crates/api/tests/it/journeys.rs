//! Journeys: servers let channels enter and leave them, and pipelines send accordingly.

mod entrances;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::ids::AppId;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use store::{Error, Tx};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::personalization::{kept, register};
use crate::privacy::events;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A pipeline that sends an hour after its journey was entered, unless it is left before.
fn pipeline() -> Value {
    let selects = |event: &str| {
        let name = json!({"key": "name", "value": {"equals": event}});
        let journey = json!({"key": "triggering_id", "scope": "properties", "value": {"equals": "Welcome"}});
        json!({"custom_event": {"and": [name, journey]}})
    };
    let push = json!({"audience": "triggered", "device_types": "all", "options": {"personalization": true},
                      "notification": {"alert": "Your {{item}}"}});
    json!({
        "name": "Welcome", "enabled": true, "immediate_trigger": selects("journey_entered"),
        "cancellation_trigger": selects("journey_exited"), "outcome": {"push": push, "delay": 3600},
    })
}

async fn create(app: &TestApp) {
    app.master().post("/api/pipelines", pipeline()).await.expect(201);
}

async fn enter(app: &TestApp, audience: Value, entrance: Option<&str>) {
    let mut body =
        json!({"audience": audience, "triggering_id": ["Welcome", "other"], "global_attributes": {"item": "Boots"}});
    if let Some(entrance) = entrance {
        body["entrance_id"] = json!(entrance);
    }
    let answer = app.master().post("/api/journeys/trigger/", body).await.expect(200);
    assert!(answer["ok"] == true && answer["operation_id"].is_string(), "{answer}");
    app.step_all().await;
}

#[tokio::test]
async fn those_who_enter_a_journey_get_its_message_with_its_values() {
    on_each_database(async |app| {
        create(&app).await;
        let kim = register(&app, "ios", "A1", json!({"plan": "gold"})).await;
        let lee = register(&app, "android", "F1", json!({})).await;
        enter(&app, json!({"attribute": "plan", "operator": "equals", "value": "gold"}), None).await;
        assert!(kept(&app).await.is_empty(), "not before the hour is over");
        app.advance(HOUR);
        app.step_all().await;
        let got = kept(&app).await;
        assert_eq!((got.len(), &got[&kim]["aps"]["alert"]), (1, &json!("Your Boots")));
        assert!(!got.contains_key(&lee));
        // Nobody of the audience is there, which is no mistake.
        enter(&app, json!({"named_user": "nobody"}), None).await;
        app.master().post("/api/journeys/exit", json!({"triggering_id": "unheard"})).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn what_is_known_of_a_device_goes_before_the_values_of_a_journey() {
    on_each_database(async |app| {
        create(&app).await;
        let kim = register(&app, "ios", "A1", json!({"item": "Skis"})).await;
        let lee = register(&app, "ios", "A2", json!({})).await;
        enter(&app, json!("all"), None).await;
        app.advance(HOUR);
        app.step_all().await;
        let got = kept(&app).await;
        assert_eq!(got[&kim]["aps"]["alert"], "Your Skis");
        assert_eq!(got[&lee]["aps"]["alert"], "Your Boots");
    })
    .await;
}

#[tokio::test]
async fn those_who_leave_a_journey_get_nothing_more() {
    on_each_database(async |app| {
        create(&app).await;
        let kim = register(&app, "ios", "A1", json!({})).await;
        let lee = register(&app, "ios", "A2", json!({})).await;
        enter(&app, json!({"channel": kim}), None).await;
        enter(&app, json!({"channel": lee}), Some("second")).await;
        // Those who entered by a name stay.
        app.master().post("/api/journeys/exit", json!({"triggering_id": "Welcome"})).await.expect(200);
        app.step_all().await;
        app.advance(HOUR);
        app.step_all().await;
        let got = kept(&app).await;
        assert_eq!((got.len(), &got[&lee]["aps"]["alert"]), (1, &json!("Your Boots")));
        let exit = json!({"triggering_id": ["Welcome", "other"], "entrance_id": "second"});
        app.master().post("/api/journeys/exit", &exit).await.expect(200);
        app.master().post("/api/journeys/exit", &exit).await.expect(200);
        assert_eq!(row_counts(app.engine().store()).await["journey_entrance"], 1, "who is in the other journey");
        for _ in 0..91 {
            app.advance(DAY);
            app.step_all().await;
        }
        assert_eq!(row_counts(app.engine().store()).await["journey_entrance"], 0, "is forgotten in the end");
    })
    .await;
}

#[tokio::test]
async fn everybody_leaves_once_although_the_request_is_repeated_while_it_runs() {
    on_each_database(async |app| {
        for token in ["A1", "A2"] {
            register(&app, "ios", token, json!({})).await;
        }
        enter(&app, json!("all"), None).await;
        let (held, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let holding = {
            let (store, held, release) = (app.engine().store().clone(), Arc::clone(&held), Arc::clone(&release));
            let is_first_run = AtomicBool::new(true);
            let hold = move |_: &mut Tx<'_>| {
                if is_first_run.swap(false, Ordering::SeqCst) {
                    held.wait();
                    release.wait();
                }
                Ok::<_, Error>(())
            };
            tokio::spawn(async move { store.write(AppId(1), hold).await })
        };
        tokio::task::spawn_blocking(move || held.wait()).await.unwrap();
        let (master, exit) = (app.master(), json!({"triggering_id": "Welcome"}));
        let release_both = async {
            // Both have read who is in the journey, and wait to write.
            while app.engine().store().waiting().n_writes < 2 {
                tokio::task::yield_now().await;
            }
            tokio::task::spawn_blocking(move || release.wait()).await.unwrap();
        };
        let [first, repeated] = [(); 2].map(|()| master.post("/api/journeys/exit", &exit));
        let (first, repeated, ()) = tokio::join!(first, repeated, release_both);
        first.expect(200);
        repeated.expect(200);
        holding.await.unwrap().unwrap();
        assert_eq!(n_entered(&app).await, 2, "in the other journey");
        let exits = events(&app).await.lines().filter(|event| event.contains("journey_exited")).count();
        assert_eq!(exits, 2);
    })
    .await;
}

/// More than enter in one transaction, twice.
const CROWD: i64 = 2300;

async fn register_crowd(app: &TestApp) {
    let device = |n: i64| json!({"device_type": "ios", "opt_in": true, "push_address": format!("{n:064X}")});
    let lines: String = (0..CROWD).map(|n| format!("{}\n", device(n))).collect();
    app.master().post("/api/channels/import", lines).await.expect(200);
}

async fn n_entered(app: &TestApp) -> i64 {
    row_counts(app.engine().store()).await["journey_entrance"]
}

async fn n_sent(app: &TestApp) -> i64 {
    let months = "start=2024-01-01&end=2025-01-01&precision=MONTHLY";
    let sends = app.master().get(&format!("/api/reports/sends?{months}")).await.expect(200);
    sends["sends"].as_array().unwrap().iter().map(|row| row["ios"].as_i64().unwrap()).sum()
}

#[tokio::test]
async fn a_crowd_enters_and_leaves_in_the_order_of_the_requests() {
    on_each_database(async |app| {
        create(&app).await;
        register_crowd(&app).await;
        let body = json!({"audience": "all", "triggering_id": "Welcome", "global_attributes": {"item": "Boots"}});
        app.master().post("/api/journeys/trigger", &body).await.expect(200);
        // Neither is a channel that comes after the request meant by it, nor may what is asked later be done before.
        let late = register(&app, "ios", "AA", json!({})).await;
        let other = json!({"audience": {"channel": late}, "triggering_id": "other"});
        app.master().post("/api/journeys/trigger", &other).await.expect(200);
        assert_eq!(n_entered(&app).await, 0, "everything waits for its turn");
        app.step_all().await;
        assert_eq!(n_entered(&app).await, CROWD + 1);

        // Everybody who entered leaves, also with a request that is made while they enter once more.
        app.master().post("/api/journeys/trigger", &body).await.expect(200);
        app.master().post("/api/journeys/exit", json!({"triggering_id": ["Welcome", "unheard"]})).await.expect(200);
        app.step_all().await;
        assert_eq!(n_entered(&app).await, 1, "the one in the other journey");
        app.advance(HOUR);
        app.step_all().await;
        assert_eq!(n_sent(&app).await, 0);

        app.master().post("/api/journeys/trigger", &body).await.expect(200);
        app.step_all().await;
        app.advance(HOUR);
        app.step_all().await;
        assert_eq!(n_sent(&app).await, CROWD + 1, "with the channel that has come since");
        app.master().post("/api/journeys/exit", json!({"triggering_id": "Welcome"})).await.expect(200);
        app.step_all().await;
        assert_eq!(n_entered(&app).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_crowd_enters_once_however_often_the_request_is_repeated_or_its_values_are_long() {
    on_each_database(async |app| {
        register_crowd(&app).await;
        let names: Vec<String> = (0..10).map(|n| format!("journey-{n}")).collect();
        let body = json!({"audience": {"not": {"tag": "nobody"}}, "triggering_id": names[..2],
                          "global_attributes": {"text": "x".repeat(10_000)}});
        let once = async || {
            let request = app.master().request(Method::POST, "/api/journeys/trigger").header("idempotency-key", "once");
            let answer = app.master().send(request.body(Bytes::from(body.to_string())).unwrap()).await.expect(200);
            answer["operation_id"].as_str().unwrap().to_owned()
        };
        assert_eq!(once().await, once().await);
        app.step_all().await;
        assert_eq!(n_entered(&app).await, 2 * CROWD);
        let page = app.master().get("/api/events/newest?limit=1").await.expect(200);
        assert_eq!(page["events"][0]["type"], "CUSTOM", "{page}");
    })
    .await;
}

#[tokio::test]
async fn how_many_enter_at_once_follows_from_what_their_events_take() {
    on_each_database(async |app| {
        let trigger = async |journeys: &str| {
            let names: Vec<String> = (0..10).map(|n| format!("{journeys}-{n}")).collect();
            let body =
                json!({"audience": "all", "triggering_id": names, "global_attributes": {"text": "x".repeat(65_000)}});
            app.master().post("/api/journeys/trigger", body).await.expect(200);
        };
        for n in 0..12 {
            register(&app, "ios", &format!("AA{n:02}"), json!({})).await;
        }
        trigger("few").await;
        assert_eq!(n_entered(&app).await, 12 * 10);
        register(&app, "ios", "AA12", json!({})).await;
        trigger("more").await;
        assert_eq!(n_entered(&app).await, 12 * 10, "one more waits, and so do all");
        app.step_all().await;
        assert_eq!(n_entered(&app).await, 12 * 10 + 13 * 10);
    })
    .await;
}

#[tokio::test]
async fn those_who_are_meant_when_a_request_comes_enter_whatever_happens_meanwhile() {
    on_each_database(async |app| {
        register_crowd(&app).await;
        let segment = json!({"display_name": "Everybody", "criteria": {"not": {"tag": "left"}}});
        let made = app.master().post("/api/segments", segment).await.expect(201);
        let id = made["segment_id"].as_str().unwrap();
        let body = json!({"audience": {"segment": id}, "triggering_id": "gone"});
        app.master().post("/api/journeys/trigger", body).await.expect(200);
        let tags = json!({"audience": {"ios_channel": channels(&app).await[..2]}, "add": {"device": ["left"]}});
        app.master().post("/api/channels/tags", tags).await.expect(200);
        app.master().delete(&format!("/api/segments/{id}")).await.expect(204);
        app.step_all().await;
        assert_eq!(n_entered(&app).await, CROWD);
        let documents = row_counts(app.engine().store()).await["document"];
        let body = json!({"audience": {"not": {"tag": "left"}}, "triggering_id": "there"});
        app.master().post("/api/journeys/trigger", &body).await.expect(200);
        app.step_all().await;
        assert_eq!(n_entered(&app).await, CROWD + CROWD - 2);
        assert_eq!(
            row_counts(app.engine().store()).await["document"],
            documents,
            "nothing is kept of a request that is done"
        );
    })
    .await;
}

async fn channels(app: &TestApp) -> Vec<String> {
    let page = app.master().get("/api/channels?limit=10").await.expect(200);
    page["channels"].as_array().unwrap().iter().map(|one| one["channel_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_request_that_cannot_be_read_holds_up_no_other() {
    on_each_database(async |app| {
        register_crowd(&app).await;
        let id = format!("{:020}-{}", 0, "0190b1c5-5c7e-7000-8000-000000000000");
        let now = app.clock().now();
        let spoil = move |tx: &mut Tx<'_>| documents::put(tx, AppId(1), DocumentKind::JourneyRequest, &id, "{}", now);
        app.engine().store().write(AppId(1), spoil).await.unwrap();
        app.master()
            .post("/api/journeys/trigger", json!({"audience": "all", "triggering_id": "there"}))
            .await
            .expect(200);
        app.step_all().await;
        assert_eq!(n_entered(&app).await, CROWD);
        app.master().post("/api/journeys/exit", json!({"triggering_id": "there"})).await.expect(200);
        app.step_all().await;
        assert_eq!(n_entered(&app).await, 0);
    })
    .await;
}

#[tokio::test]
async fn journeys_are_for_servers() {
    on_each_database(async |app| {
        let body = json!({"audience": "all", "triggering_id": "Welcome"});
        app.device().post("/api/journeys/trigger", &body).await.expect(401);
        app.device().post("/api/journeys/exit", json!({"triggering_id": "Welcome"})).await.expect(401);
    })
    .await;
}
