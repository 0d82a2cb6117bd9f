//! What ends a token and what it is limited by besides its role: scopes, addresses, time, the signal between nodes.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use store::DatabaseUrl;
use testkit::app::{TestApp, on_each_database};
use testkit::client::{Caller, Reply};
use testkit::store::{Database, databases};

use super::{tokens, with_role, with_token};

#[tokio::test]
async fn scopes_limit_a_token_to_parts_of_the_api() {
    on_each_database(async |app| {
        let server = with_token(&app, json!({"name": "CRM", "role": "admin", "scopes": ["chn", "nu", "rpt"]})).await;
        for path in ["/api/channels", "/api/named_users", "/api/reports/devices"] {
            server.get(path).await.expect(200);
        }
        let refused = server.post("/api/push", "{}").await.expect(403);
        assert_eq!(refused["error"], "The token does not have the scope psh.");
        // No scope is about these.
        for path in ["/api/segments", "/api/auth/proof-key"] {
            let refused = server.get(path).await.expect(403);
            assert!(refused["error"].as_str().unwrap().contains("scopes"), "{refused}");
        }
        // Another push in a schedule is a push.
        let planner = with_token(&app, json!({"name": "Planner", "role": "admin", "scopes": ["sch"]})).await;
        planner.get("/api/schedules").await.expect(200);
        for (method, path) in [(Method::POST, "/api/schedules"), (Method::PUT, "/api/schedules/x")] {
            let refused = planner.call(method, path, "{}".to_owned()).await.expect(403);
            assert_eq!(refused["error"], "The token does not have the scope psh.");
        }
        let wrong = json!({"name": "CRM", "role": "admin", "scopes": ["everything"]});
        app.operator().post(&tokens(&app), wrong).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn an_import_changes_named_users_only_with_their_scope() {
    on_each_database(async |app| {
        let import = async |scopes: Value| {
            let channel = json!({"device_type": "ios", "opt_in": true, "push_address": "AB12", "named_user_id": "kim"});
            let user = json!({"named_user": {"named_user_id": "jo", "tags": {"crm": ["vip"]}}});
            let server = with_token(&app, json!({"name": "CRM", "role": "sender", "scopes": scopes})).await;
            let reply = server.post("/api/channels/import", format!("{user}\n{channel}\n")).await;
            assert_eq!(reply.status.as_u16(), 200, "{}", reply.text());
            reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
        };
        let answer = import(json!(["chn"])).await;
        let [refused, total] = answer.as_slice() else { panic!("{answer:?}") };
        let expected = json!({"line": 1, "path": "named_user", "error": "The token does not have the scope nu."});
        assert_eq!(*refused, expected);
        let counts = |total: &Value| ["created", "named_users", "refused"].map(|key| total[key].as_u64().unwrap());
        assert_eq!(counts(total), [1, 0, 1]);
        app.master().get("/api/named_users?id=jo").await.expect(404);
        // Whose a channel is belongs to the channel, as in a registration.
        app.master().get("/api/named_users?id=kim").await.expect(200);

        let answer = import(json!(["chn", "nu"])).await;
        let [total] = answer.as_slice() else { panic!("{answer:?}") };
        assert_eq!(counts(total), [0, 1, 0]);
        let user = app.master().get("/api/named_users?id=jo").await.expect(200);
        assert_eq!(user["named_user"]["tags"]["crm"], json!(["vip"]));
    })
    .await;
}

#[tokio::test]
async fn a_token_ends_when_it_should() {
    on_each_database(async |app| {
        let body = json!({"name": "Shop", "role": "admin", "expires": "2024-05-01T12:10:00"});
        let server = with_token(&app, body).await;
        server.get("/api/channels").await.expect(200);
        app.advance(Duration::from_secs(600));
        let refused = server.get("/api/channels").await.expect(401);
        assert!(refused["error"].as_str().unwrap().contains("expired"), "{refused}");
        for wrong in [
            json!({"name": "Shop", "role": "admin", "expires": "2024-05-01T12:10:00"}),
            json!({"name": "Shop", "role": "admin", "expires": "2025-05-01T12:10:00", "expires_in": 600}),
            json!({"name": "Shop", "role": "owner"}),
            json!({"name": "Shop", "role": "admin", "addresses": ["10.0.0.1/8"]}),
        ] {
            app.operator().post(&tokens(&app), wrong).await.expect(400);
        }
    })
    .await;
}

async fn forwarded(server: &Caller, list: &str) -> Reply {
    let request = server.request(Method::GET, "/api/channels").header("X-Forwarded-For", list);
    server.send(request.body(Bytes::new()).unwrap()).await
}

fn from(networks: &[&str]) -> Value {
    json!({"name": "Shop", "role": "admin", "addresses": networks})
}

#[tokio::test]
async fn a_token_can_be_used_from_its_addresses_only() {
    on_each_database(async |app| {
        with_token(&app, from(&["10.0.0.0/8", "127.0.0.1"])).await.get("/api/channels").await.expect(200);
        let elsewhere = with_token(&app, from(&["10.0.0.0/8"])).await;
        let refused = elsewhere.get("/api/channels").await.expect(401);
        assert!(refused["error"].as_str().unwrap().contains("address"), "{refused}");
        // Nobody is a proxy unless the settings say so.
        forwarded(&elsewhere, "10.0.0.7").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_address_is_the_one_it_tells() {
    for database in databases() {
        let app = TestApp::behind_proxy(database).await;
        let server = with_token(&app, from(&["10.0.0.0/8"])).await;
        forwarded(&server, "10.0.0.7").await.expect(200);
        forwarded(&server, "192.0.2.1, 10.0.0.7").await.expect(200);
        for wrong in ["192.0.2.1", "10.0.0.7, 192.0.2.1", "nonsense", "10.0.0.7, nonsense"] {
            forwarded(&server, wrong).await.expect(401);
        }
        server.get("/api/channels").await.expect(401);
        // The audit log has the same address.
        let faults = Bytes::from_static(br#"{"faults": [{"answer": "gone"}]}"#);
        let request =
            app.master().request(Method::PUT, "/api/sandbox/faults").header("x-forwarded-for", "192.0.2.1, 10.0.0.7");
        app.master().send(request.body(faults).unwrap()).await.expect(200);
        let log = app.operator().get("/operator/audit?action=sandbox.faults").await.expect(200);
        let address = log["entries"][0]["address"].as_str().unwrap_or_default();
        assert!(address.starts_with("10.0.0."), "{log}");
        app.stop().await;
    }
}

#[tokio::test]
async fn the_audit_log_names_the_token() {
    on_each_database(async |app| {
        let made = app.operator().post(&tokens(&app), json!({"name": "Shop", "role": "sender"})).await.expect(201);
        let token = made["token"].as_str().unwrap();
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        app.nobody().bearer(token).post("/api/push", push).await.expect(200);
        let rows = app.operator().get(&format!("/operator/apps/{}/audit", app.app.key)).await;
        assert!(!rows.text().contains(token));
        let rows = rows.expect(200);
        let row = |action: &str| {
            rows["entries"]
                .as_array()
                .unwrap()
                .iter()
                .find(|row| row["action"] == action)
                .unwrap_or_else(|| panic!("{rows}"))
        };
        assert_eq!(row("push.send")["credential"], format!("token {} (Shop)", &token[..15]));
        assert_eq!(row("token.create")["detail"]["role"], "sender");
    })
    .await;
}

#[tokio::test]
async fn a_stream_ends_with_its_token() {
    on_each_database(async |app| {
        let made = app.operator().post(&tokens(&app), json!({"name": "Reader", "role": "support"})).await.expect(201);
        let server = app.nobody().bearer(made["token"].as_str().unwrap());
        let request = server.request(Method::GET, "/api/events").body(Bytes::new()).unwrap();
        let (head, mut events) = server.open(request).await;
        assert_eq!(head.status.as_u16(), 200);
        app.operator().delete(&format!("{}/{}", tokens(&app), made["token_id"].as_str().unwrap())).await.expect(204);
        assert!(events.chunk().await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn a_token_that_is_revoked_on_one_node_is_refused_by_the_other() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let other = app.join(&url).await;
    let made = app.operator().post(&tokens(&app), json!({"name": "Shop", "role": "admin"})).await.expect(201);
    let there = other.nobody().bearer(made["token"].as_str().unwrap());
    there.get("/api/channels").await.expect(200);
    app.operator().delete(&format!("{}/{}", tokens(&app), made["token_id"].as_str().unwrap())).await.expect(204);
    while there.get("/api/channels").await.status.as_u16() != 401 {
        tokio::task::yield_now().await;
    }
    other.stop().await;
    app.stop().await;
}

#[tokio::test]
async fn tokens_of_an_app_are_counted_and_made_once_per_key() {
    on_each_database(async |app| {
        let body = json!({"name": "Shop", "role": "viewer"});
        let again = async || {
            let request = app.operator().request(Method::POST, &tokens(&app)).header("Idempotency-Key", "once");
            app.operator().send(request.body(Bytes::from(body.to_string())).unwrap()).await.expect(201)
        };
        assert_eq!(again().await, again().await);
        for _ in 1..100 {
            with_role(&app, "viewer").await;
        }
        app.operator().post(&tokens(&app), body.clone()).await.expect(409);
    })
    .await;
}
