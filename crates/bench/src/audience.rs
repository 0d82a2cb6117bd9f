//! `bench audience`: memory, start and speed of the index of many channels, beside two databases with the same question.

pub(crate) mod index;
mod rivals;
pub(crate) mod shapes;
mod sql;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use audience::index::Index;
use model::ids::ChannelId;

use crate::Size;
use crate::http::{Connection, request};
use crate::loading::{self, Users};
use crate::population::Population;
use crate::report::{self, duration, mebibytes, number, ratio};
use crate::sample::{Effort, Sample};
use crate::server::{Server, device_authorization};
use crate::usage::Process;
use rivals::{Answers, Rival};
use shapes::Shape;

const CHANNELS: u32 = 10_000_000;
/// Channels in the comparison with databases.
const COMPARED: u32 = 1_000_000;
const MOST_PER_CHANNEL: f64 = 60.0;
const MOST_MEMORY: u64 = 3 << 29;
const LONGEST_START: Duration = Duration::from_secs(5);
pub(crate) const EFFORT: Effort = Effort { time: Duration::from_secs(1), at_least: 30, at_most: 1_000_000 };

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_channels = size.of(CHANNELS);
    let folder = tempfile::tempdir()?;
    report::heading(format_args!("Audiences of {} channels", number(f64::from(n_channels))))?;
    let population = Population::new();
    loading::load(folder.path(), &population, n_channels, Users::None).await?;
    restart(folder.path(), n_channels).await?;
    let built = index::scan(folder.path()).await?;
    let loaded = index::through_snapshot(folder.path(), &built)?;
    drop(built);
    evaluate(&loaded, &size.effort(&EFFORT))?;
    drop(loaded);
    compare(&population, size.of(COMPARED), &size.effort(&rivals::EFFORT)).await
}

/// Starts the server twice: with only the database, and with the snapshot it left when it was stopped.
async fn restart(folder: &Path, n_channels: u32) -> Result<()> {
    for (name, is_measured) in [("first start, from the database alone", false), ("restart", true)] {
        let began = Instant::now();
        let server = Server::start(folder)?;
        let listening = (began.elapsed(), server.process().memory()?);
        // The first question needs the index.
        let mut connection = Connection::open(server.address).await?;
        let path = format!("/api/channels/{}", ChannelId::random());
        let status = connection.call(&request("GET", &path, &device_authorization(), "")).await?.status;
        ensure!(status == 404, "A channel that does not exist was answered with {status}.");
        let (ready, memory) = (began.elapsed(), server.process().memory()?);
        report::line(&format!("{name}: until requests are accepted"), &duration(listening.0))?;
        let text = format!("{name}: until the first question is answered");
        match is_measured {
            true => report::goal(&text, &duration(ready), "under 5 s", ready < LONGEST_START)?,
            false => report::line(&text, &duration(ready))?,
        }
        report::line(&format!("{name}: CPU time until then"), &duration(server.process().cpu()?))?;
        let of_index = memory.allocated.saturating_sub(listening.1.allocated.min(memory.allocated / 2));
        let per_channel = of_index as f64 / f64::from(n_channels);
        if is_measured {
            let bytes = format!("{per_channel:.1} bytes");
            report::goal("index, per channel", &bytes, "at most 60 bytes", per_channel <= MOST_PER_CHANNEL)?;
            let is_met = memory.resident <= MOST_MEMORY;
            report::goal("whole server", &mebibytes(memory.resident), "at most 1,536 MiB", is_met)?;
        }
        report::line(&format!("{name}: most memory meanwhile"), &mebibytes(memory.peak))?;
        server.stop()?;
    }
    Ok(())
}

fn evaluate(index: &Index, effort: &Effort) -> Result<()> {
    report::heading(format_args!("Counting and resolving audiences with the index"))?;
    let mut rows = Vec::new();
    let mut slowest = [Duration::ZERO; 3];
    for shape in shapes::all(index)? {
        let Evaluated { found, count, resolve } = evaluate_one(index, &shape, effort)?;
        let size = match shape.tree.n_terms() {
            ..=3 => 0,
            4..=10 => 1,
            11.. => 2,
        };
        let slow = &mut slowest[size];
        *slow = count.median().max(resolve.median()).max(*slow);
        let columns = [count.median(), count.percentile(99), count.cpu(), resolve.median(), resolve.percentile(99)];
        let mut row = vec![shape.name.to_owned(), shape.tree.n_terms().to_string(), number(found as f64)];
        row.extend(columns.into_iter().chain([resolve.cpu()]).map(duration));
        rows.push(row);
    }
    let heading = ["audience", "terms", "channels", "count", "p99", "CPU", "all of them", "p99", "CPU"];
    report::table(&heading, &rows)?;
    let [three, ten, hundred] = slowest;
    let millisecond = Duration::from_millis(1);
    report::goal("slowest median of one to three terms", &duration(three), "under 1 ms", three < millisecond)?;
    report::goal("slowest median of up to ten terms", &duration(ten), "under 10 ms", ten < 10 * millisecond)?;
    report::line("median of a hundred terms", &duration(hundred))
}

/// One audience, counted and resolved again and again.
pub(crate) struct Evaluated {
    pub(crate) found: u64,
    pub(crate) count: Sample,
    pub(crate) resolve: Sample,
}

pub(crate) fn evaluate_one(index: &Index, shape: &Shape, effort: &Effort) -> Result<Evaluated> {
    let cpu = || Process::own().cpu();
    let plan = shape.tree.plan();
    let found = index.count(&plan);
    let count = Sample::take(effort, cpu, || {
        ensure!(index.count(&plan) == found, "Counting twice gave two answers.");
        Ok(())
    })?;
    let resolve = Sample::take(effort, cpu, || {
        ensure!(index.resolve(&plan).len() == found, "Counting and resolving gave two answers.");
        Ok(())
    })?;
    Ok(Evaluated { found, count, resolve })
}

async fn compare(population: &Population, n_channels: u32, effort: &Effort) -> Result<()> {
    let index = index::of_population(population, n_channels)?;
    let shapes = shapes::all(&index)?;
    let n_all = number(f64::from(n_channels));
    report::heading(format_args!("The same audiences of {n_all} channels, asked of the index and of two databases"))?;
    let ours: Vec<Answers> =
        shapes.iter().map(|shape| rivals::ask_index(&index, shape, effort)).collect::<Result<_>>()?;
    let sqlite = Rival::sqlite(population, &index, n_channels).await?.ask(&shapes, *effort).await?;
    let postgres = match testkit::postgres::is_skipped() {
        true => None,
        false => Some(Rival::postgres(population, n_channels).await?.ask(&shapes, *effort).await?),
    };
    for (name, rival) in
        [("SQLite, table (term, ordinal)", Some(&sqlite)), ("PostgreSQL, GIN on text[]", postgres.as_ref())]
    {
        let Some(rival) = rival else { continue };
        report::heading(format_args!("{name}: times longer than the index takes (its own time in parentheses)"))?;
        let rows = shapes.iter().zip(&ours).zip(rival).map(|((shape, ours), rival)| compared(shape, ours, rival));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        report::table(&["audience", "channels", "count", "itself", "CPU", "all of them", "itself", "CPU"], &rows)?;
    }
    Ok(())
}

fn compared(shape: &Shape, ours: &Answers, rival: &Answers) -> Result<Vec<String>> {
    ensure!(ours.found == rival.found, "{}: {} channels here, {} there.", shape.name, ours.found, rival.found);
    let mut row = vec![shape.name.to_owned(), number(ours.found as f64)];
    for (ours, rival) in [(&ours.count, &rival.count), (&ours.all, &rival.all)] {
        let times = |rival: Duration, ours: Duration| ratio(rival.as_secs_f64() / ours.as_secs_f64().max(1e-7));
        row.push(times(rival.median(), ours.median()));
        row.push(format!("({})", duration(rival.median())));
        row.push(times(rival.cpu(), ours.cpu()));
    }
    Ok(row)
}
