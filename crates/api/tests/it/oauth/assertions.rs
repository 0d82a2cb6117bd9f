//! Clients that prove themselves by assertions, and everything that can be wrong with one.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD as BASE64_URL};
use bytes::Bytes;
use http::Method;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;
use testkit::store::databases;

use super::{ask, client, clients};

/// When every stepped clock begins.
const NOW: i64 = 1_714_564_800;

fn pair(pem: &str) -> EcdsaKeyPair {
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let pkcs8 = STANDARD.decode(body).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &pkcs8, &random()).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the test plays a client")]
fn random() -> SystemRandom {
    SystemRandom::new()
}

fn signed(pair: &EcdsaKeyPair, header: &Value, claims: &Value) -> String {
    let text = format!("{}.{}", BASE64_URL.encode(header.to_string()), BASE64_URL.encode(claims.to_string()));
    let signature = pair.sign(&random(), text.as_bytes()).unwrap();
    format!("{text}.{}", BASE64_URL.encode(signature))
}

fn claims(app: &TestApp, client: &str, nonce: &str) -> Value {
    json!({
        "iss": client, "aud": app.url("/token"), "iat": NOW, "exp": NOW + 61, "nonce": nonce,
        "sub": format!("app:{}", app.app.key),
    })
}

async fn present(app: &TestApp, assertion: &str) -> Reply {
    ask(app.nobody(), &format!("grant_type=client_credentials&assertion={assertion}")).await
}

#[tokio::test]
async fn a_client_gets_access_tokens_by_an_assertion() {
    on_each_database(async |app| {
        let (id, _, key) = client(&app, json!({"name": "CRM", "role": "sender", "scopes": ["chn", "psh"]})).await;
        let (pair, header) = (pair(&key), json!({"alg": "ES384", "kid": id, "typ": "JWT"}));
        // One library sends lists, another one words with spaces between them.
        for (n, scope) in [json!(["chn", "psh"]), json!("chn psh"), json!(["chn psh"])].into_iter().enumerate() {
            let mut claims = claims(&app, &id, &format!("nonce-{n}"));
            claims["scope"] = scope;
            let granted = present(&app, &signed(&pair, &header, &claims)).await.expect(200);
            assert_eq!(granted["scope"], "psh chn");
            app.nobody().bearer(granted["access_token"].as_str().unwrap()).get("/api/channels").await.expect(200);
        }
    })
    .await;
}

#[tokio::test]
async fn an_assertion_may_name_the_public_address_and_that_asked_on_the_same_machine() {
    for database in databases() {
        let app = TestApp::with_public_url(database, "https://push.example").await;
        let (id, _, key) = client(&app, json!({"name": "CRM", "role": "sender"})).await;
        let (pair, header) = (pair(&key), json!({"alg": "ES384", "kid": id}));
        for (audience, status) in [
            ("https://push.example/token".to_owned(), 200),
            (app.url("/token"), 200),
            ("https://elsewhere.example/token".to_owned(), 400),
        ] {
            let mut claims = claims(&app, &id, &audience.chars().take(50).collect::<String>());
            claims["aud"] = json!(audience);
            present(&app, &signed(&pair, &header, &claims)).await.expect(status);
        }
    }
}

#[tokio::test]
async fn an_assertion_for_another_service_is_refused_whatever_its_request_calls_this_one() {
    for database in databases() {
        let app = TestApp::with_public_url(database, "https://push.example").await;
        let (id, _, key) = client(&app, json!({"name": "CRM", "role": "sender"})).await;
        let (pair, header) = (pair(&key), json!({"alg": "ES384", "kid": id}));
        let proxied = [("x-forwarded-proto", "https"), ("x-forwarded-for", "192.0.2.1")];
        for (audience, host, headers) in [
            ("http://staging.example/token", "staging.example", &proxied[..0]),
            ("https://staging.example/token", "staging.example", &proxied[..1]),
            ("https://localhost:8443/token", "localhost:8443", &proxied[..]),
        ] {
            let mut claims = claims(&app, &id, audience);
            claims["aud"] = json!(audience);
            let mut request = app.nobody().request(Method::POST, "/token").header("Host", host);
            request = request.header("Content-Type", "application/x-www-form-urlencoded");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let form = format!("grant_type=client_credentials&assertion={}", signed(&pair, &header, &claims));
            let refused = app.nobody().send(request.body(Bytes::from(form)).unwrap()).await.expect(400);
            assert_eq!(refused["error"], "invalid_grant", "{host}: {refused}");
            assert!(refused["error_description"].as_str().unwrap().contains("audience"), "{host}: {refused}");
        }
    }
}

#[tokio::test]
async fn an_assertion_counts_once_and_only_if_all_of_it_is_right() {
    on_each_database(async |app| {
        let (id, _, key) = client(&app, json!({"name": "CRM", "role": "admin"})).await;
        let (other_id, _, other_key) = client(&app, json!({"name": "Other", "role": "admin"})).await;
        let (pair, other_pair) = (pair(&key), pair(&other_key));
        let header = json!({"alg": "ES384", "kid": id});
        let changed = |name: &str, value: Value| {
            let mut claims = claims(&app, &id, &format!("of {name} {value}"));
            claims[name] = value;
            signed(&pair, &header, &claims)
        };
        let fine = claims(&app, &id, "once");
        let wrong = [
            signed(&other_pair, &header, &fine),
            signed(&pair, &json!({"alg": "none", "kid": id}), &fine),
            signed(&pair, &json!({"alg": "HS256", "kid": id}), &fine),
            signed(&pair, &json!({"alg": "ES256", "kid": id}), &fine),
            signed(&pair, &json!({"alg": "ES384"}), &fine),
            changed("aud", json!("https://elsewhere.example/token")),
            changed("iss", json!(other_id)),
            changed("exp", json!(NOW)),
            changed("exp", json!(NOW + 3600)),
            changed("iat", json!(NOW + 3600)),
            changed("nonce", json!("")),
            changed("nonce", json!("x".repeat(51))),
            changed("exp", json!("tomorrow")),
        ];
        for assertion in &wrong {
            let refused = present(&app, assertion).await.expect(400);
            assert_eq!(refused["error"], "invalid_grant", "{refused}");
        }
        let unknown = signed(&pair, &json!({"alg": "ES384", "kid": "nobody"}), &fine);
        assert_eq!(present(&app, &unknown).await.expect(401)["error"], "invalid_client");
        let of_another_app = changed("sub", json!("app:AAAAAAAAAAAAAAAAAAAAAA"));
        assert_eq!(present(&app, &of_another_app).await.expect(400)["error"], "unauthorized_client");
        let right = signed(&pair, &header, &fine);
        present(&app, &right).await.expect(200);
        let repeated = present(&app, &right).await.expect(400);
        assert!(repeated["error_description"].as_str().unwrap().contains("used before"), "{repeated}");
        app.operator().delete(&format!("{}/{id}", clients(&app))).await.expect(204);
        present(&app, &changed("jti", json!("new"))).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn a_client_may_bring_its_own_key() {
    on_each_database(async |app| {
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random()).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, pkcs8.as_ref(), &random()).unwrap();
        let pem = model::p384::public_key_pem(pair.public_key().as_ref());
        let body = json!({"name": "CRM", "role": "viewer", "basic": false, "public_key": pem});
        let made = app.operator().post(&clients(&app), body).await.expect(201);
        assert_eq!((made.get("client_secret"), made.get("private_key")), (None, None));
        let id = made["client_id"].as_str().unwrap();
        let header = json!({"alg": "ES384", "kid": id});
        present(&app, &signed(&pair, &header, &claims(&app, id, "a"))).await.expect(200);
        // Without a secret there is none to guess.
        let by_secret = format!("grant_type=client_credentials&sub=app%3A{}", app.app.key);
        ask(&app.nobody().basic(id, ""), &by_secret).await.expect(401);
        let wrong = json!({"name": "CRM", "role": "viewer", "public_key": "no key"});
        app.operator().post(&clients(&app), wrong).await.expect(400);
    })
    .await;
}
