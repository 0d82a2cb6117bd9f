//! What devices get: made and packed once for each kind of device, and kept until the data changes or there is too much of it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use model::remote_data::DataPlatform;
use model::time::UtcMillis;
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use tenancy::App;
use tokio::sync::OnceCell;

use crate::RemoteData;
use crate::payloads::{DataPayloads, payloads};
use crate::served::{DeviceLocale, Reader};
use crate::snapshot::Snapshot;

/// Bytes of answers of one app that are kept: more than all kinds of devices and a few dozen languages take with a typical app.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// What an answer takes besides its text.
const KEPT_BYTES: usize = 1024;
/// Addresses of the service for which answers are packed: the configured one, or without it those by which devices asked first.
/// Anybody can make up more of them, and gets answers that cost no packing.
const MOST_BASES: usize = 4;
/// Unpacking more than this is left to other threads.
const UNPACKED_AT_ONCE: usize = 16 * 1024;
/// Stands for the address in the answers of all other callers.
const ANY_BASE: &str = "\u{1}aerogram base\u{1}";

/// What a device asks for.
#[derive(Clone, Debug)]
pub struct DataRequest {
    pub source: DataSource,
    pub platform: DataPlatform,
    /// Of its library.
    pub sdk_version: Option<String>,
    pub language: Option<String>,
    pub country: Option<String>,
    /// Where the device reaches the service, without a slash at the end.
    pub base: String,
}

/// Whose data it is. Devices ask for both, and join them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataSource {
    App,
    Contact,
}

/// Remote data as one device gets it.
#[derive(Debug)]
pub struct DataAnswer {
    /// Another for each content; weak, because the packed and the plain text share it.
    pub tag: String,
    /// A date for the header of this name. Devices send it back to ask whether anything is new, and understand it no further; so it
    /// follows from the content, is the same on every node, and lies in the years before the last change.
    pub modified: String,
    packed: Arc<Packed>,
    /// To be put where the packed text says `ANY_BASE`.
    base: Option<String>,
}

/// The text of an answer for one kind of device.
#[derive(Debug)]
struct Packed {
    gzip: Bytes,
    tag: String,
    modified: String,
    changed: UtcMillis,
    hash: Vec<u8>,
}

/// The devices that get the same text.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Variant {
    source: DataSource,
    reader: Reader,
    /// `None` where the address is put in for each request.
    base: Option<String>,
}

/// The answers that were made of a snapshot, with the number of the use at which each was used last.
#[derive(Default)]
pub(crate) struct Answers(Mutex<Kept>);

/// A text that is made once for all requests that wait for it.
type Cell = Arc<OnceCell<Arc<Packed>>>;

#[derive(Default)]
struct Kept {
    n_uses: u64,
    /// Texts are counted once they are made.
    n_bytes: usize,
    bases: Vec<String>,
    by_variant: HashMap<Variant, (u64, Cell)>,
}

#[boxed]
impl RemoteData {
    /// The answer to a device.
    pub async fn answer(&self, app: &Arc<App>, request: DataRequest) -> Result<DataAnswer> {
        let snapshot = self.snapshot(app).await?;
        let DataRequest { source, platform, sdk_version, language, country, base } = request;
        let locale = snapshot.relevant_locale(DeviceLocale { language, country });
        let (packed_for, put_in) = match snapshot.answers.is_packed_for(&base) {
            true => (Some(base), None),
            false => (None, Some(base)),
        };
        let variant =
            Variant { source, reader: Reader::new(platform, sdk_version.as_deref(), locale), base: packed_for };
        let cell = snapshot.answers.cell(&variant);
        if let Some(packed) = cell.get() {
            return Ok(DataAnswer::of(packed.clone(), put_in));
        }
        let (app, made_of) = (app.clone(), snapshot.clone());
        let make = || async {
            // Packing takes a while, and those who wait for other answers must not.
            let made = tokio::task::spawn_blocking(move || {
                let packed = render(&app, &made_of, &variant).map(Arc::new)?;
                made_of.answers.count(&variant, &packed);
                Ok::<_, Error>(packed)
            });
            made.await.map_err(Error::internal)?
        };
        let packed = cell.get_or_try_init(make).await?.clone();
        self.0.snapshots.make_room();
        Ok(DataAnswer::of(packed, put_in))
    }
}

impl DataAnswer {
    fn of(packed: Arc<Packed>, base: Option<String>) -> Self {
        let (tag, modified) = match &base {
            None => (packed.tag.clone(), packed.modified.clone()),
            Some(base) => {
                let hash = digest(&SHA256, &[packed.hash.as_slice(), base.as_bytes()].concat());
                (tag(hash.as_ref()), modified(packed.changed, hash.as_ref()))
            }
        };
        Self { tag, modified, packed, base }
    }

    /// Packed with gzip; `None` if it has to be sent as it is.
    pub fn gzip(&self) -> Option<Bytes> {
        self.base.is_none().then(|| self.packed.gzip.clone())
    }

    /// As it is: nearly all devices take it packed.
    pub async fn plain(&self) -> Result<Bytes> {
        let (packed, base) = (self.packed.clone(), self.base.clone());
        if packed.gzip.len() <= UNPACKED_AT_ONCE {
            return packed.plain(base.as_deref());
        }
        tokio::task::spawn_blocking(move || packed.plain(base.as_deref())).await.map_err(Error::internal)?
    }
}

impl Answers {
    /// What they take in memory.
    pub(crate) fn n_bytes(&self) -> usize {
        self.0.lock().n_bytes
    }

    fn is_packed_for(&self, base: &str) -> bool {
        let bases = &mut self.0.lock().bases;
        if bases.iter().any(|known| known == base) {
            return true;
        }
        let has_room = bases.len() < MOST_BASES;
        if has_room {
            bases.push(base.to_owned());
        }
        has_room
    }

    fn cell(&self, variant: &Variant) -> Cell {
        let mut kept = self.0.lock();
        kept.n_uses += 1;
        let n_uses = kept.n_uses;
        let (used, cell) = kept.by_variant.entry(variant.clone()).or_default();
        *used = n_uses;
        cell.clone()
    }

    /// Counts a text that was made; those that were used longest ago go if there is too much.
    fn count(&self, variant: &Variant, packed: &Packed) {
        let mut kept = self.0.lock();
        // Those that were given up while they were made are kept by nobody.
        if !kept.by_variant.contains_key(variant) {
            return;
        }
        kept.n_bytes += packed.n_bytes();
        while kept.n_bytes > MOST_BYTES {
            let made = kept.by_variant.iter().filter(|(other, (_, cell))| *other != variant && cell.initialized());
            let Some(oldest) = made.min_by_key(|(_, (used, _))| *used).map(|(oldest, _)| oldest.clone()) else {
                return;
            };
            let gone = kept.by_variant.remove(&oldest).and_then(|(_, cell)| cell.get().map(|packed| packed.n_bytes()));
            kept.n_bytes = kept.n_bytes.saturating_sub(gone.unwrap_or(0));
        }
    }
}

impl Packed {
    fn plain(&self, base: Option<&str>) -> Result<Bytes> {
        let mut text = String::new();
        GzDecoder::new(&*self.gzip).read_to_string(&mut text).map_err(Error::internal)?;
        if let Some(base) = base {
            text = text.replace(&in_json(ANY_BASE)?, &in_json(base)?);
        }
        Ok(text.into())
    }

    fn n_bytes(&self) -> usize {
        self.gzip.len() + KEPT_BYTES
    }
}

fn render(app: &App, snapshot: &Snapshot, variant: &Variant) -> Result<Packed> {
    let Variant { source, reader, base } = variant;
    let base = base.as_deref().unwrap_or(ANY_BASE);
    let made = DataPayloads { payloads: payloads(app, snapshot, *source, reader, base) };
    let plain = serde_json::to_vec(&made).map_err(Error::internal)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&plain).map_err(Error::internal)?;
    let gzip = encoder.finish().map_err(Error::internal)?;
    let hash = digest(&SHA256, &plain).as_ref().to_vec();
    let changed = snapshot.changed.max(app.created);
    Ok(Packed { gzip: gzip.into(), tag: tag(&hash), modified: modified(changed, &hash), changed, hash })
}

fn tag(hash: &[u8]) -> String {
    let digits: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("W/\"{digits}\"")
}

fn modified(changed: UtcMillis, hash: &[u8]) -> String {
    let [a, b, c, d, ..] = *hash else { return changed.to_http_date() };
    let seconds = u64::from(u32::from_be_bytes([a, b, c, d]) >> 4);
    changed.whole_second().minus(Duration::from_secs(seconds)).to_http_date()
}

/// A text as it stands inside a text of JSON.
fn in_json(text: &str) -> Result<String> {
    let quoted = serde_json::to_string(text).map_err(Error::internal)?;
    Ok(quoted.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(language: usize) -> Variant {
        let locale = DeviceLocale { language: Some(language.to_string()), country: None };
        Variant { source: DataSource::App, reader: Reader::new(DataPlatform::Ios, None, locale), base: None }
    }

    fn make(answers: &Answers, language: usize, n_bytes: usize) -> Cell {
        let cell = answers.cell(&variant(language));
        let packed = Packed {
            gzip: vec![0; n_bytes].into(),
            tag: String::new(),
            modified: String::new(),
            changed: UtcMillis::default(),
            hash: Vec::new(),
        };
        let packed = Arc::new(packed);
        answers.count(&variant(language), &packed);
        cell.set(packed).unwrap();
        cell
    }

    #[test]
    fn answers_in_many_languages_stay() {
        let answers = Answers::default();
        let cells: Vec<Cell> = (0..300).map(|language| make(&answers, language, 50_000)).collect();
        let stays = |(n, cell): (usize, &Cell)| Arc::ptr_eq(cell, &answers.cell(&variant(n)));
        assert!(cells.iter().enumerate().all(stays));
    }

    #[test]
    fn the_answer_that_was_used_longest_ago_goes() {
        let answers = Answers::default();
        let first = make(&answers, 0, MOST_BYTES / 4);
        for language in 1..3 {
            make(&answers, language, MOST_BYTES / 4);
        }
        assert!(Arc::ptr_eq(&first, &answers.cell(&variant(0))));
        make(&answers, 3, MOST_BYTES / 4);
        assert!(Arc::ptr_eq(&first, &answers.cell(&variant(0))), "it was used a moment ago");
        assert!(!answers.0.lock().by_variant.contains_key(&variant(1)));
        assert!(answers.n_bytes() <= MOST_BYTES);
    }

    #[test]
    fn made_up_addresses_share_one_answer() {
        let answers = Answers::default();
        let known = (0..100).filter(|n| answers.is_packed_for(&format!("http://{n}"))).count();
        assert_eq!(known, MOST_BASES);
        assert!(answers.is_packed_for("http://0") && !answers.is_packed_for("http://99"));
    }
}
