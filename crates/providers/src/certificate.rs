//! Reads of a certificate when it runs out, and nothing else: rustls does not tell, and for one field this crate needs no library
//! that reads all of X.509. (The command line has one, by way of the library that reads .p12 files.)

use jiff::civil::{DateTime, date};
use model::time::UtcMillis;

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The version, which the first one does not have.
const VERSION: u8 = 0xa0;

/// The moment after which a certificate, in DER, is no longer valid. The error is the end of a sentence.
pub(crate) fn expiry(certificate: &[u8]) -> Result<UtcMillis, String> {
    let mut outer = Der(certificate);
    let mut signed = Der(outer.value(SEQUENCE, "certificate")?);
    outer.end("certificate")?;
    let mut body = Der(signed.value(SEQUENCE, "body")?);
    signed.value(SEQUENCE, "algorithm of the signature")?;
    signed.value(BIT_STRING, "signature")?;
    signed.end("signature")?;

    if body.0.first() == Some(&VERSION) {
        body.value(VERSION, "version")?;
    }
    body.value(INTEGER, "serial number")?;
    body.value(SEQUENCE, "algorithm")?;
    body.value(SEQUENCE, "issuer")?;
    let mut validity = Der(body.value(SEQUENCE, "validity")?);
    body.value(SEQUENCE, "subject")?;
    body.value(SEQUENCE, "public key")?;
    validity.time("beginning of the validity")?;
    validity.time("end of the validity")
}

/// The rest of some values in DER: each a tag, a length, and as many bytes.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn value(&mut self, tag: u8, what: &str) -> Result<&'a [u8], String> {
        match self.next() {
            Some((found, value)) if found == tag => Ok(value),
            Some(_) | None => Err(format!("it has no {what}")),
        }
    }

    fn time(&mut self, what: &str) -> Result<UtcMillis, String> {
        let (tag, text) = self.next().ok_or_else(|| format!("it has no {what}"))?;
        let time = std::str::from_utf8(text).ok().and_then(|text| time(tag, text));
        time.ok_or_else(|| format!("the {what} is no time"))
    }

    fn end(&self, what: &str) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err(format!("something follows the {what}")) }
    }

    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (n_bytes, rest) = match first {
            0..=0x7f => (usize::from(*first), rest),
            // How many bytes the length itself has. Four are enough for anything that fits into memory here.
            0x81..=0x84 => {
                let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
            }
            0x80 | 0x85..=0xff => return None,
        };
        let (value, rest) = rest.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some((*tag, value))
    }
}

/// `YYMMDDHHMMSSZ` up to 2049, `YYYYMMDDHHMMSSZ` from then on.
fn time(tag: u8, text: &str) -> Option<UtcMillis> {
    let digits = text.strip_suffix('Z').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let (year, rest) = match (tag, digits.len()) {
        (UTC_TIME, 12) => {
            let year: i16 = digits[..2].parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, &digits[2..])
        }
        (GENERALIZED_TIME, 14) => (digits[..4].parse().ok()?, &digits[4..]),
        _ => return None,
    };
    let part = |at: usize| rest[at..at + 2].parse::<i8>().ok();
    let time = DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, part(8)?, 0).ok()?;
    // Not by way of an instant, which ends a day too early for certificates that say they have no end.
    Some(UtcMillis(time.duration_since(EPOCH).as_secs() * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    fn certificate(year: i32) -> Vec<u8> {
        let mut params = CertificateParams::new(["push.example.com".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 2, 29);
        params.not_after = date_time_ymd(year, 3, 4);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn the_end_is_found_in_both_forms_of_time() {
        assert_eq!(expiry(&certificate(2030)), Ok(UtcMillis(1_898_812_800_000)));
        assert_eq!(expiry(&certificate(2049)), Ok(UtcMillis(2_498_428_800_000)));
        assert_eq!(expiry(&certificate(2050)), Ok(UtcMillis(2_529_964_800_000)));
        assert_eq!(expiry(&certificate(9999)), Ok(UtcMillis(253_376_121_600_000)));
        assert_eq!(time(UTC_TIME, "991231235959Z"), Some(UtcMillis(946_684_799_000)));
        assert_eq!(time(GENERALIZED_TIME, "99991231235959Z"), Some(UtcMillis(253_402_300_799_000)));
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        let whole = certificate(2030);
        let mut longer = whole.clone();
        longer.push(0);
        for damaged in [&whole[..whole.len() - 1], &whole[..20], &longer, b"", b"\x30\x00", b"\x30\x80\x00\x00"] {
            assert!(expiry(damaged).is_err(), "{damaged:?}");
        }
        for wrong in ["301304000000Z", "30030400000Z", "300304000000", "3003040000+1Z", "30030400000éZ"] {
            assert_eq!(time(UTC_TIME, wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(at in 0_usize..400, byte: u8) {
            let mut bytes = certificate(2030);
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            let _ = expiry(&bytes);
        }
    }
}
