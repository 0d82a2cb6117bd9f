//! Snapshots of the audience indexes in files, so that a start does not have to read every channel.
//!
//! A snapshot is only as good as the log it continues from. It therefore ends in fingerprints of two log records, those that its
//! oldest and its newest part stand at: after a restore from a backup, or with another database, one of them differs or is
//! missing, and the index is built anew.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use audience::index::Index;
use audience::snapshot::Span;
use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, Offset};
use ring::digest::{Context, SHA256};
use store::{Tx, log};

use crate::Indexes;

type Fingerprint = [u8; 32];
/// Of the records that the oldest and the newest part of a snapshot stand at.
type Fingerprints = [Fingerprint; 2];

/// Where the snapshots are, if anywhere.
#[derive(Clone)]
pub(crate) struct Snapshots(pub(crate) Option<PathBuf>);

const WHOLE: &str = "snapshot";
const UNFINISHED: &str = "unfinished";

impl Snapshots {
    fn path(&self, app: AppId) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(format!("audience-{}.{WHOLE}", app.0)))
    }
}

#[boxed]
impl Indexes {
    /// The index of an app as of its last snapshot, if there is a good one.
    pub(crate) async fn read_snapshot(&self, app: AppId) -> Option<Index> {
        let path = self.0.snapshots.path(app)?;
        let read = tokio::task::spawn_blocking(move || read(&path)).await.ok()?;
        let (index, fingerprints) = match read {
            Ok(found) => found?,
            Err(error) => {
                tracing::warn!(
                    error = &*error,
                    "the snapshot of an audience index is of no use; the index is built anew"
                );
                return None;
            }
        };
        let span = index.span();
        let actual = self.0.store.read(move |tx| fingerprints_at(tx, app, span)).await.ok()?;
        if actual != Some(fingerprints) {
            tracing::warn!("the snapshot of an audience index belongs to another state of the database");
            return None;
        }
        Some(index)
    }

    /// Writes the index of an app beside the last snapshot and then puts it in its place.
    pub(crate) async fn write_snapshot(&self, app: AppId, index: Arc<Index>) -> Result<()> {
        let Some(path) = self.0.snapshots.path(app) else { return Ok(()) };
        let unfinished = path.with_extension(UNFINISHED);
        let (file, span) = {
            let unfinished = unfinished.clone();
            let write = move || write(&unfinished, &index);
            tokio::task::spawn_blocking(write).await.map_err(Error::internal)?.map_err(Error::internal)?
        };
        let fingerprints = self.0.store.read(move |tx| fingerprints_at(tx, app, span)).await?;
        let Some(fingerprints) = fingerprints else { return Ok(()) };
        let finish = move || {
            let mut file = file;
            file.write_all(&fingerprints.concat())?;
            file.sync_all()?;
            fs::rename(unfinished, path)
        };
        tokio::task::spawn_blocking(finish).await.map_err(Error::internal)?.map_err(Error::internal)
    }

    /// The apps that have files of snapshots.
    pub async fn saved_apps(&self) -> Result<HashSet<AppId>> {
        let Some(folder) = self.0.snapshots.0.clone() else { return Ok(HashSet::new()) };
        let listed = tokio::task::spawn_blocking(move || list(&folder)).await.map_err(Error::internal)?;
        listed.map_err(Error::internal)
    }

    /// Removes the files of an app.
    pub async fn remove_snapshot(&self, app: AppId) -> Result<()> {
        let Some(path) = self.0.snapshots.path(app) else { return Ok(()) };
        let remove = move || {
            for path in [path.with_extension(UNFINISHED), path] {
                match fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
            Ok(())
        };
        tokio::task::spawn_blocking(remove).await.map_err(Error::internal)?.map_err(Error::internal)
    }
}

fn list(folder: &Path) -> io::Result<HashSet<AppId>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // It is made for the first snapshot.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashSet::new()),
        Err(error) => return Err(error),
    };
    let app_of = |entry: io::Result<fs::DirEntry>| -> io::Result<Option<AppId>> {
        let name = entry?.file_name();
        let stem = name.to_str().and_then(|name| name.strip_prefix("audience-")?.rsplit_once('.'));
        let ours = stem.filter(|(_, extension)| [WHOLE, UNFINISHED].contains(extension));
        Ok(ours.and_then(|(number, _)| number.parse().ok().map(AppId)))
    };
    entries.filter_map(|entry| app_of(entry).transpose()).collect()
}

fn write(path: &Path, index: &Index) -> io::Result<(File, Span)> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // The mode counts only for a new file, and this one may be left over.
    file.set_permissions(Permissions::from_mode(0o600))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let span = index.write_snapshot(&mut out)?;
    Ok((out.into_inner().map_err(io::IntoInnerError::into_error)?, span))
}

/// `None` when there is no snapshot.
fn read(path: &Path) -> Result<Option<(Index, Fingerprints)>, Box<dyn std::error::Error + Send + Sync>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut input = BufReader::with_capacity(1 << 20, file);
    let index = Index::read_snapshot(&mut input)?;
    let mut fingerprints = [[0; 32]; 2];
    for fingerprint in &mut fingerprints {
        input.read_exact(fingerprint)?;
    }
    Ok(Some((index, fingerprints)))
}

/// `None` when the log lacks one of the records.
fn fingerprints_at(tx: &mut Tx<'_>, app: AppId, span: Span) -> Result<Option<Fingerprints>> {
    let (oldest, newest) = (fingerprint_at(tx, app, span.oldest)?, fingerprint_at(tx, app, span.newest)?);
    Ok(oldest.zip(newest).map(|(oldest, newest)| [oldest, newest]))
}

/// `None` when the log has no record at the offset.
fn fingerprint_at(tx: &mut Tx<'_>, app: AppId, offset: Offset) -> Result<Option<Fingerprint>> {
    if offset == Offset(0) {
        return Ok(Some([0; 32]));
    }
    let record = log::after(tx, app, Offset(offset.0 - 1), 1)?.pop().filter(|record| record.offset == offset);
    Ok(record.map(|record| {
        let mut digest = Context::new(&SHA256);
        for part in [&offset.0.to_be_bytes(), &record.at.0.to_be_bytes(), &record.kind.number().to_be_bytes()] {
            digest.update(part);
        }
        digest.update(&record.body);
        digest.finish().as_ref().try_into().expect("SHA-256 gives 32 bytes")
    }))
}
