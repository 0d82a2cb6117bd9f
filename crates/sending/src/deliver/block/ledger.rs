//! The outcomes of a block that this run has recorded, in sets that grow for a minute each.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use audience::codec;
use model::push_outcome::{GoneBy, PushOutcome};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::blocks::BlockKey;
use store::push_outcomes::OutcomeSet;

use crate::deliver::outcomes::Outcomes;

/// So exact is the time of an outcome, and so often at most a set is begun.
const GROWS_FOR: Duration = Duration::from_secs(60);

type Key = (PushOutcome, String);

/// A run begins its own sets, so that it need not read those of runs before it.
#[derive(Clone, Default)]
pub(super) struct Ledger {
    growing: BTreeMap<Key, (UtcMillis, RoaringBitmap)>,
    /// What the last outcomes have changed.
    changed: BTreeSet<Key>,
}

impl Ledger {
    /// Takes in everything but those for whom it is too late: why is known only when they are recorded.
    pub(super) fn take_in(&mut self, outcomes: &Outcomes, now: UtcMillis) {
        self.changed.clear();
        self.add(PushOutcome::Delivered, "", &outcomes.delivered, now);
        let gone: RoaringBitmap = outcomes.gone.iter().map(|(ordinal, _)| ordinal.0).collect();
        self.add(PushOutcome::Gone, GoneBy::Provider.name(), &gone, now);
        for (why, missing) in &outcomes.missing {
            self.add(PushOutcome::Gone, why.name(), missing, now);
        }
        for (_, reason, failed) in outcomes.failed.iter() {
            self.add(PushOutcome::Failed, reason, failed, now);
        }
    }

    fn add(&mut self, outcome: PushOutcome, reason: &str, channels: &RoaringBitmap, now: UtcMillis) {
        if channels.is_empty() {
            return;
        }
        let key = (outcome, reason.to_owned());
        let (since, set) = self.growing.entry(key.clone()).or_insert_with(|| (now, RoaringBitmap::new()));
        if now >= since.plus(GROWS_FOR) {
            (*since, *set) = (now, RoaringBitmap::new());
        }
        *set |= channels;
        self.changed.insert(key);
    }

    /// The sets to be written.
    pub(super) fn changed<'l>(&'l self, block: &'l BlockKey) -> impl Iterator<Item = OutcomeSet> + 'l {
        let found = self.changed.iter().filter_map(|key| Some((key, self.growing.get(key)?)));
        found.map(|((outcome, reason), (since, set))| outcome_set(block, *outcome, reason, *since, set))
    }
}

pub(super) fn outcome_set(
    block: &BlockKey,
    outcome: PushOutcome,
    reason: &str,
    since: UtcMillis,
    channels: &RoaringBitmap,
) -> OutcomeSet {
    OutcomeSet {
        block: block.number,
        device_type: block.device_type.clone(),
        outcome,
        reason: reason.to_owned(),
        since,
        members: codec::encode(channels),
    }
}
