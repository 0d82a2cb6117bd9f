//! One block while it is being delivered: who is still to be served, and the checkpoints that make progress durable.

use audience::codec;
use audience::index::Index;
use model::event::{RecordKind, Sends};
use model::ids::Ordinal;
use model::term::DayKind;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::blocks::{self, BlockKey, Progress};
use store::counters::{self, Metric};
use store::jobs::{self, ClaimedJob};
use store::pushes::{self, PushState, Tally};
use store::sandbox::{self, SandboxDelivery};

use crate::channels::uninstall_in;
use crate::desk::Desk;
use crate::worker::LEASE;
use crate::{Engine, Error, Result};

#[derive(Clone)]
pub(super) struct Block {
    claimed: ClaimedJob,
    key: BlockKey,
    pub(super) tries: u32,
    pub(super) pending: RoaringBitmap,
    delivered: RoaringBitmap,
    gone: RoaringBitmap,
    failed: RoaringBitmap,
}

/// What became of some recipients since the last checkpoint. Those of `pending` that are in none of the sets stay pending.
#[derive(Clone, Default)]
pub(super) struct Outcomes {
    pub(super) delivered: RoaringBitmap,
    /// The platform says that the device is gone: the channel is uninstalled.
    pub(super) gone: RoaringBitmap,
    /// No longer to be sent to for another reason: uninstalled, opted out or without an address since they were chosen.
    pub(super) missing: RoaringBitmap,
    pub(super) failed: RoaringBitmap,
    pub(super) expired: RoaringBitmap,
    /// Why some failed or have to wait.
    pub(super) reason: Option<String>,
    pub(super) alerting: bool,
    /// Whether a Message Center message came along.
    pub(super) with_message: bool,
    pub(super) sandbox: Vec<SandboxDelivery>,
}

/// What happens to the job with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// There are more recipients to go through.
    GoOn,
    /// Some have to be tried again.
    TryAgainAt(UtcMillis),
    /// The process is stopping; another run takes over at once.
    HandOver,
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
            tries: progress.tries,
            pending: set(&progress.pending)?,
            delivered: set(&progress.delivered)?,
            gone: set(&progress.gone)?,
            failed: set(&progress.failed)?,
            key,
        }))
    }

    /// Makes outcomes durable together with everything that follows from them. Fails, without changing anything, when
    /// another worker has taken the job over.
    pub(super) async fn checkpoint(&mut self, engine: &Engine, outcomes: Outcomes, next: Next) -> Result<()> {
        for done in [&outcomes.delivered, &outcomes.gone, &outcomes.missing, &outcomes.failed, &outcomes.expired] {
            self.pending -= done;
        }
        self.delivered |= &outcomes.delivered;
        self.gone |= &outcomes.gone;
        self.gone |= &outcomes.missing;
        self.failed |= &outcomes.failed;
        self.failed |= &outcomes.expired;
        if matches!(next, Next::TryAgainAt(_)) {
            self.tries += 1;
        }
        let index = engine.index(self.claimed.app).await?;
        let (block, now) = (self.clone(), engine.clock().now());
        engine
            .0
            .store
            .write(self.claimed.app, move |tx| {
                block.hold_or_release(tx, now, next)?;
                block.save(tx, next)?;
                block.count(tx, now, &outcomes)?;
                block.log(tx, &index, now, &outcomes)?;
                sandbox::add(tx, block.claimed.app, &outcomes.sandbox)?;
                Ok(())
            })
            .await
    }

    fn hold_or_release(&self, tx: &mut Tx<'_>, now: UtcMillis, next: Next) -> Result<()> {
        let still_ours = match next {
            Next::GoOn => jobs::renew(tx, &self.claimed, now.plus(LEASE))?,
            Next::TryAgainAt(due) => jobs::postpone(tx, &self.claimed, due)?,
            Next::HandOver => jobs::postpone(tx, &self.claimed, now)?,
            Next::Settled => jobs::settle(tx, &self.claimed)?,
        };
        if still_ours { Ok(()) } else { Err(Error::Conflict("another worker has taken this block over".to_owned())) }
    }

    fn save(&self, tx: &mut Tx<'_>, next: Next) -> Result<()> {
        let app = self.claimed.app;
        let progress = Progress {
            settled: next == Next::Settled,
            tries: self.tries,
            pending: codec::encode(&self.pending),
            delivered: codec::encode(&self.delivered),
            gone: codec::encode(&self.gone),
            failed: codec::encode(&self.failed),
        };
        blocks::save(tx, app, &self.key, &progress)?;
        if next == Next::Settled && blocks::unsettled(tx, app, self.key.push)? == 0 {
            pushes::set_state(tx, app, self.key.push, PushState::Done)?;
        }
        Ok(())
    }

    fn count(&self, tx: &mut Tx<'_>, now: UtcMillis, outcomes: &Outcomes) -> Result<()> {
        let app = self.claimed.app;
        let tally = Tally {
            targeted: 0,
            delivered: outcomes.delivered.len(),
            gone: outcomes.gone.len() + outcomes.missing.len(),
            failed: outcomes.failed.len(),
            expired: outcomes.expired.len(),
            reason: outcomes.reason.clone(),
        };
        pushes::add_tally(tx, app, self.key.push, &self.key.platform, &tally)?;
        if tally.delivered > 0 {
            counters::add(tx, app, Metric::Sends, now, &self.key.platform, tally.delivered)?;
        }
        Ok(())
    }

    fn log(&self, tx: &mut Tx<'_>, index: &Index, now: UtcMillis, outcomes: &Outcomes) -> Result<()> {
        let mut desk = Desk::new(self.claimed.app, index, now);
        if !outcomes.delivered.is_empty() {
            desk.happened(tx, DayKind::Sent, &outcomes.delivered)?;
            if outcomes.with_message {
                desk.happened(tx, DayKind::MessageSent, &outcomes.delivered)?;
            }
            let sends = Sends {
                push_id: self.key.push,
                occurred: now,
                alerting: outcomes.alerting,
                ordinals: codec::encode(&outcomes.delivered),
            };
            desk.journal.record(RecordKind::Send, None, postcard::to_stdvec(&sends).map_err(Error::internal)?);
        }
        let gone: Vec<Ordinal> = outcomes.gone.iter().map(Ordinal).collect();
        uninstall_in(tx, self.claimed.app, index, desk.journal, &gone)?.write(tx, self.claimed.app)?;
        Ok(())
    }
}
