//! JSON Web Tokens as providers want them: signed with ECDSA on the curve P-256, or with RSA.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Serialize;

use crate::keys;

/// Signs tokens with one key.
pub(crate) struct Signer {
    key: SigningKey,
    /// Identifies our key to the provider.
    key_id: Option<String>,
    random: SystemRandom,
}

pub(crate) enum SigningKey {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
}

#[derive(Serialize)]
struct Header<'a> {
    typ: &'static str,
    alg: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

impl Signer {
    pub(crate) fn new(key: SigningKey, key_id: Option<String>) -> Self {
        Self { key, key_id, random: keys::randomness() }
    }

    /// The error is a sentence.
    pub(crate) fn sign(&self, claims: &impl Serialize) -> Result<String, String> {
        let alg = match self.key {
            SigningKey::Es256(_) => "ES256",
            SigningKey::Rs256(_) => "RS256",
        };
        let header = Header { typ: "JWT", alg, kid: self.key_id.as_deref() };
        let mut token = format!("{}.{}", encoded(&header), encoded(claims));
        let signature = self.signature(token.as_bytes())?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }

    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let failed = |_| "A token could not be signed, because the system gave no random bytes.".to_owned();
        match &self.key {
            SigningKey::Es256(pair) => Ok(pair.sign(&self.random, message).map_err(failed)?.as_ref().to_vec()),
            SigningKey::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &self.random, message, &mut signature).map_err(failed)?;
                Ok(signature)
            }
        }
    }
}

fn encoded(value: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(value).expect("claims are texts and numbers, which always serialize"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, KeyPair, UnparsedPublicKey};
    use serde_json::{Value, json};

    #[test]
    fn the_three_parts_of_a_token() {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &keys::randomness()).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &keys::randomness()).unwrap();
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref().to_vec());
        let token = Signer::new(SigningKey::Es256(pair), Some("K1".to_owned()))
            .sign(&json!({"iss": "team", "iat": 7}))
            .unwrap();

        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
        public.verify(signed.as_bytes(), &decode(signature)).unwrap();
        let parts: Vec<Value> = signed.split('.').map(|part| serde_json::from_slice(&decode(part)).unwrap()).collect();
        assert_eq!(parts, [json!({"typ": "JWT", "alg": "ES256", "kid": "K1"}), json!({"iss": "team", "iat": 7})]);
    }
}
