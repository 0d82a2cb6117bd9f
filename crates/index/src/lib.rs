//! The audience index of every app in memory: loading it, keeping it in step with the log, and evaluating plans over it.

mod evaluation;
mod follower;
mod snapshots;
mod terms;

use std::path::PathBuf;
use std::sync::Arc;

use base::{Base, PassedOver};
use model::ids::AppId;
use store::Store;
use tenancy::Tenancy;

pub use follower::build;
pub use terms::term_plan;

use evaluation::Evaluations;
use follower::Audiences;
use snapshots::Snapshots;

/// The indexes of the apps; clones share everything.
#[derive(Clone)]
pub struct Indexes(Arc<Parts>);

struct Parts {
    store: Store,
    tenancy: Tenancy,
    audiences: Audiences,
    evaluations: Evaluations,
    snapshots: Snapshots,
    passed_over: PassedOver,
}

impl Indexes {
    /// Without a folder for snapshots, every start reads all channels.
    pub fn new(base: &Base, tenancy: &Tenancy, snapshot_folder: Option<PathBuf>) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            tenancy: tenancy.clone(),
            audiences: Audiences::default(),
            evaluations: Evaluations::default(),
            snapshots: Snapshots(snapshot_folder),
            passed_over: PassedOver::default(),
        }))
    }

    /// The apps whose index is in memory.
    pub fn apps(&self) -> Vec<AppId> {
        self.0.audiences.apps()
    }

    /// Gives up the index of a deleted app.
    pub fn forget(&self, app: AppId) {
        self.0.audiences.forget(app);
    }
}
