//! One block while it is being delivered: its pending recipients, and the checkpoints that make progress durable.

use audience::codec;
use audience::index::Index;
use model::device_type::DeviceType;
use model::event::SharedPush;
use model::ids::{AppId, PushId};
use model::term::DayKind;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::blocks::{self, BlockKey, Progress};
use store::counters::{self, Metric};
use store::jobs::{self, ClaimedJob, ParkUntil};
use store::pushes::{self, PushState, Tally};
use store::sandbox;

use super::outcomes::Outcomes;
use crate::change_context::ChangeContext;
use crate::channels::{move_in, uninstall_gone_in};
use crate::journal::ManyEvent;
use crate::push::SendPermission;
use crate::worker::LEASE;
use crate::{Engine, Error, PlatformHealth, Result};

#[derive(Clone)]
pub(super) struct Block {
    claimed: ClaimedJob,
    key: BlockKey,
    /// The part that events say about the push.
    pub(super) shared_push: SharedPush,
    /// Whether devices show or sound something.
    pub(super) is_alerting: bool,
    pub(super) tries: u32,
    pub(super) pending: RoaringBitmap,
    delivered: RoaringBitmap,
    gone: RoaringBitmap,
    failed: RoaringBitmap,
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
    pub(super) async fn load(engine: &Engine, claimed: &ClaimedJob, key: BlockKey) -> Result<Option<Self>> {
        let (app, wanted) = (claimed.app, key.clone());
        let progress = engine.0.store.read(move |tx| blocks::get(tx, app, &wanted)).await?;
        let Some(progress) = progress.filter(|progress| !progress.settled) else { return Ok(None) };
        let set = |bytes: &[u8]| codec::decode(bytes).map_err(Error::internal);
        Ok(Some(Self {
            claimed: claimed.clone(),
            shared_push: SharedPush::of(key.push),
            is_alerting: false,
            tries: progress.tries,
            pending: set(&progress.pending)?,
            delivered: set(&progress.delivered)?,
            gone: set(&progress.gone)?,
            failed: set(&progress.failed)?,
            key,
        }))
    }

    /// Whether a device of the block was ever served, in this run or before.
    pub(super) fn has_served(&self) -> bool {
        !self.delivered.is_empty()
    }

    /// Makes outcomes durable together with everything that follows from them. Returns whether the block may be sent on.
    pub(super) fn checkpoint(
        &mut self,
        engine: &Engine,
        outcomes: Outcomes,
        next: Next,
    ) -> impl Future<Output = Result<Look>> + Send + 'static {
        self.pending -= outcomes.settled();
        self.delivered |= &outcomes.delivered;
        self.gone.extend(outcomes.gone.iter().map(|(ordinal, _)| ordinal.0));
        self.gone |= &outcomes.missing;
        self.failed |= &outcomes.failed;
        self.failed |= &outcomes.expired;
        if let Next::TryAgainAt { tries, .. } = next {
            self.tries = tries;
        }
        let (block, engine) = (self.clone(), engine.clone());
        async move {
            let index = engine.index(block.claimed.app).await?;
            let (app, now) = (block.claimed.app, engine.clock().now());
            let write = move |tx: &mut Tx<'_>| {
                block.hold_or_release(tx, now, next)?;
                block.save(tx, now, next)?;
                block.count(tx, now, &outcomes)?;
                block.log(tx, &index, now, &outcomes)?;
                sandbox::add(tx, app, &outcomes.sandbox)?;
                Look::at(tx, app, block.key.push, &block.key.device_type)
            };
            engine.0.store.write(app, write).await
        }
    }

    fn hold_or_release(&self, tx: &mut Tx<'_>, now: UtcMillis, next: Next) -> Result<()> {
        match next {
            Next::GoOn => jobs::renew(tx, &self.claimed, now.plus(LEASE))?,
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

    fn save(&self, tx: &mut Tx<'_>, now: UtcMillis, next: Next) -> Result<()> {
        let app = self.claimed.app;
        let progress = Progress {
            settled: next == Next::Settled,
            tries: self.tries,
            pending: codec::encode(&self.pending),
            delivered: codec::encode(&self.delivered),
            gone: codec::encode(&self.gone),
            failed: codec::encode(&self.failed),
        };
        blocks::save(tx, app, &self.key, progress)?;
        if next == Next::Settled && blocks::unsettled(tx, app, self.key.push)? == 0 {
            // A canceled push stays canceled.
            let found = pushes::sending_state(tx, app, self.key.push)?;
            if found.is_some_and(|found| found.state == PushState::Sending) {
                pushes::set_state(tx, app, self.key.push, PushState::Done, now)?;
            }
        }
        Ok(())
    }

    fn count(&self, tx: &mut Tx<'_>, now: UtcMillis, outcomes: &Outcomes) -> Result<()> {
        if outcomes.is_empty() {
            return Ok(());
        }
        let app = self.claimed.app;
        let tally = Tally {
            targeted: 0,
            delivered: outcomes.delivered.len(),
            gone: outcomes.gone.len() as u64 + outcomes.missing.len(),
            failed: outcomes.failed.len(),
            expired: outcomes.expired.len(),
            reason: outcomes.reason.clone(),
        };
        pushes::add_tally(tx, app, self.key.push, &self.key.device_type, &tally)?;
        if tally.delivered > 0 {
            let device_type = &self.key.device_type;
            counters::add(tx, app, Metric::Sends, now, device_type, tally.delivered)?;
            counters::add_of_push(tx, app, self.key.push, Metric::Sends, now, device_type, tally.delivered)?;
            if self.is_alerting {
                counters::add_of_push(
                    tx,
                    app,
                    self.key.push,
                    Metric::AlertingSends,
                    now,
                    device_type,
                    tally.delivered,
                )?;
            }
        }
        Ok(())
    }

    fn log(&self, tx: &mut Tx<'_>, index: &Index, now: UtcMillis, outcomes: &Outcomes) -> Result<()> {
        let app = self.claimed.app;
        let mut context = ChangeContext::new(app, index, now);
        if !outcomes.delivered.is_empty() {
            context.happened(tx, DayKind::Sent, &outcomes.delivered)?;
            let send = ManyEvent::Send { alerting: self.is_alerting };
            context.journal.many(send, &self.shared_push, &outcomes.delivered)?;
        }
        for (ordinal, address, since) in &outcomes.moved {
            move_in(tx, &mut context, *ordinal, address, *since)?;
        }
        uninstall_gone_in(tx, &mut context, &outcomes.gone)?;
        context.journal.write(tx, app)?;
        Ok(())
    }
}
