//! `bench timers`: channels that wait for pipelines, all due within the same second.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use model::event::RecordKind;
use model::ids::Ordinal;
use model::tag::{Tag, TagGroup};
use model::term::{Term, TermChange, TermsRecord};
use model::time::{Clock, UtcMillis};
use serde_json::json;
use store::log::{self, NewRecord};
use store::{Tx, terms};

use crate::Size;
use crate::clients::{CLIENTS, Until};
use crate::commits::Commits;
use crate::http::{Connection, request};
use crate::loading::{self, Users};
use crate::population::Population;
use crate::report::{self, duration, mebibytes, number, ratio};
use crate::server::{Server, master_authorization, operator_authorization};

/// Channels; each waits for one of the pipelines.
const TIMERS: u32 = 200_000;
const PIPELINES: u32 = 20;
/// Time enough to start, to load the index and to read the log.
const DELAY: Duration = Duration::from_secs(30);
const DELAY_OF_TRIAL: Duration = Duration::from_secs(6);
const LOOK_EVERY: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_secs(300);
/// The rate that a large service publishes for one of its nodes.
const GOAL_PER_SECOND: f64 = 10_000.0;

pub(crate) async fn run(size: Size) -> Result<()> {
    let (n_timers, delay) = (size.of(TIMERS), if size.is_trial() { DELAY_OF_TRIAL } else { DELAY });
    let all = number(f64::from(n_timers));
    report::heading(format_args!("{all} channels that wait for {PIPELINES} pipelines, all due within one second"))?;
    let folder = tempfile::tempdir()?;
    loading::load(folder.path(), &Population::new(), n_timers, Users::None).await?;
    make_pipelines(folder.path(), delay).await?;
    let due = set_off(folder.path(), n_timers, delay).await?;

    let server = Server::start(folder.path())?;
    let mut connection = Connection::open(server.address).await?;
    wait_until(UtcMillis(due.0 - 1000)).await;
    let (read, _) = jobs(&mut connection).await?;
    // A trial may start so slowly that it is too late, and measures nothing anyway.
    ensure!(read == 0 || size.is_trial(), "Something was due too early.");
    let idle = server.process().memory()?;
    server.process().forget_peak()?;
    let cpu = server.process().cpu()?;
    wait_until(due).await;
    let began = Instant::now();
    loop {
        let (fired, resolved) = jobs(&mut connection).await?;
        if fired >= u64::from(PIPELINES) && resolved >= u64::from(PIPELINES) {
            break;
        }
        ensure!(began.elapsed() < PATIENCE, "Only {fired} pipelines have sent and {resolved} pushes are resolved.");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let (took, cpu) = (began.elapsed(), server.process().cpu()?.saturating_sub(cpu));
    let memory = server.process().memory()?;
    server.stop()?;

    let bare = bare_commits(n_timers).await?;
    report::line("bare commits of one row per channel, per second", &number(bare))?;
    let rate = f64::from(n_timers) / took.as_secs_f64();
    report::line("from the moment they are due until every recipient is chosen", &duration(took))?;
    report::goal("channels per second", &number(rate), "10,000 per second", rate >= GOAL_PER_SECOND)?;
    report::line("rate, of bare commits of one row per channel", &ratio(rate / bare))?;
    report::line("channels per CPU-second", &number(f64::from(n_timers) / cpu.as_secs_f64().max(0.01)))?;
    report::line("memory before", &mebibytes(idle.resident))?;
    report::line("most memory above that", &mebibytes(memory.peak.saturating_sub(idle.resident)))
}

/// The upper bound for a service that has a row for every waiting channel, and does nothing but remove them.
async fn bare_commits(n_timers: u32) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    Server::start(folder.path())?.stop()?;
    let commits = Commits::open(folder.path()).await?;
    let work = commits.of_bytes(Until::Calls(u64::from(n_timers)), CLIENTS, 16).await?;
    commits.close().await;
    Ok(work.per_second())
}

async fn make_pipelines(folder: &Path, delay: Duration) -> Result<()> {
    let server = Server::start(folder)?;
    let mut connection = Connection::open(server.address).await?;
    let pipelines = (0..PIPELINES).map(|n| {
        let push = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Still there?"}});
        let outcome = json!({"push": push, "delay": delay.as_secs()});
        json!({"enabled": true, "immediate_trigger": {"tag_added": tag_name(n)}, "outcome": outcome})
    });
    let pipelines: Vec<_> = pipelines.collect();
    let create = request("POST", "/api/pipelines", &master_authorization(), &json!(pipelines).to_string());
    connection.expect(&create).await?;
    server.stop()
}

/// Gives every channel the tag of one of the pipelines, as when many requests come at once; returns when they will be due.
async fn set_off(folder: &Path, n_timers: u32, delay: Duration) -> Result<UtcMillis> {
    let (store, app) = loading::open(folder).await?;
    let now = Clock::System.now();
    let write = move |tx: &mut Tx<'_>| -> Result<()> {
        for n in 0..PIPELINES {
            let term = Term::Tag { group: TagGroup::device(), tag: tag(n)? };
            let number = terms::insert(tx, app, &term)?;
            let (group, name) = term.key();
            let changes = (n..n_timers).step_by(PIPELINES as usize).map(|ordinal| TermChange {
                ordinal: Ordinal(ordinal),
                added: vec![number],
                removed: Vec::new(),
            });
            let record = TermsRecord {
                new_terms: vec![(number, group.to_owned(), name.into_owned())],
                changes: changes.collect(),
                sets: Vec::new(),
            };
            let body = postcard::to_stdvec(&record)?;
            log::append(tx, app, now, vec![NewRecord { kind: RecordKind::Terms, ordinal: None, body }])?;
        }
        Ok(())
    };
    store.write(app, write).await?;
    store.close().await;
    let exact = now.plus(delay);
    Ok(UtcMillis((exact.0 + 999) / 1000 * 1000))
}

/// How many pipelines have sent and how many pushes are resolved, since the server was started.
async fn jobs(connection: &mut Connection) -> Result<(u64, u64)> {
    let answer = connection.call(&request("GET", "/metrics", &operator_authorization(), "")).await?;
    let text = std::str::from_utf8(answer.body).context("the metrics are not text")?;
    let count = |kind: &str| {
        let label = format!("kind=\"{kind}\"");
        let lines = text.lines().filter(|line| line.starts_with("aerogram_jobs_total") && line.contains(&label));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    };
    Ok((count("fire_pipeline"), count("resolve")))
}

async fn wait_until(instant: UtcMillis) {
    let left = instant.0 - Clock::System.now().0;
    tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
}

fn tag_name(n: u32) -> String {
    format!("timer-{n}")
}

fn tag(n: u32) -> Result<Tag> {
    Tag::new(&tag_name(n)).map_err(anyhow::Error::msg)
}
