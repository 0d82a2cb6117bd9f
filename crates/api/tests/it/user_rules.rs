//! What devices may say about named users: nothing without a proof in an app that real people use, unless its rules say otherwise.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::Method;
use model::app::Mode;
use model::p256::PublicKey;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use ring::{digest, hmac};
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;

use crate::sdk::{Headers, Library};

/// Looks like a token of Firebase's, as production apps want them to.
fn address(n: u32) -> String {
    format!("{n:04}{}", "cR7xK2".repeat(20))
}

async fn set(app: &TestApp, change: Value) -> Value {
    let path = format!("/operator/apps/{}", app.app.key);
    app.operator().patch(&path, change).await.expect(200)["app"]["named_users"].clone()
}

fn all(rule: &str) -> Value {
    json!({"associate": rule, "tags": rule, "attributes": rule, "subscriptions": rule})
}

/// The key with which servers of the app sign.
pub(crate) async fn proof_key(app: &TestApp) -> String {
    let shown = app.master().get("/api/auth/proof-key").await.expect(200);
    assert_eq!((&shown["alg"], &shown["aud"]), (&json!("HS256"), &json!(app.app.key)));
    shown["key"].as_str().unwrap().to_owned()
}

/// A token as a server of the app makes it.
pub(crate) fn signed(key: &str, algorithm: &str, claims: &Value) -> String {
    signed_with(key.as_bytes(), algorithm, claims)
}

fn unsigned(algorithm: &str, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(&json!({"alg": algorithm, "typ": "JWT"})), part(claims))
}

#[expect(clippy::disallowed_methods, reason = "the test plays a server of the app")]
fn random() -> SystemRandom {
    SystemRandom::new()
}

fn key_pair() -> EcdsaKeyPair {
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random()).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random()).unwrap()
}

fn signed_by(pair: &EcdsaKeyPair, claims: &Value) -> String {
    let text = unsigned("ES256", claims);
    let signature = pair.sign(&random(), text.as_bytes()).unwrap();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn signed_with(key: &[u8], algorithm: &str, claims: &Value) -> String {
    let text = unsigned(algorithm, claims);
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, text.as_bytes())))
}

/// A request of a device with the app secret, and with a proof.
async fn post(app: &TestApp, path: &str, proof: &str, body: &Value) -> Reply {
    let request = app.device().request(Method::POST, path).header("X-UA-Named-User-Proof", proof);
    app.device().send(request.body(Bytes::from(body.to_string())).unwrap()).await
}

async fn user_of(app: &TestApp, channel: &str) -> Value {
    app.master().get(&format!("/api/channels/{channel}")).await.expect(200)["channel"]["named_user_id"].clone()
}

/// Every request by which a device with the app secret changes a user, with the rule that is about it.
fn requests(channel: &str, user: &str) -> Vec<(&'static str, String, Value)> {
    let own = json!({"channel_id": channel, "device_type": "android"});
    let joined = json!({"channel_id": channel, "device_type": "android", "named_user_id": user});
    let tags = json!({"add": {"crm": ["vip"]}});
    let attributes = json!([{"action": "set", "key": "tier", "value": 3}]);
    let lists = json!([{"action": "subscribe", "list_id": "daily"}]);
    let scoped = json!([{"scope": ["app"], "subscription_lists": {"subscribe": ["daily"]}}]);
    let mut tagging = tags.clone();
    tagging["audience"] = json!({"named_user_id": user});
    let audience = json!({"named_user_id": [user]});
    let of_user = |below: &str| format!("/api/named_users/{below}");
    vec![
        ("associate", of_user("associate"), joined.clone()),
        ("associate", "/api/contacts/identify".to_owned(), joined.clone()),
        ("associate", of_user(user), json!({"associate": [own]})),
        ("tags", of_user("tags"), tagging),
        ("tags", of_user(user), json!({"tags": tags})),
        ("attributes", of_user(user), json!({"attributes": attributes})),
        ("attributes", of_user(&format!("{user}/attributes")), json!({"attributes": attributes})),
        ("attributes", "/api/channels/attributes".to_owned(), json!({"audience": audience, "attributes": attributes})),
        (
            "subscriptions",
            "/api/channels/subscription_lists".to_owned(),
            json!({"audience": audience, "subscription_lists": lists}),
        ),
        ("subscriptions", of_user(&format!("scoped/{user}")), json!({"scoped": scoped})),
    ]
}

/// Checks that a request is refused with a sentence that says which rule refuses it and how to change that.
#[track_caller]
fn expect_rule(reply: &Reply, rule: &str) {
    let refused = reply.expect(403);
    let sentence = refused["error"].as_str().unwrap();
    let command = format!("--{rule} devices");
    assert!(sentence.contains(&format!("'named_users.{rule}'")) && sentence.contains(&command), "{refused}");
}

#[tokio::test]
async fn in_production_the_app_secret_alone_says_nothing_about_named_users() {
    on_each_database(async |app| {
        assert_eq!(set(&app, json!({"name": "Open"})).await, all("devices"), "an app in development");
        assert_eq!(set(&app, json!({"mode": "production"})).await, all("signed"));
        let app = app.restart().await;
        let library = Library::of(&app);
        let (stranger, token) = library.channel(&address(1)).await;
        app.master().post("/api/named_users/kim", json!({"tags": {"add": {"crm": ["real"]}}})).await.expect(200);
        for (rule, path, body) in requests(&stranger, "kim") {
            expect_rule(&app.device().post(&path, &body).await, rule);
        }
        let identify = json!({"device_info": {"device_type": "android"},
            "action": {"type": "identify", "named_user_id": "kim"}});
        let of_channel = library.as_channel(&stranger);
        let refused = library.call(Method::POST, "/api/contacts/identify/v2", &of_channel, &identify).await;
        expect_rule(&refused, "associate");
        // A registration counts, and the user that it names does not.
        let body = json!({"channel": {"device_type": "android", "named_user_id": "kim"}});
        let path = format!("/api/channels/{stranger}");
        app.device().put(&path, &body).await.expect(200);
        library.call(Method::PUT, &path, &library.with_token(&token), &body).await.expect(200);
        assert_eq!(user_of(&app, &stranger).await, Value::Null);
        let kim = app.master().get("/api/named_users?id=kim").await.expect(200)["named_user"].clone();
        assert_eq!((&kim["tags"], &kim["channels"]), (&json!({"crm": ["real"]}), &json!([])));
        assert_eq!(kim["attributes"], json!({}));
    })
    .await;
}

#[tokio::test]
async fn a_library_goes_on_once_a_server_has_said_whose_it_is() {
    on_each_database(async |app| {
        set(&app, json!({"mode": "production"})).await;
        let library = Library::of(&app);
        let (phone, _) = library.channel(&address(1)).await;
        let (stranger, _) = library.channel(&address(2)).await;
        let joined = json!({"channel_id": phone, "device_type": "android", "named_user_id": "jo"});
        app.master().post("/api/named_users/associate", &joined).await.expect(200);
        let jo = library.act(&phone, json!({"type": "resolve"})).await;
        assert_eq!(jo["contact"]["is_anonymous"], false);
        let contact = format!("/api/contacts/{}", jo["contact"]["contact_id"].as_str().unwrap());
        let of_jo = library.with_token(jo["token"].as_str().unwrap());
        let nobody = library.act(&stranger, json!({"type": "resolve"})).await;
        let of_nobody = library.with_token(nobody["token"].as_str().unwrap());
        let change = |headers: &Headers, path: &str, body: Value| {
            let (headers, path) = (headers.clone(), path.to_owned());
            let library = &library;
            async move { library.call(Method::POST, &path, &headers, &body).await }
        };
        for (rule, body) in [
            ("tags", json!({"tags": {"add": {"loyalty": ["gold"]}}})),
            ("attributes", json!({"attributes": [{"action": "set", "key": "tier", "value": 3}]})),
            ("subscriptions", json!({"subscription_lists": [{"action": "subscribe", "list_id": "a", "scope": "app"}]})),
        ] {
            change(&of_jo, &contact, body.clone()).await.expect(200);
            // Not with the app secret, nor with the token of somebody else.
            expect_rule(&app.device().post(&contact, &body).await, rule);
            change(&of_nobody, &contact, body.clone()).await.expect(403);
            // What a device says about its own user without a name is its channel's.
            let own = format!("/api/contacts/{}", nobody["contact"]["contact_id"].as_str().unwrap());
            change(&of_nobody, &own, body.clone()).await.expect(200);
            app.device().post(&own, &body).await.expect(200);
        }
        let user = app.master().get("/api/named_users?id=jo").await.expect(200)["named_user"].clone();
        assert_eq!((&user["tags"], &user["attributes"]), (&json!({"loyalty": ["gold"]}), &json!({"tier": 3})));
        // A device that lost its channel comes back by the contact that only it knows. One that left does not.
        let back = json!({"type": "resolve", "contact_id": jo["contact"]["contact_id"]});
        let (again, _) = library.channel(&address(1)).await;
        assert_eq!(library.act(&again, back.clone()).await["contact"]["contact_id"], jo["contact"]["contact_id"]);
        assert_eq!(user_of(&app, &again).await, "jo");
        library.act(&again, json!({"type": "reset"})).await;
        assert_eq!(user_of(&app, &again).await, Value::Null);
        let (third, _) = library.channel(&address(1)).await;
        assert_eq!(library.act(&third, back).await["contact"]["is_anonymous"], true);
        assert_eq!(user_of(&app, &third).await, Value::Null);
    })
    .await;
}

#[tokio::test]
async fn a_server_signs_who_the_user_of_a_device_is() {
    on_each_database(async |app| {
        set(&app, json!({"mode": "production"})).await;
        let library = Library::of(&app);
        let (own, _) = library.channel(&address(1)).await;
        let (other, _) = library.channel(&address(2)).await;
        let (now, key, aud) = (app.clock().now().seconds(), proof_key(&app).await, app.app.key.clone());
        let claims = json!({"aud": aud, "sub": "kim", "exp": now + 60});
        let good = signed(&key, "HS256", &claims);
        for (_, path, body) in requests(&own, "kim") {
            let reply = post(&app, &path, &good, &body).await;
            assert!(reply.status.is_success(), "{path}: {}", reply.text());
        }
        assert_eq!(user_of(&app, &own).await, "kim");
        // It is for this user, and a proof for a channel is for that one.
        for (rule, path, body) in requests(&own, "lee") {
            expect_rule(&post(&app, &path, &good, &body).await, rule);
        }
        let of_one = signed(&key, "HS256", &json!({"aud": [aud], "sub": "kim", "exp": now + 60, "channel": own}));
        let joined = |channel: &str| json!({"channel_id": channel, "named_user_id": "kim"});
        let path = "/api/named_users/associate";
        expect_rule(&post(&app, path, &of_one, &joined(&other)).await, "associate");
        post(&app, path, &of_one, &joined(&own)).await.expect(200);
        let leave = json!({"channel_id": own, "named_user_id": "kim"});
        post(&app, "/api/named_users/disassociate", &good, &leave).await.expect(200);
        assert_eq!(user_of(&app, &own).await, Value::Null);
        // Leaving needs no proof: whoever has the phone next must not get what is meant for Kim.
        for (path, body) in [
            ("/api/named_users/disassociate", leave.clone()),
            ("/api/contacts/reset", json!({"channel_id": own, "device_type": "android"})),
        ] {
            post(&app, "/api/named_users/associate", &of_one, &joined(&own)).await.expect(200);
            app.device().post(path, &body).await.expect(200);
            assert_eq!(user_of(&app, &own).await, Value::Null, "{path}");
        }

        let nonsense = ["", "x", "a.b.c", good.trim_end_matches(|last: char| last != '.')].map(str::to_owned);
        let wrong = [
            signed(&key, "none", &claims),
            signed(&app.app.app_secret, "HS256", &claims),
            signed(&app.app.master_secret, "HS256", &claims),
            signed(&key, "HS256", &json!({"aud": aud, "sub": "kim", "exp": now})),
            // In milliseconds, by mistake.
            signed(&key, "HS256", &json!({"aud": aud, "sub": "kim", "exp": (now + 60) * 1000})),
            signed(&key, "HS256", &json!({"aud": aud, "sub": "kim"})),
            signed(&key, "HS256", &json!({"aud": aud, "sub": "", "exp": now + 60})),
            // For no app, and for another.
            signed(&key, "HS256", &json!({"sub": "kim", "exp": now + 60})),
            signed(&key, "HS256", &json!({"aud": "another-app-with-a-key", "sub": "kim", "exp": now + 60})),
        ];
        for bad in nonsense.iter().chain(&wrong) {
            let refused = post(&app, path, bad, &joined(&own)).await.expect(403);
            assert!(refused["error"].as_str().unwrap().contains("x-ua-named-user-proof"), "{bad}: {refused}");
        }
        app.advance(std::time::Duration::from_secs(60));
        post(&app, path, &good, &joined(&own)).await.expect(403);
        // Where only servers may, no proof helps.
        set(&app, json!({"named_users": {"associate": "servers"}})).await;
        let still_good = signed(&key, "HS256", &json!({"aud": aud, "sub": "kim", "exp": now + 600}));
        expect_rule(&post(&app, path, &still_good, &joined(&own)).await, "associate");
    })
    .await;
}

#[tokio::test]
async fn a_server_signs_with_a_key_whose_public_one_the_operator_has_set() {
    on_each_database(async |app| {
        let operator_path = format!("/operator/apps/{}", app.app.key);
        set(&app, json!({"mode": "production"})).await;
        let (own, _) = Library::of(&app).channel(&address(1)).await;
        let claims = json!({"aud": app.app.key, "sub": "kim", "exp": app.clock().now().seconds() + 60});
        let (pair, other) = (key_pair(), key_pair());
        let (proof, of_another) = (signed_by(&pair, &claims), signed_by(&other, &claims));
        let pem = PublicKey::of_point(pair.public_key().as_ref()).unwrap().pem();
        let (path, joined) = ("/api/named_users/associate", json!({"channel_id": own, "named_user_id": "kim"}));
        post(&app, path, &proof, &joined).await.expect(403);
        for wrong in [json!("x"), json!(1), json!(pem.replace("PUBLIC", "PRIVATE"))] {
            let refused = app.operator().patch(&operator_path, json!({"proof_public_key": wrong})).await.expect(400);
            assert_eq!(refused["details"]["path"], "proof_public_key");
        }
        let changed = app.operator().patch(&operator_path, json!({"proof_public_key": pem})).await.expect(200);
        assert_eq!(changed["app"]["proof_public_key"], pem);
        post(&app, path, &proof, &joined).await.expect(200);
        assert_eq!(user_of(&app, &own).await, "kim");
        // The key that the service makes goes on being good. The public key is no secret to sign with.
        let with_key_of_service = signed(&proof_key(&app).await, "HS256", &claims);
        post(&app, path, &with_key_of_service, &joined).await.expect(200);
        let known = [pem.as_bytes(), pair.public_key().as_ref()];
        let forged = known.iter().flat_map(|key| ["HS256", "ES256"].map(|alg| signed_with(key, alg, &claims)));
        for wrong in forged.chain([of_another]) {
            post(&app, path, &wrong, &joined).await.expect(403);
        }
        let stranger = app.another_app(Mode::Production).await;
        let of_stranger = app.operator().get(&format!("/operator/apps/{}", stranger.key)).await.expect(200);
        assert_eq!(of_stranger["app"]["proof_public_key"], Value::Null);
        let removed = app.operator().patch(&operator_path, json!({"proof_public_key": null})).await.expect(200);
        assert_eq!(removed["app"]["proof_public_key"], Value::Null);
        post(&app, path, &proof, &joined).await.expect(403);
    })
    .await;
}

#[tokio::test]
async fn who_reads_the_database_cannot_sign_for_users() {
    on_each_database(async |app| {
        let mut app = app;
        set(&app, json!({"mode": "production"})).await;
        let own = Library::of(&app).channel(&address(1)).await.0;
        let (key, path) = (proof_key(&app).await, "/api/named_users/associate");
        let joined = json!({"channel_id": own, "device_type": "android", "named_user_id": "kim"});
        let claims = json!({"aud": app.app.key, "sub": "kim", "exp": app.clock().now().seconds() + 600});
        // What the database has of the master secret is no key, in any form.
        let hash = digest::digest(&digest::SHA256, app.app.master_secret.as_bytes());
        for known in [URL_SAFE_NO_PAD.encode(hash), hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()] {
            post(&app, path, &signed(&known, "HS256", &claims), &joined).await.expect(403);
        }
        post(&app, path, &signed_with(hash.as_ref(), "HS256", &claims), &joined).await.expect(403);
        post(&app, path, &signed(&key, "HS256", &claims), &joined).await.expect(200);
        // The key is the app's alone, and nobody's whose device has the app secret.
        let other = app.another_app(Mode::Production).await;
        let of_other =
            app.nobody().basic(&other.key, &other.master_secret).get("/api/auth/proof-key").await.expect(200);
        assert_ne!(of_other["key"], key);
        app.device().get("/api/auth/proof-key").await.expect(401);
        // It stays over a restart, and ends with the master secret.
        app = app.restart().await;
        assert_eq!(proof_key(&app).await, key);
        let rotate = format!("/operator/apps/{}/rotate", app.app.key);
        let rotated = app.operator().post(&rotate, json!({"secret": "master"})).await.expect(200);
        app.app.master_secret = rotated["master_secret"].as_str().unwrap().to_owned();
        assert_ne!(proof_key(&app).await, key);
        post(&app, path, &signed(&key, "HS256", &claims), &joined).await.expect(403);
    })
    .await;
}

#[tokio::test]
async fn each_rule_is_set_by_itself() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (own, _) = library.channel(&address(1)).await;
        for rule in ["associate", "tags", "attributes", "subscriptions"] {
            let mut wanted = all("devices");
            wanted[rule] = json!("servers");
            assert_eq!(set(&app, json!({"named_users": {rule: "servers"}})).await, wanted);
            for (about, path, body) in requests(&own, "kim") {
                let reply = app.device().post(&path, &body).await;
                match about == rule {
                    true => expect_rule(&reply, rule),
                    false => assert!(reply.status.is_success(), "{rule} {path}: {}", reply.text()),
                }
                let reply = app.master().post(&path, &body).await;
                assert!(reply.status.is_success(), "{rule} {path}: {}", reply.text());
            }
            assert_eq!(set(&app, json!({"named_users": {rule: null}})).await, all("devices"));
        }
        // What is set stays when the mode changes.
        set(&app, json!({"named_users": {"tags": "devices"}})).await;
        let mut wanted = all("signed");
        wanted["tags"] = json!("devices");
        assert_eq!(set(&app, json!({"mode": "production"})).await, wanted);
        let path = format!("/operator/apps/{}", app.app.key);
        for bad in [json!({"named_users": {"tags": "everybody"}}), json!({"named_users": {"lists": "devices"}})] {
            app.operator().patch(&path, bad).await.expect(400);
        }
    })
    .await;
}
