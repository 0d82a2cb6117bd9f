//! Chance that repeats itself: the same seed gives the same choices.

pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number of the SplitMix64 sequence.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// One or several of them, none twice.
    pub(crate) fn some<T: Clone + PartialEq>(&mut self, from: &[T], most: usize) -> Vec<T> {
        let mut picked = Vec::new();
        for _ in 0..=self.below(most) {
            let one = self.pick(from);
            if !picked.contains(&one) {
                picked.push(one);
            }
        }
        picked
    }
}
