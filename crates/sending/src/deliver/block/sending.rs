//! A block while it is being sent: the checkpoints that make progress durable, with everything that is told about deliveries.

use std::sync::Arc;
use std::time::Duration;

use audience::index::Index;
use base::{Error, Result, doubled};
use devices::{ChangeContext, ManyEvent, move_in, refused_in, served_in, uninstall_gone_in};
use jobs::Stop;
use model::channel::LiveKey;
use model::event::{Rejection, RejectionStatus, SharedPush};
use model::term::DayKind;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::counters::{self, Metric};
use store::{Tx, live_tokens, sandbox};

use super::{Block, Look, Next};
use crate::Sending;
use crate::deliver::outcomes::Outcomes;

/// Before a checkpoint that the database did not take is tried again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(in crate::deliver) struct SendingBlock {
    pub(in crate::deliver) block: Block,
    /// The part that events say about the push.
    shared_push: SharedPush,
    /// Whether devices show or sound something.
    is_alerting: bool,
    /// Whether a provider that knows its devices takes the messages: only then, and by UnifiedPush, an address is proven by one.
    proves_addresses: bool,
    /// What recipients must have told of.
    followed: Option<LiveKey>,
}

impl SendingBlock {
    pub(in crate::deliver) fn new(
        block: Block,
        shared_push: SharedPush,
        is_alerting: bool,
        proves_addresses: bool,
        followed: Option<LiveKey>,
    ) -> Self {
        Self { block, shared_push, is_alerting, proves_addresses, followed }
    }

    /// Whether messages go to tokens of Live Activities in place of the addresses of devices.
    pub(in crate::deliver) fn has_own_tokens(&self) -> bool {
        self.followed.as_ref().is_some_and(|key| key.kind.has_token())
    }

    /// Makes outcomes durable together with everything that follows from them. Returns whether the block may be sent on.
    ///
    /// A database that is away is waited for: only this run knows who was served, and without its record all of them would be sent
    /// to again. Another node that finds the database first when it is back after the lease has run out still does so.
    pub(in crate::deliver) fn checkpoint(
        &mut self,
        sending: &Sending,
        stop: &Stop,
        outcomes: Outcomes,
        next: Next,
    ) -> impl Future<Output = Result<Look>> + Send + 'static {
        self.block.take_in(&outcomes, next, sending.0.clock.now());
        let checkpoint = Arc::new(Checkpoint { sending: self.clone(), outcomes, next });
        let (sending, stop) = (sending.clone(), stop.clone());
        async move {
            let mut done = checkpoint.write(&sending, Attempt::First).await;
            let mut n_failed = 0;
            while done.as_ref().is_err_and(Error::is_of_database) && !stop.is_requested() {
                n_failed += 1;
                tokio::time::sleep(doubled(SHORTEST_PAUSE, n_failed, LONGEST_PAUSE)).await;
                done = checkpoint.write(&sending, Attempt::Repeated).await;
            }
            done
        }
    }

    fn count(&self, tx: &mut Tx<'_>, now: UtcMillis, outcomes: &Outcomes) -> Result<()> {
        let n_delivered = outcomes.delivered.len();
        if n_delivered == 0 {
            return Ok(());
        }
        let (app, push, device_type) = (self.block.claimed.app, self.block.key.push, &self.block.key.device_type);
        counters::add(tx, app, Metric::Sends, now, device_type, n_delivered)?;
        counters::add_of_push(tx, app, push, Metric::Sends, now, device_type, n_delivered)?;
        if self.is_alerting {
            counters::add_of_push(tx, app, push, Metric::AlertingSends, now, device_type, n_delivered)?;
        }
        Ok(())
    }

    fn log(&self, tx: &mut Tx<'_>, index: &Index, now: UtcMillis, outcomes: &Outcomes) -> Result<()> {
        let app = self.block.claimed.app;
        let mut context = ChangeContext::new(app, index, now);
        if !outcomes.delivered.is_empty() {
            context.happened(tx, DayKind::Sent, &outcomes.delivered)?;
            let send = ManyEvent::Send { alerting: self.is_alerting };
            context.journal.many(send, &self.shared_push, &outcomes.delivered)?;
        }
        for live in &outcomes.live {
            context.journal.many(ManyEvent::Live(&live.content), &self.shared_push, &live.channels)?;
        }
        let gone: RoaringBitmap = outcomes.gone.iter().map(|(ordinal, _)| ordinal.0).collect();
        let gone = (RejectionStatus::Uninstalled, "", &gone);
        for (status, reason, channels) in outcomes.failed.iter().chain([gone]) {
            if !channels.is_empty() {
                let rejection = Rejection { status, reason: reason.to_owned() };
                context.journal.many(ManyEvent::SendRejected(&rejection), &self.shared_push, channels)?;
            }
        }
        for (ordinal, address, since) in &outcomes.moved {
            move_in(tx, &mut context, *ordinal, address, *since)?;
        }
        uninstall_gone_in(tx, &mut context, &outcomes.gone)?;
        let served = match self.proves_addresses && !self.has_own_tokens() {
            true => outcomes.served(),
            false => &outcomes.delivered & &outcomes.by_unified_push,
        };
        served_in(tx, app, &served)?;
        refused_in(tx, &mut context, &outcomes.refused)?;
        if let Some(followed) = &self.followed {
            live_tokens::retire(tx, app, followed, &outcomes.ended)?;
        }
        context.journal.write(tx, app)?;
        Ok(())
    }
}

/// What is written together.
struct Checkpoint {
    sending: SendingBlock,
    outcomes: Outcomes,
    next: Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    /// The one before may have been committed, although nobody said so.
    Repeated,
}

impl Checkpoint {
    async fn write(self: &Arc<Self>, sending: &Sending, attempt: Attempt) -> Result<Look> {
        let (checkpoint, app) = (Arc::clone(self), self.sending.block.claimed.app);
        let (index, now) = (sending.0.index.get(app).await?, sending.0.clock.now());
        let shared = sending.0.shared_clock.clone();
        let write = move |tx: &mut Tx<'_>| {
            let Checkpoint { sending, outcomes, next } = &*checkpoint;
            if attempt == Attempt::Repeated && sending.block.is_stored(tx, outcomes, *next)? {
                // Whoever goes on sending must still have the lease; with any other end it was given back.
                if *next == Next::GoOn {
                    sending.block.hold_or_release(tx, &shared, *next)?;
                }
            } else {
                sending.block.record(tx, (now, &shared), outcomes, *next)?;
                sending.count(tx, now, outcomes)?;
                sending.log(tx, &index, now, outcomes)?;
                sandbox::add(tx, app, &outcomes.sandbox)?;
            }
            Look::at(tx, app, sending.block.key.push, &sending.block.key.device_type)
        };
        sending.0.store.write(app, write).await
    }
}
