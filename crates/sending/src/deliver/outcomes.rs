//! The outcomes of recipients since the last checkpoint, and how to read answers that may be about us.

use std::time::Duration;

use model::ids::Ordinal;
use model::time::UtcMillis;
use providers::outcome::Outcome;
use roaring::RoaringBitmap;
use store::sandbox::SandboxDelivery;

/// The content of a checkpoint. Pending recipients of a block that are in none of the sets stay pending.
#[derive(Clone, Default)]
pub(super) struct Outcomes {
    pub(super) delivered: RoaringBitmap,
    /// Delivered, and known to the provider by another address from now on, unless they registered since.
    pub(super) moved: Vec<(Ordinal, String, UtcMillis)>,
    /// The platform says that the device is gone: the channel is uninstalled, unless it registered later than that.
    pub(super) gone: Vec<(Ordinal, UtcMillis)>,
    /// No longer to be sent to for another reason: uninstalled, opted out or without an address since they were chosen.
    pub(super) missing: RoaringBitmap,
    pub(super) failed: RoaringBitmap,
    pub(super) expired: RoaringBitmap,
    /// Why some failed or have to wait.
    pub(super) reason: Option<String>,
    pub(super) sandbox: Vec<SandboxDelivery>,
}

/// Collects outcomes between two checkpoints.
#[derive(Default)]
pub(super) struct OutcomeTally {
    /// In the order of their arrival: sorting them once is cheaper than keeping them sorted.
    delivered: Vec<u32>,
    rest: Outcomes,
    doubts: Vec<Doubt>,
    n_finished: usize,
    /// Recipients who have to wait for the next run of the block.
    pub(super) later: RoaringBitmap,
    /// The longest wait that the platform asked for.
    pub(super) retry_after: Option<Duration>,
    /// The longest that the provider as a whole asked for, rather than for single devices.
    pub(super) quiet_for: Option<Duration>,
    recent_answers: RecentAnswers,
    /// Messages that have to be sent once more.
    n_retried: u64,
    /// Doubts that were kept when it was last closed, because it was too early to judge them.
    n_held: usize,
}

/// An answer that may be about the device or about us.
struct Doubt {
    ordinal: Ordinal,
    reason: String,
    gone: bool,
    asked_at: UtcMillis,
}

/// How far a provider is trusted when its doubtful answers are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It has served most devices lately, so it lets us through.
    Earned,
    Unknown,
    /// It objected to this block again and again. Whether it is the devices or us: others must not wait for them any longer.
    Exhausted,
}

/// Whether more answers follow in the same run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    Comes,
    Ends,
}

/// The meaning of doubtful answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Belief {
    /// Others were served, so it is the devices.
    Believed,
    /// Undecided: these deliveries have failed, but no channel is uninstalled for it.
    Unclear,
    /// Most devices cannot be wrong at once: it is us.
    Refused,
}

/// Fewer doubtful answers than this do not suggest a fault of ours.
const FEW_DOUBTS: usize = 10;
/// Answers of a provider of single messages before its objections count as more than bad luck.
pub(super) const OF_MESSAGES: u32 = 8;
/// The same for requests that carry many messages each.
pub(super) const OF_BATCHES: u32 = 1;
/// Answers after which the counts are halved, so that recent ones weigh more.
const LAST_ANSWERS: u32 = 64;

/// How long a block waits before its next try, at first and at most, unless the provider as a whole asks for more time.
pub(super) const SHORTEST_WAIT: Duration = Duration::from_secs(2);
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// A provider that asks for a longer wait than this is noted as down at once: three tries would take hours.
pub(super) const UNNOTED_WAIT: Duration = Duration::from_secs(30);

/// How often the provider as a whole objected lately, rather than to single messages.
#[derive(Default)]
struct RecentAnswers {
    n_answers: u32,
    n_objections: u32,
}

impl OutcomeTally {
    /// Deliveries that would be repeated if the process ended now.
    pub(super) fn n_finished(&self) -> usize {
        self.n_finished
    }

    pub(super) fn add_missing(&mut self, missing: &RoaringBitmap) {
        self.rest.missing |= missing;
    }

    pub(super) fn keep(&mut self, delivery: SandboxDelivery) {
        self.rest.sandbox.push(delivery);
    }

    /// One message was taken, by far the most frequent of all outcomes.
    pub(super) fn delivered(&mut self, ordinal: Ordinal) {
        self.delivered.push(ordinal.0);
        self.n_finished += 1;
        self.recent_answers.add(false);
    }

    /// Recipients whose content came to its end before it was sent.
    pub(super) fn add_expired(&mut self, ordinals: &[Ordinal]) {
        self.rest.expired.extend(ordinals.iter().map(|ordinal| ordinal.0));
        self.n_finished += ordinals.len();
    }

    /// Files recipients under the outcome of their request. `Unauthorized` is not about them, and stays with the caller.
    pub(super) fn file(&mut self, ordinals: &[Ordinal], outcome: Outcome, asked_at: UtcMillis) {
        let all = || ordinals.iter().map(|ordinal| ordinal.0);
        self.recent_answers.add(matches!(outcome, Outcome::Retry { everybody: true, .. }));
        let reason = match outcome {
            Outcome::Delivered => {
                self.delivered.extend(all());
                None
            }
            Outcome::Moved { address } => {
                self.delivered.extend(all());
                self.rest.moved.extend(ordinals.iter().map(|ordinal| (*ordinal, address.clone(), asked_at)));
                None
            }
            Outcome::Gone { since } => {
                // A registration that came during the request is newer than the answer.
                let since = since.map_or(asked_at, |since| since.min(asked_at));
                self.rest.gone.extend(ordinals.iter().map(|ordinal| (*ordinal, since)));
                None
            }
            Outcome::Doubtful { reason, gone } => {
                let doubts = ordinals.iter().map(|&ordinal| Doubt { ordinal, reason: reason.clone(), gone, asked_at });
                self.doubts.extend(doubts);
                None
            }
            Outcome::Rejected { reason } => {
                self.rest.failed.extend(all());
                Some(reason)
            }
            Outcome::Retry { after, reason, everybody } => {
                self.later.extend(all());
                self.n_retried += ordinals.len() as u64;
                // A wait that a single device asks for must not hold up the others for long.
                let after = if everybody { after } else { after.map(|after| after.min(LONGEST_WAIT)) };
                if everybody {
                    self.quiet_for = self.quiet_for.max(after);
                }
                self.retry_after = self.retry_after.max(after);
                self.rest.reason = Some(reason);
                return;
            }
            Outcome::Unauthorized { reason } => {
                self.later.extend(all());
                self.rest.reason = Some(reason);
                return;
            }
        };
        self.n_finished += ordinals.len();
        self.rest.reason = reason.or(self.rest.reason.take());
    }

    /// Whether sending on would only make things worse.
    pub(super) fn says_wait(&self, first_answers: u32) -> bool {
        self.recent_answers.are_mostly_objections(first_answers)
    }

    /// Hands over everything so far, except for what it is too early to judge as long as there is `more` to come. A reason comes
    /// along when the provider objects to most devices and has not earned our trust: then nothing is done about those, and they
    /// stay pending.
    pub(super) fn close(&mut self, trust: Trust, more: More) -> (Outcomes, Option<String>) {
        let (n_served, mut doubts) = (self.delivered.len() + self.rest.gone.len(), std::mem::take(&mut self.doubts));
        let belief = Belief::of(n_served, doubts.len(), trust);
        if (belief, trust, more) == (Belief::Unclear, Trust::Unknown, More::Comes) {
            // The first few answers of a slow provider.
            self.doubts = std::mem::take(&mut doubts);
        }
        let mut refusal = None;
        for Doubt { ordinal, reason, gone, asked_at } in doubts {
            match belief {
                Belief::Believed if gone => self.rest.gone.push((ordinal, asked_at)),
                Belief::Believed | Belief::Unclear => {
                    self.rest.failed.insert(ordinal.0);
                }
                Belief::Refused => refusal = Some(reason.clone()),
            }
            self.rest.reason = Some(reason);
        }
        self.n_held = self.doubts.len();
        self.n_finished = self.n_held;
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.sort_unstable();
        let mut outcomes = std::mem::take(&mut self.rest);
        outcomes.delivered = delivered.into_iter().collect();
        (outcomes, refusal)
    }

    /// How many messages have to be sent once more since this was last asked.
    pub(super) fn take_retried(&mut self) -> u64 {
        std::mem::take(&mut self.n_retried)
    }

    pub(super) fn n_served(&self) -> u64 {
        (self.delivered.len() + self.rest.gone.len()) as u64
    }

    pub(super) fn n_doubtful(&self) -> u64 {
        self.doubts.len() as u64
    }

    /// Doubts since the tally was last closed: the others were counted then.
    pub(super) fn n_new_doubts(&self) -> u64 {
        (self.doubts.len() - self.n_held) as u64
    }
}

impl Belief {
    fn of(n_served: usize, n_doubtful: usize, trust: Trust) -> Self {
        let are_few = n_doubtful < FEW_DOUBTS;
        match trust {
            _ if n_served >= n_doubtful => Belief::Believed,
            Trust::Earned if are_few => Belief::Believed,
            Trust::Unknown if !are_few => Belief::Refused,
            Trust::Earned | Trust::Unknown | Trust::Exhausted => Belief::Unclear,
        }
    }
}

impl RecentAnswers {
    fn add(&mut self, is_objection: bool) {
        if self.n_answers >= LAST_ANSWERS {
            self.n_answers /= 2;
            self.n_objections /= 2;
        }
        self.n_answers += 1;
        self.n_objections += u32::from(is_objection);
    }

    fn are_mostly_objections(&self, first_answers: u32) -> bool {
        self.n_answers >= first_answers && self.n_objections * 2 > self.n_answers
    }
}

impl Outcomes {
    /// All recipients that are no longer pending.
    pub(super) fn settled(&self) -> RoaringBitmap {
        let gone: RoaringBitmap = self.gone.iter().map(|(ordinal, _)| ordinal.0).collect();
        &self.delivered | gone | &self.missing | &self.failed | &self.expired
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { delivered, moved: _, gone, missing, failed, expired, reason, sandbox } = self;
        let sets = [delivered, missing, failed, expired];
        sets.iter().all(|set| set.is_empty()) && gone.is_empty() && reason.is_none() && sandbox.is_empty()
    }
}

#[cfg(test)]
mod tests;
