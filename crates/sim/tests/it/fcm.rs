//! Google's service: tokens, what it takes, and its words for what it does not.

use serde_json::{Value, json};
use sim::keys::{FCM_CLIENT_EMAIL, FCM_PROJECT_ID};
use sim::{Faults, Protocol, SimSettings, Simulator};

use crate::client::{Answer, Connection};
use crate::signing::{now, rs256};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn claims(account: &Value) -> Value {
    json!({
        "iss": account["client_email"],
        "scope": "https://www.googleapis.com/auth/firebase.messaging",
        "aud": account["token_uri"],
        "iat": now(),
        "exp": now() + 3600,
    })
}

async fn exchange(connection: &Connection, account: &Value, claims: &Value) -> Answer {
    let assertion = rs256(account["private_key"].as_str().unwrap(), claims);
    let form = format!("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={assertion}");
    connection.post("/token", &[FORM], form).await.unwrap()
}

pub(crate) async fn bearer(simulator: &Simulator, connection: &Connection) -> String {
    let account = serde_json::from_str(&simulator.service_account(true)).unwrap();
    let answer = exchange(connection, &account, &claims(&account)).await;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    assert_eq!(answer.json()["expires_in"], 3600);
    format!("Bearer {}", answer.json()["access_token"].as_str().unwrap())
}

pub(crate) async fn send(connection: &Connection, bearer: &str, body: &Value) -> Answer {
    let path = format!("/v1/projects/{FCM_PROJECT_ID}/messages:send");
    let headers = [("authorization", bearer), ("content-type", "application/json")];
    connection.post(&path, &headers, body.to_string()).await.unwrap()
}

#[tokio::test]
async fn takes_a_good_message_and_notices_its_repetition() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let bearer = bearer(&simulator, &connection).await;
    let data = json!({ "com.urbanairship.push.PUSH_ID": "p", "com.urbanairship.push.ALERT": "a \"quoted\" text" });
    let android = json!({ "priority": "high", "ttl": "60s" });
    let body = json!({ "message": { "token": "t:1", "data": data, "android": android } });
    for _ in 0..2 {
        let answer = send(&connection, &bearer, &body).await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        let name = answer.json()["name"].as_str().unwrap().to_owned();
        assert!(name.starts_with("projects/aerogram-sim/messages/0:"), "{name}");
    }
    let question = json!({ "validate_only": true, "message": { "token": "t:1" } });
    assert_eq!(send(&connection, &bearer, &question).await.status, 200);
    let stats = simulator.stats();
    assert_eq!(stats.tokens, 1);
    assert_eq!((stats.of(Protocol::Fcm).accepted, stats.of(Protocol::Fcm).duplicates), (2, 1));
}

#[tokio::test]
async fn refuses_bad_assertions() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let account: Value = serde_json::from_str(&simulator.service_account(true)).unwrap();
    assert_eq!(account["client_email"], FCM_CLIENT_EMAIL);
    let changed = |key: &str, value: Value| {
        let mut claims = claims(&account);
        claims[key] = value;
        claims
    };
    let table = [
        (changed("iss", json!("other@example.com")), "invalid_grant"),
        (changed("aud", json!("https://example.com/token")), "invalid_grant"),
        (changed("iat", json!(now() - 7200)), "invalid_grant"),
        (changed("exp", json!(now() + 7200)), "invalid_grant"),
        (changed("exp", Value::Null), "invalid_grant"),
        (changed("scope", json!("email")), "invalid_scope"),
    ];
    for (claims, error) in table {
        let answer = exchange(&connection, &account, &claims).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["error"]), (400, &json!(error)), "{claims}");
    }
    let tampered = rs256(account["private_key"].as_str().unwrap(), &claims(&account)).replace('.', ".A");
    let form = format!("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion={tampered}");
    assert_eq!(connection.post("/token", &[FORM], form).await.unwrap().json()["error"], "invalid_grant");
    let answer = connection.post("/token", &[FORM], "grant_type=password").await.unwrap();
    assert_eq!(answer.json()["error"], "unsupported_grant_type");
    assert_eq!(simulator.stats().tokens, 0);
}

#[tokio::test]
async fn refuses_in_the_words_of_google() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let bearer = bearer(&simulator, &connection).await;
    let large = json!({ "message": { "token": "t", "data": { "k": "x".repeat(4096) } } });
    let table = [
        (json!({}), "google.rpc.BadRequest"),
        (json!({ "message": { "token": "t", "data": { "n": 1 } } }), "google.rpc.BadRequest"),
        (json!({ "message": { "token": "t", "data": { "google.x": "1" } } }), "google.rpc.BadRequest"),
        (json!({ "message": { "token": "t", "color": "red" } }), "google.rpc.BadRequest"),
        (json!({ "message": { "token": "t", "android": { "ttl": "60" } } }), "google.rpc.BadRequest"),
        (json!({ "message": { "token": "t", "android": { "priority": "low" } } }), "google.rpc.BadRequest"),
        (json!({ "message": { "token": "not a token" } }), "google.firebase.fcm.v1.FcmError"),
        (large, "google.firebase.fcm.v1.FcmError"),
    ];
    for (body, detail) in table {
        let error = send(&connection, &bearer, &body).await.json()["error"].take();
        assert_eq!((&error["code"], &error["status"]), (&json!(400), &json!("INVALID_ARGUMENT")), "{body}");
        assert_eq!(error["details"][0]["@type"], format!("type.googleapis.com/{detail}"), "{body}");
    }
    let good = json!({ "message": { "token": "t" } });
    let stranger = send(&connection, "Bearer nobody", &good).await;
    assert_eq!((stranger.status.as_u16(), &stranger.json()["error"]["status"]), (401, &json!("UNAUTHENTICATED")));
    simulator.revoke_tokens();
    assert_eq!(send(&connection, &bearer, &good).await.status, 401);
}

#[tokio::test]
async fn gone_throttled_and_down() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let bearer = bearer(&simulator, &connection).await;
    let body = json!({ "message": { "token": "t" } });
    let table = [
        (Faults { gone: 1.0, ..Faults::default() }, 404, "UNREGISTERED", ""),
        (Faults { throttled: 1.0, ..Faults::default() }, 429, "QUOTA_EXCEEDED", "1"),
        (Faults { unavailable: 1.0, retry_after: Some(7), ..Faults::default() }, 503, "UNAVAILABLE", "7"),
        (Faults { unavailable: 1.0, retry_after: None, ..Faults::default() }, 503, "UNAVAILABLE", ""),
    ];
    for (faults, status, code, retry_after) in table {
        simulator.set_faults(faults);
        let answer = send(&connection, &bearer, &body).await;
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (status, retry_after));
        assert_eq!(answer.json()["error"]["details"][0]["errorCode"], code);
    }
    simulator.set_faults(Faults { refuse_credentials: [Protocol::Fcm].into(), ..Faults::default() });
    assert_eq!(send(&connection, &bearer, &body).await.status, 401);
}
