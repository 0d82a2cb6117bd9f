//! The outcomes of recipients since the last checkpoint, and which refusals may mean that our credentials are wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use devices::Refusal;
use model::event::{LiveContent, RejectionStatus};
use model::ids::Ordinal;
use model::push_outcome::GoneBy;
use model::time::UtcMillis;
use providers::outcome::{AddressFault, Contact, Outcome};
use roaring::RoaringBitmap;
use store::sandbox::SandboxDelivery;

use super::failures::{Failures, status_of, status_of_rejection};
use super::render::Localized;
use super::transport::To;

/// The content of a checkpoint. Pending recipients of a block that are in none of the sets stay pending.
#[derive(Clone, Default)]
pub(super) struct Outcomes {
    pub(super) delivered: RoaringBitmap,
    /// All whose phones were reached by UnifiedPush, with whatever outcome.
    pub(super) by_unified_push: RoaringBitmap,
    /// Delivered, and known to the provider by another address from now on, unless they registered since.
    pub(super) moved: Vec<(Ordinal, String, UtcMillis)>,
    /// The platform says that the device is gone: the channel is uninstalled, unless it registered later than that.
    pub(super) gone: Vec<(Ordinal, UtcMillis)>,
    /// No longer to be sent to for another reason: uninstalled, opted out or without an address since they were chosen.
    pub(super) missing: Missing,
    pub(super) failed: Failures,
    /// Those of the failed whose address the provider does not take.
    pub(super) refused: Vec<Refusal>,
    /// Those of the failed on whose screens the Live Activity has ended, and when they were asked.
    pub(super) ended: Vec<(Ordinal, UtcMillis)>,
    pub(super) expired: RoaringBitmap,
    /// Why some failed or have to wait.
    pub(super) reason: Option<String>,
    pub(super) sandbox: Vec<SandboxDelivery>,
    /// The messages for live connections. Their channels are among the delivered ones.
    pub(super) live: Vec<LiveSet>,
}

/// Channels of a block that get the same message over their live connections.
#[derive(Clone)]
pub(super) struct LiveSet {
    pub(super) channels: RoaringBitmap,
    pub(super) content: LiveContent,
}

/// Recipients that are no longer to be sent to.
pub(super) type Missing = BTreeMap<GoneBy, RoaringBitmap>;

/// Collects outcomes between two checkpoints.
#[derive(Default)]
pub(super) struct OutcomeTally {
    /// In the order of their arrival: sorting them once is cheaper than keeping them sorted.
    delivered: Vec<u32>,
    rest: Outcomes,
    /// Refused addresses that took a message before, as long as it may be us.
    suspicious: Vec<(Refusal, RejectionStatus, String)>,
    n_refused: u64,
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
    /// Who was asked to take some of those (`true`), or only could not be asked.
    contacts: BTreeMap<To, bool>,
    live: BTreeMap<Localized, RoaringBitmap>,
}

/// Who is at fault where addresses are refused that took a message before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// The addresses: others that took messages before still do, or there are too few to tell.
    None,
    /// Too early to tell, because more answers follow.
    Undecided,
    /// We are, and the devices stay pending.
    Us,
}

/// A refused address is given up after this many refusals in a row, by what the provider finds wrong with it. One that it does not
/// know stays unknown. One of another app may come back when the operator sets the credentials of that app.
fn patience(fault: AddressFault) -> u32 {
    match fault {
        AddressFault::Unknown => 3,
        AddressFault::Foreign => 10,
    }
}

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

    pub(super) fn add_missing(&mut self, missing: Missing) {
        for (why, channels) in missing {
            *self.rest.missing.entry(why).or_default() |= channels;
        }
    }

    /// A message that the sandbox kept goes over live connections as well.
    pub(super) fn live(&mut self, ordinal: Ordinal, localized: Localized) {
        self.live.entry(localized).or_default().insert(ordinal.0);
    }

    /// The same, with a message of its own.
    pub(super) fn live_alone(&mut self, ordinal: Ordinal, content: LiveContent) {
        self.rest.live.push(LiveSet { channels: RoaringBitmap::from_iter([ordinal.0]), content });
    }

    /// The channels with live messages since this was last asked, by content.
    pub(super) fn take_live(&mut self) -> BTreeMap<Localized, RoaringBitmap> {
        std::mem::take(&mut self.live)
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

    /// Files a phone under the outcome of its request by UnifiedPush, in a lane of push services. These speak for no other device.
    pub(super) fn file_of_phone(&mut self, lane: usize, ordinal: Ordinal, outcome: Outcome, asked_at: UtcMillis) {
        self.rest.by_unified_push.insert(ordinal.0);
        let outcome = match outcome {
            Outcome::Retry { after, reason, everybody: _, contact } => {
                Outcome::Retry { after, reason, everybody: false, contact }
            }
            outcome => outcome,
        };
        self.file_of(To::Phone(lane), &[ordinal], outcome, asked_at);
    }

    /// Files recipients under the outcome of their request to the only receiver, or of none. `Unauthorized` is not about them, and
    /// stays with the caller.
    pub(super) fn file(&mut self, ordinals: &[Ordinal], outcome: Outcome, asked_at: UtcMillis) {
        self.file_of(To::Own(0), ordinals, outcome, asked_at);
    }

    /// The same, where there are several receivers.
    pub(super) fn file_of(&mut self, to: To, ordinals: &[Ordinal], outcome: Outcome, asked_at: UtcMillis) {
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
            Outcome::Refused { reason, fault } => {
                let patience = patience(fault);
                self.rest.failed.add(status_of(fault), &reason, ordinals.iter().copied());
                self.rest.refused.extend(ordinals.iter().map(|&ordinal| Refusal { ordinal, asked_at, patience }));
                self.n_refused += ordinals.len() as u64;
                Some(reason)
            }
            Outcome::ActivityEnded { reason } => {
                self.rest.failed.add(RejectionStatus::BadDeviceToken, &reason, ordinals.iter().copied());
                self.rest.ended.extend(ordinals.iter().map(|ordinal| (*ordinal, asked_at)));
                Some(reason)
            }
            Outcome::Rejected { reason } => {
                self.rest.failed.add(status_of_rejection(&reason), &reason, ordinals.iter().copied());
                Some(reason)
            }
            Outcome::Retry { after, reason, everybody, contact } => {
                self.later.extend(all());
                self.n_retried += ordinals.len() as u64;
                if contact != Contact::Unclear {
                    *self.contacts.entry(to).or_default() |= contact == Contact::Made;
                }
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

    /// An address is refused that took a message before. It is filed when it is clear who is at fault.
    pub(super) fn suspect(&mut self, ordinal: Ordinal, reason: String, fault: AddressFault, asked_at: UtcMillis) {
        self.recent_answers.add(false);
        self.suspicious.push((Refusal { ordinal, asked_at, patience: patience(fault) }, status_of(fault), reason));
        self.n_finished += 1;
    }

    /// Hands over everything so far, except for refusals of which it is too early to say whose fault they are.
    pub(super) fn close(&mut self, suspicion: Suspicion) -> Outcomes {
        let suspicious = std::mem::take(&mut self.suspicious);
        match suspicion {
            Suspicion::None => {
                for (refusal, status, reason) in suspicious {
                    self.rest.failed.add(status, &reason, [refusal.ordinal]);
                    self.rest.refused.push(refusal);
                    self.n_refused += 1;
                    self.rest.reason = Some(reason);
                }
            }
            Suspicion::Undecided => self.suspicious = suspicious,
            Suspicion::Us => {}
        }
        self.n_finished = self.suspicious.len();
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.sort_unstable();
        let mut outcomes = std::mem::take(&mut self.rest);
        outcomes.delivered = delivered.into_iter().collect();
        outcomes
    }

    /// Whether messages have to be sent once more, and a receiver was asked to take none of its own. That another one was asked, as
    /// the push service of other browsers, is no try of these.
    pub(super) fn is_cut_off(&self) -> bool {
        self.contacts.values().any(|was_asked| !was_asked)
    }

    /// How many messages have to be sent once more since this was last asked.
    pub(super) fn take_retried(&mut self) -> u64 {
        std::mem::take(&mut self.n_retried)
    }

    pub(super) fn n_served(&self) -> u64 {
        (self.delivered.len() + self.rest.gone.len()) as u64
    }

    /// Addresses that were refused in this run.
    pub(super) fn n_refused(&self) -> u64 {
        self.n_refused
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
        let missing = self.missing.values().fold(RoaringBitmap::new(), |all, set| all | set);
        &self.delivered | gone | missing | self.failed.all() | &self.expired
    }

    /// The delivered ones whose provider took a message.
    pub(super) fn served(&self) -> RoaringBitmap {
        self.live.iter().fold(self.delivered.clone(), |served, live| served - &live.channels)
    }

    pub(super) fn n_gone(&self) -> u64 {
        self.gone.len() as u64 + self.missing.values().map(RoaringBitmap::len).sum::<u64>()
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { delivered, gone, missing, failed, expired, reason, sandbox, .. } = self;
        let are_empty = delivered.is_empty() && missing.is_empty() && failed.is_empty() && expired.is_empty();
        are_empty && gone.is_empty() && reason.is_none() && sandbox.is_empty()
    }
}

#[cfg(test)]
mod tests;
