//! The state and the results of a push.

use audience::codec;
use base::{Error, Result};
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::origin::Origin;
use model::payload::push_type::PushType;
use model::time::UtcMillis;
use store::counters::{self, Metric};
use store::pushes::{self, PushRow, PushState, Tally};
use store::{Tx, origins, push_received};

use crate::{PlatformHealth, Sending};

#[derive(Clone, Debug)]
pub struct PushStatus {
    pub id: PushId,
    pub name: Option<String>,
    pub created: UtcMillis,
    pub expires: Option<UtcMillis>,
    pub push_type: PushType,
    /// The origin of the push.
    pub origin: Origin,
    pub state: PushState,
    /// Paused. Never set when nothing is left to pause.
    pub paused: bool,
    /// By name.
    pub platforms: Vec<(DeviceType, PlatformProgress)>,
    /// Why it went to nobody, if it did.
    pub nobody: Option<String>,
    /// How many have acknowledged it over live connections.
    pub received: u64,
    /// How many inboxes its message was put into.
    pub inboxes: u64,
}

/// The results on one platform. All counts but the first add up to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformProgress {
    pub targeted: u64,
    pub delivered: u64,
    pub gone: u64,
    pub failed: u64,
    pub expired: u64,
    /// Not sent because the push was canceled.
    pub canceled: u64,
    /// Still to be served.
    pub pending: u64,
    /// Why the platform is not sent to, or else the last reason given for a failure or a delay, or else what gone or expired
    /// means; for the sum over all platforms, why the push went to nobody, or why it failed where most
    /// did and nobody got it.
    pub reason: Option<String>,
}

const TOO_LATE: &str = "The push expired before its turn came.";
const GONE: &str = "Gone: the provider does not know the device any more, or it was uninstalled, opted out or lost its \
                    address after the audience was chosen.";

#[boxed]
impl Sending {
    pub async fn push_status(&self, app: AppId, push: PushId) -> Result<PushStatus> {
        self.0.store.read(move |tx| status_in(tx, app, push)).await
    }
}

/// Schedules tell the id of their next push beforehand.
pub(crate) const NO_SUCH_PUSH: Error = Error::NotFound("push; one that a schedule announced is there once it was sent");

/// The status as a transaction sees it.
pub(super) fn status_in(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<PushStatus> {
    let row = pushes::by_id(tx, app, push)?.ok_or(NO_SUCH_PUSH)?;
    let platforms = progress_in(tx, app, push, row.state)?;
    let PushRow { id, created, expires, push_type, state, paused, .. } = row;
    let origin = origins::of(tx, app, push)?.origin;
    let nobody = if platforms.is_empty() { pushes::reason(tx, app, push)? } else { None };
    let paused = paused && !state.is_final();
    let name = pushes::name(tx, app, push)?;
    let received = received_in(tx, app, push)?;
    let inboxes = inboxes_in(tx, app, push)?;
    Ok(PushStatus {
        id,
        name,
        created,
        expires,
        push_type,
        origin,
        state,
        paused,
        platforms,
        nobody,
        received,
        inboxes,
    })
}

fn inboxes_in(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<u64> {
    let counted = counters::totals_of_each(tx, app, &[push], &[Metric::RichSends])?;
    Ok(counted.iter().map(|counted| u64::try_from(counted.total.n).unwrap_or(0)).sum())
}

fn received_in(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<u64> {
    let sets = push_received::sets(tx, app, push)?;
    let counts = sets.iter().map(|set| codec::decode(set).map(|set| set.len()).map_err(Error::internal));
    Ok(counts.sum::<Result<u64>>()? + push_received::n_rows(tx, app, push)?)
}

/// The results of a push by device type. Where some recipients are pending and the whole platform is not sent to, that is the
/// reason: blocks of a held platform do not get as far as having one.
pub(super) fn progress_in(
    tx: &mut Tx<'_>,
    app: AppId,
    push: PushId,
    state: PushState,
) -> Result<Vec<(DeviceType, PlatformProgress)>> {
    let mut platforms = Vec::new();
    for (device_type, tally) in pushes::tallies(tx, app, push)? {
        let mut progress = PlatformProgress::of(tally, state);
        if progress.pending > 0
            && let Some(health) = PlatformHealth::find_known(tx, app, &device_type)?
        {
            progress.reason = Some(health.reason);
        }
        platforms.push((device_type, progress));
    }
    Ok(platforms)
}

impl PushStatus {
    /// The sum over all platforms.
    pub fn total(&self) -> PlatformProgress {
        Self::sum(&self.platforms, self.nobody.clone())
    }

    pub(super) fn sum(platforms: &[(DeviceType, PlatformProgress)], nobody: Option<String>) -> PlatformProgress {
        let mut total = PlatformProgress { reason: nobody, ..PlatformProgress::default() };
        for (_, platform) in platforms {
            total.targeted += platform.targeted;
            total.delivered += platform.delivered;
            total.gone += platform.gone;
            total.failed += platform.failed;
            total.expired += platform.expired;
            total.canceled += platform.canceled;
            total.pending += platform.pending;
        }
        if total.delivered == 0 && total.failed > 0 && total.pending == 0 {
            let most = platforms.iter().map(|(_, platform)| platform).max_by_key(|platform| platform.failed);
            total.reason = most.and_then(|platform| platform.reason.clone());
        }
        total
    }
}

impl PlatformProgress {
    pub(super) fn of(tally: Tally, state: PushState) -> Self {
        let Tally { targeted, delivered, gone, failed, expired, reason } = tally;
        let left = targeted.saturating_sub(delivered + gone + failed + expired);
        let (canceled, pending) = match state {
            PushState::Canceled => (left, 0),
            PushState::Accepted | PushState::Sending | PushState::Done => (0, left),
        };
        // When all is done, a reason is of interest only where something failed or came too late.
        let reason = reason.filter(|_| !state.is_final() || failed > 0 || expired > 0);
        let reason = reason.or_else(|| match state.is_final() {
            true if expired > 0 => Some(TOO_LATE.to_owned()),
            true if gone > 0 => Some(GONE.to_owned()),
            true | false => None,
        });
        Self { targeted, delivered, gone, failed, expired, canceled, pending, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_counted_once_in_every_state() {
        let reason = Some("No route.".to_owned());
        let tally = Tally { targeted: 10, delivered: 3, gone: 2, failed: 1, expired: 0, reason: reason.clone() };
        for state in [PushState::Accepted, PushState::Sending, PushState::Done, PushState::Canceled] {
            let progress = PlatformProgress::of(tally.clone(), state);
            let PlatformProgress { delivered, gone, failed, expired, canceled, pending, .. } = progress;
            assert_eq!(delivered + gone + failed + expired + canceled + pending, 10);
            assert_eq!((canceled, pending), if state == PushState::Canceled { (4, 0) } else { (0, 4) });
            assert_eq!(progress.reason, reason);
        }
        let unharmed = Tally { failed: 0, ..tally };
        assert_eq!(PlatformProgress::of(unharmed.clone(), PushState::Done).reason.as_deref(), Some(GONE));
        assert_eq!(PlatformProgress::of(unharmed.clone(), PushState::Sending).reason, reason);
        let all_taken = Tally { gone: 0, ..unharmed };
        assert_eq!(PlatformProgress::of(all_taken.clone(), PushState::Done).reason, None);
        let late = Tally { expired: 1, ..all_taken };
        assert_eq!(PlatformProgress::of(late.clone(), PushState::Done).reason, reason);
        let unhindered = Tally { reason: None, ..late };
        assert_eq!(PlatformProgress::of(unhindered, PushState::Done).reason.as_deref(), Some(TOO_LATE));
    }
}
