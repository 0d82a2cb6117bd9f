//! What devices get: made and packed once for each kind of device, and kept until the data changes.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use bytes::Bytes;
use flate2::Compression;
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

/// Answers of one app that are kept. There are about ten kinds of devices; the rest is room for addresses and languages. The
/// address of the service is that of the request, which anybody can make up: the answer that was used longest ago goes.
const MOST_KEPT: usize = 32;

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

/// Remote data as one kind of device gets it.
#[derive(Debug)]
pub struct DataAnswer {
    pub plain: Bytes,
    pub gzip: Bytes,
    /// Another for each content; weak, because the packed and the plain text share it.
    pub tag: String,
    /// A date for the header of this name. Devices send it back to ask whether anything is new, and understand it no further; so it
    /// follows from the content, is the same on every node, and lies in the years before the last change.
    pub modified: String,
}

/// The devices that get the same answer.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Variant {
    source: DataSource,
    reader: Reader,
    base: String,
}

/// The answers that were made of a snapshot, with the number of the use at which each was used last.
#[derive(Default)]
pub(crate) struct Answers(Mutex<Kept>);

/// An answer that is made once for all requests that wait for it.
type Cell = Arc<OnceCell<Arc<DataAnswer>>>;

#[derive(Default)]
struct Kept {
    n_uses: u64,
    by_variant: HashMap<Variant, (u64, Cell)>,
}

#[boxed]
impl RemoteData {
    /// The answer to a device.
    pub async fn answer(&self, app: &Arc<App>, request: DataRequest) -> Result<Arc<DataAnswer>> {
        let snapshot = self.snapshot(app).await?;
        let DataRequest { source, platform, sdk_version, language, country, base } = request;
        let locale = snapshot.relevant_locale(DeviceLocale { language, country });
        let variant = Variant { source, reader: Reader::new(platform, sdk_version.as_deref(), locale), base };
        let cell = snapshot.answers.cell(&variant);
        if let Some(answer) = cell.get() {
            return Ok(answer.clone());
        }
        let app = app.clone();
        let make = || async {
            // Packing takes a while, and those who wait for other answers must not.
            let made = tokio::task::spawn_blocking(move || render(&app, &snapshot, &variant).map(Arc::new));
            made.await.map_err(Error::internal)?
        };
        cell.get_or_try_init(make).await.cloned()
    }
}

impl Answers {
    fn cell(&self, variant: &Variant) -> Cell {
        let mut kept = self.0.lock();
        kept.n_uses += 1;
        let n_uses = kept.n_uses;
        if let Some((used, cell)) = kept.by_variant.get_mut(variant) {
            *used = n_uses;
            return cell.clone();
        }
        if kept.by_variant.len() >= MOST_KEPT {
            let oldest = kept.by_variant.iter().min_by_key(|(_, (used, _))| *used).map(|(variant, _)| variant.clone());
            if let Some(oldest) = oldest {
                kept.by_variant.remove(&oldest);
            }
        }
        let cell = Arc::new(OnceCell::new());
        kept.by_variant.insert(variant.clone(), (n_uses, cell.clone()));
        cell
    }
}

fn render(app: &App, snapshot: &Snapshot, variant: &Variant) -> Result<DataAnswer> {
    let Variant { source, reader, base } = variant;
    let made = DataPayloads { payloads: payloads(app, snapshot, *source, reader, base) };
    let plain = serde_json::to_vec(&made).map_err(Error::internal)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&plain).map_err(Error::internal)?;
    let gzip = encoder.finish().map_err(Error::internal)?;
    let hash = digest(&SHA256, &plain);
    let tag = hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>();
    let modified = modified(snapshot.changed.max(app.created), hash.as_ref());
    Ok(DataAnswer {
        plain: plain.into(),
        gzip: gzip.into(),
        tag: format!("W/\"{tag}\""),
        modified: modified.to_http_date(),
    })
}

fn modified(changed: UtcMillis, hash: &[u8]) -> UtcMillis {
    let [a, b, c, d, ..] = *hash else { return changed };
    changed.whole_second().minus(Duration::from_secs(u64::from(u32::from_be_bytes([a, b, c, d]) >> 4)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_that_was_used_longest_ago_goes() {
        let answers = Answers::default();
        let variant = |base: usize| Variant {
            source: DataSource::App,
            reader: Reader::new(DataPlatform::Ios, None, DeviceLocale::default()),
            base: base.to_string(),
        };
        let first = answers.cell(&variant(0));
        for base in 1..MOST_KEPT {
            answers.cell(&variant(base));
        }
        assert!(Arc::ptr_eq(&first, &answers.cell(&variant(0))), "there is room for all");
        answers.cell(&variant(MOST_KEPT));
        assert!(Arc::ptr_eq(&first, &answers.cell(&variant(0))), "it was used a moment ago");
        assert_eq!(answers.0.lock().by_variant.len(), MOST_KEPT);
        assert!(!answers.0.lock().by_variant.contains_key(&variant(1)));
    }
}
