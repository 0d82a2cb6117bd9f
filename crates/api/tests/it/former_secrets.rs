//! Secrets that are replaced and stay good for a chosen time.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use store::DatabaseUrl;
use testkit::app::{TestApp, on_each_database};
use testkit::client::Caller;
use testkit::store::{Database, databases};

use crate::sdk::{Headers, Library};
use crate::server_tokens::with_role;

async fn rotate(app: &TestApp, secret: &str, overlap: u32) -> Value {
    let body = json!({"secret": secret, "overlap": overlap});
    app.operator().post(&format!("/operator/apps/{}/rotate", app.app.key), body).await.expect(200)
}

fn with(app: &TestApp, secret: &Value) -> Caller {
    app.nobody().basic(&app.app.key, secret.as_str().unwrap())
}

fn former(app: &TestApp) -> String {
    format!("/operator/apps/{}/former-secrets", app.app.key)
}

#[tokio::test]
async fn both_master_secrets_are_good_until_the_old_one_ends() {
    on_each_database(async |app| {
        let rotated = rotate(&app, "master", 3600).await;
        assert_eq!(rotated["former_ends"], "2024-05-01T13:00:00");
        let (old, new) = (app.master(), with(&app, &rotated["master_secret"]));
        for server in [&old, &new] {
            server.get("/api/channels").await.expect(200);
        }
        let listed = app.operator().get(&former(&app)).await.expect(200);
        assert_eq!(listed["former_secrets"], json!([{"secret": "master", "ends": "2024-05-01T13:00:00"}]));
        // The audit log tells them apart.
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        for server in [&old, &new] {
            server.post("/api/push", push.clone()).await.expect(200);
        }
        let audit = format!("/operator/apps/{}/audit?action=push.send", app.app.key);
        let rows = app.operator().get(&audit).await.expect(200);
        assert_ne!(rows["entries"][0]["credential"], rows["entries"][1]["credential"]);
        app.advance(Duration::from_secs(3600));
        old.get("/api/channels").await.expect(401);
        new.get("/api/channels").await.expect(200);
        assert_eq!(app.operator().get(&former(&app)).await.expect(200)["former_secrets"], json!([]));
        app.advance(Duration::from_secs(24 * 3600));
        app.step_all().await;
        app.operator().delete(&format!("{}/master", former(&app))).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn without_an_overlap_and_after_another_rotation_the_old_ones_end_at_once() {
    on_each_database(async |app| {
        let rotated = rotate(&app, "master", 0).await;
        assert_eq!(rotated.get("former_ends"), None);
        app.master().get("/api/channels").await.expect(401);
        let second = with(&app, &rotated["master_secret"]);
        let third = rotate(&app, "both", 3600).await;
        second.get("/api/channels").await.expect(200);
        app.device().post("/api/channels", "{}").await.expect(400);
        rotate(&app, "master", 3600).await;
        second.get("/api/channels").await.expect(401);
        with(&app, &third["master_secret"]).get("/api/channels").await.expect(200);
        rotate(&app, "master", 0).await;
        with(&app, &third["master_secret"]).get("/api/channels").await.expect(401);
        let wrong = json!({"secret": "master", "overlap": 90 * 24 * 3600 + 1});
        app.operator().post(&format!("/operator/apps/{}/rotate", app.app.key), wrong).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn an_old_secret_can_be_ended_before_its_time() {
    on_each_database(async |app| {
        rotate(&app, "both", 3600).await;
        let request = app.master().request(Method::GET, "/api/events").body(Bytes::new()).unwrap();
        let (head, mut events) = app.master().open(request).await;
        assert_eq!(head.status.as_u16(), 200);
        for wrong in ["both", "other"] {
            app.operator().delete(&format!("{}/{wrong}", former(&app))).await.expect(404);
        }
        app.operator().delete(&format!("{}/master", former(&app))).await.expect(204);
        app.master().get("/api/channels").await.expect(401);
        assert!(events.chunk().await.unwrap().is_none(), "a stream ends with the secret it was opened with");
        app.device().post("/api/channels", "{}").await.expect(400);
        app.operator().delete(&format!("{}/app", former(&app))).await.expect(204);
        app.device().post("/api/channels", "{}").await.expect(401);
        app.operator().delete(&format!("{}/app", former(&app))).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn devices_with_the_old_app_secret_go_on_until_it_ends() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, token) = library.channel("token").await;
        rotate(&app, "app", 3600).await;
        let look_up = format!("/api/channels/{channel}");
        let asked = async |headers: Vec<(&'static str, String)>, path: &str| {
            let request = headers
                .into_iter()
                .fold(app.nobody().request(Method::GET, path), |request, (name, value)| request.header(name, value));
            app.nobody().send(request.body(Bytes::new()).unwrap()).await
        };
        asked(library.with_token(&token), &look_up).await.expect(200);
        asked(library.as_channel(&channel), "/api/auth/device").await.expect(200);
        app.device().get(&look_up).await.expect(200);
        app.advance(Duration::from_secs(3600));
        asked(library.with_token(&token), &look_up).await.expect(401);
        asked(library.as_channel(&channel), "/api/auth/device").await.expect(401);
        app.device().get(&look_up).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn what_is_got_with_the_old_app_secret_ends_with_it() {
    on_each_database(async |app| {
        let channel = json!({"channel": {"device_type": "web", "opt_in": true, "live": true}});
        let made = app.device().post("/api/channels", channel).await.expect(201);
        let channel = made["channel_id"].as_str().unwrap();
        let rotated = rotate(&app, "app", 3600).await;
        let library = Library::of(&app);
        let get = async |headers: &Headers, path: &str| library.call(Method::GET, path, headers, &Value::Null).await;
        let answer = get(&library.as_channel(channel), "/api/auth/device").await.expect(200);
        assert_eq!(answer["expires_in"], 3_600_000);
        let token = library.with_token(answer["token"].as_str().unwrap());
        let look_up = format!("/api/channels/{channel}");
        get(&token, &look_up).await.expect(200);
        // A stream ends, too, that a signature has opened.
        let nobody = app.nobody();
        let request = nobody.request(Method::GET, "/live").header("Accept", "text/event-stream");
        let headers = library.as_channel(channel).into_iter();
        let request = headers.fold(request, |request, (name, value)| request.header(name, value));
        let (head, mut signed) = nobody.open(request.body(Bytes::new()).unwrap()).await;
        assert_eq!(head.status.as_u16(), 200);
        assert!(signed.chunk().await.unwrap().is_some(), "it says hello");
        app.operator().delete(&format!("{}/app", former(&app))).await.expect(204);
        while signed.chunk().await.is_ok_and(|chunk| chunk.is_some()) {}
        get(&token, &look_up).await.expect(401);
        // By the new secret, a token is good for its day.
        let device = with(&app, &rotated["app_secret"]);
        let request = device.request(Method::GET, "/api/auth/device").header("X-UA-Channel-ID", channel);
        let answer = device.send(request.body(Bytes::new()).unwrap()).await.expect(200);
        assert_eq!(answer["expires_in"], 86_400_000);
        get(&library.with_token(answer["token"].as_str().unwrap()), &look_up).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn the_old_master_secret_gets_the_key_for_proofs_that_ends_with_it() {
    on_each_database(async |app| {
        let key = async |server: &Caller| server.get("/api/auth/proof-key").await.expect(200)["key"].clone();
        let before = key(&app.master()).await;
        let rotated = rotate(&app, "master", 3600).await;
        assert_eq!(key(&app.master()).await, before);
        let after = key(&with(&app, &rotated["master_secret"])).await;
        assert_ne!(after, before);
        // Who has no secret gets the key that lasts.
        assert_eq!(key(&with_role(&app, "admin").await).await, after);
    })
    .await;
}

#[tokio::test]
async fn an_overlap_counts_and_ends_on_all_nodes() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let other = app.join(&url).await;
    let new = rotate(&app, "master", 3600).await;
    while with(&other, &new["master_secret"]).get("/api/channels").await.status.as_u16() != 200 {
        tokio::task::yield_now().await;
    }
    other.master().get("/api/channels").await.expect(200);
    app.operator().delete(&format!("{}/master", former(&app))).await.expect(204);
    while other.master().get("/api/channels").await.status.as_u16() != 401 {
        tokio::task::yield_now().await;
    }
    other.stop().await;
    app.stop().await;
}
