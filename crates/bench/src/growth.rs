//! `bench growth`: how large tables and indexes are over two weeks of simulated time at constant load, on each database.
//!
//! The clock of the service is stepped by the hour. The second week comes more than a year after the first, so that everything
//! that expires has expired in between: what is left then has to take no more room than before.

mod sizes;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::Retention;
use model::ids::ChannelId;
use serde_json::json;
use testkit::app::TestApp;
use testkit::store::Database;

use crate::Size;
use crate::clients::{self, Until};
use crate::events::{EVENTS, upload_to};
use crate::http::{Connection, request};
use crate::report::{self, number, percent, ratio};
use crate::usage::Process;
use sizes::{Sizes, Total};

const DEVICES: u32 = 2_000;
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HOURS_PER_DAY: u32 = 24;
/// A trial has short days.
const HOURS_OF_TRIAL: u32 = 1;
const DAYS: usize = 7;
/// What comes in within an hour.
const UPLOADS: u64 = 100;
const TAG_UPDATES: u64 = 100;
const REGISTRATIONS: u64 = 50;
const PUSHES: u64 = 10;
/// Devices share this many tags, and a push goes to one of them.
const AUDIENCES: u64 = 20;
/// The log expires from the second day on; everything else within the pause between the weeks.
const RETENTION: Retention =
    Retention { age: DAY, bytes: u64::MAX >> 1, pushes: Duration::from_secs(31 * 86_400), audit: DAY };
const PAUSE: Duration = Duration::from_secs(100 * 86_400);
/// The sweep deletes a part at a time and comes back a second later.
const SWEEPS_AFTER_PAUSE: usize = 60;
const MOST_DEAD: f64 = 0.25;
const MOST_GROWTH: f64 = 1.2;

/// PostgreSQL cleans up by real time, of which the simulated weeks have too little: it looks every second instead of every
/// minute, and does not stop to rest.
const TIME_TO_CLEAN: [&str; 4] = [
    "alter system set autovacuum_naptime = '1s'",
    "alter system set autovacuum_vacuum_cost_delay = 0",
    "alter system set checkpoint_timeout = '1h'",
    "select pg_reload_conf()",
];

/// How a database is looked after.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Upkeep {
    Ours,
    /// As PostgreSQL comes, for comparison.
    ItsOwn,
}

pub(crate) async fn run(size: Size) -> Result<()> {
    let databases = testkit::store::databases();
    let own = databases.contains(&Database::Postgres).then_some((Database::Postgres, Upkeep::ItsOwn));
    for (database, upkeep) in databases.into_iter().map(|database| (database, Upkeep::Ours)).chain(own) {
        let by = if upkeep == Upkeep::Ours { "" } else { ", with its own settings for autovacuum" };
        report::heading(format_args!("Two weeks at constant load on {database:?}{by}"))?;
        if database == Database::Postgres {
            let cluster = testkit::postgres::cluster();
            let url = cluster.fresh_database();
            TIME_TO_CLEAN.iter().for_each(|sql| drop(cluster.ask(&url, sql)));
        }
        let world = World::new(database, size.requests(DEVICES)).await?;
        if upkeep == Upkeep::ItsOwn {
            sizes::reset_upkeep(world.app.engine().store()).await?;
        }
        let n_hours = if size.is_trial() { HOURS_OF_TRIAL } else { HOURS_PER_DAY };
        let (first, second) = world.live(size.rounds(DAYS), n_hours, size.times(SWEEPS_AFTER_PAUSE)).await?;
        print(database, &first, &second)?;
        world.app.stop().await;
    }
    Ok(())
}

/// A service and its devices.
struct World {
    app: TestApp,
    address: SocketAddr,
    device: String,
    master: String,
    channels: Arc<[ChannelId]>,
}

impl World {
    async fn new(database: Database, n_devices: u32) -> Result<Self> {
        report::progress("preparing");
        let app = TestApp::with_retention(database, RETENTION).await;
        let address = app.url("").trim_start_matches("http://").parse().context("the service has an address")?;
        let authorization = |secret: &str| format!("Basic {}", STANDARD.encode(format!("{}:{secret}", app.app.key)));
        let (device, master) = (authorization(&app.app.app_secret), authorization(&app.app.master_secret));
        let mut connection = Connection::open(address).await?;
        let mut channels = Vec::new();
        for n in 0..n_devices {
            let made =
                connection.expect(&request("POST", "/api/channels", &device, &registration(n.into(), 0))).await?;
            channels.push(made["channel_id"].as_str().unwrap_or_default().parse()?);
        }
        Ok(Self { app, address, device, master, channels: channels.into() })
    }

    /// The sizes at the end of every day of the two weeks.
    async fn live(&self, n_days: usize, n_hours: u32, n_sweeps: usize) -> Result<(Vec<Sizes>, Vec<Sizes>)> {
        let first = self.week("first", 0, n_days, n_hours).await?;
        self.app.advance(PAUSE);
        for _ in 0..n_sweeps {
            self.app.step_all().await;
            self.app.advance(Duration::from_secs(2));
        }
        let second = self.week("second", 1, n_days, n_hours).await?;
        Ok((first, second))
    }

    async fn week(&self, name: &str, week: u32, n_days: usize, n_hours: u32) -> Result<Vec<Sizes>> {
        let mut days = Vec::new();
        for day in 0..n_days {
            report::progress(&format!("{name} week, day {}", day + 1));
            let mut sizes = Sizes::default();
            for hour in 0..n_hours {
                let round = (week * 1000 + u32::try_from(day)? * HOURS_PER_DAY + hour).into();
                self.hour(round).await?;
                sizes = sizes.followed_by(Sizes::read(self.app.engine().store()).await?);
            }
            days.push(sizes);
        }
        Ok(days)
    }

    async fn hour(&self, round: u64) -> Result<()> {
        self.app.advance(HOUR);
        let (key, now, channels) = (self.app.app.key.clone(), self.app.clock().now(), Arc::clone(&self.channels));
        self.call(UPLOADS, move |n| upload_to(&key, now, &channels, round, round * UPLOADS + n)).await?;
        let (master, channels) = (self.master.clone(), Arc::clone(&self.channels));
        let tag = move |n: u64| {
            let audience = json!({"android_channel": one_of(&channels, round * TAG_UPDATES + n)});
            let body = json!({"audience": audience, "set": {"interests": [format!("tag-{}", (round + n) % 100)]}});
            request("POST", "/api/channels/tags", &master, &body.to_string())
        };
        self.call(TAG_UPDATES, tag).await?;
        let (device, channels) = (self.device.clone(), Arc::clone(&self.channels));
        let register = move |n: u64| {
            let n = round * REGISTRATIONS + n;
            let path = format!("/api/channels/{}", one_of(&channels, n));
            request("PUT", &path, &device, &registration(n % channels.len() as u64, round))
        };
        self.call(REGISTRATIONS, register).await?;
        let master = self.master.clone();
        let push = move |n: u64| {
            let audience = json!({"tag": format!("audience-{}", n % AUDIENCES)});
            let body = json!({"audience": audience, "device_types": "all", "notification": {"alert": "It is eight."}});
            let request = request("POST", "/api/push", &master, &body.to_string());
            let head = format!("POST /api/push HTTP/1.1\r\nIdempotency-Key: push-{round}-{n}");
            [head.as_bytes(), &request["POST /api/push HTTP/1.1".len()..]].concat()
        };
        self.call(PUSHES, push).await?;
        self.app.step_all().await;
        Ok(())
    }

    async fn call(&self, n_calls: u64, request: impl Fn(u64) -> Vec<u8> + Clone + Send + 'static) -> Result<()> {
        clients::call(self.address, Process::own(), Until::Calls(n_calls), request).await.map(drop)
    }
}

fn one_of(channels: &[ChannelId], n: u64) -> ChannelId {
    channels[usize::try_from(n).unwrap_or(0) % channels.len()]
}

/// What device `n` says about itself; its version is another one after every update of the app.
fn registration(n: u64, round: u64) -> String {
    json!({"channel": {
        "device_type": "android", "opt_in": true, "background": true, "push_address": format!("address-{n:0>100}"),
        "set_tags": true, "tags": [format!("audience-{}", n % AUDIENCES)], "timezone": "Europe/Berlin",
        "locale_language": "de", "locale_country": "DE", "app_version": format!("12.4.{}", round % 7),
    }})
    .to_string()
}

fn print(database: Database, first: &[Sizes], second: &[Sizes]) -> Result<()> {
    let per_day = u64::from(HOURS_PER_DAY);
    let load = format!(
        "{} events, {} tag updates, {} registrations and {} pushes a day",
        UPLOADS * EVENTS * per_day,
        TAG_UPDATES * per_day,
        REGISTRATIONS * per_day,
        PUSHES * per_day
    );
    report::line(&load, "")?;
    let days = first.iter().map(|sizes| ("first week", sizes)).chain(second.iter().map(|sizes| ("second week", sizes)));
    let rows = days.enumerate().map(|(index, (week, sizes))| {
        let mut row = vec![format!("{week}, day {}", index % DAYS + 1)];
        row.extend(sizes.total().cells());
        row
    });
    report::table(&["", "tables", "indexes", "free", "rows", "dead, at most", "cleaned"], &rows.collect::<Vec<_>>())?;
    let (Some(second_day), Some(last), Some(end)) = (first.get(1), first.last(), second.last()) else { return Ok(()) };
    report::heading(format_args!("Tables of 1 % of the database and more, with their indexes, in KiB"))?;
    report::table(
        &["", "day 2", "day 7", "second week", "rows", "dead, at most", "cleaned"],
        &sizes::compare(second_day, last, end),
    )?;
    let expiring = last.of(&sizes::EXPIRING) as f64 / second_day.of(&sizes::EXPIRING).max(1) as f64;
    let text = "what expires within a day: at the end of the week, of its size on the second day";
    report::goal(text, &ratio(expiring), "at most 1.2×", expiring <= MOST_GROWTH)?;
    let all = end.total().used() as f64 / last.total().used().max(1) as f64;
    report::goal(
        "everything: at the end of the second week, of the first",
        &ratio(all),
        "at most 1.2×",
        all <= MOST_GROWTH,
    )?;
    if database == Database::Postgres {
        let dead =
            first.iter().chain(second).map(Sizes::total).map(|total: Total| total.dead_share()).fold(0.0, f64::max);
        report::goal("dead rows at any time, of the living", &percent(dead), "at most 25 %", dead <= MOST_DEAD)?;
    }
    report::line("rows deleted and still counted", &number(end.total().dead as f64))
}
