//! One-time codes of an authenticator app (RFC 6238: six digits, thirty seconds, HMAC-SHA-1, which is what all such apps do).

use base::Result;
use model::time::UtcMillis;
use ring::hmac::{self, HMAC_SHA1_FOR_LEGACY_USE_ONLY};
use subtle::ConstantTimeEq;
use tenancy::credentials;

const STEP_MILLIS: i64 = 30_000;
/// Steps that a person's clock may be off, or that typing may take.
const SLACK: i64 = 1;
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// What an authenticator app and the service share.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret([u8; 20]);

impl TotpSecret {
    pub fn new() -> Result<Self> {
        credentials::random_bytes().map(Self)
    }

    /// As people type it into an app: base32 without padding.
    pub fn text(&self) -> String {
        let bits = |at: usize| self.0[at / 8] >> (7 - at % 8) & 1;
        let letter = |n: usize| (0..5).fold(0, |value, bit| value << 1 | bits(n * 5 + bit));
        (0..32).map(|n| char::from(ALPHABET[usize::from(letter(n))])).collect()
    }

    pub fn from_text(text: &str) -> Option<Self> {
        let mut bytes = [0_u8; 20];
        let mut n_letters = 0;
        for letter in text.bytes().filter(|byte| *byte != b' ') {
            let value = ALPHABET.iter().position(|known| *known == letter.to_ascii_uppercase())?;
            for bit in 0..5 {
                let at = n_letters * 5 + bit;
                *bytes.get_mut(at / 8)? |= u8::try_from(value >> (4 - bit) & 1).ok()? << (7 - at % 8);
            }
            n_letters += 1;
        }
        (n_letters == 32).then_some(Self(bytes))
    }

    /// The code that an authenticator app shows at a time.
    pub fn code_at(&self, now: UtcMillis) -> String {
        self.code(now.0.div_euclid(STEP_MILLIS))
    }

    /// The step whose code this is, if it is one of now and later than the last that was used.
    pub(crate) fn step_of(&self, code: &str, now: UtcMillis, used: Option<i64>) -> Option<i64> {
        let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let current = now.0.div_euclid(STEP_MILLIS);
        let is_right = |step: &i64| bool::from(self.code(*step).as_bytes().ct_eq(code.as_bytes()));
        (current - SLACK..=current + SLACK).filter(|step| used.is_none_or(|used| *step > used)).find(is_right)
    }

    fn code(&self, step: i64) -> String {
        let key = hmac::Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = hmac::sign(&key, &step.to_be_bytes());
        let tag = tag.as_ref();
        let offset = usize::from(tag[19] & 0xf);
        let number = tag[offset..offset + 4].iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        format!("{:06}", (number & 0x7fff_ffff) % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 6238, whose codes have eight digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = TotpSecret(*b"12345678901234567890");
        for (seconds, code) in [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924")] {
            assert_eq!(secret.code(seconds / 30), code);
        }
        assert_eq!(secret.text(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn secrets_survive_being_typed() {
        let secret = TotpSecret::new().unwrap();
        assert!(TotpSecret::from_text(&secret.text().to_lowercase()) == Some(secret));
        assert!(TotpSecret::from_text("ABC").is_none() && TotpSecret::from_text(&"1".repeat(32)).is_none());
        assert!(TotpSecret::from_text(&"A".repeat(33)).is_none());
    }

    #[test]
    fn a_code_counts_once_and_not_for_long() {
        let secret = TotpSecret(*b"12345678901234567890");
        let now = UtcMillis(59_000);
        assert_eq!(secret.step_of("287 082", now, None), Some(1));
        assert_eq!(secret.step_of("287082", now, Some(1)), None);
        assert_eq!(secret.step_of("287082", UtcMillis(59_000 + 120_000), None), None);
        assert_eq!(secret.step_of("", now, None), None);
    }
}
