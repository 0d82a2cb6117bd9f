//! Whether the public key of a browser is a point on the curve P-256: y² = x³ - 3x + b. With the arithmetic that this takes, and
//! not with a key agreement, which takes much longer: every browser that registers is checked.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::channel::WebSubscription;

/// A number below 2^256, its lowest 64 bits first.
type Number = [u64; 4];

/// The prime of the field, and the constant of the curve.
const P: Number = [0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001];
const B: Number = [0x3bce_3c3e_27d2_604b, 0x651d_06b0_cc53_b0f6, 0xb3eb_bd55_7698_86bc, 0x5ac6_35d8_aa3a_93e7];

/// Whether the key can be agreed with. An uncompressed point is the byte 4 and its two coordinates.
pub(crate) fn is_point(subscription: &WebSubscription) -> bool {
    match URL_SAFE_NO_PAD.decode(&subscription.p256dh).as_deref() {
        Ok([4, coordinates @ ..]) if coordinates.len() == 64 => {
            is_on_curve(number(&coordinates[..32]), number(&coordinates[32..]))
        }
        Ok(_) | Err(_) => false,
    }
}

fn is_on_curve(x: Number, y: Number) -> bool {
    if !is_below(&x, &P) || !is_below(&y, &P) {
        return false;
    }
    let cube = times(&times(&x, &x), &x);
    let three_x = plus(&plus(&x, &x), &x);
    times(&y, &y) == plus(&minus(&cube, &three_x), &B)
}

fn number(bytes: &[u8]) -> Number {
    let mut number = [0; 4];
    for (limb, bytes) in number.iter_mut().rev().zip(bytes.chunks_exact(8)) {
        *limb = bytes.iter().fold(0, |limb, byte| (limb << 8) | u64::from(*byte));
    }
    number
}

fn is_below(left: &Number, right: &Number) -> bool {
    left.iter().rev().lt(right.iter().rev())
}

/// The difference, and whether one had to be borrowed.
fn subtracted(left: &Number, right: &Number) -> (Number, bool) {
    let (mut result, mut borrow) = ([0; 4], false);
    for (slot, (left, right)) in result.iter_mut().zip(left.iter().zip(right)) {
        let (once, first) = left.overflowing_sub(*right);
        let (twice, second) = once.overflowing_sub(u64::from(borrow));
        (*slot, borrow) = (twice, first || second);
    }
    (result, borrow)
}

/// The sum, and whether one is carried.
fn added(left: &Number, right: &Number) -> (Number, bool) {
    let (mut result, mut carry) = ([0; 4], false);
    for (slot, (left, right)) in result.iter_mut().zip(left.iter().zip(right)) {
        let (once, first) = left.overflowing_add(*right);
        let (twice, second) = once.overflowing_add(u64::from(carry));
        (*slot, carry) = (twice, first || second);
    }
    (result, carry)
}

fn plus(left: &Number, right: &Number) -> Number {
    let (sum, carry) = added(left, right);
    if carry || !is_below(&sum, &P) { subtracted(&sum, &P).0 } else { sum }
}

fn minus(left: &Number, right: &Number) -> Number {
    let (difference, borrow) = subtracted(left, right);
    if borrow { added(&difference, &P).0 } else { difference }
}

/// By doubling and adding, from the highest bit down.
fn times(left: &Number, right: &Number) -> Number {
    let mut product = [0; 4];
    for limb in right.iter().rev() {
        for bit in (0..64).rev() {
            product = plus(&product, &product);
            if limb >> bit & 1 == 1 {
                product = plus(&product, left);
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::agreement::{ECDH_P256, EphemeralPrivateKey};

    use crate::keys;

    fn subscription(point: &[u8]) -> WebSubscription {
        WebSubscription { p256dh: URL_SAFE_NO_PAD.encode(point), auth: String::new() }
    }

    #[test]
    fn what_ring_makes_is_on_the_curve_and_nothing_near_it_is() {
        for _ in 0..50 {
            let key = EphemeralPrivateKey::generate(&ECDH_P256, &keys::randomness()).unwrap();
            let point = key.compute_public_key().unwrap().as_ref().to_vec();
            assert!(is_point(&subscription(&point)));
            for at in [0, 1, 32, 33, 64] {
                let mut near = point.clone();
                near[at] ^= 1;
                assert!(!is_point(&subscription(&near)), "{at}");
            }
            assert!(!is_point(&subscription(&point[..64])));
        }
    }

    #[test]
    fn coordinates_are_below_the_prime() {
        let beyond = [&[4][..], &[0xff; 64]].concat();
        assert!(!is_point(&subscription(&beyond)) && !is_point(&subscription(&[])));
    }
}
