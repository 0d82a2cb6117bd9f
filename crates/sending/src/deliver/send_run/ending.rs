//! The end of a run: the last checkpoint, and the next step for recipients that were not served.

use std::time::Duration;

use base::{Result, doubled};
use jobs::ParkUntil;
use model::device_type::DeviceType;
use model::event::RejectionStatus;
use model::ids::Ordinal;
use model::time::UtcMillis;
use providers::platform::Provider;
use roaring::RoaringBitmap;

use super::{DOUBTED_TRIES, RunContext, SendRun, StopReason};
use crate::deliver::block::Next;
use crate::deliver::outcomes::{LONGEST_WAIT, LiveSet, Outcomes, SHORTEST_WAIT, Suspicion, UNNOTED_WAIT};
use crate::deliver::transport::Transport;
use crate::health::{Hindrance, PROBE_EVERY, RefusalOf};
use crate::senders::TOO_SUSPICIOUS;

/// With the back-off below, the remaining recipients are given up after 54 minutes in which none of them could be served, or later
/// if the provider asks for longer waits. A push with an expiry is tried until then.
const MOST_TRIES: u32 = 18;
/// For so long after a push was sent, runs in which a provider could not be asked are no tries. Networks and names are out of
/// order for hours now and then, and nobody could resume what was given up meanwhile.
const WAITS_FOR_CONTACT: Duration = Duration::from_secs(24 * 60 * 60);
/// From this many tries on, waits are the longest. Runs that are no tries lengthen the waits, and the count goes no further.
const LONGEST_WAIT_TRIES: u32 = 9;
/// This many failed tries in a row are an outage, which the operator should know about.
const OUTAGE_TRIES: u32 = 3;
/// This many refused addresses, with no message taken, are worth a look of the operator.
const MANY_REFUSED: u64 = 10;
const NOT_TAKEN: &str = "It took no message.";

impl SendRun<'_> {
    pub(super) async fn end(mut self) -> Result<()> {
        let mut outcomes = self.close_ledger(Suspicion::None);
        if let Some(reason) = self.amazon_refusal.take() {
            let RunContext { sending, app, .. } = self.context;
            let paused = sending.pause_platform(app, &DeviceType::Amazon, RefusalOf::Credentials, &reason).await;
            paused.map_or_else(|error| self.break_off(error), drop);
        }
        if self.has_newly_served() {
            self.note_served().await;
        }
        // What cannot be decided now keeps nothing from being recorded.
        let next = self.next(&mut outcomes).await.unwrap_or_else(|error| {
            self.break_off(error);
            Next::GoOn
        });
        let RunContext { sending, stop, .. } = self.context;
        self.block.checkpoint(sending, stop, outcomes, next).await?;
        if let Some(StopReason::Broken(error)) = self.stop_reason {
            return Err(error);
        }
        Ok(())
    }

    /// Whether a message went through for the first time, as far as this process knows.
    fn has_newly_served(&self) -> bool {
        let RunContext { sending, app, device_type, transport, .. } = self.context;
        match transport {
            Transport::Provider(provider) => provider.route.is_newly_proven(),
            Transport::Open(config) => self.has_served && !sending.0.senders.is_noted(app, device_type, config),
            Transport::Sandbox | Transport::Missing { .. } => false,
        }
    }

    /// Notes it for people to see. A run that has delivered does not fail for it: the next one tries again.
    async fn note_served(&self) {
        let RunContext { sending, app, device_type, transport, .. } = self.context;
        if let Err(error) = sending.note_proof(app, device_type).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, %device_type, "that a platform takes messages could not be noted");
            return;
        }
        match transport {
            Transport::Provider(provider) => provider.route.proof_is_noted(),
            Transport::Open(config) => sending.0.senders.proof_is_noted(app, device_type, config),
            Transport::Sandbox | Transport::Missing { .. } => {}
        }
    }

    /// Closes and counts everything since the last checkpoint. `unless_proven`: what to think of refused addresses that took
    /// messages before, unless it is known.
    pub(super) fn close_ledger(&mut self, unless_proven: Suspicion) -> Outcomes {
        let transport = match self.context.transport {
            Transport::Provider(_) => Provider::of(self.context.device_type).map_or("none", Provider::name),
            Transport::Open(_) => "open",
            Transport::Sandbox => "sandbox",
            Transport::Missing { .. } => "none",
        };
        let suspicion = match self.context.transport {
            Transport::Provider(provider) => match provider.route.n_suspicious() {
                // Another address that took messages before was served since.
                0 => Suspicion::None,
                TOO_SUSPICIOUS.. => Suspicion::Us,
                _ => unless_proven,
            },
            Transport::Open(_) | Transport::Sandbox | Transport::Missing { .. } => Suspicion::None,
        };
        let mut outcomes = self.tally.close(suspicion);
        let phones = outcomes.by_unified_push.clone();
        let proves_own = match self.context.transport {
            Transport::Provider(provider) => provider.route.has_served(),
            Transport::Open(_) | Transport::Sandbox | Transport::Missing { .. } => false,
        };
        let proves_phones = self.context.unified_push.is_some_and(|by| by.route.has_served());
        outcomes.refused.retain(|refusal| match phones.contains(refusal.ordinal.0) {
            true => proves_phones,
            false => proves_own,
        });
        let now = self.context.sending.0.clock.now();
        for (localized, channels) in self.tally.take_live() {
            // A message that is too large for live connections is only in the sandbox.
            outcomes.live.extend(self.renderer.live(localized, now).map(|content| LiveSet { channels, content }));
        }
        self.has_served |= !outcomes.delivered.is_empty();
        let (metrics, device_type) = (&self.context.sending.0.metrics, self.context.device_type);
        let gone: RoaringBitmap = outcomes.gone.iter().map(|(ordinal, _)| ordinal.0).collect();
        for (outcome, channels) in
            [("delivered", &outcomes.delivered), ("gone", &gone), ("failed", &outcomes.failed.all())]
        {
            let n_phones = channels.intersection_len(&phones);
            metrics.delivered(device_type, "unifiedpush", outcome, n_phones);
            metrics.delivered(device_type, transport, outcome, channels.len() - n_phones);
        }
        for (status, _, channels) in outcomes.failed.iter() {
            let n_phones = channels.intersection_len(&phones);
            metrics.failed(device_type, "unifiedpush", status, n_phones);
            metrics.failed(device_type, transport, status, channels.len() - n_phones);
        }
        metrics.delivered(device_type, transport, "retried", self.tally.take_retried());
        outcomes
    }

    async fn next(&self, outcomes: &mut Outcomes) -> Result<Next> {
        self.note_refusals(outcomes).await?;
        let remaining = &self.block.block.pending - outcomes.settled();
        // When the block is due may be judged by another node.
        let sending = self.context.sending;
        let (now, shared_now) = (sending.0.clock.now(), sending.0.shared_clock.now());
        let in_time = |due: UtcMillis| self.context.expires.map_or(due, |expires| expires.min(due));
        let until_released = self.context.expires.map_or(ParkUntil::LaneOrPushWoken, ParkUntil::Time);
        Ok(match &self.stop_reason {
            // The worker, which gets the error, decides when to try again. If nothing is left to do, the next run settles the job,
            // since one that is settled cannot be tried again.
            Some(StopReason::Broken(_)) => Next::GoOn,
            Some(StopReason::Over) => Next::Settled,
            Some(StopReason::Expired) => {
                outcomes.expired |= remaining;
                Next::Settled
            }
            _ if remaining.is_empty() => Next::Settled,
            Some(StopReason::Stopping) => Next::HandOver,
            Some(StopReason::Paused) => Next::Park(self.context.expires.map_or(ParkUntil::PushWoken, ParkUntil::Time)),
            Some(StopReason::Held) => Next::Hold(until_released),
            Some(StopReason::Refused(reason)) => {
                let (app, device_type) = (self.context.app, self.context.device_type);
                let probe_at = sending.pause_platform(app, device_type, RefusalOf::Credentials, reason).await?;
                outcomes.reason = Some(reason.clone());
                Next::WaitUntil(in_time(probe_at))
            }
            Some(StopReason::Doubted(reason)) => {
                let (app, device_type) = (self.context.app, self.context.device_type);
                let probe_at = sending.pause_platform(app, device_type, RefusalOf::Addresses, reason).await?;
                outcomes.reason = Some(reason.clone());
                // Other blocks that wait for the platform go first: their devices may be taken.
                let (due, tries) = (probe_at.plus(PROBE_EVERY), self.block.block.tries);
                Next::TryAgainAt { due: in_time(due), tries: tries.max(DOUBTED_TRIES.min(tries + 1)) }
            }
            Some(StopReason::Unproven) => {
                let health = sending.platform_health(self.context.app, self.context.device_type).await?;
                match health {
                    Some(health) if health.hindrance == Hindrance::Held => Next::Hold(until_released),
                    Some(health) => Next::WaitUntil(in_time(health.next_probe(shared_now))),
                    None => Next::WaitUntil(shared_now),
                }
            }
            Some(StopReason::Throttled) if !self.has_sent => {
                let quiet_for = u64::try_from(self.quiet_until(now).0.saturating_sub(now.0)).unwrap_or(0);
                Next::WaitUntil(in_time(shared_now.plus(Duration::from_millis(quiet_for))))
            }
            stop_reason @ (Some(StopReason::Throttled) | None) => {
                let tries = self.tries(now);
                // A few unreachable devices are no outage.
                let has_tried_enough = tries >= OUTAGE_TRIES && !self.block.block.has_served();
                let takes_nothing = stop_reason.is_some() || !self.has_served;
                let wait = wait_before(tries, self.tally.retry_after);
                // Every wait for which all blocks leave the provider alone is noted, so that it can be ended.
                let is_left_alone = stop_reason.is_some() && wait > UNNOTED_WAIT;
                let is_told_to_wait = takes_nothing && self.tally.quiet_for > Some(UNNOTED_WAIT);
                if (has_tried_enough || is_told_to_wait || is_left_alone) && !self.is_down {
                    let reason = outcomes.reason.as_deref().unwrap_or(NOT_TAKEN);
                    sending.note_outage(self.context.app, self.context.device_type, reason).await?;
                }
                if tries >= MOST_TRIES && self.context.expires.is_none() {
                    let reason = outcomes.reason.as_deref().unwrap_or(NOT_TAKEN);
                    let given_up = remaining.iter().map(Ordinal);
                    outcomes.failed.add(RejectionStatus::Unavailable, reason, given_up);
                    return Ok(Next::Settled);
                }
                if let (Some(_), Transport::Provider(provider)) = (stop_reason, self.context.transport) {
                    provider.route.leave_alone(now.plus(wait));
                }
                Next::TryAgainAt { due: in_time(shared_now.plus(wait)), tries }
            }
        })
    }

    /// How often in a row nobody was served.
    fn tries(&self, now: UtcMillis) -> u32 {
        let before = self.block.block.tries;
        match self.has_served {
            true => 1,
            false if self.tally.is_cut_off() && now < self.context.sent_at.plus(WAITS_FOR_CONTACT) => {
                (before + 1).min(LONGEST_WAIT_TRIES).max(before)
            }
            false => before + 1,
        }
    }

    /// Credentials that never served anybody, with which many addresses are refused, may be those of another app. The devices may
    /// be made up as well, so that this is for show only.
    async fn note_refusals(&self, outcomes: &Outcomes) -> Result<()> {
        let RunContext { sending, app, device_type, transport, .. } = self.context;
        let never_served = matches!(transport, Transport::Provider(provider) if !provider.route.has_served());
        match &outcomes.reason {
            Some(reason) if never_served && !self.is_down && self.tally.n_refused() >= MANY_REFUSED => {
                sending.note_outage(app, device_type, reason).await
            }
            Some(_) | None => Ok(()),
        }
    }

    fn quiet_until(&self, now: UtcMillis) -> UtcMillis {
        match self.context.transport {
            Transport::Provider(provider) => provider.route.quiet_until(now),
            Transport::Open(_) | Transport::Sandbox | Transport::Missing { .. } => UtcMillis(0),
        }
    }
}

/// A provider that asks for a longer wait gets it.
fn wait_before(attempt: u32, asked_for: Option<Duration>) -> Duration {
    asked_for.unwrap_or_default().max(doubled(SHORTEST_WAIT, attempt, LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_takes_is_given_up_after_54_minutes() {
        let waits: Duration = (1..MOST_TRIES).map(|tries| wait_before(tries, None)).sum();
        assert_eq!(waits.as_secs() / 60, 53, "and half a minute");
    }

    #[test]
    fn runs_that_are_no_tries_lead_to_the_longest_wait_and_no_further() {
        let waits = [LONGEST_WAIT_TRIES - 1, LONGEST_WAIT_TRIES].map(|tries| wait_before(tries, None));
        assert!(waits[0] < LONGEST_WAIT && waits[1] == LONGEST_WAIT && LONGEST_WAIT_TRIES < MOST_TRIES);
    }

    #[test]
    fn waits_double_up_to_five_minutes_unless_asked_for_more() {
        let seconds = |attempt, asked: Option<u64>| wait_before(attempt, asked.map(Duration::from_secs)).as_secs();
        assert_eq!([1, 2, 3, 8, 9, 40].map(|attempt| seconds(attempt, None)), [2, 4, 8, 256, 300, 300]);
        assert_eq!(seconds(1, Some(1)), 2);
        assert_eq!(seconds(1, Some(3600)), 3600);
    }
}
