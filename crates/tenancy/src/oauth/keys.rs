//! Key pairs on the curve P-384: the one with which the installation signs access tokens, and those that clients sign
//! assertions with.

use std::sync::Arc;

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use boxed::boxed;
use model::p384;
use ring::digest::{SHA256, digest};
use ring::signature::{ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use store::Tx;
use store::apps::OPERATOR;
use store::documents::{self, DocumentKind};

use crate::{Tenancy, credentials};

const ID: &str = "current";
/// The purpose for which the pair of the installation is sealed.
pub const OAUTH_KEY_PURPOSE: &str = "oauth key";

/// The pair of the installation.
pub(crate) struct KeyPair {
    pair: EcdsaKeyPair,
    /// By which tokens name it.
    pub(crate) id: String,
}

impl KeyPair {
    fn new(pkcs8: &[u8]) -> Result<Self> {
        let random = credentials::randomness();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, pkcs8, &random);
        let pair = pair.map_err(|why| Error::internal(format!("the key of access tokens cannot be used: {why}")))?;
        let id = digest(&SHA256, pair.public_key().as_ref());
        let id = id.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { pair, id })
    }

    pub(super) fn sign(&self, text: &str) -> Result<Vec<u8>> {
        let signature = self.pair.sign(&credentials::randomness(), text.as_bytes());
        Ok(signature.map_err(|_| Error::internal("an access token cannot be signed"))?.as_ref().to_vec())
    }

    pub(super) fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }
}

/// A new pair for a client: the public key as a point, and the private key as PEM.
pub(super) fn new_pair() -> Result<(Vec<u8>, String)> {
    let pkcs8 = new_pkcs8()?;
    let pair = KeyPair::new(&pkcs8)?;
    Ok((pair.public().to_vec(), p384::pem("PRIVATE KEY", &pkcs8)))
}

fn new_pkcs8() -> Result<Vec<u8>> {
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &credentials::randomness());
    Ok(made.map_err(|_| Error::internal("no key can be made"))?.as_ref().to_vec())
}

#[boxed]
impl Tenancy {
    /// The pair of the installation, which is made when it is first needed, and the same on all nodes.
    pub(crate) async fn oauth_key(&self) -> Result<Arc<KeyPair>> {
        self.0.access_tokens.key.get_or_try_init(|| self.read_oauth_key()).await.cloned()
    }

    async fn read_oauth_key(&self) -> Result<Arc<KeyPair>> {
        let sealed = match self.0.store.read(sealed_key).await? {
            Some(sealed) => sealed,
            None => self.make_oauth_key().await?,
        };
        let opened = self.0.seal_key.open(OAUTH_KEY_PURPOSE, &sealed)?;
        let pkcs8 = BASE64.decode(opened).map_err(Error::internal)?;
        KeyPair::new(&pkcs8).map(Arc::new)
    }

    async fn make_oauth_key(&self) -> Result<String> {
        let (pkcs8, now) = (new_pkcs8()?, self.0.clock.now());
        let sealed = self.0.seal_key.seal(OAUTH_KEY_PURPOSE, &BASE64.encode(pkcs8))?;
        let write = move |tx: &mut Tx<'_>| {
            documents::put_first(tx, OPERATOR, DocumentKind::OauthKey, ID, &sealed, now)?;
            // Of two nodes that make one at once, the other may have been first.
            sealed_key(tx)
        };
        let kept = self.0.store.write(OPERATOR, write).await?;
        kept.ok_or_else(|| Error::internal("the key of access tokens vanished"))
    }

    /// The public key under an id, as PEM; `None` if there is no such key.
    pub async fn oauth_public_key(&self, id: &str) -> Result<Option<String>> {
        let key = self.oauth_key().await?;
        Ok((key.id == id).then(|| p384::public_key_pem(key.public())))
    }
}

/// The sealed pair of the installation, if it has one.
pub fn sealed_key(tx: &mut Tx<'_>) -> store::Result<Option<String>> {
    Ok(documents::get(tx, OPERATOR, DocumentKind::OauthKey, ID)?.map(|document| document.body))
}

/// The next access token is signed with a new pair.
pub fn forget(tx: &mut Tx<'_>) -> store::Result<()> {
    documents::delete(tx, OPERATOR, DocumentKind::OauthKey, ID).map(drop)
}
