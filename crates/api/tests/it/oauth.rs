//! OAuth for servers: clients, access tokens by secret and by assertion, and what ends them.

mod assertions;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use bytes::Bytes;
use http::Method;
use ring::signature::{ECDSA_P384_SHA384_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use store::DatabaseUrl;
use testkit::app::{TestApp, on_each_database};
use testkit::client::{Caller, Reply};
use testkit::store::{Database, databases};

use crate::server_tokens::ROLES;

pub(crate) fn clients(app: &TestApp) -> String {
    format!("/operator/apps/{}/oauth-clients", app.app.key)
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

/// A new client: its id, its secret and its private key.
pub(crate) async fn client(app: &TestApp, body: Value) -> (String, String, String) {
    let made = app.operator().post(&clients(app), body).await.expect(201);
    (text(&made["client_id"]), text(&made["client_secret"]), text(&made["private_key"]))
}

pub(crate) async fn ask(caller: &Caller, form: &str) -> Reply {
    let request = caller.request(Method::POST, "/token").header("Accept", "application/json");
    let request = request.header("Content-Type", "application/x-www-form-urlencoded");
    caller.send(request.body(Bytes::from(form.to_owned())).unwrap()).await
}

fn form(app: &TestApp, rest: &str) -> String {
    format!("grant_type=client_credentials&sub=app%3A{}{rest}", app.app.key)
}

/// The part of a JSON web token with its claims, or its header.
fn part(token: &str, n: usize) -> Value {
    serde_json::from_slice(&BASE64_URL.decode(token.split('.').nth(n).unwrap()).unwrap()).unwrap()
}

#[tokio::test]
async fn a_client_gets_access_tokens_by_its_secret() {
    on_each_database(async |app| {
        let (id, secret, _) =
            client(&app, json!({"name": "CRM", "role": "sender", "scopes": ["chn", "nu", "psh"]})).await;
        let reply = ask(&app.nobody().basic(&id, &secret), &form(&app, "&scope=chn&scope=nu")).await;
        let granted = reply.expect(200);
        assert_eq!((&granted["token_type"], &granted["expires_in"]), (&json!("Bearer"), &json!(3600)));
        assert_eq!(granted["scope"], "chn nu");
        assert_eq!(granted.as_object().unwrap().len(), 4, "{granted}");
        let headers = ["cache-control", "pragma", "content-type"].map(|name| reply.header(name).unwrap());
        assert_eq!(headers, ["no-store", "no-cache", "application/json"]);
        let token = text(&granted["access_token"]);
        let (header, claims) = (part(&token, 0), part(&token, 1));
        assert_eq!(header["alg"], "ES384");
        assert_eq!(claims["sub"], format!("app:{}", app.app.key));
        assert_eq!((&claims["client_id"], &claims["scope"]), (&json!(id), &json!("chn nu")));
        assert_eq!((&claims["iat"], &claims["exp"]), (&json!(1_714_564_800), &json!(1_714_568_400)));
        let server = app.nobody().bearer(&token);
        server.get("/api/channels").await.expect(200);
        server.get("/api/named_users").await.expect(200);
        server.post("/api/push", "{}").await.expect(403);
        server.get("/api/segments").await.expect(403);
        server.get("/operator/apps").await.expect(401);
        // Without a choice a client gets all scopes that it has.
        let all = ask(&app.nobody().basic(&id, &secret), &form(&app, "")).await.expect(200);
        assert_eq!(all["scope"], "chn nu psh");
        app.advance(Duration::from_secs(3600));
        let refused = server.get("/api/channels").await.expect(401);
        assert!(refused["error"].as_str().unwrap().contains("expired"), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn an_access_token_may_do_what_the_role_of_its_client_may() {
    on_each_database(async |app| {
        for (n_role, role) in ROLES.into_iter().enumerate() {
            let (id, secret, _) = client(&app, json!({"name": role, "role": role})).await;
            let granted = ask(&app.nobody().basic(&id, &secret), &form(&app, "")).await.expect(200);
            let server = app.nobody().bearer(granted["access_token"].as_str().unwrap());
            server.get("/api/pushes").await.expect(200);
            let expected = |least: usize, allowed: u16| if n_role >= least { allowed } else { 403 };
            server.get("/api/channels").await.expect(expected(1, 200));
            server.post("/api/segments", "{}").await.expect(expected(2, 400));
            server.post("/api/push", "{}").await.expect(expected(3, 400));
            server.get("/api/auth/proof-key").await.expect(expected(4, 200));
        }
    })
    .await;
}

#[tokio::test]
async fn refusals_have_the_form_that_oauth_clients_know() {
    on_each_database(async |app| {
        let (id, secret, _) = client(&app, json!({"name": "CRM", "role": "admin", "scopes": ["chn"]})).await;
        let known = app.nobody().basic(&id, &secret);
        let (nobody, fine) = (app.nobody(), form(&app, ""));
        let other = "grant_type=client_credentials&sub=app%3AAAAAAAAAAAAAAAAAAAAAAA";
        for (caller, form, status, error) in [
            (&known, "", 400, "invalid_request"),
            (&known, "grant_type=password", 400, "unsupported_grant_type"),
            (&known, other, 400, "unauthorized_client"),
            (&known, "grant_type=client_credentials", 400, "unauthorized_client"),
            (&known, &format!("{fine}&scope=psh"), 400, "invalid_scope"),
            (&known, &format!("{fine}&scope=everything"), 400, "invalid_scope"),
            (&known, &format!("{fine}&ipaddr=10.0.0.1%2F8"), 400, "invalid_request"),
            (&known, &format!("{fine}&assertion=a.b.c"), 400, "invalid_request"),
            (nobody, &fine, 401, "invalid_client"),
            (&nobody.basic(&id, "wrong"), &fine, 401, "invalid_client"),
            (&nobody.basic("nobody", &secret), &fine, 401, "invalid_client"),
            (&nobody.basic(&app.app.key, &app.app.master_secret), &fine, 401, "invalid_client"),
            (nobody, &format!("{fine}&assertion=a.b.c"), 400, "invalid_grant"),
        ] {
            let reply = ask(caller, form).await;
            let body = reply.expect(status);
            assert_eq!(body["error"], error, "{form}: {body}");
            assert!(body["error_description"].as_str().is_some_and(|why| why.ends_with('.')), "{body}");
            assert_eq!(reply.header("www-authenticate").is_some(), status == 401, "{body}");
        }
        let request = known.request(Method::POST, "/token").header("Accept", "image/png");
        let refused = known.send(request.body(Bytes::from(fine)).unwrap()).await;
        assert_eq!(refused.expect(406)["error"], "invalid_request");
    })
    .await;
}

#[tokio::test]
async fn a_client_and_its_tokens_end_together() {
    on_each_database(async |app| {
        let body = json!({"name": "CRM", "role": "admin", "expires_in": 600});
        let (id, secret, private_key) = client(&app, body).await;
        let known = app.nobody().basic(&id, &secret);
        let granted = ask(&known, &form(&app, "")).await.expect(200);
        assert_eq!(granted["expires_in"], 600, "no longer than the client");
        let server = app.nobody().bearer(granted["access_token"].as_str().unwrap());
        server.get("/api/channels").await.expect(200);
        let listed = app.operator().get(&clients(&app)).await;
        assert!(!listed.text().contains(&secret) && !listed.text().contains(&private_key));
        let shown = &listed.expect(200)["clients"][0];
        assert_eq!(
            (&shown["client_id"], &shown["basic"], &shown["last_used"]),
            (&json!(id), &json!(true), &json!("2024-05-01T12:00:00"))
        );
        // The lists are apart.
        let tokens = format!("/operator/apps/{}/tokens", app.app.key);
        assert_eq!(app.operator().get(&tokens).await.expect(200)["tokens"], json!([]));
        app.operator().delete(&format!("{tokens}/{id}")).await.expect(404);
        app.operator().delete(&format!("{}/{id}", clients(&app))).await.expect(204);
        server.get("/api/channels").await.expect(401);
        ask(&known, &form(&app, "")).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn an_access_token_is_good_from_the_networks_that_its_client_named() {
    on_each_database(async |app| {
        let (id, secret, _) = client(&app, json!({"name": "CRM", "role": "admin"})).await;
        let server = async |networks: &str| {
            let granted = ask(&app.nobody().basic(&id, &secret), &form(&app, networks)).await.expect(200);
            app.nobody().bearer(granted["access_token"].as_str().unwrap())
        };
        server("&ipaddr=127.0.0.0%2F8+10.0.0.0%2F8").await.get("/api/channels").await.expect(200);
        server("&ipaddr=10.0.0.0%2F8").await.get("/api/channels").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn what_nobody_has_signed_is_no_access_token() {
    on_each_database(async |app| {
        let (id, secret, _) = client(&app, json!({"name": "CRM", "role": "viewer"})).await;
        let granted = ask(&app.nobody().basic(&id, &secret), &form(&app, "")).await.expect(200);
        let token = text(&granted["access_token"]);
        let parts: Vec<&str> = token.split('.').collect();
        let encode = |value: &Value| BASE64_URL.encode(value.to_string());
        let (mut header, mut claims) = (part(&token, 0), part(&token, 1));
        claims["exp"] = json!(1_900_000_000);
        let longer = format!("{}.{}.{}", parts[0], encode(&claims), parts[2]);
        header["alg"] = json!("none");
        let unsigned = format!("{}.{}.", encode(&header), parts[1]);
        header["alg"] = json!("HS256");
        let other_way = format!("{}.{}.{}", encode(&header), parts[1], parts[2]);
        for wrong in [longer, unsigned, other_way, format!("{token}A"), "a.b.c".to_owned(), "..".to_owned()] {
            app.nobody().bearer(&wrong).get("/api/pushes").await.expect(401);
        }
        app.nobody().bearer(&token).get("/api/pushes").await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn everybody_can_check_an_access_token() {
    on_each_database(async |app| {
        let (id, secret, _) = client(&app, json!({"name": "CRM", "role": "viewer"})).await;
        let granted = ask(&app.nobody().basic(&id, &secret), &form(&app, "")).await.expect(200);
        let token = text(&granted["access_token"]);
        let kid = text(&part(&token, 0)["kid"]);
        let reply = app.nobody().get(&format!("/verify/public_key/{kid}")).await;
        assert_eq!(reply.status.as_u16(), 200);
        assert_eq!(reply.header("content-type"), Some("application/x-pem-file"));
        assert_eq!(reply.header("cache-control"), Some("max-age=600, must-revalidate"));
        let key = model::p384::PublicKey::new(reply.text()).unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let public = UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, key.point());
        public.verify(signed.as_bytes(), &BASE64_URL.decode(signature).unwrap()).unwrap();
        app.nobody().get("/verify/public_key/0123456789abcdef").await.expect(404);
        let app = app.restart().await;
        app.nobody().bearer(&token).get("/api/pushes").await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn every_node_takes_the_tokens_of_the_others() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let other = app.join(&url).await;
    let (id, secret, _) = client(&app, json!({"name": "CRM", "role": "viewer"})).await;
    // Both make the key of the installation at once.
    let (here, there) = (app.nobody().basic(&id, &secret), other.nobody().basic(&id, &secret));
    let asked = form(&app, "");
    let (one, two) = tokio::join!(ask(&here, &asked), ask(&there, &asked));
    for granted in [one.expect(200), two.expect(200)] {
        let token = text(&granted["access_token"]);
        for node in [&app, &other] {
            node.nobody().bearer(&token).get("/api/pushes").await.expect(200);
        }
    }
    other.stop().await;
    app.stop().await;
}
