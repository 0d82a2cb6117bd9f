//! Public keys on the curve P-256, in the form that files have them in.

use schemars::json_schema;

use crate::json::At;
use crate::json::body::Read;
use crate::p384::{pem_point, point_pem};

/// What comes before the point in the DER form of such a key (SubjectPublicKeyInfo).
const BEFORE_POINT: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// A point that is written out: a byte that says so, and two coordinates.
const POINT_BYTES: usize = 65;

/// Why a text is no such key.
pub const SHAPE: &str =
    "This must be a public key on the curve P-256 as PEM, which begins with '-----BEGIN PUBLIC KEY-----'.";

/// A public key as PEM.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(name = "P256PublicKey", schema = json_schema!({"type": "string", "maxLength": 1000}))]
pub struct PublicKey(Vec<u8>);

impl PublicKey {
    pub fn new(pem: &str) -> Option<Self> {
        pem_point(pem, &BEFORE_POINT, POINT_BYTES).map(Self)
    }

    pub fn of_point(point: &[u8]) -> Option<Self> {
        (point.len() == POINT_BYTES).then(|| Self(point.to_vec()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|| at.invalid(SHAPE))
    }

    /// Uncompressed.
    pub fn point(&self) -> &[u8] {
        &self.0
    }

    pub fn pem(&self) -> String {
        point_pem(&BEFORE_POINT, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::p384;

    #[test]
    fn keys_are_read_as_other_programs_write_them() {
        // Of the example of RFC 6979, A.2.5, as `openssl pkey -pubin` prints it.
        let pem = concat!(
            "-----BEGIN PUBLIC KEY-----\n",
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7\n",
            "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n",
            "-----END PUBLIC KEY-----\n",
        );
        let key = PublicKey::new(pem).unwrap();
        assert_eq!((key.point()[0], key.point().len(), key.pem().as_str()), (4, POINT_BYTES, pem));
        assert_eq!(PublicKey::of_point(key.point()), Some(key));
        let of_another_curve = p384::public_key_pem(&[4; 97]);
        for wrong in ["", &pem.replace("PUBLIC", "PRIVATE"), &pem[..100], &of_another_curve] {
            assert_eq!(PublicKey::new(wrong), None);
        }
        assert_eq!(PublicKey::of_point(&[4; 97]), None);
    }
}
