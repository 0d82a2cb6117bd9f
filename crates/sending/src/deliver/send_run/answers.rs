//! The consequences of answers.

use std::time::Instant;

use model::device_type::DeviceType;
use model::ids::Ordinal;
use model::time::UtcMillis;
use providers::outcome::{AddressFault, Outcome};

use super::{DOUBTED_TRIES, Probe, SendRun, StopReason};
use crate::deliver::target::Target;
use crate::deliver::transport::{Answered, Provider, To, Way};
use crate::health::RefusalOf;
use crate::senders::TOO_SUSPICIOUS;

impl<'a> SendRun<'a> {
    pub(super) fn take_answer(&mut self, answered: Answered<'a>) {
        match answered {
            Answered::Message { provider, target, way, outcome, read_at } => {
                let queue = self.queue(way.to(target.lane));
                queue.n_requests -= 1;
                queue.moved = Some(Instant::now());
                self.n_in_flight -= 1;
                match outcome {
                    Outcome::Delivered if self.probe == Probe::No => {
                        self.served_by(provider, &target, way);
                        self.tally.delivered(target.ordinal);
                    }
                    Outcome::Unauthorized { reason } => self.refused(provider, target, way, reason, read_at),
                    // It was sent through another provider, and says nothing about the platform.
                    outcome if matches!(way, Way::Amazon(_)) => {
                        self.file_of_amazon(provider, target.ordinal, outcome, read_at);
                    }
                    Outcome::Refused { reason, fault } if self.is_canary(&target) && self.probe == Probe::No => {
                        self.suspect(provider, &target, reason, fault, read_at);
                    }
                    outcome => {
                        if matches!(outcome, Outcome::Delivered | Outcome::Moved { .. }) {
                            self.served_by(provider, &target, way);
                        }
                        self.file(way.to(target.lane), &[target.ordinal], outcome, read_at);
                    }
                }
            }
            Answered::OfPhone { by, target, outcome, read_at } => {
                let queue = self.queue(To::Phone(target.lane));
                queue.n_requests -= 1;
                queue.moved = Some(Instant::now());
                self.n_in_flight -= 1;
                if outcome == Outcome::Delivered {
                    by.route.served(false);
                }
                self.tally.file_of_phone(target.lane, target.ordinal, outcome, read_at);
            }
            Answered::Batch { answers, n_messages, read_at } => {
                self.queue(To::Own(0)).n_requests -= 1;
                self.n_in_flight -= n_messages;
                for (ordinals, outcome) in answers {
                    match outcome {
                        Outcome::Unauthorized { reason } => self.stop_for(StopReason::Refused(reason)),
                        outcome => self.file(To::Own(0), &ordinals, outcome, read_at),
                    }
                }
            }
        }
    }

    /// The credentials are refused: the next ones take over, and when none are left the platform is paused.
    fn refused(&mut self, provider: &'a Provider, target: Target, way: Way, reason: String, read_at: UtcMillis) {
        match (provider.give_up(way), way) {
            (true, _) => self.put_back(provider, target, way, read_at),
            (false, Way::Key(_)) => self.stop_for(StopReason::Refused(reason)),
            // They belong to another platform; the devices of this one are sent to as before.
            (false, Way::Amazon(_)) => {
                self.amazon_refusal = Some(reason.clone());
                self.tally.file(&[target.ordinal], Outcome::Unauthorized { reason }, read_at);
            }
        }
    }

    fn served_by(&self, provider: &Provider, target: &Target, way: Way) {
        if matches!(way, Way::Key(_)) {
            provider.route.served(self.is_canary(target));
        }
    }

    /// Whether a refusal of this recipient's address may be due to us. The push services of browsers are judged one by one, by
    /// the client that speaks to them. A block that had its platform paused often enough proves nothing any more: it may be
    /// meant for devices whose addresses have all become stale.
    fn is_canary(&self, target: &Target) -> bool {
        target.is_proven && *self.context.device_type != DeviceType::Web && self.block.block.tries < DOUBTED_TRIES
    }

    fn suspect(
        &mut self,
        provider: &Provider,
        target: &Target,
        reason: String,
        fault: AddressFault,
        read_at: UtcMillis,
    ) {
        if provider.route.suspect() >= TOO_SUSPICIOUS {
            self.stop_for(StopReason::Doubted(reason.clone()));
        }
        self.tally.suspect(target.ordinal, reason, fault, read_at);
    }

    fn file(&mut self, to: To, ordinals: &[Ordinal], outcome: Outcome, read_at: UtcMillis) {
        if let Probe::Waiting(refusal) = self.probe {
            match (&outcome, refusal) {
                (Outcome::Delivered | Outcome::Moved { .. } | Outcome::Gone { .. }, _) => self.probe = Probe::Passed,
                // It looked at the address, so it believes who we are.
                (Outcome::Refused { .. } | Outcome::ActivityEnded { .. }, RefusalOf::Credentials) => {
                    self.probe = Probe::Passed;
                }
                // Maybe the provider was not even asked: the next answer shows.
                (Outcome::Rejected { .. } | Outcome::ActivityEnded { .. }, _) => {}
                // The channel stays pending: whether the device or our configuration is at fault is not known yet.
                (Outcome::Refused { reason, .. }, RefusalOf::Addresses) => {
                    self.stop_for(StopReason::Doubted(reason.clone()));
                    if self.block.block.tries < DOUBTED_TRIES {
                        return;
                    }
                }
                (Outcome::Unauthorized { reason }, _) => return self.stop_for(StopReason::Refused(reason.clone())),
                (Outcome::Retry { .. }, _) => return self.stop_for(StopReason::Unproven),
            }
        }
        self.tally.file_of(to, ordinals, outcome, read_at);
    }

    /// When Amazon asks for time, only the devices reached through it wait.
    fn file_of_amazon(&mut self, provider: &Provider, ordinal: Ordinal, outcome: Outcome, read_at: UtcMillis) {
        let outcome = match outcome {
            Outcome::Retry { after, reason, everybody: true, contact } => {
                provider.leave_amazon_alone(self.context.sending.0.clock.now().plus(after.unwrap_or_default()));
                Outcome::Retry { after, reason, everybody: false, contact }
            }
            outcome => outcome,
        };
        self.tally.file_of(To::Amazon, &[ordinal], outcome, read_at);
    }

    fn stop_for(&mut self, stop_reason: StopReason) {
        self.stop_reason.get_or_insert(stop_reason);
    }
}
