//! Under which ids events show named users: one for each user, which stays the same and does not tell the user's own id. It proves
//! nothing. It follows from a key that each app has, so that events need not look it up.

use std::collections::HashMap;

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use boxed::boxed;
use model::ids::{AppId, ContactId, NamedUserId};
use parking_lot::RwLock;
use ring::hmac::{self, HMAC_SHA256};
use store::Tx;
use store::documents::{self, DocumentKind};
use tenancy::credentials;

use crate::Devices;

const ID: &str = "current";

/// What the contact ids of an app's named users in events follow from.
#[derive(Clone)]
pub struct ContactKey(hmac::Key);

/// The keys that were used already. They never change.
#[derive(Default)]
pub(crate) struct ContactKeys(RwLock<HashMap<AppId, ContactKey>>);

impl ContactKey {
    /// The same for every device of the user, however often they come and go.
    pub fn contact_of(&self, user: &NamedUserId) -> ContactId {
        let digest = hmac::sign(&self.0, user.as_str().as_bytes());
        ContactId::of_named_user(digest.as_ref().first_chunk().expect("HMAC-SHA256 gives 32 bytes"))
    }

    fn read(kept: &str) -> Result<Self> {
        let bytes = BASE64.decode(kept).map_err(Error::internal)?;
        Ok(Self(hmac::Key::new(HMAC_SHA256, &bytes)))
    }
}

#[boxed]
impl Devices {
    /// The key of an app, which is made when it is first needed.
    pub async fn contact_key(&self, app: AppId) -> Result<ContactKey> {
        let ContactKeys(known) = &self.0.contact_keys;
        if let Some(key) = known.read().get(&app) {
            return Ok(key.clone());
        }
        let kept = match self.0.store.read(move |tx| kept(tx, app)).await? {
            Some(kept) => kept,
            None => {
                let (new, now) = (BASE64.encode(credentials::random_bytes::<32>()?), self.0.clock.now());
                let write = move |tx: &mut Tx<'_>| {
                    documents::put_first(tx, app, DocumentKind::ContactKey, ID, &new, now)?;
                    // Of two nodes that need it at once, the other may have been first.
                    kept(tx, app)
                };
                let written = self.0.store.write(app, write).await?;
                written.ok_or_else(|| Error::internal("the key for contact ids vanished"))?
            }
        };
        let key = ContactKey::read(&kept)?;
        known.write().insert(app, key.clone());
        Ok(key)
    }
}

fn kept(tx: &mut Tx<'_>, app: AppId) -> store::Result<Option<String>> {
    Ok(documents::get(tx, app, DocumentKind::ContactKey, ID)?.map(|document| document.body))
}
