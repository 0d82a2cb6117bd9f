//! `bench reports`: every report over a year of counts, of an app that sends 100 pushes a day.

mod year;

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::http::{Connection, request};
use crate::report::{self, duration, number, ratio};
use crate::sample::Sample;
use crate::server::{Server, master_authorization};
use year::Year;

const GOAL: Duration = Duration::from_millis(50);
const ROUNDS: usize = 40;

pub(crate) async fn run() -> Result<()> {
    report::heading(format_args!("Reports over a year of counts, of an app that sends 100 pushes a day"))?;
    let folder = tempfile::tempdir()?;
    Server::start(folder.path())?.stop()?;
    let began = Instant::now();
    let year = Year::load(folder.path()).await?;
    report::line("counts of the app, by hour and platform", &number(year.counts.len() as f64))?;
    report::line("pushes", &number(f64::from(year::PUSHES)))?;
    report::line("written through the store", &duration(began.elapsed()))?;

    let server = Server::start(folder.path())?;
    let mut connection = Connection::open(server.address).await?;
    let master = master_authorization();
    let reference = in_memory(&year);
    report::line("adding up a year of one metric by day, in memory", &duration(reference.median()))?;
    for (name, path) in year.questions() {
        let asked = request("GET", &path, &master, "");
        connection.expect(&asked).await?;
        let mut times = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
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
fn in_memory(year: &Year) -> Sample {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        std::hint::black_box(year.sends_by_day());
        times.push(began.elapsed());
    }
    Sample::of(times, Duration::ZERO)
}
