//! The operator API: apps and platforms, and pushes by their ids.

use serde_json::{Value, json};
use testkit::app::on_each_database;
use testkit::receiver::OpenReceiver;

#[tokio::test]
async fn apps_are_created_listed_changed_and_deleted() {
    on_each_database(async |app| {
        let operator = app.operator();
        let reply = operator.post("/operator/apps", json!({"name": "Shop", "mode": "production"})).await;
        let created = reply.expect(201);
        let key = created["app"]["key"].as_str().unwrap();
        let path = format!("/operator/apps/{key}");
        assert_eq!(reply.header("location"), Some(app.url(&path).as_str()));
        let rules = |rule: &str| json!({"associate": rule, "tags": rule, "attributes": rule, "subscriptions": rule});
        let shown = json!({
            "key": key, "name": "Shop", "mode": "production", "named_users": rules("signed"), "approval_above": null,
            "web_origins": [], "proof_public_key": null, "created": "2024-05-01T12:00:00",
        });
        assert_eq!(created["app"], shown);
        let master = app.nobody().basic(key, created["master_secret"].as_str().unwrap());
        master.get("/api/channels").await.expect(200);
        let device = app.nobody().basic(key, created["app_secret"].as_str().unwrap());
        device.get("/api/channels").await.expect(401);

        let listed = operator.get("/operator/apps").await;
        assert!(listed.expect(200)["apps"].as_array().unwrap().contains(&shown));
        for secret in ["app_secret", "master_secret"] {
            assert!(!listed.text().contains(created[secret].as_str().unwrap()), "{}", listed.text());
        }
        assert_eq!(operator.get(&path).await.expect(200)["app"], shown);
        let changed = operator.patch(&path, json!({"mode": "development"})).await.expect(200);
        assert_eq!((&changed["app"]["mode"], &changed["app"]["name"]), (&json!("development"), &json!("Shop")));
        assert_eq!(changed["app"]["named_users"], rules("devices"));
        for above in [json!(5000), Value::Null] {
            let changed = operator.patch(&path, json!({"approval_above": above})).await.expect(200);
            assert_eq!(changed["app"]["approval_above"], above);
        }
        let gone = operator.delete(&path).await;
        assert_eq!((gone.status.as_u16(), gone.text(), gone.header("content-type")), (204, "", None));
        for reply in [operator.get(&path).await, operator.delete(&path).await, operator.patch(&path, "{}").await] {
            reply.expect(404);
        }
        master.get("/api/channels").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn apps_can_be_created_with_given_credentials_once() {
    on_each_database(async |app| {
        let [key, secret, master] = ["k", "s", "m"].map(|c| c.repeat(22));
        let body = json!({"name": "Mine", "key": key, "app_secret": secret, "master_secret": master});
        let created = app.operator().post("/operator/apps", &body).await.expect(201);
        assert_eq!(created["app"]["mode"], "development");
        assert_eq!((&created["app_secret"], &created["master_secret"]), (&json!(secret), &json!(master)));
        app.nobody().basic(&key, &master).get("/api/channels").await.expect(200);
        app.operator().post("/operator/apps", &body).await.expect(409);
        let bad = json!({"name": "", "mode": "test", "key": "short", "app_secret": 1, "extra": 1});
        let refused = app.operator().post("/operator/apps", &bad).await;
        refused.expect(400);
        assert_eq!(refused.header("aerogram-problems"), Some("5"), "{}", refused.text());
    })
    .await;
}

#[tokio::test]
async fn secrets_are_rotated_one_by_one_or_together() {
    on_each_database(async |app| {
        let path = format!("/operator/apps/{}/rotate", app.app.key);
        for (choice, keys) in [
            ("app", vec!["app_secret"]),
            ("master", vec!["master_secret"]),
            ("both", vec!["app_secret", "master_secret"]),
        ] {
            let rotated = app.operator().post(&path, json!({"secret": choice})).await.expect(200);
            let about_secrets = |key: &&String| key.ends_with("_secret");
            let shown: Vec<_> = rotated.as_object().unwrap().keys().filter(about_secrets).collect();
            assert_eq!(shown, keys);
        }
        app.master().get("/api/channels").await.expect(401);
        app.operator().post(&path, json!({"secret": "all"})).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn open_platforms_are_configured_without_showing_their_secrets() {
    on_each_database(async |app| {
        let (operator, receiver) = (app.operator(), OpenReceiver::start().await);
        let path = format!("/operator/apps/{}/platforms/open::fridge", app.app.key);
        let body = json!({"url": receiver.url(), "auth": {"type": "signature", "secret": "hunter2"}});
        operator.get(&path).await.expect(404);
        // The endpoint does not know its code yet; the refusal tells it.
        let refused = operator.put(&path, &body).await.expect(400);
        assert_eq!(refused["details"]["path"], "url");
        operator.get(&path).await.expect(404);
        let words = refused["error"].as_str().unwrap().trim_end_matches('.').split(' ');
        receiver.confirm(words.filter_map(|word| word.parse().ok()).next_back().unwrap());

        let set = operator.put(&path, &body).await;
        let mut shown = set.expect(200);
        shown.as_object_mut().unwrap().remove("operation_id").unwrap();
        assert_eq!((&shown["platform"], &shown["auth"]), (&json!("open::fridge"), &json!({"type": "signature"})));
        assert_eq!((&shown["enabled"], &shown["gzip"]), (&json!(true), &json!(false)));
        assert!(!set.text().contains("hunter2"));
        assert_eq!(operator.get(&path).await.expect(200), shown);
        let listed = operator.get(&format!("/operator/apps/{}/platforms", app.app.key)).await.expect(200);
        assert_eq!(listed["platforms"][0]["platform"], "open::fridge");
        operator.post(&format!("{path}/test"), "").await.expect(200);
        receiver.confirm(uuid_of_another());
        let failed = operator.post(&format!("{path}/test"), "").await.expect(409);
        assert!(failed["error"].as_str().unwrap().contains("confirmation code"), "{failed}");
        operator.delete(&path).await.expect(204);
        operator.delete(&path).await.expect(404);
    })
    .await;
}

fn uuid_of_another() -> uuid::Uuid {
    "00000000-0000-4000-8000-000000000000".parse().unwrap()
}

#[tokio::test]
async fn platforms_that_cannot_be_set_say_so() {
    on_each_database(async |app| {
        for (platform, text) in [("toaster", "open::"), ("sms", "open::"), ("ios", "apns"), ("web", "webpush")] {
            let path = format!("/operator/apps/{}/platforms/{platform}", app.app.key);
            let refused = app.operator().put(&path, json!({"url": "https://example.com"})).await.expect(400);
            assert!(refused["error"].as_str().unwrap().contains(text), "{refused}");
        }
        let unknown = "/operator/apps/AAAAAAAAAAAAAAAAAAAAAA/platforms/open::fridge";
        app.operator().put(unknown, json!({"url": "https://example.com"})).await.expect(404);
        let bad = json!({"url": 1, "auth": {"type": "magic"}, "enabled": "yes", "x": 1});
        let path = format!("/operator/apps/{}/platforms/open::fridge", app.app.key);
        let refused = app.operator().put(&path, bad).await;
        refused.expect(400);
        assert_eq!(refused.header("aerogram-problems"), Some("4"), "{}", refused.text());
    })
    .await;
}

#[tokio::test]
async fn a_push_that_is_over_can_be_looked_at() {
    on_each_database(async |app| {
        let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ABCDEF0123"}});
        app.device().post("/api/channels", device).await.expect(201);
        let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        let id = app.master().post("/api/push", body).await.expect(200)["push_ids"][0].clone();
        app.step_all().await;
        let path = format!("/operator/pushes/{}", id.as_str().unwrap());
        let shown = app.operator().get(&path).await.expect(200)["push"].clone();
        assert_eq!((&shown["app"], &shown["push_id"], &shown["state"]), (&json!(app.app.key), &id, &json!("done")));
        assert_eq!(shown["platforms"]["apns"]["delivered"], 1, "{shown}");
        for unknown in ["00000000-0000-4000-8000-000000000000", "x"] {
            app.operator().get(&format!("/operator/pushes/{unknown}")).await.expect(404);
        }
        app.master().get(&path).await.expect(401);
    })
    .await;
}
