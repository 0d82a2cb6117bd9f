//! The endpoint of an open platform, and what people ask the simulator.

use std::io::Write;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use sim::{Faults, Protocol, SimSettings, Simulator};
use uuid::Uuid;

use crate::client::{Answer, Connection, http1};

const TYPE: (&str, &str) = ("content-type", "application/vnd.urbanairship+json; version=3");
const ATTRIBUTE: (&str, &str) = ("data-attribute", "values");

fn values(ids: &[&str]) -> String {
    let values: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "send_id": id, "target": { "address": format!("a-{id}") }, "payload": { "alert": "Hi" } }))
        .collect();
    json!({ "values": values }).to_string()
}

#[tokio::test]
async fn an_endpoint_confirms_and_counts_messages_rather_than_requests() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    assert_eq!(http1(&simulator, "GET", "/open/validate", &[], b"").await.unwrap().status, 404);
    simulator.confirm(Uuid::nil());
    let answer = http1(&simulator, "GET", "/open/validate", &[], b"").await.unwrap();
    assert_eq!(answer.json(), json!({ "confirmation_code": Uuid::nil() }));

    let post = async |headers: &[(&str, &str)], body: &[u8]| {
        http1(&simulator, "POST", "/open/push", headers, body).await.unwrap().status.as_u16()
    };
    assert_eq!(post(&[TYPE, ATTRIBUTE], values(&["1", "2", "3"]).as_bytes()).await, 200);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(values(&["3", "4"]).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(post(&[TYPE, ATTRIBUTE, ("content-encoding", "gzip")], &packed).await, 200);
    let tally = simulator.stats().of(Protocol::Open);
    assert_eq!((tally.accepted, tally.duplicates, tally.delivered()), (5, 1, 4));

    assert_eq!(post(&[TYPE], values(&["5"]).as_bytes()).await, 400);
    assert_eq!(post(&[TYPE, ATTRIBUTE], values(&[]).as_bytes()).await, 400);
    assert_eq!(post(&[TYPE, ATTRIBUTE], b"{}").await, 400);
    simulator.set_faults(Faults { throttled: 1.0, ..Faults::default() });
    assert_eq!(post(&[TYPE, ATTRIBUTE], values(&["6", "7"]).as_bytes()).await, 429);
    assert_eq!(simulator.stats().of(Protocol::Open).throttled, 2);
}

#[tokio::test]
async fn people_see_counts_and_set_faults() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let connection = Connection::plain(&simulator).await;
    let get = async |path: &str| connection.request(Method::GET, path, &[], Bytes::new()).await.unwrap();
    let post = async |path: &str, body: &str| -> Answer { connection.post(path, &[], body.to_owned()).await.unwrap() };

    let answer = http1(&simulator, "POST", "/open/push", &[TYPE, ATTRIBUTE], values(&["1"]).as_bytes()).await;
    assert_eq!(answer.unwrap().status, 200);
    assert_eq!(get("/sim/stats").await.json()["protocols"]["open"]["accepted"], 1);
    let deliveries = get("/sim/deliveries?limit=1").await.json();
    let expected = json!({
        "protocol": "open", "address": "a-1", "id": "1", "fate": "accepted", "body": "{\"alert\":\"Hi\"}",
    });
    assert_eq!(deliveries, json!({ "deliveries": [expected] }));

    assert_eq!(post("/sim/faults", r#"{"gone": 0.5, "latency_ms": 3}"#).await.json()["gone"], 0.5);
    assert_eq!(get("/sim/faults").await.json()["latency_ms"], 3);
    let wrong = post("/sim/faults", r#"{"gone": 5}"#).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.json()["error"].as_str().unwrap().starts_with("gone: "));
    assert_eq!(simulator.faults().gone.to_string(), "0.5");

    assert_eq!(post("/sim/open", &json!({ "validation_code": Uuid::max() }).to_string()).await.status, 200);
    assert_eq!(get("/open/validate").await.json(), json!({ "confirmation_code": Uuid::max() }));
    assert_eq!(post("/sim/reset", "").await.status, 200);
    assert_eq!(simulator.stats().messages(), 0);
    assert_eq!(get("/sim/nothing").await.status, 404);
}
