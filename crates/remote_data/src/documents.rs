//! The documents that data for apps is kept in: what they hold, and how much of it an app may have.

use base::{Error, Result, readable};
use model::ids::AppId;
use model::limits;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::documents::{self, Document, DocumentKind};
use store::privacy::CleanedDocuments;
use store::{Tx, apps};

/// Everything that devices download.
const ALL: [DocumentKind; 6] = [
    DocumentKind::InAppMessage,
    DocumentKind::PreferenceForm,
    DocumentKind::FeatureFlag,
    DocumentKind::HoldoutGroup,
    DocumentKind::FrequencyConstraints,
    DocumentKind::RemoteConfig,
];

/// The only document of a kind that an app has one of.
pub(crate) const ONLY: &str = "app";

pub(crate) const REQUIRES_ELIGIBILITY: &str = "requires_eligibility";
pub(crate) const PERSONALIZATION: &str = "personalization";

/// A stored thing. Its body was parsed when it came and is passed on as it was printed then, so that a parser that became stricter
/// stops nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// Counts the changes, from 1.
    pub(crate) version: u32,
    /// When it came, as devices are told: later than everything that they were told before. A message that moves between the data
    /// of all devices and that of contacts comes anew, because devices take what is older than what they had from there for known.
    pub(crate) created: UtcMillis,
    pub(crate) updated: UtcMillis,
    pub(crate) body: Map<String, Value>,
}

impl Stored {
    pub(crate) fn read(document: &Document) -> Result<Self> {
        serde_json::from_str(&document.body).map_err(Error::internal)
    }

    pub(crate) fn next(before: Option<&Self>, body: Map<String, Value>, changed: UtcMillis) -> Self {
        let stays = |before: &&Self| needs_contact(&before.body) == needs_contact(&body);
        let created = before.filter(stays).map_or(changed, |before| before.created);
        Self { version: before.map_or(1, |before| before.version + 1), created, updated: changed, body }
    }

    pub(crate) fn put(&self, tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str, now: UtcMillis) -> Result<()> {
        self.put_anyway(tx, app, kind, id, now)?;
        refuse_too_much(tx, app)
    }

    /// Keeps it however much there is.
    fn put_anyway(&self, tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str, now: UtcMillis) -> Result<()> {
        let text = serde_json::to_string(self).map_err(Error::internal)?;
        Ok(documents::put(tx, app, kind, id, &text, now)?)
    }
}

/// After names were replaced in documents: nodes that know the data with them read it again, and so do devices, which take an item
/// for known unless its own date is newer. One that cannot be read is served to nobody and stays as it is; the limit for all data
/// stops no erasure.
pub fn note_cleaned(tx: &mut Tx<'_>, app: AppId, cleaned: &CleanedDocuments, now: UtcMillis) -> Result<()> {
    if !ALL.into_iter().any(|kind| cleaned.has(kind)) {
        return Ok(());
    }
    let changed = apps::note_data_change(tx, app, now)?;
    for kind in ALL {
        for id in cleaned.ids(kind) {
            let Some(before) = known(tx, app, kind, id)? else { continue };
            let next = Stored { version: before.version + 1, updated: changed, ..before };
            next.put_anyway(tx, app, kind, id, now)?;
        }
    }
    Ok(())
}

/// Whether a message is for devices with a contact only.
pub(crate) fn needs_contact(message: &Map<String, Value>) -> bool {
    message.get(REQUIRES_ELIGIBILITY).is_some_and(|value| *value == true)
}

/// Whether the texts of a message differ from device to device.
pub(crate) fn is_personalized(message: &Map<String, Value>) -> bool {
    message.get(PERSONALIZATION).is_some_and(|value| *value == true)
}

/// The one document of a kind, if there is one.
pub(crate) fn only(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str) -> Result<Option<Stored>> {
    documents::get(tx, app, kind, id)?.as_ref().map(Stored::read).transpose()
}

/// The same, unless it cannot be read. Such a one is served to nobody, and does not keep another from taking its place.
pub(crate) fn known(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str) -> Result<Option<Stored>> {
    let found = documents::get(tx, app, kind, id)?;
    Ok(found.and_then(|found| readable(kind, &found.id, Stored::read(&found))))
}

/// Every device downloads all of it, so that there is a limit for all of it together.
fn refuse_too_much(tx: &mut Tx<'_>, app: AppId) -> Result<()> {
    let mut n_chars = 0;
    for kind in ALL {
        n_chars += documents::n_chars(tx, app, kind)?;
    }
    let most = limits::REMOTE_DATA_BYTES;
    if usize::try_from(n_chars).is_ok_and(|n_chars| n_chars <= most) {
        return Ok(());
    }
    let text = format!(
        "The data for the devices of an app has at most {most} bytes, because each of them downloads it; delete some."
    );
    Err(Error::Conflict(text))
}
