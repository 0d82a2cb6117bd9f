//! The pieces of exports of persons, which are as sensitive as all that they were made of, and lie in the database for days.

use base::{Error, Result};
use model::ids::PrivacyId;

use crate::{SealKey, Tenancy};

const PURPOSE: &str = "export";
/// What a sealed piece begins with. Pieces of a version that did not seal them begin with the brace of their first line.
const SEALED: u8 = 1;

impl Tenancy {
    /// Every export has a key of its own, and every piece opens in its place only.
    pub fn seal_export(&self, export: PrivacyId, n: u32, piece: &[u8]) -> Result<Vec<u8>> {
        seal(&self.0.seal_key, export, n, piece)
    }

    pub fn open_export(&self, export: PrivacyId, n: u32, stored: Vec<u8>) -> Result<Vec<u8>> {
        open(&self.0.seal_key, export, n, stored)
    }
}

fn seal(key: &SealKey, export: PrivacyId, n: u32, piece: &[u8]) -> Result<Vec<u8>> {
    let mut sealed = key.of_id(PURPOSE, export.uuid()).seal_bytes(&place(n), piece)?;
    sealed.insert(0, SEALED);
    Ok(sealed)
}

fn open(key: &SealKey, export: PrivacyId, n: u32, mut stored: Vec<u8>) -> Result<Vec<u8>> {
    if stored.first() != Some(&SEALED) {
        return Ok(stored);
    }
    stored.remove(0);
    let opened = key.of_id(PURPOSE, export.uuid()).open_bytes(&place(n), stored);
    opened.map_err(|_| Error::Conflict("The key that this export was sealed with is lost; ask for another.".to_owned()))
}

fn place(n: u32) -> String {
    format!("{PURPOSE} {n}")
}

#[cfg(test)]
mod tests {
    use model::ids::Id;

    use super::*;

    #[test]
    fn a_piece_opens_in_its_place_only() {
        let (key, export) = (SealKey::new(&[7; 32]), Id::random());
        let sealed = seal(&key, export, 3, b"{\"table\":1}").unwrap();
        assert!(!sealed.windows(5).any(|window| window == b"table"));
        assert_eq!(open(&key, export, 3, sealed.clone()).unwrap(), b"{\"table\":1}");
        assert!(open(&key, export, 4, sealed.clone()).is_err());
        assert!(open(&key, Id::random(), 3, sealed.clone()).is_err());
        assert!(open(&SealKey::new(&[8; 32]), export, 3, sealed).is_err());
        assert_eq!(open(&key, export, 3, b"{}".to_vec()).unwrap(), b"{}", "of a version that sealed nothing");
    }
}
