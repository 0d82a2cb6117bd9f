//! Making the index: from the channels of a database, from a snapshot, or straight from the population.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use audience::index::Index;
use model::ids::{Offset, Ordinal, TermId};

use crate::loading;
use crate::population::Population;
use crate::report::{self, duration, mebibytes};
use crate::usage::Process;

/// Builds the index from the database, as a server does that has no snapshot.
pub(crate) async fn scan(folder: &Path) -> Result<Index> {
    let (store, app) = loading::open(folder).await?;
    let (began, cpu) = (Instant::now(), Process::own().cpu()?);
    let index = index::build(&store, app).await?;
    let (took, cpu) = (began.elapsed(), Process::own().cpu()?.saturating_sub(cpu));
    report::line("building the index from all channels (CPU time)", &both(took, cpu))?;
    store.close().await;
    Ok(index)
}

/// Writes the index to a file and reads it back.
pub(crate) fn through_snapshot(folder: &Path, index: &Index) -> Result<Index> {
    let path = folder.join("bench.snapshot");
    let (began, cpu) = (Instant::now(), Process::own().cpu()?);
    let mut file = BufWriter::new(File::create(&path)?);
    index.write_snapshot(&mut file)?;
    file.flush()?;
    file.get_ref().sync_all()?;
    let (took, cpu) = (began.elapsed(), Process::own().cpu()?.saturating_sub(cpu));
    report::line("writing a snapshot of the index (CPU time)", &both(took, cpu))?;
    report::line("size of the snapshot", &mebibytes(std::fs::metadata(&path)?.len()))?;

    let (began, cpu) = (Instant::now(), Process::own().cpu()?);
    let loaded = Index::read_snapshot(&mut BufReader::new(File::open(&path)?))?;
    let (took, cpu) = (began.elapsed(), Process::own().cpu()?.saturating_sub(cpu));
    report::line("reading the snapshot (CPU time)", &both(took, cpu))?;
    Ok(loaded)
}

/// The index of the first channels of a population. The numbers of terms are their indexes.
pub(crate) fn of_population(population: &Population, n_channels: u32) -> Result<Index> {
    let number = |index: usize| u32::try_from(index).map(TermId);
    let mut builder = Index::builder();
    for (index, term) in population.terms().iter().enumerate() {
        let (group, tag) = term.key();
        builder.set_name(number(index)?, group, &tag);
    }
    for ordinal in (0..n_channels).map(Ordinal) {
        let held = population.terms_of(ordinal).into_iter().map(number).collect::<Result<Vec<_>, _>>()?;
        builder.push(ordinal, &held)?;
    }
    Ok(builder.finish(Offset(0)))
}

fn both(took: std::time::Duration, cpu: std::time::Duration) -> String {
    format!("{} ({})", duration(took), duration(cpu))
}
