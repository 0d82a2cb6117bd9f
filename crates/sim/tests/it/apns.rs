//! Apple's service: what it takes, and its words for what it does not.

use serde_json::json;
use sim::keys::{APNS_KEY_ID, APNS_TEAM_ID};
use sim::{DEFAULT_TOPIC, Faults, Protocol, SimSettings, Simulator};

use crate::client::{Connection, Headers, http1};
use crate::signing::{es256, now, provider_token};

const ID: &str = "eabeae54-14a8-11e5-b60b-1697f925ec7b";

pub(crate) fn token(n: u32) -> String {
    format!("{:064x}", u64::from(n) + 1)
}

pub(crate) fn path(n: u32) -> String {
    format!("/3/device/{}", token(n))
}

#[tokio::test]
async fn takes_a_good_message_and_echoes_its_id() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let authorization = provider_token(simulator.apns_key());
    let body = r#"{"aps":{"alert":"Hi"}}"#;
    let headers = [
        ("authorization", authorization.as_str()),
        ("apns-topic", DEFAULT_TOPIC),
        ("apns-push-type", "alert"),
        ("apns-priority", "10"),
        ("apns-expiration", "0"),
        ("apns-collapse-id", "x"),
        ("apns-id", ID),
    ];
    for connection in [Connection::tls(&simulator).await, Connection::plain(&simulator).await] {
        let answer = connection.post(&path(1), &headers, body).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.header("apns-id")), (200, ID));
        assert!(answer.body.is_empty());
    }
    // The same message a second time is taken, and noticed.
    let tally = simulator.stats().of(Protocol::Apns);
    assert_eq!((tally.messages, tally.accepted, tally.duplicates, tally.delivered()), (2, 2, 1, 1));
    let newest = &simulator.deliveries(1)[0];
    assert_eq!((newest.address.as_str(), newest.id.as_deref(), newest.body.as_str()), (&*token(1), Some(ID), body));
}

#[tokio::test]
async fn a_certificate_needs_no_token() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::with_certificate(&simulator).await;
    let answer = connection.post(&path(1), &[("apns-topic", DEFAULT_TOPIC)], r#"{"aps":{}}"#).await.unwrap();
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn refuses_in_the_words_of_apple() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let good = provider_token(simulator.apns_key());
    let large = format!(r#"{{"aps":{{"alert":"{}"}}}}"#, "x".repeat(4096));
    let device = path(1);
    let nobody = format!("/3/device/{:064}", 0);
    let body = r#"{"aps":{"alert":"Hi"}}"#;
    let topic = ("apns-topic", DEFAULT_TOPIC);
    let table: [(&str, Headers<'_>, &str, u16, &str); 18] = [
        ("/3/device/", &[topic], body, 400, "MissingDeviceToken"),
        ("/3/device/xyz", &[topic], body, 400, "BadDeviceToken"),
        (&nobody, &[topic], body, 400, "BadDeviceToken"),
        (&device, &[], body, 400, "MissingTopic"),
        (&device, &[("apns-topic", "com.example.other")], body, 400, "DeviceTokenNotForTopic"),
        (&device, &[("apns-topic", "a b")], body, 400, "BadTopic"),
        (&device, &[topic, topic], body, 400, "DuplicateHeaders"),
        (&device, &[topic, ("apns-push-type", "loud")], body, 400, "InvalidPushType"),
        (&device, &[topic, ("apns-priority", "7")], body, 400, "BadPriority"),
        (&device, &[topic, ("apns-push-type", "background"), ("apns-priority", "10")], body, 400, "BadPriority"),
        (&device, &[topic, ("apns-expiration", "soon")], body, 400, "BadExpirationDate"),
        (&device, &[topic, ("apns-collapse-id", &large[..65])], body, 400, "BadCollapseId"),
        (&device, &[topic, ("apns-id", "7")], body, 400, "BadMessageId"),
        (&device, &[topic, ("apns-colapse-id", "x")], body, 400, "UnknownHeader"),
        (&device, &[topic], "", 400, "PayloadEmpty"),
        (&device, &[topic], "no JSON", 400, "PayloadEmpty"),
        (&device, &[topic], &large, 413, "PayloadTooLarge"),
        (&device, &[topic, ("apns-push-type", "voip")], &large[..4000], 400, "PayloadEmpty"),
    ];
    for (path, headers, body, status, reason) in table {
        let headers = [&[("authorization", good.as_str())], headers].concat();
        let answer = connection.post(path, &headers, body.to_owned()).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.json()), (status, json!({ "reason": reason })));
    }
    let tally = simulator.stats().of(Protocol::Apns);
    assert_eq!((tally.messages, tally.rejected, tally.reasons["BadPriority"]), (18, 18, 2));
}

#[tokio::test]
async fn refuses_strangers() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let other_key = sim::Keys::generate().unwrap();
    let other = Simulator::start(SimSettings { keys: Some(other_key), ..SimSettings::default() }).await.unwrap();
    let header = json!({ "alg": "ES256", "kid": APNS_KEY_ID });
    let token = |iat: i64, iss: &str| es256(simulator.apns_key(), &header, &json!({ "iss": iss, "iat": iat }));
    let table = [
        (None, "MissingProviderToken"),
        (Some("basic x".to_owned()), "InvalidProviderToken"),
        (Some("bearer a.b.c".to_owned()), "InvalidProviderToken"),
        (Some(provider_token(other.apns_key())), "InvalidProviderToken"),
        (Some(format!("bearer {}", token(now(), "OTHERTEAM1"))), "InvalidProviderToken"),
        (Some(format!("bearer {}", token(now() + 4000, APNS_TEAM_ID))), "InvalidProviderToken"),
        (Some(format!("bearer {}", token(now() - 3700, APNS_TEAM_ID))), "ExpiredProviderToken"),
    ];
    for (authorization, reason) in table {
        let mut headers = vec![("apns-topic", DEFAULT_TOPIC)];
        headers.extend(authorization.as_deref().map(|value| ("authorization", value)));
        let answer = connection.post(&path(1), &headers, "{}").await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.json()), (403, json!({ "reason": reason })));
    }
    assert_eq!(simulator.stats().of(Protocol::Apns).unauthorized, 7);
    // And there is no HTTP/1.1.
    assert!(http1(&simulator, "POST", &path(1), &[], b"{}").await.is_none());
}

#[tokio::test]
async fn one_stream_until_the_first_message_is_taken() {
    let simulator = Simulator::start(SimSettings { streams: 77, ..SimSettings::default() }).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let authorization = provider_token(simulator.apns_key());
    let stranger = connection.post(&path(1), &[("apns-topic", DEFAULT_TOPIC)], "{}").await.unwrap();
    assert_eq!(stranger.status, 403);
    assert_eq!(connection.streams(), 1);
    let headers = [("authorization", authorization.as_str()), ("apns-topic", DEFAULT_TOPIC)];
    connection.post(&path(1), &headers, "{}").await.unwrap();
    // The new limit arrives no later than the next answer.
    connection.post(&path(2), &headers, "{}").await.unwrap();
    assert_eq!(connection.streams(), 77);
}

#[tokio::test]
async fn bodies_may_take_their_time() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let authorization = provider_token(simulator.apns_key());
    let headers = [("authorization", authorization.as_str()), ("apns-topic", DEFAULT_TOPIC)];
    let answer = connection.post_slowly(&path(1), &headers, &["{\"aps\":", "{\"alert\":", "\"Hi\"}}"]).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(simulator.deliveries(1)[0].body, r#"{"aps":{"alert":"Hi"}}"#);
}

#[tokio::test]
async fn gone_devices_come_with_a_time() {
    let faults = Faults { gone_addresses: [token(7)].into(), ..Faults::default() };
    let simulator = Simulator::start(SimSettings { faults, ..SimSettings::default() }).await.unwrap();
    let connection = Connection::tls(&simulator).await;
    let authorization = provider_token(simulator.apns_key());
    let headers = [("authorization", authorization.as_str()), ("apns-topic", DEFAULT_TOPIC)];
    let answer = connection.post(&path(7), &headers, "{}").await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.json()["reason"]), (410, &json!("Unregistered")));
    let age = now() - answer.json()["timestamp"].as_i64().unwrap() / 1000;
    assert!((0..60).contains(&age), "{age}");
    assert_eq!(connection.post(&path(8), &headers, "{}").await.unwrap().status, 200);
}
