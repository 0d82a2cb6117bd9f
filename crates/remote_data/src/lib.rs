//! Data for apps: in-app messages, preference forms, feature flags, holdout groups and configuration, which devices download as
//! remote data; and the questions about it that only the service can answer.

mod answers;
mod config;
mod constraints;
mod documents;
mod eligibility;
mod items;
mod kept;
mod notice;
mod payloads;
mod personal;
mod resolving;
mod served;
mod snapshot;
mod text;

use std::sync::Arc;

use base::Base;
use model::ids::AppId;
use model::time::Clock;
use sending::Sending;
use store::Store;
use targeting::Targeting;
use tenancy::Tenancy;

pub use answers::{DataAnswer, DataRequest, DataSource, ServiceUrl};
pub use config::ConfigView;
pub use documents::note_cleaned;
pub use items::{CreatedItem, Item, ItemKind, ItemView};
pub use payloads::DataPayloads;
pub use resolving::{Asker, DueMessage, ResolvedFlag, ResolvedMessage};
pub use text::DataText;

/// The data of the apps for their devices; clones share everything.
#[derive(Clone)]
pub struct RemoteData(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    tenancy: Tenancy,
    targeting: Targeting,
    sending: Sending,
    snapshots: snapshot::Snapshots,
    texts_in_use: answers::TextsInUse,
}

impl RemoteData {
    pub fn new(base: &Base, tenancy: &Tenancy, targeting: &Targeting, sending: &Sending) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            tenancy: tenancy.clone(),
            targeting: targeting.clone(),
            sending: sending.clone(),
            snapshots: snapshot::Snapshots::default(),
            texts_in_use: answers::TextsInUse::default(),
        }))
    }

    /// The apps of which something is kept in memory.
    pub fn apps(&self) -> Vec<AppId> {
        self.0.snapshots.apps()
    }

    /// Gives up what is kept of a deleted app.
    pub fn forget_app(&self, app: AppId) {
        self.0.snapshots.forget(app);
    }
}
