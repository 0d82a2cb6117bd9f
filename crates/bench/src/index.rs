//! `bench index`: the audience index alone, without a database, of 1, 10 and 100 million channels. What a channel costs has to be
//! the same whatever their number is.
//!
//! Every size is built here and written to a file; a process of its own reads the file and is asked about audiences, so that
//! its memory is that of one index and of nothing that was built before.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use audience::index::Index;
use serde::{Deserialize, Serialize};

use crate::Size;
use crate::audience::index::of_population;
use crate::audience::shapes;
use crate::audience::{EFFORT, Evaluated, evaluate_one};
use crate::population::Population;
use crate::report::{self, duration, mebibytes, number, ratio};
use crate::usage::Process;

const SIZES: [u32; 3] = [1_000_000, 10_000_000, 100_000_000];
/// While an index is built, some of its sets have grown beyond their needs, and its file is in the memory of the system.
const ROOM_PER_CHANNEL: u64 = 120;
/// A cost per channel up to this many times that of the smallest index counts as flat: larger sets leave the caches of the
/// processor, which no layout avoids.
const FLAT: f64 = 1.5;

/// One index, as the process that has only this one measures it.
#[derive(Serialize, Deserialize)]
struct Measured {
    loaded: Duration,
    loaded_cpu: Duration,
    allocated: u64,
    peak: u64,
    audiences: Vec<Audience>,
}

#[derive(Serialize, Deserialize)]
struct Audience {
    name: String,
    n_terms: usize,
    found: u64,
    count: Duration,
    count_cpu: Duration,
    resolve: Duration,
    resolve_cpu: Duration,
}

/// An index that was written to a file.
struct Written {
    n_channels: u32,
    built: Duration,
    written: Duration,
    bytes: u64,
}

pub(crate) async fn run(size: Size) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bench.snapshot");
    let population = Population::new();
    let mut all = Vec::new();
    let sizes = if size.is_trial() { vec![size.at_most] } else { SIZES.to_vec() };
    for n_channels in sizes.into_iter().filter(|n_channels| size.of(*n_channels) == *n_channels) {
        let name = number(f64::from(n_channels));
        if free_memory()? < u64::from(n_channels) * ROOM_PER_CHANNEL {
            report::line(&format!("{name} channels"), "left out: memory")?;
            continue;
        }
        report::progress(&format!("building the index of {name} channels"));
        let written = write(&population, n_channels, &path)?;
        report::progress("asking it");
        all.push((written, measured_apart(&path, size)?));
    }
    ensure!(!all.is_empty(), "`bench index` begins with 1,000,000 channels.");
    print_sizes(&all)?;
    print_audiences(&all)
}

/// What the process for one index does: reads it, asks it, and prints what it has measured for [`run`].
pub(crate) fn measure(path: &Path, size: Size) -> Result<()> {
    let effort = size.effort(&EFFORT);
    let before = Process::own().memory()?.allocated;
    let (began, cpu) = (Instant::now(), Process::own().cpu()?);
    let index = Index::read_snapshot(&mut BufReader::with_capacity(1 << 20, File::open(path)?))?;
    let (loaded, loaded_cpu) = (began.elapsed(), Process::own().cpu()?.saturating_sub(cpu));
    let memory = Process::own().memory()?;
    let (allocated, peak) = (memory.allocated.saturating_sub(before), memory.peak);
    let audiences = shapes::all(&index)?.into_iter().map(|shape| {
        let Evaluated { found, count, resolve } = evaluate_one(&index, &shape, &effort)?;
        Ok(Audience {
            name: shape.name.to_owned(),
            n_terms: shape.tree.n_terms(),
            found,
            count: count.median(),
            count_cpu: count.cpu(),
            resolve: resolve.median(),
            resolve_cpu: resolve.cpu(),
        })
    });
    let audiences = audiences.collect::<Result<_>>()?;
    serde_json::to_writer(std::io::stdout(), &Measured { loaded, loaded_cpu, allocated, peak, audiences })?;
    Ok(())
}

fn measured_apart(path: &Path, size: Size) -> Result<Measured> {
    let program = std::env::current_exe().context("this program has no path")?;
    let at_most = format!("--at-most={}", size.at_most);
    let child =
        Command::new(program).args(["index", &at_most, "--snapshot"]).arg(path).stderr(Stdio::inherit()).output()?;
    ensure!(child.status.success(), "The process that reads the snapshot failed.");
    Ok(serde_json::from_slice(&child.stdout)?)
}

fn write(population: &Population, n_channels: u32, path: &Path) -> Result<Written> {
    let began = Instant::now();
    let index = of_population(population, n_channels)?;
    let built = began.elapsed();
    let began = Instant::now();
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    index.write_snapshot(&mut file)?;
    file.flush()?;
    file.get_ref().sync_all()?;
    Ok(Written { n_channels, built, written: began.elapsed(), bytes: fs::metadata(path)?.len() })
}

fn print_sizes(all: &[(Written, Measured)]) -> Result<()> {
    report::heading(format_args!("The index alone, without a database"))?;
    let rows = all.iter().map(|(written, measured)| {
        let n_channels = f64::from(written.n_channels);
        let bytes = |bytes: u64| format!("{:.1}", bytes as f64 / n_channels);
        let per_million = |time: Duration| duration(time.div_f64(n_channels / 1e6));
        vec![
            number(n_channels),
            bytes(measured.allocated),
            mebibytes(measured.peak),
            bytes(written.bytes),
            duration(measured.loaded),
            per_million(measured.loaded_cpu),
            duration(written.written),
            duration(written.built),
        ]
    });
    let heading =
        ["channels", "bytes each", "peak", "in the file", "read", "CPU a million", "written", "made up and built"];
    report::table(&heading, &rows.collect::<Vec<_>>())?;
    let cost = |measured: &Measured| measured.allocated as f64;
    flat("bytes a channel, of those at the smallest size", all, cost)?;
    flat("CPU time to read the snapshot, a channel", all, |measured| measured.loaded_cpu.as_secs_f64())
}

fn print_audiences(all: &[(Written, Measured)]) -> Result<()> {
    let Some((smallest, _)) = all.first() else { return Ok(()) };
    for (written, measured) in all {
        let n_channels = number(f64::from(written.n_channels));
        report::heading(format_args!(
            "{n_channels} channels: audiences, and CPU time a channel beside the smallest index"
        ))?;
        let times = f64::from(written.n_channels) / f64::from(smallest.n_channels);
        let rows = measured.audiences.iter().enumerate().map(|(row, audience)| {
            let first = &all[0].1.audiences[row];
            let beside =
                |here: Duration, there: Duration| ratio(here.as_secs_f64() / there.as_secs_f64().max(1e-9) / times);
            vec![
                audience.name.clone(),
                audience.n_terms.to_string(),
                number(audience.found as f64),
                duration(audience.count),
                duration(audience.count_cpu),
                beside(audience.count_cpu, first.count_cpu),
                duration(audience.resolve),
                duration(audience.resolve_cpu),
                beside(audience.resolve_cpu, first.resolve_cpu),
            ]
        });
        let heading = ["audience", "terms", "channels", "count", "CPU", "a channel", "all of them", "CPU", "a channel"];
        report::table(&heading, &rows.collect::<Vec<_>>())?;
    }
    report::heading(format_args!("All audiences together"))?;
    let sum = |measured: &Measured, cost: fn(&Audience) -> Duration| {
        measured.audiences.iter().map(cost).sum::<Duration>().as_secs_f64()
    };
    flat("CPU time to count, a channel", all, |measured| sum(measured, |audience| audience.count_cpu))?;
    flat("CPU time to resolve, a channel", all, |measured| sum(measured, |audience| audience.resolve_cpu))
}

/// Compares a cost per channel at every size with that at the smallest.
fn flat(name: &str, all: &[(Written, Measured)], cost: impl Fn(&Measured) -> f64) -> Result<()> {
    let per_channel = |(written, measured): &(Written, Measured)| cost(measured) / f64::from(written.n_channels);
    let Some((smallest, others)) = all.split_first() else { return Ok(()) };
    for one in others {
        let times = per_channel(one) / per_channel(smallest).max(f64::MIN_POSITIVE);
        let text = format!("{name}, {} channels", number(f64::from(one.0.n_channels)));
        report::goal(&text, &ratio(times), "at most 1.5×", times <= FLAT)?;
    }
    Ok(())
}

/// Bytes that can be used without swapping.
fn free_memory() -> Result<u64> {
    let info = fs::read_to_string("/proc/meminfo").context("the kernel does not tell how much memory is free")?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB"));
    let kib: u64 = line.context("/proc/meminfo has no MemAvailable")?.trim().parse()?;
    Ok(kib * 1024)
}
