//! `bench writes`: tag updates and registrations over HTTP, beside bare commits of the same bytes.

mod bare;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use model::ids::ChannelId;

use crate::Size;
use crate::clients::{self, CLIENTS, Until, Work};
use crate::commits::Commits;
use crate::http::request;
use crate::report::{self, percent};
use crate::server::{App, DATABASE, Server};

/// Channels that exist before the measurement.
const PREPARED: u32 = 1_000_000;
/// Rounds are short and take turns, so that cores that slow down for a while affect both sides.
const ROUNDS: usize = 15;
const TIME: Duration = Duration::from_secs(1);
const LEAST_SHARE: f64 = 0.6;

pub(crate) async fn run(size: Size) -> Result<()> {
    let (n_rounds, time) = (size.rounds(ROUNDS), Until::Time(size.time(TIME)));
    report::heading(format_args!("Durable writes over HTTP from {CLIENTS} clients"))?;
    let (folder, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let prepared = prepare(folder.path(), size.requests(PREPARED)).await?;
    std::fs::copy(folder.path().join(DATABASE), other.path().join(DATABASE))?;
    let mut updates = Side::default();
    let mut registrations = Side::default();
    let commits = Commits::open(other.path()).await?;
    let server = Server::start(folder.path())?;
    for round in 0..n_rounds {
        report::progress(&format!("round {} of {n_rounds}", round + 1));
        updates.bare.push(bare::update_rows(&commits, time, &prepared, round).await?);
        updates.http.push(update(&server, &prepared.channels, time, &format!("round-{round}")).await?);
        updates.bytes.push(commits.of_bytes(time, CLIENTS, prepared.update.n_bytes()).await?);
        registrations.bare.push(bare::insert_rows(&commits, time, &prepared).await?);
        registrations.http.push(register(&server, time, &format!("round-{round}")).await?);
        registrations.bytes.push(commits.of_bytes(time, CLIENTS, prepared.registration.n_bytes()).await?);
    }
    server.stop()?;
    commits.close().await;
    updates.print("tag updates", prepared.update.n_bytes())?;
    registrations.print("registrations", prepared.registration.n_bytes())
}

/// The rounds of one kind of write.
#[derive(Default)]
struct Side {
    http: Vec<Work>,
    /// The same rows, ready-made, straight into the database.
    bare: Vec<Work>,
    /// As many bytes, as one value of one table.
    bytes: Vec<Work>,
}

impl Side {
    fn print(&self, name: &str, n_bytes: usize) -> Result<()> {
        report::heading(format_args!("{name}, {n_bytes} bytes each"))?;
        let rows = [
            clients::row("bare commits of the same rows", &self.bare),
            clients::row("bare commits of one value of as many bytes", &self.bytes),
            clients::row("over HTTP", &self.http),
        ];
        report::table(&clients::HEADING, &rows)?;
        let of_rows = clients::share(&self.http, &self.bare);
        let text = "rate over HTTP, of bare commits of the same rows";
        report::goal(text, &percent(of_rows), "at least 60 %", of_rows >= LEAST_SHARE)?;
        let of_bytes = clients::share(&self.http, &self.bytes);
        report::line("rate over HTTP, of bare commits of one value of as many bytes", &percent(of_bytes))?;
        // Callers and server share the cores, so the rate depends on both.
        let calling = Duration::from_secs_f64(clients::middle(&self.http, Work::calling));
        report::line("CPU time of the callers, per request", &report::duration(calling))
    }
}

/// Fills a database over HTTP and reads the rows that one write of each kind has left there.
async fn prepare(folder: &Path, n_channels: u32) -> Result<bare::Prepared> {
    report::progress("preparing");
    let server = Server::start(folder)?;
    register(&server, Until::Calls(n_channels.into()), "prepared").await?;
    server.stop()?;
    let registered = bare::registered(folder).await?;
    let server = Server::start(folder)?;
    update(&server, &registered.channels, Until::Calls(registered.channels.len() as u64), "prepared").await?;
    server.stop()?;
    bare::updated(folder, registered).await
}

async fn register(server: &Server, until: Until, name: &str) -> Result<Work> {
    clients::call(server.address, server.process(), until, registration(&App::first(), name)).await
}

/// The requests of devices that register.
pub(crate) fn registration(app: &App, name: &str) -> impl Fn(u64) -> Vec<u8> + Clone + Send + use<> {
    let (authorization, name) = (app.device(), name.to_owned());
    move |n| {
        // Like real addresses, in no order, so that each has its own page of an index.
        let mut start = DefaultHasher::new();
        (&name, n).hash(&mut start);
        let start = start.finish();
        let address =
            format!("{start:016x}-{name}-{n:0>12}-APA91bHun4MxP5egoKMwt2KZFBaFUH-0123456789abcdefghijklmnopq");
        let body = format!(
            r#"{{"channel": {{"device_type": "android", "opt_in": true, "background": true, "push_address": "{address}", "set_tags": true, "tags": ["news", "tag-{}"], "timezone": "Europe/Berlin", "locale_language": "de", "locale_country": "DE", "app_version": "12.4.1", "sdk_version": "17.8.1", "device_model": "Pixel 8", "device_os": "14", "carrier": "Telekom"}}}}"#,
            n % 1000
        );
        request("POST", "/api/channels", &authorization, &body)
    }
}

/// Sets the tags of the channels in turn, different ones in each round.
async fn update(server: &Server, channels: &Arc<[ChannelId]>, until: Until, name: &str) -> Result<Work> {
    clients::call(server.address, server.process(), until, tag_update(&App::first(), channels, name)).await
}

/// The requests of a server that tags channels.
pub(crate) fn tag_update(
    app: &App,
    channels: &Arc<[ChannelId]>,
    name: &str,
) -> impl Fn(u64) -> Vec<u8> + Clone + Send + use<> {
    let (authorization, channels, name) = (app.master(), Arc::clone(channels), name.to_owned());
    move |n| {
        let all = channels.len() as u64;
        let channel = usize::try_from(n % all).map_or(channels[0], |position| channels[position]);
        let body = format!(
            r#"{{"audience": {{"android_channel": "{channel}"}}, "set": {{"interests": ["sports", "{name}-{}"]}}}}"#,
            n / all
        );
        request("POST", "/api/channels/tags", &authorization, &body)
    }
}
