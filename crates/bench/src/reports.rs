//! `bench reports`: every report over a year of counts, of an app that sends 100 pushes a day.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use model::report::parse_date;

use crate::Size;
use crate::http::{Connection, request};
use crate::loading::Place;
use crate::report::{self, duration, number, ratio};
use crate::sample::Sample;
use crate::server::{Server, master_authorization};
use crate::year::{Busy, Year, pipeline, push_id};

const GOAL: Duration = Duration::from_millis(50);
const ROUNDS: usize = 40;
const BUSY: Busy = Busy { days: 366, pushes_per_day: 100, open_hours: 12 };
const BUSY_OF_TRIAL: Busy = Busy { days: 3, pushes_per_day: 10, open_hours: 2 };

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_rounds = size.rounds(ROUNDS);
    report::heading(format_args!("Reports over a year of counts, of an app that sends 100 pushes a day"))?;
    let folder = tempfile::tempdir()?;
    Server::start(folder.path())?.stop()?;
    let began = Instant::now();
    let begins = parse_date("2024-01-01").context("the year has a beginning")?;
    let year =
        Year::load(&Place::embedded(folder.path()), begins, if size.is_trial() { BUSY_OF_TRIAL } else { BUSY }).await?;
    report::line("counts of the app, by hour and platform", &number(year.counts.len() as f64))?;
    report::line("pushes", &number(f64::from(year.n_pushes)))?;
    report::line("written through the store", &duration(began.elapsed()))?;

    let server = Server::start(folder.path())?;
    let mut connection = Connection::open(server.address).await?;
    let master = master_authorization();
    let reference = in_memory(&year, n_rounds);
    report::line("adding up a year of one metric by day, in memory", &duration(reference.median()))?;
    for (name, path) in questions(year.n_pushes) {
        let asked = request("GET", &path, &master, "");
        connection.expect(&asked).await?;
        let mut times = Vec::with_capacity(n_rounds);
        for _ in 0..n_rounds {
            let began = Instant::now();
            connection.expect(&asked).await?;
            times.push(began.elapsed());
        }
        let sample = Sample::of(times, Duration::ZERO);
        let (median, most) = (sample.median(), sample.percentile(99));
        let of_reference = ratio(median.as_secs_f64() / reference.median().as_secs_f64().max(1e-9));
        let name = format!("{name} ({of_reference} the reference)");
        let shown = format!("{}, p99 {}", duration(median), duration(most));
        report::goal(&name, &shown, "under 50 ms", most < GOAL)?;
    }
    server.stop()
}

/// The least work of every report: the same rows, added up by day and platform.
fn in_memory(year: &Year, n_rounds: usize) -> Sample {
    let mut times = Vec::with_capacity(n_rounds);
    for _ in 0..n_rounds {
        let began = Instant::now();
        std::hint::black_box(year.sends_by_day());
        times.push(began.elapsed());
    }
    Sample::of(times, Duration::ZERO)
}

/// The requests: a name and a path each.
fn questions(n_pushes: u32) -> Vec<(&'static str, String)> {
    let year = "start=2024-01-01&end=2025-01-01";
    let report = |path: &str| format!("/api/reports/{path}");
    let (one, group) = (push_id(n_pushes / 2), pipeline());
    vec![
        ("sends by hour, the first 1,000", report(&format!("sends?{year}&precision=HOURLY"))),
        ("sends by day", report(&format!("sends?{year}&precision=DAILY"))),
        ("sends by month", report(&format!("sends?{year}&precision=MONTHLY"))),
        ("opens by day, cut within hours", report("opens?start=2024-01-01T10:30&end=2024-12-31T10:30")),
        ("time in app by day", report(&format!("timeinapp?{year}"))),
        ("responses by day", report(&format!("responses?{year}"))),
        ("opt-ins by month", report(&format!("optins?{year}&precision=MONTHLY"))),
        ("the newest 100 pushes", report(&format!("responses/list?{year}"))),
        ("one push", report(&format!("responses/{one}"))),
        ("details of one push", report(&format!("perpush/detail/{one}"))),
        ("one push by hour", report(&format!("perpush/series/{one}"))),
        ("a pipeline with half of the pushes", report(&format!("pergroup/detail/{group}"))),
        ("the same by day", report(&format!("pergroup/series/{group}?{year}&precision=DAILY"))),
        ("the same by hour, the first 1,000", report(&format!("pergroup/series/{group}?{year}&precision=HOURLY"))),
        ("its custom events", report(&format!("events/summary/pergroup/{group}"))),
        ("devices at the end of the year", report("devices?date=2024-12-31")),
        ("custom events of the year", report(&format!("events?{year}"))),
        ("activity, the newest 100 pushes", report(&format!("activity/details?{year}"))),
    ]
}
