//! One block of a push: its recipients by what became of them, and what happens to its job.

mod ledger;
mod sending;

use audience::codec;
use base::{Error, Result, SharedClock};
use jobs::{ClaimedJob, LEASE, ParkUntil};
use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::push_outcome::PushOutcome;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::blocks::{self, BlockKey, BlockProgress};
use store::pushes::{self, PushState, Tally};
use store::{Tx, push_outcomes};

use super::outcomes::Outcomes;
use crate::push::SendPermission;
use crate::{PlatformHealth, Sending};
use ledger::{Ledger, outcome_set};
pub(super) use sending::SendingBlock;

/// A block as it is stored, with the job that has it. To be sent, it has to become a [`SendingBlock`].
#[derive(Clone)]
pub(super) struct Block {
    claimed: ClaimedJob,
    key: BlockKey,
    pub(super) tries: u32,
    pub(super) pending: RoaringBitmap,
    delivered: RoaringBitmap,
    gone: RoaringBitmap,
    failed: RoaringBitmap,
    ledger: Ledger,
}

/// Whether a block may be sent, asked between two deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) permission: SendPermission,
    /// Whether the operator holds the platform.
    pub(super) is_held: bool,
}

impl Look {
    pub(super) fn at(tx: &mut Tx<'_>, app: AppId, push: PushId, device_type: &DeviceType) -> Result<Self> {
        let is_held = PlatformHealth::is_held(tx, app, device_type)?;
        Ok(Self { permission: SendPermission::of(tx, app, push)?, is_held })
    }
}

/// What happens to the job with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// There are more recipients to go through.
    GoOn,
    /// Some recipients have to be tried again. `tries`: how often in a row none was served.
    TryAgainAt { due: UtcMillis, tries: u32 },
    /// The platform wants to be left alone, which does not count as a try.
    WaitUntil(UtcMillis),
    /// The process is stopping; another run takes over at once.
    HandOver,
    /// The push is paused: the block waits until it is resumed, or until it expires.
    Park(ParkUntil),
    /// The operator holds the platform: the block waits until that ends, or until the push expires.
    Hold(ParkUntil),
    /// Nothing is left to do; channels that are still pending never get the push.
    Settled,
}

impl Block {
    /// `None` when there is nothing to do any more.
    pub(super) async fn load(sending: &Sending, claimed: &ClaimedJob, key: BlockKey) -> Result<Option<Self>> {
        let (app, wanted) = (claimed.app, key.clone());
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            Ok((blocks::get(tx, app, &wanted)?, Ledger::after_earlier_runs(tx, app, &wanted)?))
        };
        let (progress, ledger) = sending.0.store.read(read).await?;
        let Some(progress) = progress.filter(|progress| !progress.settled) else { return Ok(None) };
        let set = |bytes: &[u8]| codec::decode(bytes).map_err(Error::internal);
        Ok(Some(Self {
            claimed: claimed.clone(),
            tries: progress.tries,
            pending: set(&progress.pending)?,
            delivered: set(&progress.delivered)?,
            gone: set(&progress.gone)?,
            failed: set(&progress.failed)?,
            ledger,
            key,
        }))
    }

    /// Whether a device of the block was ever served, in this run or before.
    pub(super) fn has_served(&self) -> bool {
        !self.delivered.is_empty()
    }

    /// Gives the job back, or ends it, before anything was sent.
    pub(super) async fn release(self, sending: &Sending, next: Next) -> Result<()> {
        self.record_unsent(sending, Outcomes::default(), next).await
    }

    /// Ends the block: it is too late for everybody who is pending.
    pub(super) async fn expire(self, sending: &Sending) -> Result<()> {
        let outcomes = Outcomes { expired: self.pending.clone(), ..Outcomes::default() };
        self.record_unsent(sending, outcomes, Next::Settled).await
    }

    async fn record_unsent(mut self, sending: &Sending, outcomes: Outcomes, next: Next) -> Result<()> {
        let (app, now) = (self.claimed.app, sending.0.clock.now());
        self.take_in(&outcomes, next, now);
        let shared = sending.0.shared_clock.clone();
        sending.0.store.write(app, move |tx| self.record(tx, (now, &shared), &outcomes, next)).await
    }

    fn take_in(&mut self, outcomes: &Outcomes, next: Next, now: UtcMillis) {
        self.ledger.take_in(outcomes, now);
        self.pending -= outcomes.settled();
        self.delivered |= &outcomes.delivered;
        self.gone.extend(outcomes.gone.iter().map(|(ordinal, _)| ordinal.0));
        self.gone = outcomes.missing.values().fold(std::mem::take(&mut self.gone), |gone, missing| gone | missing);
        self.failed |= outcomes.failed.all();
        self.failed |= &outcomes.expired;
        if let Next::TryAgainAt { tries, .. } = next {
            self.tries = tries;
        }
    }

    /// Writes the state of the block and of its job, and adds up outcomes that were taken in. What reports tell has the time of the
    /// own clock.
    fn record(
        &self,
        tx: &mut Tx<'_>,
        (now, shared): (UtcMillis, &SharedClock),
        outcomes: &Outcomes,
        next: Next,
    ) -> Result<()> {
        // Asked before the push may be done, and is no longer paused.
        let reason = match &outcomes.reason {
            None if !outcomes.expired.is_empty() => self.what_held_up(tx)?,
            reason => reason.clone(),
        };
        self.hold_or_release(tx, shared, next)?;
        self.save(tx, now, next)?;
        let (app, push) = (self.claimed.app, self.key.push);
        if next == Next::Settled && !self.pending.is_empty() {
            let set = outcome_set(&self.key, PushOutcome::Canceled, "", now, &self.pending);
            push_outcomes::put(tx, app, push, set)?;
        }
        if outcomes.is_empty() {
            return Ok(());
        }
        for set in self.ledger.changed(&self.key) {
            push_outcomes::put(tx, app, push, set)?;
        }
        if !outcomes.expired.is_empty() {
            let reason = reason.as_deref().unwrap_or_default();
            let set = outcome_set(&self.key, PushOutcome::Expired, reason, now, &outcomes.expired);
            push_outcomes::put(tx, app, push, set)?;
        }
        let tally = Tally {
            targeted: 0,
            delivered: outcomes.delivered.len(),
            gone: outcomes.n_gone(),
            failed: outcomes.failed.len(),
            expired: outcomes.expired.len(),
            reason,
        };
        Ok(pushes::add_tally(tx, app, push, &self.key.device_type, &tally)?)
    }

    /// What kept the block from being sent until now, for recipients for whom it is too late: it may be over when somebody asks.
    fn what_held_up(&self, tx: &mut Tx<'_>) -> Result<Option<String>> {
        let (app, push) = (self.claimed.app, self.key.push);
        if SendPermission::of(tx, app, push)? == SendPermission::Paused {
            return Ok(Some("The push was paused until it expired.".to_owned()));
        }
        Ok(PlatformHealth::find_known(tx, app, &self.key.device_type)?.map(|health| health.reason))
    }

    /// Other nodes judge the lease and the due time, so that both are by the clock on which all agree.
    fn hold_or_release(&self, tx: &mut Tx<'_>, shared: &SharedClock, next: Next) -> Result<()> {
        let now = shared.now();
        match next {
            Next::GoOn => jobs::renew(tx, &self.claimed, shared.lease_begin().plus(LEASE))?,
            Next::TryAgainAt { due, .. } | Next::WaitUntil(due) => jobs::postpone(tx, &self.claimed, due)?,
            Next::HandOver => jobs::postpone(tx, &self.claimed, now)?,
            // Resuming a push wakes its waiting blocks, so a block may start to wait only while the push is still paused.
            Next::Park(until) => match SendPermission::of(tx, self.claimed.app, self.key.push)? {
                SendPermission::Paused => jobs::park(tx, &self.claimed, self.key.push, until)?,
                SendPermission::Allowed | SendPermission::Ended => jobs::postpone(tx, &self.claimed, now)?,
            },
            // The same for a platform, which may have been released meanwhile.
            Next::Hold(until) => match PlatformHealth::is_held(tx, self.claimed.app, &self.key.device_type)? {
                true => jobs::park(tx, &self.claimed, self.key.push, until)?,
                false => jobs::postpone(tx, &self.claimed, now)?,
            },
            Next::Settled => jobs::settle(tx, &self.claimed)?,
        }
        Ok(())
    }

    fn progress(&self, next: Next) -> BlockProgress {
        BlockProgress {
            settled: next == Next::Settled,
            tries: self.tries,
            pending: codec::encode(&self.pending),
            delivered: codec::encode(&self.delivered),
            gone: codec::encode(&self.gone),
            failed: codec::encode(&self.failed),
        }
    }

    /// Whether outcomes that were taken in are recorded already. Those that settle nobody leave nothing to tell by.
    fn is_stored(&self, tx: &mut Tx<'_>, outcomes: &Outcomes, next: Next) -> Result<bool> {
        Ok(!outcomes.settled().is_empty() && blocks::get(tx, self.claimed.app, &self.key)? == Some(self.progress(next)))
    }

    fn save(&self, tx: &mut Tx<'_>, now: UtcMillis, next: Next) -> Result<()> {
        let app = self.claimed.app;
        blocks::save(tx, app, &self.key, self.progress(next))?;
        if next == Next::Settled && blocks::unsettled(tx, app, self.key.push)? == 0 {
            // A canceled push stays canceled.
            let found = pushes::sending_state(tx, app, self.key.push)?;
            if found.is_some_and(|found| found.state == PushState::Sending) {
                pushes::set_state(tx, app, self.key.push, PushState::Done, now)?;
            }
        }
        Ok(())
    }
}
