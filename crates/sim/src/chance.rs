//! Reproducible chance: the fate of a delivery follows from its id and how often it was tried, so that a test can predict what
//! the simulator will do.

/// Eight bytes that stand for an id or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(pub(crate) u64);

impl Fingerprint {
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for part in parts {
            for byte in *part {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
            // The boundaries of parts matter: "a", "bc" is not "ab", "c".
            hash = (hash ^ 0x100).wrapping_mul(0x0100_0000_01b3);
        }
        Self(mixed(hash))
    }

    /// A number in 0..1 that depends only on the fingerprint, the seed and `salt`.
    pub(crate) fn roll(self, seed: u64, salt: u64) -> f64 {
        let bits = mixed(self.0 ^ mixed(seed.wrapping_add(salt.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
        // The upper 53 bits, as many as a float holds.
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let fraction = (bits >> 11) as f64;
        fraction / 9_007_199_254_740_992.0
    }
}

/// The finalizer of splitmix64: every bit of the input affects every bit of the output.
const fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolls_are_even_and_repeat() {
        let mut below = 0;
        for n in 0..10_000_u32 {
            let id = Fingerprint::of(&[&n.to_be_bytes()]);
            assert_eq!(id.roll(1, 2).to_bits(), id.roll(1, 2).to_bits());
            below += u32::from(id.roll(1, 2) < 0.1);
        }
        assert!((900..1100).contains(&below), "{below}");
    }

    #[test]
    fn borders_count() {
        assert_ne!(Fingerprint::of(&[b"a", b"bc"]), Fingerprint::of(&[b"ab", b"c"]));
        assert_ne!(Fingerprint::of(&[b"a"]).roll(1, 0).to_bits(), Fingerprint::of(&[b"a"]).roll(2, 0).to_bits());
    }
}
