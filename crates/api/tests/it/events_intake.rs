//! What devices tell, from the upload to the log: every shape of event, repeats, clocks, encodings and senders of all kinds.

mod attribution;
mod consequences;
mod limits;
mod proof;
mod repeats;
mod responses;
mod servers;
mod shapes;
mod uploads;

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use events::EventFilter;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::Method;
use model::event::EventOffset;
use model::ids::AppId;
use serde_json::{Value, json};
use store::counters::{self, Metric, Pushes};
use testkit::app::{START, TestApp};
use testkit::client::Reply;
use uuid::Uuid;

use crate::event_schema;

/// An event as a device tells it, with an id of its own.
fn event(kind: &str, data: Value) -> Value {
    event_at(kind, START.0, data)
}

pub(crate) fn event_at(kind: &str, millis: i64, data: Value) -> Value {
    let id = Uuid::from_u128(rand_like(kind, millis, &data));
    let time = format!("{}.{:03}", millis.div_euclid(1000), millis.rem_euclid(1000));
    let mut event = json!({"type": kind, "event_id": id.to_string(), "time": time});
    event["data"] = data;
    event
}

/// The same for the same event, and otherwise different.
fn rand_like(kind: &str, millis: i64, data: &Value) -> u128 {
    Uuid::new_v5(&Uuid::nil(), format!("{kind} {millis} {data}").as_bytes()).as_u128()
}

async fn id_of(app: &TestApp) -> AppId {
    app.engine().tenancy().app(&app.app.key).await.unwrap().id
}

async fn register(app: &TestApp, device_type: &str, address: &str) -> String {
    let channel = json!({"device_type": device_type, "opt_in": true, "push_address": address});
    let made = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
    made["channel_id"].as_str().unwrap().to_owned()
}

/// An upload as libraries of old send it: without credentials.
async fn upload_with(app: &TestApp, headers: &[(&str, &str)], body: Vec<u8>) -> Reply {
    let mut request = app.nobody().request(Method::POST, "/warp9/");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.nobody().send(request.body(Bytes::from(body)).unwrap()).await
}

pub(crate) async fn upload(app: &TestApp, channel: &str, events: Value) {
    let headers = [("X-UA-App-Key", app.app.key.as_str()), ("X-UA-Channel-ID", channel)];
    let reply = upload_with(app, &headers, events.to_string().into_bytes()).await;
    assert_eq!(reply.expect(200), json!({"ok": true}));
}

/// All events of the app except those of registrations and pushes: their types, and the whole of them.
pub(crate) async fn told(app: &TestApp) -> Vec<Value> {
    let id = id_of(app).await;
    let page =
        app.engine().events().read_events(id, EventOffset::START, 1000, &EventFilter::everything()).await.unwrap();
    let events = page.events.iter().map(|event| serde_json::from_slice::<Value>(&event.json).unwrap());
    let events = events.inspect(|event| event_schema::check(event).unwrap_or_else(|wrong| panic!("{wrong}: {event}")));
    let of_service = ["FIRST_OPEN", "PUSH_BODY", "SEND", "TAG_CHANGE", "CONTACT_CHANGE", "UNINSTALL"];
    events.filter(|event| !of_service.contains(&event["type"].as_str().unwrap())).collect()
}

async fn types(app: &TestApp) -> Vec<String> {
    told(app).await.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

async fn count(app: &TestApp, metric: Metric, family: &'static str) -> i64 {
    let id = id_of(app).await;
    let totals = app.engine().store().read(move |tx| counters::totals_until(tx, id, &[metric], i64::MAX)).await;
    totals.unwrap().iter().filter(|total| total.device_type.family() == family).map(|total| total.n).sum()
}

async fn count_of_push(app: &TestApp, push: &str, metric: Metric) -> i64 {
    let (id, push) = (id_of(app).await, push.parse().unwrap());
    let read = move |tx: &mut store::Tx<'_>| counters::totals_of_pushes(tx, id, Pushes::One(push), &[metric]);
    app.engine().store().read(read).await.unwrap().iter().map(|total| total.n).sum()
}

async fn push_to(app: &TestApp, channels: &[&str], notification: Value) -> String {
    let push = json!({"audience": {"channel": channels}, "device_types": "all", "notification": notification});
    let accepted = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    accepted["push_ids"][0].as_str().unwrap().to_owned()
}

/// What a device sends back of a push.
fn metadata(push: &str) -> String {
    STANDARD.encode(json!({"version_id": 1, "time": START.0, "push_id": push}).to_string())
}

pub(crate) fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zlib(text: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bare_deflate(text: &str) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}
