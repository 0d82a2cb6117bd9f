//! How many channels hold each of the tags of a group.

use std::sync::Arc;

use model::ids::TermId;

use crate::index::{Index, UNPOISONED};

/// Tags that are counted while a shard is locked.
const AT_ONCE: usize = 4096;

/// A tag and the number of its holders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagCount {
    pub tag: Arc<str>,
    pub n_channels: u64,
}

impl Index {
    /// The tags of a group that are `wanted` and held by a channel, in no order.
    pub fn held_tags(&self, group: &str, wanted: impl Fn(&str) -> bool) -> Vec<TagCount> {
        let known: Vec<(Arc<str>, TermId)> = {
            let dictionary = self.dictionary.read().expect(UNPOISONED);
            let wanted = dictionary.terms(group).filter(|(tag, _)| wanted(tag));
            wanted.map(|(tag, term)| (Arc::clone(tag), term)).collect()
        };
        let shards = self.shards();
        let mut held = Vec::new();
        for some in known.chunks(AT_ONCE) {
            let mut counts = vec![0; some.len()];
            for shard in &shards {
                let shard = shard.read().expect(UNPOISONED);
                for (count, (_, term)) in counts.iter_mut().zip(some) {
                    *count += shard.present(*term).map_or(0, |holders| holders.len());
                }
            }
            let counted = some.iter().zip(counts).filter(|(_, n_channels)| *n_channels > 0);
            held.extend(counted.map(|((tag, _), n_channels)| TagCount { tag: Arc::clone(tag), n_channels }));
        }
        held
    }
}
