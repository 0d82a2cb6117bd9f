//! `bench followers`: how often one node reads the log of an app that several webhooks, the audience index and the attribution of
//! openings follow, on PostgreSQL.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use serde_json::json;
use tempfile::TempDir;
use testkit::postgres::Cluster;

use crate::Size;
use crate::clients::{self, Until};
use crate::events::{self, EVENTS};
use crate::http::{Connection, request};
use crate::report::{self, duration, number, ratio};
use crate::server::{APP_KEY, App, Server, master_authorization, operator_authorization};
use crate::usage::Process;
use crate::webhooks::receiver::Receiver;

const DEVICES: u32 = 2_000;
const UPLOADS: u32 = 4_000;
/// Of each record, however many follow the log.
const MOST_READS: f64 = 1.5;
/// The types of each webhook, and how many events of them an upload has.
const WEBHOOKS: [(&[&str], u64); 5] = [
    (&["CUSTOM"], 4),
    (&["SCREEN_VIEWED"], 4),
    (&["OPEN", "CLOSE"], 2),
    (&["CUSTOM", "SCREEN_VIEWED"], 8),
    (&["OPEN", "CUSTOM"], 5),
];
const READS: &str = "select coalesce(sum(calls), 0) from pg_stat_statements
                     where query like 'select%from log%position >%' and query not like '%limit 1'";
const ROWS: &str = "select coalesce(sum(rows), 0) from pg_stat_statements
                    where query like 'select%from log%position >%' and query not like '%limit 1'";
const WRITTEN: &str = "select count(*) from aerogram.log";
const STATEMENTS: &str = "select coalesce(sum(calls), 0) from pg_stat_statements where query not like '%pg_stat%'";

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_uploads = u64::from(size.requests(UPLOADS));
    let n_webhooks = WEBHOOKS.len();
    report::heading(format_args!(
        "One log with {n_webhooks} webhooks, the index and openings behind it, on PostgreSQL"
    ))?;
    let cluster = Cluster::durable().map_err(|why| anyhow!(why))?;
    let url = cluster.fresh_database();
    cluster.ask(&url, "create extension pg_stat_statements");
    let database = Process(cluster.process().context("PostgreSQL has no process")?);
    let (folder, receiver) = (TempDir::new()?, Receiver::start()?);
    let server = Server::start_on(folder.path(), &url)?;
    let mut connection = Connection::open(server.address).await?;
    let channels: Arc<[_]> = events::register(&server, &App::first(), size.requests(DEVICES)).await?.into();
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "The doors open at eight."}});
    connection.expect(&request("POST", "/api/push", &master_authorization(), &push.to_string())).await?;
    for (types, _) in WEBHOOKS {
        let webhook = json!({"url": receiver.url(), "types": types}).to_string();
        let path = format!("/operator/apps/{APP_KEY}/webhooks");
        connection.expect(&request("POST", &path, &operator_authorization(), &webhook)).await?;
    }
    let cpu = || -> Result<_> { Ok((server.process().cpu()?, database.family_cpu()?)) };
    let ask = |sql: &str| -> Result<f64> { Ok(cluster.ask(&url, sql).parse()?) };
    let before_uploads = ask(WRITTEN)?;
    cluster.ask(&url, "select pg_stat_statements_reset()");
    let (began, before) = (Instant::now(), cpu()?);
    let make = move |n| events::upload(APP_KEY, &channels, 0, n);
    clients::call(server.address, server.process(), Until::Calls(n_uploads), make).await?;
    let uploaded = began.elapsed();
    receiver.wait_for(n_uploads * WEBHOOKS.iter().map(|(_, n_events)| n_events).sum::<u64>()).await?;
    let (elapsed, after) = (began.elapsed(), cpu()?);
    let (reads, rows, statements) = (ask(READS)?, ask(ROWS)?, ask(STATEMENTS)?);
    let written = ask(WRITTEN)? - before_uploads;
    server.stop()?;
    let n_events = (n_uploads * EVENTS) as f64;
    report::line("events of devices", &number(n_events))?;
    report::line("records written to the log for them", &number(written))?;
    report::line("until all are taken in", &duration(uploaded))?;
    report::line("until all webhooks have them", &duration(elapsed))?;
    report::line("statements that read the log, a second", &number(reads / elapsed.as_secs_f64()))?;
    report::line("statements that read the log, a thousand events", &format!("{:.1}", reads * 1e3 / n_events))?;
    let times = rows / written.max(1.0);
    let text = "records read, of those written, by all who follow the log";
    report::goal(text, &ratio(times), "at most 1.5×", times <= MOST_READS)?;
    report::line("all statements, a thousand events", &format!("{:.0}", statements * 1e3 / n_events))?;
    let each = |time: std::time::Duration| duration(time.div_f64(n_events));
    report::line("CPU time of the service, an event", &each(after.0.saturating_sub(before.0)))?;
    report::line("CPU time of the database, an event", &each(after.1.saturating_sub(before.1)))
}
