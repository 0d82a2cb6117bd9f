//! Base64 as clients and devices send it: some pad, some do not.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub fn decode(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_does_not_matter() {
        assert_eq!(decode("aGk="), Some(b"hi".to_vec()));
        assert_eq!(decode("aGk"), Some(b"hi".to_vec()));
        assert_eq!(decode(""), Some(Vec::new()));
        for text in ["a", "aGk-", "aGk==", "aG k"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
