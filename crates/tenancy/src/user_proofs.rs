//! Proofs that servers of an app give to devices: that the person who uses a device is a named user. A proof is a JSON web token
//! (HS256) that the server signs with the SHA-256 digest of the master secret, which is what the service keeps of it. Replacing
//! the secret ends all proofs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use model::ids::{ChannelId, NamedUserId};
use ring::hmac::{self, HMAC_SHA256};
use serde::Deserialize;

use crate::{Caller, Tenancy};

/// For how many seconds a proof may be good. One that was made with milliseconds would be good for ever.
const LONGEST: f64 = 24.0 * 60.0 * 60.0;

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
    /// It is not signed with HS256 and the digest of the app's master secret.
    Wrong,
    Expired,
    /// It ends later than [`LONGEST`] from now.
    TooLong,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    /// In seconds since 1970, which may have a fraction.
    exp: f64,
    #[serde(default)]
    channel: Option<ChannelId>,
}

impl Tenancy {
    /// What a caller proves with a token of a server of its app.
    pub fn user_proof(&self, caller: &Caller, token: &str) -> Result<UserProof, ProofRefusal> {
        let (signed, signature) = token.trim().rsplit_once('.').ok_or(ProofRefusal::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(ProofRefusal::Malformed)?;
        let part = |text: &str| BASE64_URL.decode(text.trim_end_matches('=')).map_err(|_| ProofRefusal::Malformed);
        let header: Header = serde_json::from_slice(&part(header)?).map_err(|_| ProofRefusal::Malformed)?;
        // The token does not choose how it is checked.
        if header.alg != "HS256" {
            return Err(ProofRefusal::Wrong);
        }
        let key = hmac::Key::new(HMAC_SHA256, caller.master_hash());
        hmac::verify(&key, signed.as_bytes(), &part(signature)?).map_err(|_| ProofRefusal::Wrong)?;
        let claims: Claims = serde_json::from_slice(&part(claims)?).map_err(|_| ProofRefusal::Malformed)?;
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
}
