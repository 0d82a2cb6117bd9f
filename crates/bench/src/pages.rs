//! `bench pages`: how long each page of the console takes with 1,000,000 channels and 100,000 pushes of a year, on each database.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use model::time::Clock;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Size;
use crate::databases::Database;
use crate::http::{Connection, request};
use crate::loading::{self, Place, user_name};
use crate::population::Population;
use crate::report::{self, duration, mebibytes, number, ratio};
use crate::sample::Sample;
use crate::server::{APP_KEY, Server, device_authorization, master_authorization, operator_authorization};
use crate::year::{Busy, Year, push_id};

const CHANNELS: u32 = 1_000_000;
const BUSY: Busy = Busy { days: 366, pushes_per_day: 274, open_hours: 2 };
const BUSY_OF_TRIAL: Busy = Busy { days: 3, pushes_per_day: 10, open_hours: 2 };
const ROUNDS: usize = 20;
const GOAL: Duration = Duration::from_millis(200);
/// Of what every page loads once and then keeps.
const MOST_ASSET_BYTES: usize = 32 << 10;
/// What is answered without looking anything up, for comparison; the first row.
const HEALTH: &str = "/health";
const PASSWORD: &str = "a long one for the bench";

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_channels = size.of(CHANNELS);
    let busy = if size.is_trial() { BUSY_OF_TRIAL } else { BUSY };
    let n_text = number(f64::from(n_channels));
    report::heading(format_args!("Pages of the console with {n_text} channels and {} pushes", busy.n_pushes()))?;
    let database = Database::start()?;
    let folders = [TempDir::new()?, TempDir::new()?];
    let sqlite = Place::embedded(folders[0].path());
    let postgres = Place { folder: folders[1].path(), database: Some(&database.url) };
    let mut sides = Vec::new();
    for (name, place) in [("SQLite", sqlite), ("PostgreSQL", postgres)] {
        report::line(name, "")?;
        fill(&place, n_channels, busy).await?;
        sides.push(measure(&place.start()?, busy, size.rounds(ROUNDS)).await?);
    }
    let [sqlite, postgres] = &sides[..] else { unreachable!("there are two sides") };
    let rows = sqlite.iter().zip(postgres).map(|(one, other)| {
        let times = [&one.times, &other.times].map(|times| [duration(times.median()), duration(times.percentile(99))]);
        [vec![one.path.clone(), number(one.n_bytes as f64)], times.concat()].concat()
    });
    let heading = ["page", "bytes", "SQLite", "p99", "PostgreSQL", "p99"];
    report::table(&heading, &rows.collect::<Vec<_>>())?;
    let pages = || sides.iter().flat_map(|pages| pages.iter().filter(|page| page.path != HEALTH));
    let slowest = pages().map(|page| page.times.percentile(99)).max().unwrap_or_default();
    let health = sides.iter().flatten().find(|page| page.path == HEALTH).map_or(0.0, |page| seconds(&page.times));
    let longest = pages().map(|page| seconds(&page.times)).fold(0.0, f64::max);
    report::line("the longest median of both, of that of GET /health", &ratio(longest / health.max(1e-9)))?;
    report::goal("the slowest page of both, p99", &duration(slowest), "under 200 ms", slowest < GOAL)
}

/// A page and how long it took.
struct Page {
    path: String,
    n_bytes: usize,
    times: Sample,
}

async fn fill(place: &Place<'_>, n_channels: u32, busy: Busy) -> Result<()> {
    let population = Population::new();
    loading::load_channels(place, population.terms(), n_channels, |ordinal, numbers| {
        let (mut channel, keys) = population.channel(ordinal, numbers);
        channel.named_user = model::ids::NamedUserId::new(&user_name(ordinal.0)).ok();
        (channel, keys)
    })
    .await?;
    let begins = Clock::System.now().minus(Duration::from_secs(u64::from(busy.days) * 24 * 3600));
    Year::load(place, begins, busy).await.map(drop)
}

async fn measure(server: &Server, busy: Busy, n_rounds: usize) -> Result<Vec<Page>> {
    let mut connection = Connection::open(server.address).await?;
    let channel = make_things(&mut connection).await?;
    let before = server.process().memory()?.resident;
    let cookie = log_in(&mut connection, server).await?;
    let mut pages = Vec::new();
    for path in [HEALTH.to_owned()].into_iter().chain(paths(&channel, busy)) {
        let asked = visit(&path, &cookie);
        let mut times = Vec::with_capacity(n_rounds);
        let mut n_bytes = 0;
        // Once to warm up.
        for round in 0..=n_rounds {
            let began = Instant::now();
            let answer = connection.call(&asked).await?;
            ensure!(answer.status == 200, "{path} answered {}", answer.status);
            n_bytes = answer.body.len();
            if round > 0 {
                times.push(began.elapsed());
            }
        }
        pages.push(Page { path: path.replace(APP_KEY, "…"), n_bytes, times: Sample::of(times, Duration::ZERO) });
    }
    let n_bytes = assets(&mut connection, &cookie).await?;
    let text = format!("{} bytes", number(n_bytes as f64));
    report::goal("scripts and styles, packed as browsers get them", &text, "32 KiB", n_bytes <= MOST_ASSET_BYTES)?;
    report::line("memory of the server before the first page", &mebibytes(before))?;
    report::line("and after all of them", &mebibytes(server.process().memory()?.resident))?;
    Ok(pages)
}

/// What some pages show one of; the id of a channel with an address.
async fn make_things(connection: &mut Connection) -> Result<String> {
    let master = master_authorization();
    let segment = json!({"display_name": "Readers", "criteria": {"tag": "tag-1"}});
    connection.expect(&request("POST", "/api/segments", &master, &segment.to_string())).await?;
    // The atlas and the index are read in the background, and are not of the console.
    connection.expect(&request("GET", "/api/location/?q=Paris", &master, "")).await?;
    let explain = json!({"audience": {"tag": "tag-1"}});
    connection.expect(&request("POST", "/api/audience/explain", &master, &explain.to_string())).await?;
    let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "a".repeat(64)}});
    let made =
        connection.expect(&request("POST", "/api/channels", &device_authorization(), &channel.to_string())).await?;
    text(&made["channel_id"])
}

/// The cookie of an owner.
async fn log_in(connection: &mut Connection, server: &Server) -> Result<String> {
    let ask = request("POST", "/operator/accounts/owner-link", &operator_authorization(), "{}");
    let link = text(&connection.expect(&ask).await?["link"])?;
    let code = link.split_once("code=").context("a link without a code")?.1;
    let form = format!("code={code}&email=kim%40example.com&name=Kim&password={}", PASSWORD.replace(' ', "+"));
    let (address, length) = (server.address, form.len());
    let start = format!(
        "POST /console/start HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
    );
    let answer = connection.call(start.as_bytes()).await?;
    ensure!(answer.status == 303, "The account was not made: {}", String::from_utf8_lossy(answer.body));
    let cookie = answer.header("set-cookie").context("nobody was logged in")?;
    Ok(cookie.split(';').next().unwrap_or_default().to_owned())
}

fn seconds(times: &Sample) -> f64 {
    times.median().as_secs_f64()
}

fn visit(path: &str, cookie: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nAccept-Encoding: gzip\r\n\r\n").into_bytes()
}

/// Every page that shows something of an app or of the installation.
fn paths(channel: &str, busy: Busy) -> Vec<String> {
    let push = push_id(busy.n_pushes() - 1).to_string();
    let routes = console::routes().into_iter();
    let pages = routes.filter(|route| route.method == http::Method::GET && route.needs != console::Needs::Nobody);
    let paths = pages.map(|route| {
        let path = route.path.replace("{app}", APP_KEY).replace("{push}", &push).replace("{channel}", channel);
        let question = match path.rsplit('/').next() {
            Some("user") => format!("?id={}", user_name(7)),
            Some("erase") => format!("?channel_id={channel}"),
            _ => String::new(),
        };
        path + &question
    });
    // Others need ids of things that an app need not have; a file is no page.
    paths.filter(|path| !path.contains('{') && !path.ends_with("/csv")).collect()
}

/// The size of what Home loads besides itself.
async fn assets(connection: &mut Connection, cookie: &str) -> Result<usize> {
    let home = connection.call(&visit(&format!("/console/{APP_KEY}"), cookie)).await?;
    let home = String::from_utf8_lossy(home.body).into_owned();
    let found = home.split('"').filter(|part| part.starts_with("/console/-/assets/"));
    let mut files: Vec<&str> = found.filter(|path| !path.ends_with(".svg")).collect();
    files.sort_unstable();
    files.dedup();
    let mut n_bytes = 0;
    for file in files {
        let answer = connection.call(&visit(file, cookie)).await?;
        ensure!(answer.status == 200, "{file} answered {}", answer.status);
        n_bytes += answer.body.len();
    }
    Ok(n_bytes)
}

fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).context("an answer without what it should say")
}
