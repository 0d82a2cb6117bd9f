//! What devices get: made and packed once for each kind of device, and kept until the data changes or there is too much of it.

use std::collections::HashMap;
use std::iter;
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::remote_data::DataPlatform;
use model::time::UtcMillis;
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use tenancy::App;
use tokio::sync::OnceCell;

use crate::RemoteData;
use crate::kept::Kept;
use crate::payloads::{DataPayloads, payloads};
use crate::served::{DeviceLocale, Reader};
use crate::snapshot::Snapshot;
use crate::text::{DataText, Text};

/// Bytes of answers of one app that are kept: more than all kinds of devices and a few dozen languages take with a typical app.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Among fewer texts than this, those that nobody holds any more take too little memory to be swept out.
const LEAST_TO_SWEEP: usize = 64;
/// Stands for the URL of the service in what is the same for all callers.
const ANY_URL: &str = "\u{1}aerogram url\u{1}";

/// What a device asks for.
#[derive(Clone, Debug)]
pub struct DataRequest {
    pub source: DataSource,
    pub platform: DataPlatform,
    /// Of its library.
    pub sdk_version: Option<String>,
    pub language: Option<String>,
    pub country: Option<String>,
    pub url: ServiceUrl,
}

/// Where a device reaches the service, without a slash at the end.
#[derive(Clone, Debug)]
pub enum ServiceUrl {
    /// The same for all devices.
    Configured(String),
    /// By which the device has asked. Callers can make up any number of these.
    Asked(String),
}

/// Whose data it is. Devices ask for both, and join them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataSource {
    App,
    Contact,
}

/// Remote data as one device gets it.
#[derive(Clone)]
pub struct DataAnswer {
    /// Another for each content; weak, because the packed and the plain text share it.
    pub tag: String,
    /// A date for the header of this name. Devices send it back to ask whether anything is new, and understand it no further; so it
    /// follows from the content, is the same on every node, and lies in the years before the last change.
    pub modified: String,
    text: Arc<Text>,
    /// The URL of the service as it stands in JSON.
    url: String,
    /// Where the text is kept.
    app: AppId,
    snapshot: Arc<Snapshot>,
    variant: Variant,
}

/// The devices that get the same text.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Variant {
    source: DataSource,
    reader: Reader,
    /// The configured one, with which a text is packed in one piece, which makes it shorter.
    url: Option<String>,
}

/// The answers that were made of a snapshot.
#[derive(Default)]
pub(crate) struct Answers(Mutex<Kept<Variant, Cell>>);

/// A text that is made once for all requests that wait for it.
type Cell = Arc<OnceCell<Arc<Text>>>;

/// The texts that anybody holds, also those that were given up because there was too much: for a device that asks for a text that
/// others still read there is no second one in memory, however often the first is given up.
#[derive(Default)]
pub(crate) struct TextsInUse(Mutex<Known>);

#[derive(Default)]
struct Known {
    by_variant: HashMap<(AppId, Variant), Weak<Text>>,
    /// With so many, those that nobody holds any more are swept out. It is twice what the last sweep has left, so that a new text
    /// costs looking at two others on average, however many there are.
    n_to_sweep: usize,
}

#[boxed]
impl RemoteData {
    /// The answer to a device.
    pub async fn answer(&self, app: &Arc<App>, request: DataRequest) -> Result<DataAnswer> {
        let snapshot = self.snapshot(app).await?;
        let DataRequest { source, platform, sdk_version, language, country, url } = request;
        let locale = snapshot.relevant_locale(DeviceLocale { language, country });
        let (url, packed_for) = match url {
            ServiceUrl::Configured(url) => (url.clone(), Some(url)),
            ServiceUrl::Asked(url) => (url, None),
        };
        let reader = Reader::new(platform, sdk_version.as_deref(), locale);
        let variant = Variant { source, reader, url: packed_for };
        let cell = snapshot.answers.cell(&variant);
        if let Some(text) = cell.get() {
            return DataAnswer::new(text.clone(), &url, (app.id, snapshot), variant);
        }
        let mut is_new = false;
        let make = || {
            is_new = true;
            let (room, app, made_of, variant) = (self.clone(), app.clone(), snapshot.clone(), variant.clone());
            // Packing takes a while, and those who wait for other answers must not.
            let made = tokio::task::spawn_blocking(move || room.text(&app, &made_of, variant));
            async move { made.await.map_err(Error::internal)? }
        };
        let text = cell.get_or_try_init(make).await?.clone();
        if is_new {
            self.make_room(app.id, &snapshot, &variant);
        }
        DataAnswer::new(text, &url, (app.id, snapshot), variant)
    }
}

impl RemoteData {
    /// The text of an answer that is not packed. Takes a while the first time, so it is not for threads that answer requests.
    pub fn unpack(&self, answer: &DataAnswer) -> Result<DataText> {
        answer.text.unpack()?;
        self.make_room(answer.app, &answer.snapshot, &answer.variant);
        answer.plain().ok_or_else(|| Error::internal("a text that was unpacked is not plain"))
    }

    fn text(&self, app: &App, snapshot: &Snapshot, variant: Variant) -> Result<Arc<Text>> {
        let changed = snapshot.changed.max(app.created);
        if let Some(text) = self.0.texts_in_use.find(app.id, &variant, changed) {
            return Ok(text);
        }
        let text = Arc::new(render(app, snapshot, &variant, changed)?);
        self.0.texts_in_use.add(app.id, variant, &text);
        Ok(text)
    }

    /// Called when a text is new or has grown.
    fn make_room(&self, app: AppId, snapshot: &Snapshot, newest: &Variant) {
        snapshot.answers.make_room(newest);
        self.0.snapshots.make_room(app);
    }
}

impl DataAnswer {
    /// The tag is the same whether the text was packed for the URL or not: nodes may be configured differently.
    fn new(text: Arc<Text>, url: &str, (app, snapshot): (AppId, Arc<Snapshot>), variant: Variant) -> Result<Self> {
        let hash = digest(&SHA256, &[text.hash.as_slice(), url.as_bytes()].concat());
        let (tag, modified) = (tag(hash.as_ref()), modified(text.changed, hash.as_ref()));
        Ok(Self { tag, modified, text, url: in_json(url)?, app, snapshot, variant })
    }

    /// Packed with gzip.
    pub fn gzip(&self) -> DataText {
        self.text.gzip(&self.url)
    }

    /// As it is; `None` if no device has asked for it so before, and it is to be unpacked first.
    pub fn plain(&self) -> Option<DataText> {
        self.text.plain(&self.url)
    }
}

impl Answers {
    /// What they take in memory.
    pub(crate) fn n_bytes(&self) -> usize {
        self.0.lock().n_bytes()
    }

    fn cell(&self, variant: &Variant) -> Cell {
        self.0.lock().get_or_default(variant)
    }

    /// Gives up the texts that were used longest ago, until the rest is not too much.
    fn make_room(&self, newest: &Variant) {
        let mut kept = self.0.lock();
        kept.measure(newest, |cell| cell.get().map_or(0, |text| text.n_bytes()));
        kept.make_room(MOST_BYTES, newest);
    }
}

impl TextsInUse {
    fn find(&self, app: AppId, variant: &Variant, changed: UtcMillis) -> Option<Arc<Text>> {
        let known = self.0.lock().by_variant.get(&(app, variant.clone())).and_then(Weak::upgrade);
        known.filter(|text| text.changed == changed)
    }

    fn add(&self, app: AppId, variant: Variant, text: &Arc<Text>) {
        let mut known = self.0.lock();
        if known.by_variant.len() >= known.n_to_sweep {
            known.by_variant.retain(|_, text| text.strong_count() > 0);
            known.n_to_sweep = LEAST_TO_SWEEP.max(2 * known.by_variant.len());
        }
        known.by_variant.insert((app, variant), Arc::downgrade(text));
    }
}

fn render(app: &App, snapshot: &Snapshot, variant: &Variant, changed: UtcMillis) -> Result<Text> {
    let made = DataPayloads { payloads: payloads(app, snapshot, variant.source, &variant.reader, ANY_URL) };
    let text = serde_json::to_string(&made).map_err(Error::internal)?;
    let hash = digest(&SHA256, text.as_bytes()).as_ref().to_vec();
    let mark = in_json(ANY_URL)?;
    match &variant.url {
        Some(url) => Text::pack(iter::once(text.replace(&mark, &in_json(url)?).as_str()), hash, changed),
        None => Text::pack(text.split(&mark), hash, changed),
    }
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
        Variant { source: DataSource::App, reader: Reader::new(DataPlatform::Ios, None, locale), url: None }
    }

    fn make(answers: &Answers, language: usize, n_bytes: usize) -> Cell {
        let cell = answers.cell(&variant(language));
        cell.set(Arc::new(Text::of_size(n_bytes))).unwrap_or_else(|_| panic!("it is new"));
        answers.make_room(&variant(language));
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
        assert!(answers.0.lock().keys().all(|kept| *kept != variant(1)));
        assert!(answers.n_bytes() <= MOST_BYTES);
    }

    #[test]
    fn a_text_that_is_given_up_is_found_as_long_as_somebody_reads_it() {
        let (texts, app, changed) = (TextsInUse::default(), AppId(1), UtcMillis::default());
        let text = Arc::new(Text::of_size(1000));
        texts.add(app, variant(0), &text);
        let reader = text.gzip("");
        drop(text);
        assert!(texts.find(app, &variant(0), changed).is_some());
        assert!(
            texts.find(app, &variant(1), changed).is_none() && texts.find(AppId(2), &variant(0), changed).is_none()
        );
        assert!(texts.find(app, &variant(0), UtcMillis(1)).is_none(), "the data has changed");
        drop(reader);
        assert!(texts.find(app, &variant(0), changed).is_none());
    }

    #[test]
    fn texts_that_nobody_reads_are_swept_out_now_and_then() {
        let (texts, app) = (TextsInUse::default(), AppId(1));
        let held: Vec<Arc<Text>> = (0..100).map(|_| Arc::new(Text::of_size(1))).collect();
        for (n, text) in held.iter().enumerate() {
            texts.add(app, variant(n), text);
        }
        for n in 100..1_000 {
            texts.add(app, variant(n), &Arc::new(Text::of_size(1)));
            let n_known = texts.0.lock().by_variant.len();
            assert!(n_known <= 2 * held.len(), "{n_known} are known, of which {} are held", held.len());
        }
        assert!((0..100).all(|n| texts.find(app, &variant(n), UtcMillis::default()).is_some()));
    }

    #[test]
    fn a_text_counts_when_it_has_come_and_when_it_has_grown() {
        let (answers, pieces) = (Answers::default(), "a".repeat(100_000));
        let text = Arc::new(Text::pack(iter::once(pieces.as_str()), Vec::new(), UtcMillis::default()).unwrap());
        let cell = answers.cell(&variant(0));
        assert_eq!(answers.n_bytes(), 0);
        cell.set(text.clone()).unwrap_or_else(|_| panic!("it is new"));
        answers.make_room(&variant(0));
        assert_eq!(answers.n_bytes(), text.n_bytes());
        text.unpack().unwrap();
        answers.make_room(&variant(0));
        assert_eq!(answers.n_bytes(), text.n_bytes());
        assert!(answers.n_bytes() > 100_000);
    }
}
