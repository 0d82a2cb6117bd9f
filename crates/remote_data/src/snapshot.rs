//! The data of an app as it was read last. The row of the app says when it changed, and every node knows that row, so that a
//! request of a device costs no query.

use std::sync::Arc;

use base::{Error, Result, readable};
use model::ids::AppId;
use model::remote_data::ConfigScope;
use model::time::UtcMillis;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use store::documents::{self, Document, DocumentKind};
use store::{Tx, apps};
use tenancy::App;
use tokio::sync::OnceCell;

use crate::RemoteData;
use crate::answers::Answers;
use crate::constraints::listed;
use crate::documents::{ONLY, Stored};
use crate::kept::Kept;
use crate::personal::PersonalMessages;
use crate::resolving::refuse_unreadable_audiences;
use crate::served::Locales;

/// What all snapshots take in memory at most, with what is made of them; the one that has grown last may take more.
const MOST_BYTES: usize = 128 * 1024 * 1024;
/// A snapshot takes so many bytes besides its documents and answers.
const KEPT_BYTES: usize = 2 * 1024;
/// Text of JSON takes so many times its length once it is read.
const READ_FACTOR: usize = 4;

/// The snapshots of the apps that were asked for.
#[derive(Default)]
pub(crate) struct Snapshots(Mutex<Kept<AppId, Arc<Slot>>>);

/// A snapshot that is read once for all requests that wait for it.
struct Slot {
    /// It is at least this new.
    wanted: UtcMillis,
    snapshot: OnceCell<Arc<Snapshot>>,
}

/// Everything that the devices of an app download, by its ids.
#[derive(Default)]
pub(crate) struct Snapshot {
    pub(crate) changed: UtcMillis,
    pub(crate) messages: Vec<(String, Stored)>,
    pub(crate) forms: Vec<(String, Stored)>,
    pub(crate) flags: Vec<(String, Stored)>,
    pub(crate) holdouts: Vec<(String, Stored)>,
    pub(crate) constraints: Vec<Value>,
    /// Of all messages.
    pub(crate) locales: Locales,
    config: Vec<(String, Stored)>,
    /// Of the documents, as text.
    n_bytes: usize,
    /// Made of this snapshot, and given up with it.
    pub(crate) answers: Answers,
    pub(crate) personal_messages: PersonalMessages,
}

impl Snapshots {
    pub(crate) fn apps(&self) -> Vec<AppId> {
        self.0.lock().keys().copied().collect()
    }

    pub(crate) fn forget(&self, app: AppId) {
        self.0.lock().remove(&app);
    }

    fn slot(&self, app: AppId, wanted: UtcMillis) -> Arc<Slot> {
        let mut kept = self.0.lock();
        if let Some(slot) = kept.get(&app) {
            let known = slot.snapshot.get().map_or(slot.wanted, |snapshot| snapshot.changed);
            if known >= wanted {
                return slot.clone();
            }
        }
        let slot = Arc::new(Slot { wanted, snapshot: OnceCell::new() });
        kept.insert(app, slot.clone(), slot.n_bytes());
        slot
    }

    /// Gives up the snapshots that were used longest ago, until the rest is not too much. Called with the app whose snapshot was
    /// read or has grown by what was made of it, which is seldom. Every request takes the lock, so that only this app is measured.
    pub(crate) fn make_room(&self, app: AppId) {
        self.make_room_in(MOST_BYTES, app);
    }

    fn make_room_in(&self, most_bytes: usize, grown: AppId) {
        let mut kept = self.0.lock();
        kept.measure(&grown, |slot| slot.n_bytes());
        kept.make_room(most_bytes, &grown);
    }
}

impl Slot {
    fn n_bytes(&self) -> usize {
        let of_data = |snapshot: &Arc<Snapshot>| {
            snapshot.n_bytes * READ_FACTOR + snapshot.answers.n_bytes() + snapshot.personal_messages.n_bytes()
        };
        KEPT_BYTES + self.snapshot.get().map_or(0, of_data)
    }
}

impl RemoteData {
    /// The data as it is since the app's last change that this node knows of.
    pub(crate) async fn snapshot(&self, app: &App) -> Result<Arc<Snapshot>> {
        let slot = self.0.snapshots.slot(app.id, app.data_changed);
        let id = app.id;
        let read = || async { self.0.store.read(move |tx| Snapshot::read(tx, id).map(Arc::new)).await };
        if let Some(known) = slot.snapshot.get() {
            return Ok(known.clone());
        }
        let snapshot = slot.snapshot.get_or_try_init(read).await?.clone();
        self.0.snapshots.make_room(id);
        Ok(snapshot)
    }
}

impl Snapshot {
    fn read(tx: &mut Tx<'_>, app: AppId) -> Result<Self> {
        let (row, _) = apps::by_id(tx, app)?.ok_or(Error::NotFound("app"))?;
        if row.data_changed == UtcMillis::default() {
            return Ok(Self::default());
        }
        let mut n_bytes = 0;
        // In the order of their creation: of flags with one name the first decides.
        let mut all = |kind: DocumentKind| -> Result<Vec<(String, Stored)>> {
            let found = documents::list(tx, app, kind)?;
            n_bytes += found.iter().map(|found| found.body.len()).sum::<usize>();
            let stored = found
                .into_iter()
                .filter_map(|found| readable(kind, &found.id, read(kind, &found)).map(|read| (found.id, read)));
            let mut stored: Vec<(String, Stored)> = stored.collect();
            stored.sort_by_key(|(_, stored)| stored.created);
            Ok(stored)
        };
        let constraints = all(DocumentKind::FrequencyConstraints)?.into_iter().find(|(id, _)| id == ONLY);
        let messages = all(DocumentKind::InAppMessage)?;
        Ok(Self {
            changed: row.data_changed,
            locales: Locales::of(&messages),
            messages,
            forms: all(DocumentKind::PreferenceForm)?,
            flags: all(DocumentKind::FeatureFlag)?,
            holdouts: all(DocumentKind::HoldoutGroup)?,
            constraints: listed(constraints.map(|(_, stored)| stored.body)),
            config: all(DocumentKind::RemoteConfig)?,
            n_bytes,
            answers: Answers::default(),
            personal_messages: PersonalMessages::default(),
        })
    }

    /// The values that the app has set for some devices.
    pub(crate) fn config(&self, scope: ConfigScope) -> Option<&Map<String, Value>> {
        self.config.iter().find(|(id, _)| id == scope.word()).map(|(_, stored)| &stored.body)
    }

    pub(crate) fn find<'s>(items: &'s [(String, Stored)], id: &str) -> Option<&'s Stored> {
        items.iter().find(|(known, _)| known == id).map(|(_, stored)| stored)
    }
}

/// What devices ask about has to be readable together with its audiences: of the rest, nobody could say for whom it is.
fn read(kind: DocumentKind, document: &Document) -> Result<Stored> {
    let stored = Stored::read(document)?;
    if matches!(kind, DocumentKind::InAppMessage | DocumentKind::FeatureFlag) {
        refuse_unreadable_audiences(&stored.body)?;
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_app_that_was_asked_for_longest_ago_is_given_up() {
        let snapshots = Snapshots::default();
        let app = AppId;
        let all = 10 * (KEPT_BYTES + 1_000 * READ_FACTOR);
        for n in 0..10 {
            let slot = snapshots.slot(app(n), UtcMillis::default());
            let snapshot = Arc::new(Snapshot { n_bytes: 1_000, ..Snapshot::default() });
            slot.snapshot.set(snapshot).unwrap_or_else(|_| panic!("it is new"));
            snapshots.make_room_in(all, app(n));
        }
        assert_eq!((snapshots.apps().len(), snapshots.0.lock().n_bytes()), (10, all));
        snapshots.slot(app(0), UtcMillis::default());
        snapshots.make_room_in(all * 3 / 10, app(9));
        let mut left = snapshots.apps();
        left.sort_unstable();
        assert_eq!(left, [app(0), app(8), app(9)]);
        snapshots.make_room_in(0, app(8));
        assert_eq!(snapshots.apps(), [app(8)], "the one that has grown stays");
        snapshots.slot(app(8), UtcMillis(1));
        assert_eq!(snapshots.0.lock().n_bytes(), KEPT_BYTES, "a newer one takes its place");
        snapshots.make_room_in(all, app(7));
        assert_eq!(snapshots.0.lock().n_bytes(), KEPT_BYTES, "nothing is counted of an app without a snapshot");
        snapshots.forget(app(8));
        assert_eq!(snapshots.0.lock().n_bytes(), 0);
    }

    #[test]
    fn no_app_is_measured_but_the_one_that_has_grown() {
        let snapshots = Snapshots::default();
        let [first, second] = [AppId(1), AppId(2)].map(|app| {
            let slot = snapshots.slot(app, UtcMillis::default());
            let snapshot = Arc::new(Snapshot { n_bytes: 1_000, ..Snapshot::default() });
            slot.snapshot.set(snapshot).unwrap_or_else(|_| panic!("it is new"));
            app
        });
        snapshots.make_room(first);
        assert_eq!(snapshots.0.lock().n_bytes(), 2 * KEPT_BYTES + 1_000 * READ_FACTOR);
        snapshots.make_room(second);
        assert_eq!(snapshots.0.lock().n_bytes(), 2 * (KEPT_BYTES + 1_000 * READ_FACTOR));
    }
}
