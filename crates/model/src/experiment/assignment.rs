//! Which channel gets which variant: this follows from the experiment and the channel's ordinal alone, so that nothing has to
//! be stored, and the answer is always the same.

use serde::{Deserialize, Serialize};

use crate::ids::{ExperimentId, Ordinal};

/// Positions are numbers with 53 bits, into which every decimal fraction can be converted without loss worth mentioning.
const POSITIONS: u64 = 1 << 53;

/// A part of all positions, from the first to before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// All positions, divided among the control group and the variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    pub control: Share,
    pub variants: Vec<Share>,
}

/// Gives every channel its position in one experiment. Positions in different experiments are independent.
#[derive(Clone, Copy, Debug)]
pub struct Assignment {
    seed: u64,
    second_seed: u64,
}

impl Shares {
    /// The control group comes first; the variants divide the rest in proportion to their weights.
    pub fn new(control: f64, weights: &[u32]) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "a share of the positions is no more than all of them")]
        #[expect(clippy::cast_precision_loss, reason = "the number of positions is a power of two")]
        let control = ((control.clamp(0.0, 1.0) * POSITIONS as f64) as u64).min(POSITIONS);
        let rest = u128::from(POSITIONS - control);
        let whole: u128 = weights.iter().map(|weight| u128::from(*weight)).sum::<u128>().max(1);
        let mut sum = 0;
        let mut from = control;
        let mut variants = Vec::with_capacity(weights.len());
        for weight in weights {
            sum += u128::from(*weight);
            let to = control + u64::try_from(rest * sum / whole).unwrap_or(0);
            variants.push(Share { from, to });
            from = to;
        }
        Self { control: Share { from: 0, to: control }, variants }
    }
}

impl Share {
    pub const fn contains(self, position: u64) -> bool {
        self.from <= position && position < self.to
    }

    pub const fn is_empty(self) -> bool {
        self.from >= self.to
    }

    /// How much of everything it is, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "positions have no more bits than a float holds")]
    pub fn fraction(self) -> f64 {
        (self.to - self.from) as f64 / POSITIONS as f64
    }
}

impl Assignment {
    pub fn of(experiment: ExperimentId) -> Self {
        let (upper, lower) = experiment.uuid().as_u64_pair();
        let seed = mixed(upper ^ mixed(lower));
        Self { seed, second_seed: mixed(seed ^ lower) }
    }

    pub fn position(self, ordinal: Ordinal) -> u64 {
        let once = mixed(u64::from(ordinal.0) ^ self.seed);
        mixed(once ^ self.second_seed) >> (u64::BITS - 53)
    }
}

/// Spreads every bit over all others (the finalizer of SplitMix64).
const fn mixed(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
