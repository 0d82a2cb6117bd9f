//! The jobs that this process is running, whichever of its workers has them. A lease may run out while a job runs, because the
//! database stood still and it was not renewed; the job is then due, but it must not be run a second time beside itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::ids::AppId;
use parking_lot::{Mutex, MutexGuard};
use store::jobs::{JobId, JobKey};

#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<BTreeSet<JobKey>>>);

/// Keeps a job from being begun again, until it is dropped.
pub(crate) struct Run {
    running: Running,
    job: JobKey,
}

impl Running {
    /// `None` while the job runs already. To be called before it is claimed.
    pub(super) fn begin(&self, app: AppId, id: JobId) -> Option<Run> {
        let job = (app, id);
        self.jobs().insert(job).then(|| Run { running: self.clone(), job })
    }

    pub(crate) fn len(&self) -> usize {
        self.jobs().len()
    }

    fn jobs(&self) -> MutexGuard<'_, BTreeSet<JobKey>> {
        self.0.lock()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.running.jobs().remove(&self.job);
    }
}
