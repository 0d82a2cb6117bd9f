//! The data of an app as it was read last. The row of the app says when it changed, and every node knows that row, so that a
//! request of a device costs no query.

use std::collections::HashMap;
use std::sync::Arc;

use base::{Error, Result, readable};
use model::ids::AppId;
use model::remote_data::ConfigScope;
use model::time::UtcMillis;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use store::documents::{self, DocumentKind};
use store::{Tx, apps};
use tenancy::App;
use tokio::sync::OnceCell;

use crate::RemoteData;
use crate::answers::Answers;
use crate::constraints::listed;
use crate::documents::{ONLY, Stored};

/// The snapshots of the apps that were asked for.
#[derive(Default)]
pub(crate) struct Snapshots(Mutex<HashMap<AppId, Arc<Slot>>>);

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
    config: Vec<(String, Stored)>,
    /// Made of this snapshot, and given up with it.
    pub(crate) answers: Answers,
}

impl Snapshots {
    pub(crate) fn apps(&self) -> Vec<AppId> {
        self.0.lock().keys().copied().collect()
    }

    pub(crate) fn forget(&self, app: AppId) {
        self.0.lock().remove(&app);
    }

    fn slot(&self, app: AppId, wanted: UtcMillis) -> Arc<Slot> {
        let mut slots = self.0.lock();
        if let Some(slot) = slots.get(&app) {
            let known = slot.snapshot.get().map_or(slot.wanted, |snapshot| snapshot.changed);
            if known >= wanted {
                return slot.clone();
            }
        }
        let slot = Arc::new(Slot { wanted, snapshot: OnceCell::new() });
        slots.insert(app, slot.clone());
        slot
    }
}

impl RemoteData {
    /// The data as it is since the app's last change that this node knows of.
    pub(crate) async fn snapshot(&self, app: &App) -> Result<Arc<Snapshot>> {
        let slot = self.0.snapshots.slot(app.id, app.data_changed);
        let id = app.id;
        let read = || async { self.0.store.read(move |tx| Snapshot::read(tx, id).map(Arc::new)).await };
        slot.snapshot.get_or_try_init(read).await.cloned()
    }
}

impl Snapshot {
    fn read(tx: &mut Tx<'_>, app: AppId) -> Result<Self> {
        let (row, _) = apps::by_id(tx, app)?.ok_or(Error::NotFound("app"))?;
        if row.data_changed == UtcMillis::default() {
            return Ok(Self::default());
        }
        // In the order of their creation: of flags with one name the first decides.
        let mut all = |kind: DocumentKind| -> Result<Vec<(String, Stored)>> {
            let found = documents::list(tx, app, kind)?.into_iter();
            let stored =
                found.filter_map(|found| readable(kind, &found.id, Stored::read(&found)).map(|read| (found.id, read)));
            let mut stored: Vec<(String, Stored)> = stored.collect();
            stored.sort_by_key(|(_, stored)| stored.created);
            Ok(stored)
        };
        let constraints = all(DocumentKind::FrequencyConstraints)?.into_iter().find(|(id, _)| id == ONLY);
        Ok(Self {
            changed: row.data_changed,
            messages: all(DocumentKind::InAppMessage)?,
            forms: all(DocumentKind::PreferenceForm)?,
            flags: all(DocumentKind::FeatureFlag)?,
            holdouts: all(DocumentKind::HoldoutGroup)?,
            constraints: listed(constraints.map(|(_, stored)| stored.body)),
            config: all(DocumentKind::RemoteConfig)?,
            answers: Answers::default(),
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
