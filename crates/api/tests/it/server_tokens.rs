//! Tokens for servers: how they are made and revoked, and what each role may do with one.

mod limits;

use api::{Access, routes};
use bytes::Bytes;
use http::Method;
use model::app::Mode;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::app::{TestApp, on_each_database};
use testkit::client::Caller;

use crate::access::fill;

pub(crate) const ROLES: [&str; 5] = ["viewer", "support", "editor", "sender", "admin"];

pub(crate) fn tokens(app: &TestApp) -> String {
    format!("/operator/apps/{}/tokens", app.app.key)
}

/// A caller with a new token of the app.
pub(crate) async fn with_token(app: &TestApp, body: Value) -> Caller {
    let made = app.operator().post(&tokens(app), body).await.expect(201);
    app.nobody().bearer(made["token"].as_str().unwrap())
}

pub(crate) async fn with_role(app: &TestApp, role: &str) -> Caller {
    with_token(app, json!({"name": role, "role": role})).await
}

#[tokio::test]
async fn a_token_is_shown_once_listed_without_it_and_revoked() {
    on_each_database(async |app| {
        let (operator, path) = (app.operator(), tokens(&app));
        let body = json!({
            "name": "Shop", "role": "sender", "scopes": ["psh", "chn"], "addresses": ["127.0.0.0/8", "2001:db8::/48"],
            "expires_in": 3600,
        });
        let reply = operator.post(&path, body).await;
        let made = reply.expect(201);
        let (id, token) = (made["token_id"].as_str().unwrap(), made["token"].as_str().unwrap());
        assert!(reply.header("location").unwrap().ends_with(&format!("{path}/{id}")));
        assert!(token.starts_with("aerogram_") && token.len() == 52, "{token}");
        let listed = operator.get(&path).await;
        assert!(!listed.text().contains(token), "{}", listed.text());
        let listed = listed.expect(200);
        let [shown] = &listed["tokens"].as_array().unwrap()[..] else { panic!("one token") };
        let by = shown["created_by"].as_str().unwrap();
        assert!(by.starts_with("operator token "), "{by}");
        let expected = json!({
            "token_id": id, "name": "Shop", "prefix": &token[..15], "role": "sender", "scopes": ["psh", "chn"],
            "addresses": ["127.0.0.0/8", "2001:db8::/48"], "created": "2024-05-01T12:00:00", "created_by": by,
            "expires": "2024-05-01T13:00:00",
        });
        assert_eq!(*shown, expected);
        let server = app.nobody().bearer(token);
        server.get("/api/channels").await.expect(200);
        app.advance(Duration::from_secs(90));
        server.get("/api/channels").await.expect(200);
        assert_eq!(operator.get(&path).await.expect(200)["tokens"][0]["last_used"], "2024-05-01T12:01:00");
        operator.delete(&format!("{path}/{id}")).await.expect(204);
        server.get("/api/channels").await.expect(401);
        operator.delete(&format!("{path}/{id}")).await.expect(404);
        assert_eq!(operator.get(&path).await.expect(200)["tokens"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn a_token_speaks_for_its_own_app_only() {
    on_each_database(async |app| {
        let server = with_role(&app, "admin").await;
        let other = app.another_app(Mode::Development).await;
        let named = async |key: &str| {
            let request = server.request(Method::GET, "/api/channels").header("X-UA-Appkey", key);
            server.send(request.body(Bytes::new()).unwrap()).await
        };
        server.get("/api/channels").await.expect(200);
        named(&app.app.key).await.expect(200);
        let refused = named(&other.key).await.expect(401);
        assert!(refused["error"].as_str().unwrap().contains("another app"), "{refused}");
        named("nobody").await.expect(401);
        app.nobody().basic(&other.key, &other.master_secret).post("/api/channels", ios()).await.expect(201);
        assert_eq!(server.get("/api/channels").await.expect(200)["channels"], json!([]));
        // Tokens of another app are neither seen nor revoked.
        let listed = app.operator().get(&tokens(&app)).await.expect(200);
        let id = listed["tokens"][0]["token_id"].as_str().unwrap();
        app.operator().delete(&format!("/operator/apps/{}/tokens/{id}", other.key)).await.expect(404);
        server.get("/api/channels").await.expect(200);
        app.operator().delete(&format!("/operator/apps/{}", app.app.key)).await.expect(204);
        server.get("/api/channels").await.expect(401);
    })
    .await;
}

fn ios() -> Value {
    json!({"channel": {"device_type": "ios", "opt_in": true}})
}

#[tokio::test]
async fn what_resembles_a_token_is_refused() {
    on_each_database(async |app| {
        let made = app.operator().post(&tokens(&app), json!({"name": "Shop", "role": "admin"})).await.expect(201);
        let token = made["token"].as_str().unwrap();
        let wrong = [
            "aerogram_".to_owned(),
            token[..token.len() - 1].to_owned(),
            format!("{token}A"),
            token.to_uppercase(),
            token["aerogram_".len()..].to_owned(),
            format!("aerogram_{}", "A".repeat(43)),
            made["token_id"].as_str().unwrap().to_owned(),
        ];
        for token in wrong {
            app.nobody().bearer(&token).get("/api/channels").await.expect(401);
        }
        // Basic credentials are an app key and a secret, and a token is none.
        app.nobody().basic(&app.app.key, token).get("/api/channels").await.expect(401);
        app.nobody().bearer(token).get("/operator/apps").await.expect(401);
    })
    .await;
}

/// The least role for some calls; the others follow from the table of roles, whose order the walk below checks.
#[tokio::test]
async fn each_role_may_do_what_people_with_it_may() {
    on_each_database(async |app| {
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        let segment = json!({"display_name": "All", "criteria": {"tag": "a"}});
        let of_channel = json!({"push": push.clone(), "channel": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5"});
        let explain = |audience: Value| json!({"audience": audience, "device_types": "all"});
        let of_one = json!({"and": [{"tag": "a"}, {"not": {"named_user": "jo"}}]});
        let calls: [(&str, Method, &str, Value); 20] = [
            ("viewer", Method::GET, "/api/pushes", Value::Null),
            ("viewer", Method::GET, "/api/reports/devices", Value::Null),
            ("viewer", Method::POST, "/api/push/validate", push.clone()),
            ("viewer", Method::POST, "/api/push/preview", json!({"push": push.clone()})),
            ("support", Method::POST, "/api/push/preview", of_channel),
            ("viewer", Method::POST, "/api/audience/explain", explain(json!({"tag": "a"}))),
            ("support", Method::POST, "/api/audience/explain", explain(of_one)),
            ("support", Method::POST, "/api/audience/explain", explain(json!({"device_token": "A".repeat(64)}))),
            ("sender", Method::GET, "/live", Value::Null),
            ("sender", Method::POST, "/live/ack", json!({})),
            ("editor", Method::DELETE, "/api/lists/validate", Value::Null),
            ("support", Method::GET, "/api/channels", Value::Null),
            ("support", Method::GET, "/api/named_users", Value::Null),
            ("support", Method::GET, "/api/sandbox", Value::Null),
            ("editor", Method::POST, "/api/segments", segment),
            ("sender", Method::POST, "/api/push", push),
            ("sender", Method::POST, "/api/channels", ios()),
            ("sender", Method::POST, "/api/templates/push", json!({})),
            ("admin", Method::GET, "/api/auth/proof-key", Value::Null),
            ("admin", Method::POST, "/api/privacy/export", json!({"named_user_id": "jo"})),
        ];
        for (n_role, role) in ROLES.into_iter().enumerate() {
            let server = with_role(&app, role).await;
            for (least, method, path, body) in &calls {
                let body = if body.is_null() { String::new() } else { body.to_string() };
                let reply = server.call(method.clone(), path, body).await;
                let may = n_role >= ROLES.iter().position(|role| role == least).unwrap();
                assert_eq!(reply.status.as_u16() != 403, may, "{method} {path} as {role}: {}", reply.text());
                assert_ne!(reply.status.as_u16(), 401, "{method} {path} as {role}");
                if !may {
                    let error = reply.json()["error"].as_str().unwrap().to_owned();
                    assert_eq!(error, format!("This needs the role {least} in the app."));
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn every_route_with_a_token_of_every_role() {
    on_each_database(async |app| {
        let mut servers = Vec::new();
        for role in ROLES {
            servers.push(with_role(&app, role).await);
        }
        for route in routes() {
            let mut statuses = Vec::new();
            for server in &servers {
                let request = server.request(route.method.clone(), &fill(route.path)).body(Bytes::new()).unwrap();
                statuses.push(server.open(request).await.0.status.as_u16());
            }
            let what = format!("{} {}: {statuses:?}", route.method, route.path);
            let is_refused = |status: &u16| [401, 403].contains(status);
            match route.access {
                Access::Probe | Access::Public | Access::Open => assert!(!statuses.iter().any(is_refused), "{what}"),
                Access::Operator | Access::Scrape | Access::Inbox => assert_eq!(statuses, [401; 5], "{what}"),
                Access::Device
                | Access::Channel
                | Access::OwnChannel
                | Access::Page
                | Access::Signed
                | Access::Contact
                | Access::Events
                | Access::Master => {
                    assert!(!statuses.contains(&401) && !is_refused(&statuses[4]), "{what}");
                    assert!(statuses.is_sorted_by_key(|status| !is_refused(status)), "{what}");
                    let changes = ![Method::GET, Method::HEAD].contains(&route.method);
                    let looks =
                        ["/validate", "/preview", "/explain", "/detail"].iter().any(|end| route.path.ends_with(end));
                    assert!(!changes || looks || is_refused(&statuses[0]), "{what}");
                }
            }
        }
    })
    .await;
}
