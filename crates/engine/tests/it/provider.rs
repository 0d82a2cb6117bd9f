//! Devices behind a simulated provider, as the tests of this folder need them.

use std::time::Duration;

use model::ids::{AppId, ChannelId};
use serde_json::{Value, json};
use sim::{Faults, Protocol, SimSettings, Simulator, keys};
use testkit::app::TestApp;
use testkit::bulk::copy_channel_to;

use crate::devices::register;

/// A simulator that agrees with the service about the time.
pub(crate) async fn simulator(app: &TestApp, faults: Faults) -> Simulator {
    let settings = SimSettings { clock: app.clock().clone(), faults, ..SimSettings::default() };
    Simulator::start(settings).await.unwrap()
}

/// What Apple would have handed out.
pub(crate) fn apple(sim: &Simulator) -> Value {
    json!({
        "topic": sim.topic(), "team_id": keys::APNS_TEAM_ID, "key_id": keys::APNS_KEY_ID, "key": sim.apns_key(),
        "endpoint": {"url": sim.url(Protocol::Apns), "ca": sim.ca_pem()},
    })
}

pub(crate) fn google(sim: &Simulator) -> Value {
    let account: Value = serde_json::from_str(&sim.service_account(true)).unwrap();
    json!({"service_account": account, "endpoint": {"url": sim.url(Protocol::Fcm), "ca": sim.ca_pem()}})
}

pub(crate) async fn configure(app: &TestApp, platform: &str, credentials: &Value) {
    let path = format!("/operator/apps/{}/platforms/{platform}", app.app.key);
    app.operator().put(&path, credentials).await.expect(200);
}

/// Registers devices number 0 to `n` of a simulator.
pub(crate) async fn devices(app: &TestApp, sim: &Simulator, protocol: Protocol, n: u64) -> Vec<String> {
    let device_type = match protocol {
        Protocol::Apns => "ios",
        Protocol::Fcm => "android",
        Protocol::Adm => "amazon",
        Protocol::Wns => "wns",
        Protocol::WebPush | Protocol::UnifiedPush | Protocol::Open => panic!("they register differently"),
    };
    let addresses: Vec<String> = (0..n).map(|device| sim.device(protocol, device)).collect();
    let original: ChannelId = register(app, device_type, &addresses[0], json!({})).await.parse().unwrap();
    copy_channel_to(app.engine().store(), app_id(app).await, original, &addresses[1..]).await;
    addresses
}

pub(crate) async fn app_id(app: &TestApp) -> AppId {
    app.engine().tenancy().app(&app.app.key).await.unwrap().id
}

pub(crate) fn hello(device_types: &Value) -> Value {
    json!({"audience": "all", "device_types": device_types, "notification": {"alert": "Hello"}})
}

/// How many channels of the app are installed.
pub(crate) async fn n_installed(app: &TestApp) -> i64 {
    let (id, count) = (app_id(app).await, "select count(*) from channel where app = $1 and installed = 1");
    let read = app.engine().store().read(move |tx| tx.query_one(count, &[id.into()], |row| row.get(0)));
    read.await.unwrap_or_else(|error: store::Error| panic!("{error}"))
}

/// Lets time pass until every push has ended, or two hours have.
pub(crate) async fn work_off(app: &TestApp) {
    app.step_all().await;
    for _ in 0..240 {
        if n_jobs(app).await == 0 {
            return;
        }
        app.advance(Duration::from_secs(30));
        app.step_all().await;
    }
}

/// The jobs of pushes, of which nothing is left when they have ended.
pub(crate) async fn n_jobs(app: &TestApp) -> i64 {
    let count = "select count(*) from job where kind in ('resolve', 'deliver')";
    let read = app.engine().store().read(move |tx| tx.query_one(count, &[], |row| row.get(0)));
    read.await.unwrap_or_else(|error: store::Error| panic!("{error}"))
}
