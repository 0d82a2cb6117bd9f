//! Proofs that servers of an app give to devices: that the person who uses a device is a named user. A proof is a JSON web token
//! for the app, signed with a key that only the service and servers of the app know (HS256), or with one of theirs, of which the
//! operator has entered the public one (ES256). The former follows from that of the installation and from the master secret: who
//! reads the database cannot make it, and replacing the secret ends all proofs that were signed with it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use model::ids::{ChannelId, NamedUserId};
use ring::hmac::{self, HMAC_SHA256};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

use crate::web_tokens::{ProofClaims, ProofHeader, WebToken};
use crate::{Caller, Tenancy};

/// For how many seconds a proof may be good. One that was made with milliseconds would be good for ever.
const LONGEST: f64 = 24.0 * 60.0 * 60.0;
const PURPOSE: &str = "key for user proofs";

/// What a device has proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserProof {
    pub user: NamedUserId,
    /// The only channel that the proof is good for; `None` for every channel of the bearer.
    pub channel: Option<ChannelId>,
}

/// Why a proof is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofRefusal {
    /// It is no JSON web token with the claims that are needed.
    Malformed,
    /// It is not signed with a key of the app.
    Wrong,
    /// It is meant for another app, or does not say for which.
    OfAnotherApp,
    Expired,
    /// It ends later than [`LONGEST`] from now.
    TooLong,
}

impl Tenancy {
    /// The key that servers of the caller's app sign proofs with, as a text of 43 characters. For servers only. With a secret
    /// that was replaced it is the key that ends with that secret: who has stolen it must not get the one that comes after.
    pub fn proof_key(&self, caller: &Caller) -> String {
        self.proof_key_of(caller, caller.own_master_hash())
    }

    fn proof_key_of(&self, caller: &Caller, master: &[u8; 32]) -> String {
        let of_secret = BASE64_URL.encode(master);
        let key = self.0.seal_key.sign(&format!("{PURPOSE} {}", caller.app().id.0), &of_secret);
        BASE64_URL.encode(key)
    }

    /// What a caller proves with a token of a server of its app.
    pub fn user_proof(&self, caller: &Caller, token: &str) -> Result<UserProof, ProofRefusal> {
        let token = WebToken::new(token.trim()).ok_or(ProofRefusal::Malformed)?.without_padding();
        let header: ProofHeader = token.header().ok_or(ProofRefusal::Malformed)?;
        let (text, signature) = (token.signed.as_bytes(), token.signature().ok_or(ProofRefusal::Malformed)?);
        // Each algorithm has keys of its own: a token that chooses one cannot have a key taken for something that it is not.
        let is_signed = match header.alg.as_str() {
            "HS256" => self.is_signed_with_secret(caller, text, &signature),
            "ES256" => is_signed_with_own_key(caller, text, &signature),
            _ => false,
        };
        if !is_signed {
            return Err(ProofRefusal::Wrong);
        }
        let claims: ProofClaims = token.claims().ok_or(ProofRefusal::Malformed)?;
        if !claims.aud.is_some_and(|audience| audience.has(caller.app().key.as_str())) {
            return Err(ProofRefusal::OfAnotherApp);
        }
        let left = claims.exp - self.0.clock.now().seconds() as f64;
        if left <= 0.0 {
            return Err(ProofRefusal::Expired);
        }
        if left > LONGEST {
            return Err(ProofRefusal::TooLong);
        }
        let user = NamedUserId::new(&claims.sub).map_err(|_| ProofRefusal::Malformed)?;
        Ok(UserProof { user, channel: claims.channel })
    }

    fn is_signed_with_secret(&self, caller: &Caller, text: &[u8], signature: &[u8]) -> bool {
        let has_signed = |master: &[u8; 32]| {
            let key = hmac::Key::new(HMAC_SHA256, self.proof_key_of(caller, master).as_bytes());
            hmac::verify(&key, text, signature).is_ok()
        };
        let (current, former) = caller.master_hashes(self.0.clock.now());
        has_signed(current) || former.is_some_and(has_signed)
    }
}

fn is_signed_with_own_key(caller: &Caller, text: &[u8], signature: &[u8]) -> bool {
    caller.app().proof_public_key.as_ref().is_some_and(|key| {
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.point()).verify(text, signature).is_ok()
    })
}
