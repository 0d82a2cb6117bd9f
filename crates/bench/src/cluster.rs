//! `bench cluster`: three nodes on one PostgreSQL under load, which are killed, paused and restarted, as is their database, which
//! also fails over to its standby; and then restarted one after the other, as for an upgrade. In the end all books agree, or the
//! program fails.

mod arrivals;
mod books;
mod chance;
mod chaos;
mod checks;
mod clients;
mod findings;
mod nodes;
mod rolling;
mod stage;

use std::time::{Duration, Instant};

use anyhow::Result;
use model::time::Clock;
use sim::Protocol;
use testkit::balanced::{Balanced, Retries};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::Size;
use crate::report::{self, duration, number};
use crate::sample::Sample;
use arrivals::Arrivals;
use books::Book;
use chance::Chance;
use chaos::Disturbances;
use clients::Load;
use findings::Findings;
use stage::Stage;

pub(crate) const NAME: &str = "cluster";
const TIME: Duration = Duration::from_secs(600);
/// Devices that get every push to the crowd.
const CROWD: u32 = 20_000;
/// A client that repeats requests waits for so long first.
const UNANSWERED: Duration = Duration::from_secs(3);
/// For everything to arrive after the last disturbance.
const PATIENCE: Duration = Duration::from_secs(120);
/// The deliveries of a block that may be repeated when another node takes it over; docs/api.md promises it.
const WINDOW: u64 = 4096;
const MOST_TAKEOVER: Duration = Duration::from_secs(5);
const MOST_LATE: Duration = Duration::from_secs(5);
const HOUR: Duration = Duration::from_secs(3600);

pub(crate) async fn run(size: Size) -> Result<()> {
    let seed = size.seed.unwrap_or_else(|| Clock::System.now().0.unsigned_abs());
    let time = size.duration(TIME);
    report::heading(format_args!("Three nodes on one PostgreSQL, disturbed for {} s (--seed {seed})", time.as_secs()))?;
    report::progress("preparing");
    let mut stage = Stage::build(u64::from(size.requests(CROWD))).await?;
    let mut findings = Findings::new(!size.is_trial());
    let played = play(&mut stage, &mut findings, &mut Chance::new(seed), size).await;
    let judged = played.and_then(|()| findings.judge());
    if judged.is_err() {
        report::progress(&format!("the logs of the nodes are in {}", stage.keep_folder().display()));
    }
    judged
}

/// What happened in the two parts, and when.
struct Story {
    disturbances: Disturbances,
    disturbed: Book,
    stops: Vec<Duration>,
    rolled: Book,
    /// Repeated deliveries before and after the rolling restart.
    n_repeats: [u64; 2],
}

async fn play(stage: &mut Stage, findings: &mut Findings, chance: &mut Chance, size: Size) -> Result<()> {
    let began = Clock::System.now();
    let (all_ended, watching_ends) = oneshot::channel();
    let watching = tokio::spawn(Arrivals::default().watch(stage.singles.clone(), watching_ends));
    let story = tell(stage, chance, size).await?;
    drop(all_ended);
    let mut arrivals = watching.await?;
    report::progress("waiting until everything has arrived");
    let texts: Vec<String> = story.disturbed.pushes.keys().chain(story.rolled.pushes.keys()).cloned().collect();
    arrivals.watch_for(&stage.singles, &texts, PATIENCE).await;

    print_disturbances(findings, &story)?;
    print_rolling(findings, &story, &arrivals)?;
    let mut book = story.disturbed;
    book.add(story.rolled);
    report::heading(format_args!("The books"))?;
    let n_lost = texts.iter().filter(|text| !arrivals.times.contains_key(*text)).count();
    findings.equal("accepted pushes to one device that did not arrive", n_lost as u64, 0)?;
    let (singles, crowd) = (stage.singles.stats().of(Protocol::Apns), stage.crowd.stats().of(Protocol::Fcm));
    findings.equal("messages to single devices, beside the pushes", singles.delivered(), texts.len() as u64)?;
    let n_wanted = book.broadcasts.len() as u64 * stage.n_crowd;
    findings.equal("messages to the crowd, beside the pushes", crowd.delivered(), n_wanted)?;
    let events = wait_for_events(stage, &book).await;
    let (told, n_repeats) = checks::told(&events);
    checks::webhook(findings, &book, &told)?;
    let n_crashes = story.disturbances.n_all();
    findings.at_most("events that the webhook was told again", n_repeats, n_crashes * WINDOW)?;
    let mut caller = Balanced::new(stage.nodes.addresses(), 0, Retries::Unanswered(PATIENCE));
    checks::channels(findings, &mut caller, &book).await?;
    checks::broadcasts(findings, &mut caller, &book, stage.n_crowd).await?;
    let period = format!("start={}&end={}", began.minus(HOUR).to_api(), Clock::System.now().plus(HOUR).to_api());
    checks::reports(findings, &mut caller, &book, (&singles, &crowd), &period).await
}

async fn tell(stage: &mut Stage, chance: &mut Chance, size: Size) -> Result<Story> {
    let nodes = stage.nodes.addresses();
    let load = Load::start(&nodes, 0, Retries::Unanswered(UNANSWERED), chance);
    let disturbances = chaos::disturb(&mut stage.nodes, chance, size.duration(TIME)).await;
    let disturbed = load.end().await;
    let disturbances = disturbances?;
    let before = stage.n_repeats();
    let load = Load::start(&nodes, 1, Retries::Unsent, chance);
    let stops = rolling::restart_all(&mut stage.nodes, size).await;
    let rolled = load.end().await;
    Ok(Story { disturbances, disturbed, stops: stops?, rolled, n_repeats: [before, stage.n_repeats()] })
}

fn print_disturbances(findings: &mut Findings, story: &Story) -> Result<()> {
    let Story { disturbances, disturbed, n_repeats: [n_repeats, _], .. } = story;
    report::line("nodes killed", &number(disturbances.n_killed as f64))?;
    report::line("nodes paused, for 1 to 25 s", &number(disturbances.n_paused as f64))?;
    report::line("restarts of the database", &number(disturbances.n_restarts as f64))?;
    report::line("failovers to its standby", &number(disturbances.n_failovers as f64))?;
    print_load(findings, disturbed)?;
    print_times("until the work of a killed node was taken up", &disturbances.after_kill)?;
    let slowest = disturbances.after_kill.iter().max().copied().unwrap_or_default();
    findings.time("the longest of them", slowest, MOST_TAKEOVER)?;
    print_times("until the work of a paused node was taken up", &disturbances.after_pause)?;
    let most = disturbances.n_all() * WINDOW;
    findings.at_most("deliveries that were repeated", *n_repeats, most)
}

fn print_rolling(findings: &mut Findings, story: &Story, arrivals: &Arrivals) -> Result<()> {
    let Story { stops, rolled, n_repeats: [before, after], .. } = story;
    report::heading(format_args!("All nodes restarted one after the other, {} restarts", stops.len()))?;
    print_load(findings, rolled)?;
    print_times("until a node had stopped", stops)?;
    let late = |(text, accepted): (&String, &Instant)| {
        arrivals.times.get(text).map_or(PATIENCE, |arrived| arrived.saturating_duration_since(*accepted))
    };
    let late: Vec<Duration> = rolled.pushes.iter().map(late).collect();
    print_times("from the answer to the arrival of a push, in steps of 50 ms", &late)?;
    let latest = late.iter().max().copied().unwrap_or(PATIENCE);
    findings.time("the longest of them", latest, MOST_LATE)?;
    findings.equal("deliveries that were repeated", after - before, 0)
}

fn print_load(findings: &mut Findings, book: &Book) -> Result<()> {
    report::line("requests", &number(book.n_calls as f64))?;
    report::line("requests that went to another node", &number(book.n_retries as f64))?;
    report::line("the longest time until an answer", &duration(book.slowest))?;
    let slowest = book.broadcasts.iter().map(|(_, time)| *time).max().unwrap_or_default();
    report::line("pushes to the crowd", &number(book.broadcasts.len() as f64))?;
    report::line("the longest time until one of them had ended", &duration(slowest))?;
    for failure in book.failures.iter().take(5) {
        report::progress(failure);
    }
    findings.equal("requests that failed", book.failures.len() as u64, 0)
}

fn print_times(name: &str, times: &[Duration]) -> Result<()> {
    let sample = Sample::of(times.to_vec(), Duration::ZERO);
    let text = [0, 50, 95, 100].map(|percent| duration(sample.percentile(percent)));
    report::line(&format!("{name} ({} times): min, median, p95, max", times.len()), "")?;
    report::line("", &text.join(", "))
}

/// The events at the webhook, when everything in the books has come or nothing more comes.
async fn wait_for_events(stage: &Stage, book: &Book) -> Vec<serde_json::Value> {
    let began = Instant::now();
    loop {
        let events = stage.receiver.taken();
        let is_complete = checks::n_untold(book, &checks::told(&events).0) == 0;
        if is_complete || began.elapsed() > PATIENCE {
            return events;
        }
        sleep(Duration::from_secs(1)).await;
    }
}
