//! `Idempotency-Key`: a request is carried out once, however often it is sent.

use bytes::Bytes;
use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use testkit::app::on_each_engine;
use testkit::client::{Caller, Reply};

async fn post(caller: &Caller, path: &str, key: &str, body: &Value) -> Reply {
    let request = caller.request(Method::POST, path).header("idempotency-key", key);
    caller.send(request.body(Bytes::from(body.to_string())).unwrap()).await
}

fn push(alert: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}})
}

#[tokio::test]
async fn repeats_get_the_first_answer_on_every_route_that_sends_or_creates() {
    on_each_engine(async |app| {
        let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
        let open = json!({"channel": {"type": "open", "opt_in": true, "address": "a",
                          "open": {"open_platform_name": "fridge"}}});
        let rotate = format!("/operator/apps/{}/rotate", app.app.key);
        let table = [
            (app.master(), "/api/push", push("Hi")),
            (app.device(), "/api/channels", device),
            (app.master(), "/api/channels/open", open),
            (app.operator(), "/operator/apps", json!({"name": "New", "mode": "production"})),
            (app.operator(), &rotate, json!({"secret": "app"})),
        ];
        for (caller, path, body) in table {
            // Keys are shared by all routes of an app.
            let key = format!("key-for-{path}");
            let first = post(&caller, path, &key, &body).await;
            assert!(first.status.is_success(), "{path}: {}", first.text());
            let again = post(&caller, &format!("/{path}/"), &key, &body).await;
            assert_eq!((again.status, again.text()), (first.status, first.text()), "{path}");
            assert_eq!(again.header("location"), first.header("location"), "{path}");
        }
        assert_eq!(app.master().get("/api/channels").await.expect(200)["channels"].as_array().unwrap().len(), 2);
        assert_eq!(app.operator().get("/operator/apps").await.expect(200)["apps"].as_array().unwrap().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_one_app() {
    on_each_engine(async |app| {
        let first = post(&app.master(), "/api/push", "key-1", &push("Hi")).await.expect(200);
        let conflict = post(&app.master(), "/api/push", "key-1", &push("Ho")).await.expect(409);
        assert_eq!(conflict["error_code"], 40900);
        let other_key = post(&app.master(), "/api/push", "key-2", &push("Hi")).await.expect(200);
        assert_ne!(other_key["push_ids"], first["push_ids"]);
        let stranger = app.another_app(model::app::Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        let other_app = post(&stranger, "/api/push", "key-1", &push("Hi")).await.expect(200);
        assert_ne!(other_app["push_ids"], first["push_ids"]);
        // A refused request leaves its key free.
        post(&app.master(), "/api/push", "key-3", &json!({})).await.expect(400);
        post(&app.master(), "/api/push", "key-3", &push("Hi")).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn keys_have_a_form() {
    on_each_engine(async |app| {
        for key in ["", "two words", &"k".repeat(256)] {
            let refused = post(&app.master(), "/api/push", key, &push("Hi")).await.expect(400);
            assert_eq!(refused["details"]["path"], "idempotency-key", "{key}");
        }
        post(&app.master(), "/api/push", &"k".repeat(255), &push("Hi")).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn duplicates_at_the_same_time_are_one() {
    on_each_engine(async |app| {
        let (master, body) = (app.master(), push("Hi"));
        let replies = join_all((0..20).map(|_| post(&master, "/api/push", "key-1", &body))).await;
        for reply in &replies {
            assert_eq!(reply.expect(200), replies[0].json());
        }
        let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
        app.device().post("/api/channels", device).await.expect(201);
        app.step_all().await;
        let metrics = app.nobody().get("/metrics").await;
        let rows = testkit::rows::row_counts(app.engine().store()).await;
        assert_eq!(rows["push"], 1, "{}", metrics.text());
    })
    .await;
}
