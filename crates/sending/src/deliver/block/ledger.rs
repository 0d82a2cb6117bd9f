//! The outcomes of a block that a run has recorded, in sets that grow for a minute each.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use audience::codec;
use base::Result;
use model::ids::AppId;
use model::push_outcome::{GoneBy, PushOutcome};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::blocks::BlockKey;
use store::push_outcomes::{self, OutcomeSet};

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
    /// When the sets of earlier runs were begun: none of this run begins at the same time, which a clock that was set could show
    /// again.
    earlier: BTreeSet<(Key, UtcMillis)>,
}

impl Ledger {
    pub(super) fn after_earlier_runs(tx: &mut Tx<'_>, app: AppId, block: &BlockKey) -> Result<Self> {
        let sets = push_outcomes::in_block(tx, app, block.push, block.number)?;
        let earlier = sets.into_iter().filter(|set| set.device_type == block.device_type);
        let earlier = earlier.map(|set| ((set.outcome, set.reason), set.since)).collect();
        Ok(Self { earlier, ..Self::default() })
    }

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
        let is_grown = self.growing.get(&key).is_some_and(|(since, _)| now >= since.plus(GROWS_FOR));
        if is_grown || !self.growing.contains_key(&key) {
            let mut since = now;
            while self.earlier.contains(&(key.clone(), since)) {
                since = UtcMillis(since.0 + 1);
            }
            self.growing.insert(key.clone(), (since, RoaringBitmap::new()));
        }
        if let Some((_, set)) = self.growing.get_mut(&key) {
            *set |= channels;
        }
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
