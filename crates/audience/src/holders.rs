//! The holders of terms that are kept apart, whether they are still part of everyone or not: what happened once stays so.

use model::ids::TermId;
use roaring::RoaringBitmap;

use crate::index::{Index, UNPOISONED};

impl Index {
    /// The channels that hold one of some terms that are kept apart.
    pub fn holders_apart(&self, terms: &[TermId]) -> RoaringBitmap {
        let mut all = RoaringBitmap::new();
        for shard in self.shards() {
            let shard = shard.read().expect(UNPOISONED);
            for holders in terms.iter().filter_map(|term| shard.apart(*term)) {
                all |= holders;
            }
        }
        all
    }
}
