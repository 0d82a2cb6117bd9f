//! Round numbers for the side of a chart.

/// The smallest round number that is not less: an even digit and zeros, so that its half is round, too.
pub(crate) fn top(highest: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for digit in [2, 4, 6, 8, 10] {
            let Some(candidate) = power.checked_mul(digit) else { return highest };
            if candidate >= highest {
                return candidate;
            }
        }
        let Some(next) = power.checked_mul(10) else { return highest };
        power = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_is_round_and_near() {
        for highest in (1..2000).chain([99_999, 1_000_001, u64::MAX / 3, u64::MAX]) {
            let top = top(highest);
            assert!(top >= highest && (highest < 2 || highest > top / 6), "{highest} {top}");
        }
        assert_eq!([1, 2, 3, 11, 84, 302_411].map(top), [2, 2, 4, 20, 100, 400_000]);
    }
}
