//! The hour at which a push with a best time is sent.

use base::Result;
use model::ids::AppId;
use model::schedule::{DayHour, Schedule};
use model::time::UTC_OFFSETS;
use store::counters::{self, Grain, Metric};

use crate::Campaigns;

/// Older openings say little about present habits.
const HOURS_LOOKED_AT: i64 = 30 * 24;

impl Campaigns {
    /// Fixes the hour of best times. It is the same for all channels of the app, by their own clocks.
    pub(crate) async fn choose_best_hours(
        &self,
        app: AppId,
        schedules: impl Iterator<Item = &mut Schedule> + Send,
    ) -> Result<()> {
        let waiting: Vec<&mut Schedule> = schedules.filter(|schedule| schedule.first.best_hour().is_some()).collect();
        if waiting.is_empty() {
            return Ok(());
        }
        let hour = self.best_hour(app).await?;
        for schedule in waiting {
            schedule.first = schedule.first.at_best_hour(hour);
        }
        Ok(())
    }

    async fn best_hour(&self, app: AppId) -> Result<DayHour> {
        let now = counters::hour(self.0.clock.now());
        let most_hours_ahead = i64::from(*UTC_OFFSETS.end()) / 3600;
        let hours = now - HOURS_LOOKED_AT..now + most_hours_ahead + 1;
        let read = move |tx: &mut store::Tx<'_>| counters::sums(tx, app, &[Metric::LocalOpens], &hours, Grain::Hour);
        let openings = self.0.store.read(read).await?;
        Ok(DayHour::with_most(openings.iter().map(|sum| (sum.slot, u64::try_from(sum.n).unwrap_or(0)))))
    }
}
