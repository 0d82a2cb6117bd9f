//! A provider at its worst: no device is missed, none is counted wrongly. The tests do the same with fewer devices.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use model::ids::ChannelId;
use serde_json::{Value, json};
use sim::{Faults, Protocol, SimSettings, Simulator, keys};
use store::{DatabaseUrl, Store};
use testkit::bulk::copy_channel_to;

use crate::Size;
use crate::http::{Connection, request};
use crate::report::{self, duration, number, ratio};
use crate::server::{APP_KEY, DATABASE, Server, device_authorization, master_authorization, operator_authorization};

const DEVICES: u32 = 200_000;
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_devices = u64::from(size.of(DEVICES));
    report::heading(format_args!(
        "{} devices behind a provider with 5 % resets, 5 % 429, 5 % 503, 2 % gone and a GOAWAY every 1,000 requests",
        number(n_devices as f64)
    ))?;
    let faults = Faults {
        resets: 0.05,
        throttled: 0.05,
        unavailable: 0.05,
        gone: 0.02,
        goaway_every: 1000,
        ..Faults::default()
    };
    report::progress("without faults");
    let Sent { took: without, .. } = send(n_devices, Faults::default()).await?;
    report::line("the same devices behind a provider without faults", &duration(without))?;
    report::progress("with faults");
    let Sent { took, report, sim, n_gone, n_installed } = send(n_devices, faults).await?;

    let tally = sim.stats().of(Protocol::Apns);
    let count = |name: &str| report["total"][name].as_u64().unwrap_or(0);
    report::line("time until every device was served or given up", &duration(took))?;
    report::line("of the time without faults", &ratio(took.as_secs_f64() / without.as_secs_f64()))?;
    report::line("requests", &number(tally.messages as f64))?;
    report::line("connections that went away", &number(sim.stats().goaways as f64))?;
    goal("devices that are there and were served", tally.delivered(), n_devices - n_gone)?;
    goal("devices served twice", tally.duplicates, 0)?;
    goal("deliveries that the service reports", count("delivered"), tally.delivered())?;
    goal("devices that the service found gone", count("gone"), tally.devices_gone)?;
    goal("of the devices that are gone", tally.devices_gone, n_gone)?;
    goal("channels that are still installed", n_installed, n_devices - n_gone)?;
    goal("deliveries that failed, expired or are pending", count("failed") + count("expired") + count("pending"), 0)
}

/// A push to everybody that has ended.
struct Sent {
    took: Duration,
    report: Value,
    sim: Simulator,
    /// Devices that the provider says are gone.
    n_gone: u64,
    /// Channels that the service still has.
    n_installed: u64,
}

async fn send(n_devices: u64, faults: Faults) -> Result<Sent> {
    let sim = Simulator::start(SimSettings { faults: faults.clone(), keep: 0, ..SimSettings::default() }).await?;
    let folder = tempfile::tempdir()?;
    let addresses: Vec<String> = (0..n_devices).map(|n| sim.device(Protocol::Apns, n)).collect();
    load(folder.path(), &addresses).await?;
    let n_gone = addresses.iter().filter(|address| faults.is_gone(address)).count() as u64;

    let server = Server::start(folder.path())?;
    let mut connection = Connection::open(server.address).await?;
    let path = format!("/operator/apps/{APP_KEY}/platforms/apns");
    let credentials = json!({
        "topic": sim.topic(), "team_id": keys::APNS_TEAM_ID, "key_id": keys::APNS_KEY_ID, "key": sim.apns_key(),
        "endpoint": {"url": sim.url(Protocol::Apns), "ca": sim.ca_pem()},
    });
    connection.expect(&request("PUT", &path, &operator_authorization(), &credentials.to_string())).await?;
    let began = Instant::now();
    let push = json!({"audience": "all", "device_types": ["ios"], "notification": {"alert": "Hello"}});
    let accepted = connection.expect(&request("POST", "/api/push", &master_authorization(), &push.to_string())).await?;
    let id = accepted["push_ids"][0].as_str().context("the push has no id")?;
    let report = ended(&mut connection, id).await?;
    let took = began.elapsed();
    server.stop()?;
    let n_installed = installed(folder.path()).await?;
    Ok(Sent { took, report, sim, n_gone, n_installed })
}

fn goal(name: &str, value: u64, wanted: u64) -> Result<()> {
    report::goal(name, &number(value as f64), &number(wanted as f64), value == wanted)
}

/// Registers one device over the API and the others as copies of it.
async fn load(folder: &std::path::Path, addresses: &[String]) -> Result<()> {
    let server = Server::start(folder)?;
    let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": addresses.first()}});
    let register = request("POST", "/api/channels", &device_authorization(), &channel.to_string());
    let made = Connection::open(server.address).await?.expect(&register).await?;
    server.stop()?;
    let original: ChannelId = made["channel_id"].as_str().context("a channel has an id")?.parse()?;
    let store = open(folder).await?;
    let app = store.read(|tx| store::apps::by_key(tx, APP_KEY)).await?.context("there is no app")?.0.id;
    copy_channel_to(&store, app, original, addresses.get(1..).unwrap_or_default()).await;
    store.close().await;
    Ok(())
}

async fn installed(folder: &std::path::Path) -> Result<u64> {
    let store = open(folder).await?;
    let count = "select count(*) from channel where installed = 1";
    let read = store.read(move |tx| tx.query_one::<i64>(count, &[], |row| row.get(0)));
    let n_installed = read.await.map_err(|error: store::Error| error)?;
    store.close().await;
    Ok(n_installed.unsigned_abs())
}

async fn open(folder: &std::path::Path) -> Result<Store> {
    Ok(Store::open(&DatabaseUrl::Sqlite(folder.join(DATABASE))).await?)
}

/// The report of a push once it is final.
async fn ended(connection: &mut Connection, id: &str) -> Result<Value> {
    let status = request("GET", &format!("/api/push/{id}"), &master_authorization(), "");
    loop {
        let push = connection.expect(&status).await?["push"].take();
        ensure!(push["state"] != "canceled", "The push was canceled.");
        if push["state"] == "done" {
            return Ok(push);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
