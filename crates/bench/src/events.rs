//! `bench events`: events of devices over HTTP, beside bare commits of as many bytes.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::try_join_all;
use model::ids::ChannelId;
use model::time::{Clock, UtcMillis};
use serde_json::json;
use uuid::Uuid;

use crate::Size;
use crate::clients::{self, CLIENTS, Until, Work};
use crate::commits::Commits;
use crate::http::{Connection, request};
use crate::report::{self, number, percent};
use crate::server::{APP_KEY, App, Server, master_authorization};

/// Devices that take turns.
const DEVICES: u32 = 5_000;
/// Events of one upload: the app is opened, looked at, used and closed.
pub(crate) const EVENTS: u64 = 10;
/// Rounds take turns, so that a noisy neighbor disturbs both sides.
const ROUNDS: usize = 3;
const TIME: Duration = Duration::from_secs(5);
/// Registrations at once, which share commits.
const REGISTERING: u32 = 32;

pub(crate) async fn run(size: Size) -> Result<()> {
    let (n_rounds, time) = (size.rounds(ROUNDS), Until::Time(size.time(TIME)));
    report::heading(format_args!("Events of devices, {EVENTS} an upload, from {CLIENTS} clients, durable"))?;
    let (folder, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    Server::start(other.path())?.stop()?;
    let commits = Commits::open(other.path()).await?;
    let server = Server::start(folder.path())?;
    let channels = prepare(&server, size.of(DEVICES)).await?;
    let n_bytes = upload(APP_KEY, &channels, 0, 0).len();
    let (mut http, mut bare) = (Vec::new(), Vec::new());
    for round in 0..n_rounds as u64 {
        report::progress(&format!("round {} of {n_rounds}", round + 1));
        bare.push(commits.of_bytes(time, CLIENTS, n_bytes).await?);
        let channels = channels.clone();
        http.push(
            clients::call(server.address, server.process(), time, move |n| upload(APP_KEY, &channels, round, n))
                .await?,
        );
    }
    commits.close().await;
    server.stop()?;
    let rows =
        [clients::row("uploads over HTTP", &http), clients::row("bare commits of one value of as many bytes", &bare)];
    report::table(&clients::HEADING, &rows)?;
    let events = |value: fn(&Work) -> f64| number(clients::middle(&http, value) * EVENTS as f64);
    report::line("events per second", &events(Work::per_second))?;
    report::line("events per CPU-second", &events(Work::per_cpu_second))?;
    let share = clients::share(&http, &bare);
    report::line("rate over HTTP, of bare commits of one value of as many bytes", &percent(share))
}

/// Devices, and a push to all of them, so that openings can be attributed to a push.
async fn prepare(server: &Server, n_devices: u32) -> Result<Vec<ChannelId>> {
    report::progress("preparing");
    let mut connection = Connection::open(server.address).await?;
    let channels = register(server, &App::first(), n_devices).await?;
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "The doors open at eight."}});
    connection.expect(&request("POST", "/api/push", &master_authorization(), &push.to_string())).await?;
    Ok(channels)
}

/// Devices with short addresses.
pub(crate) async fn register(server: &Server, app: &App, n_devices: u32) -> Result<Vec<ChannelId>> {
    let shares = (0..REGISTERING).map(async |first| {
        let (mut connection, mut channels) = (Connection::open(server.address).await?, Vec::new());
        for n in (first..n_devices).step_by(REGISTERING as usize) {
            let body =
                json!({"channel": {"device_type": "android", "opt_in": true, "push_address": format!("device-{n}")}});
            let made = connection.expect(&request("POST", "/api/channels", &app.device(), &body.to_string())).await?;
            channels.push(made["channel_id"].as_str().unwrap_or_default().parse()?);
        }
        anyhow::Ok(channels)
    });
    Ok(try_join_all(shares).await?.concat())
}

/// The upload of a device after it was used, as it goes over the wire.
pub(crate) fn upload(app_key: &str, channels: &[ChannelId], round: u64, n: u64) -> Vec<u8> {
    upload_to(app_key, Clock::System.now(), channels, round, n)
}

/// The same, at any time.
pub(crate) fn upload_to(app_key: &str, now: UtcMillis, channels: &[ChannelId], round: u64, n: u64) -> Vec<u8> {
    let position = usize::try_from(n).unwrap_or(0) % channels.len();
    let now = now.seconds();
    let session = Uuid::from_u64_pair(round + 1, n);
    let event = |place: u64, kind: &str, mut data: serde_json::Value| {
        data["session_id"] = json!(session);
        json!({"type": kind, "event_id": Uuid::from_u64_pair(n, (round << 8) | place), "time": format!("{now}.250"), "data": data})
    };
    let events = (0..EVENTS).map(|place| match place {
        0 => event(place, "app_foreground", json!({"connection_type": "wifi", "time_zone": 3600})),
        place if place == EVENTS - 1 => event(place, "app_background", json!({"connection_type": "wifi"})),
        place if place % 2 == 0 => event(place, "screen_tracking", json!({"screen": "cart", "duration": "2.25"})),
        place => {
            let properties = json!({"category": "shoes", "price": 49.5});
            event(
                place,
                "enhanced_custom_event",
                json!({"event_name": "viewed", "event_value": 1_000_000, "properties": properties}),
            )
        }
    });
    let body = serde_json::Value::Array(events.collect()).to_string();
    let (channel, length) = (channels[position], body.len());
    format!(
        "POST /warp9/ HTTP/1.1\r\nHost: bench\r\nX-UA-App-Key: {app_key}\r\nX-UA-Channel-ID: {channel}\r\n\
         X-UA-Locale-Language: en\r\nX-UA-Lib-Version: 17.8.1\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
