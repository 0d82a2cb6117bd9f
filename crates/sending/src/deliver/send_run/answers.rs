//! The consequences of answers.

use model::ids::Ordinal;
use model::time::UtcMillis;
use providers::outcome::Outcome;

use super::{DOUBTED_TRIES, Probe, SendRun, StopReason};
use crate::deliver::target::Target;
use crate::deliver::transport::{Answered, Provider, Way};

impl<'a> SendRun<'a> {
    pub(super) fn take_answer(&mut self, answered: Answered<'a>) {
        match answered {
            Answered::Message { provider, target, way, outcome, read_at } => {
                self.queue(way.to()).n_requests -= 1;
                self.n_in_flight -= 1;
                match outcome {
                    Outcome::Delivered if self.probe == Probe::No => self.tally.delivered(target.ordinal),
                    Outcome::Unauthorized { reason } => self.refused(provider, target, way, reason, read_at),
                    // It was sent through another provider, and says nothing about the platform.
                    outcome if matches!(way, Way::Amazon(_)) => {
                        self.file_of_amazon(provider, target.ordinal, outcome, read_at);
                    }
                    outcome => self.file(&[target.ordinal], outcome, read_at),
                }
            }
            Answered::Batch { answers, n_messages, read_at } => {
                self.own.n_requests -= 1;
                self.n_in_flight -= n_messages;
                for (ordinals, outcome) in answers {
                    match outcome {
                        Outcome::Unauthorized { reason } => self.stop_for(StopReason::Refused(reason)),
                        outcome => self.file(&ordinals, outcome, read_at),
                    }
                }
            }
        }
    }

    /// The credentials are refused: the next ones take over, and when none are left the platform is paused.
    fn refused(&mut self, provider: &'a Provider, target: Target, way: Way, reason: String, read_at: UtcMillis) {
        match (provider.give_up(way), way) {
            (true, _) => self.put_back(provider, target, way.to(), read_at),
            (false, Way::Key(_)) => self.stop_for(StopReason::Refused(reason)),
            // They belong to another platform; the devices of this one are sent to as before.
            (false, Way::Amazon(_)) => {
                self.amazon_refusal = Some(reason.clone());
                self.tally.file(&[target.ordinal], Outcome::Unauthorized { reason }, read_at);
            }
        }
    }

    fn file(&mut self, ordinals: &[Ordinal], outcome: Outcome, read_at: UtcMillis) {
        if self.probe == Probe::Waiting {
            match &outcome {
                Outcome::Delivered | Outcome::Moved { .. } | Outcome::Gone { .. } => self.probe = Probe::Passed,
                // Maybe the provider was not even asked: the next answer shows.
                Outcome::Rejected { .. } => {}
                // The channel stays pending: whether the device or our configuration is at fault is not known yet.
                Outcome::Doubtful { reason, .. } => {
                    self.stop_for(StopReason::Doubted(reason.clone()));
                    if self.block.block.tries < DOUBTED_TRIES {
                        return;
                    }
                }
                Outcome::Unauthorized { reason } => return self.stop_for(StopReason::Refused(reason.clone())),
                Outcome::Retry { .. } => return self.stop_for(StopReason::Unproven),
            }
        }
        self.tally.file(ordinals, outcome, read_at);
    }

    /// When Amazon asks for time, only the devices reached through it wait.
    fn file_of_amazon(&mut self, provider: &Provider, ordinal: Ordinal, outcome: Outcome, read_at: UtcMillis) {
        let outcome = match outcome {
            Outcome::Retry { after, reason, everybody: true } => {
                provider.leave_amazon_alone(self.context.sending.0.clock.now().plus(after.unwrap_or_default()));
                Outcome::Retry { after, reason, everybody: false }
            }
            outcome => outcome,
        };
        self.tally.file(&[ordinal], outcome, read_at);
    }

    fn stop_for(&mut self, stop_reason: StopReason) {
        self.stop_reason.get_or_insert(stop_reason);
    }
}
