//! Counting how many channels there are and how many of them are opted in, as that changes.

use base::Result;
use model::channel::Profile;
use model::ids::AppId;
use model::time::UtcMillis;
use store::Tx;
use store::counters::{self, Metric};

/// Counts the change of a channel from `before` to `after`, `None` where it is not installed. An uninstalled channel also counts
/// as opted out, so that the number opted in is always the opt-ins less the opt-outs.
pub(super) fn count_change(
    tx: &mut Tx<'_>,
    app: AppId,
    now: UtcMillis,
    before: Option<&Profile>,
    after: Option<&Profile>,
) -> Result<()> {
    let mut count = |metric: Metric, profile: &Profile| counters::add(tx, app, metric, now, &profile.device_type, 1);
    match (before, after) {
        (None, Some(after)) => count(Metric::Created, after)?,
        (Some(before), None) => count(Metric::Uninstalled, before)?,
        (None, None) | (Some(_), Some(_)) => {}
    }
    let opted_in = |profile: Option<&Profile>| profile.is_some_and(|profile| profile.opt_in);
    match (before, after) {
        (_, Some(after)) if after.opt_in && !opted_in(before) => count(Metric::OptedIn, after)?,
        (Some(before), _) if before.opt_in && !opted_in(after) => count(Metric::OptedOut, before)?,
        (None | Some(_), None | Some(_)) => {}
    }
    Ok(())
}
