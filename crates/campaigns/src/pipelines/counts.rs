//! How many pipelines an app may have, and how many it has.

use base::{Error, Result};
use model::ids::AppId;
use model::pipeline::{Pipeline, PipelineStatus};
use model::time::UtcMillis;
use store::Tx;
use store::documents::{self, DocumentKind, Order};

use super::stored::Stored;

/// How many pipelines each app may have: a setting of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineLimits {
    pub total: usize,
    /// Enabled and not over.
    pub active: usize,
}

/// How many pipelines there are, and how many of them are enabled and not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineCounts {
    pub total: usize,
    pub active: usize,
}

/// Of which there are more after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    pub(super) total: bool,
    pub(super) active: bool,
}

impl PipelineLimits {
    pub const DEFAULT: Self = Self { total: 1000, active: 1000 };

    /// Called after the change, which is rolled back with everything else. What there is already may be more than the limits, which
    /// the operator can lower; only a change that adds to it is refused.
    pub(super) fn check(self, tx: &mut Tx<'_>, app: AppId, added: Added, now: UtcMillis) -> Result<()> {
        if added == Added::default() {
            return Ok(());
        }
        let total = usize::try_from(documents::count(tx, app, DocumentKind::Pipeline)?).map_err(Error::internal)?;
        if added.total && total > self.total {
            let most = self.total;
            return Err(Error::Conflict(format!(
                "An app has at most {most} pipelines; delete one first, or have the operator raise the setting 'pipelines'."
            )));
        }
        // All of them are read only where they may be too many.
        if added.active && total > self.active && PipelineCounts::read(tx, app, now)?.active > self.active {
            let most = self.active;
            return Err(Error::Conflict(format!(
                "At most {most} pipelines can be enabled at once; disable one first, or have the operator raise the setting \
                 'enabled_pipelines'."
            )));
        }
        Ok(())
    }
}

impl PipelineCounts {
    pub(super) fn read(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<Self> {
        let mut counts = Self::default();
        documents::visit(tx, app, DocumentKind::Pipeline, Order::Ascending, |document| {
            counts.total += 1;
            let stored = Stored::read(&document.body);
            counts.active += usize::from(stored.is_ok_and(|stored| is_active(&stored.pipeline, now)));
            Ok(())
        })?;
        Ok(counts)
    }
}

/// Whether a pipeline is enabled and not over.
pub(super) fn is_active(pipeline: &Pipeline, now: UtcMillis) -> bool {
    match pipeline.status(now) {
        PipelineStatus::Live | PipelineStatus::Pending => true,
        PipelineStatus::Completed | PipelineStatus::Disabled => false,
    }
}
