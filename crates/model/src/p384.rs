//! Public keys on the curve P-384, in the form that files have them in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::json_schema;

use crate::json::At;
use crate::json::body::Read;

/// What comes before the point in the DER form of such a key (SubjectPublicKeyInfo).
const BEFORE_POINT: [u8; 23] = [
    0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00,
    0x22, 0x03, 0x62, 0x00,
];
/// A point that is written out: a byte that says so, and two coordinates.
const POINT_BYTES: usize = 97;
const LINE_CHARS: usize = 64;
const PUBLIC_KEY: &str = "PUBLIC KEY";

const SHAPE: &str =
    "This must be a public key on the curve P-384 as PEM, which begins with '-----BEGIN PUBLIC KEY-----'.";

/// A public key as PEM.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(name = "P384PublicKey", schema = json_schema!({"type": "string", "maxLength": 1000}))]
pub struct PublicKey(Vec<u8>);

impl PublicKey {
    pub fn new(pem: &str) -> Option<Self> {
        pem_point(pem, &BEFORE_POINT, POINT_BYTES).map(Self)
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|| at.invalid(SHAPE))
    }

    /// Uncompressed.
    pub fn point(&self) -> &[u8] {
        &self.0
    }
}

/// The PEM form of a key that is given as a point.
pub fn public_key_pem(point: &[u8]) -> String {
    point_pem(&BEFORE_POINT, point)
}

/// The uncompressed point of a public key as PEM, whose DER form begins with `before` on its curve.
pub(crate) fn pem_point(pem: &str, before: &[u8], n_bytes: usize) -> Option<Vec<u8>> {
    let (begin, end) = (format!("-----BEGIN {PUBLIC_KEY}-----"), format!("-----END {PUBLIC_KEY}-----"));
    let body: String = pem.trim().strip_prefix(&begin)?.strip_suffix(&end)?.split_whitespace().collect();
    let der = BASE64.decode(body).ok()?;
    let point = der.strip_prefix(before)?;
    (point.len() == n_bytes && point[0] == 4).then(|| point.to_vec())
}

pub(crate) fn point_pem(before: &[u8], point: &[u8]) -> String {
    pem(PUBLIC_KEY, &[before, point].concat())
}

pub fn pem(label: &str, der: &[u8]) -> String {
    let text = BASE64.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE_CHARS));
        pem.push_str(line);
        pem.push('\n');
        rest = after;
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let point: Vec<u8> = std::iter::once(4).chain((0..96).map(|n| n * 2)).collect();
        let pem = public_key_pem(&point);
        assert!(pem.lines().all(|line| line.len() <= 64), "{pem}");
        assert_eq!(PublicKey::new(&pem).unwrap().point(), point);
        assert_eq!(PublicKey::new(&pem.replace('\n', "\r\n")).unwrap().point(), point);
        for wrong in ["", &pem.replace("PUBLIC", "PRIVATE"), &public_key_pem(&point[1..]), &pem[..100]] {
            assert_eq!(PublicKey::new(wrong), None);
        }
    }
}
