//! The key that the database belongs to. It holds a known text that only this key opens, so that a node with another key does not
//! start: it could not open anything sealed, and other nodes could not open what it seals.

use base::{Error, Result};
use model::account::Email;
use model::app::AppKey;
use model::device_type::OpenPlatform;
use model::ids::{AccountId, AppId, WebhookId};
use model::time::UtcMillis;
use providers::platform::Provider;
use sending::PlatformName;
use store::documents::{self, DocumentKind};
use store::{Part, Store, Tx};
use tenancy::{OPERATOR, SealKey};

use crate::Engine;

const ID: &str = "known";
const PURPOSE: &str = "installation";
const KNOWN_TEXT: &str = "aerogram";

/// What keeps a node with another key from starting.
pub const WRONG_KEY: &str = "This node has another secrets key than the one that the database was written with. Copy secrets.key from another node or \
     from a backup into the data folder, or set AEROGRAM_SECRETS_KEY to its content. If it is lost for good, stop all nodes and \
     run `aerogram secrets accept`, which says what has to be entered again.";

/// Something that cannot be read with the key that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// `None` for what belongs to the installation.
    pub app: Option<AppKey>,
    pub thing: LostThing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostThing {
    /// Stays and is shown as unreadable until it is configured anew: pushes to it wait for that.
    Platform(PlatformName),
    /// The key pair for web push that the app had from the beginning. Another is made when it is first asked for.
    WebKeys,
    /// The readable copy of the app secret. The next device that presents the secret brings it back.
    AppSecret,
    /// Deleted, since its target is unknown.
    Webhook(WebhookId),
    /// The one-time codes of a person. They are switched off, and the password goes with them: it alone never was enough, and must
    /// not become so. The person needs a link.
    OneTimeCodes(AccountId, Email),
    /// The key pair that access tokens of OAuth clients are signed with. Another is made when it is first needed.
    OauthKey,
}

/// A sealed text in the store, and what is lost if it cannot be opened.
struct Sealed {
    app: AppId,
    text: String,
    lost: Lost,
}

/// Whether the database belongs to a key already, so that a new one could not be it.
pub async fn has_key(store: &Store) -> Result<bool> {
    store.read(|tx| Ok(known_text(tx)?.is_some())).await
}

/// Whether a node with this key would start on the database: it belongs to the key, or to none yet.
pub fn is_open_to(tx: &mut Tx<'_>, key: &SealKey) -> store::Result<bool> {
    Ok(known_text(tx)?.is_none_or(|known| is_known_text(key, &known)))
}

/// Makes the database belong to `key`, whatever it belonged to before, and returns what cannot be read any more. For a key that
/// is lost for good; no node may be running.
pub async fn accept_key(store: &Store, key: &SealKey, now: UtcMillis) -> Result<Vec<Lost>> {
    let key = key.clone();
    let accept = move |tx: &mut Tx<'_>| {
        let mut all_lost = Vec::new();
        for Sealed { app, lost, .. } in all_sealed(tx)?.into_iter().filter(|sealed| !sealed.is_opened_by(&key)) {
            match &lost.thing {
                LostThing::Platform(_) => {}
                LostThing::WebKeys => tenancy::forget_web_keys(tx, app)?,
                LostThing::AppSecret => tenancy::forget_app_secret(tx, app)?,
                LostThing::Webhook(webhook) => events::remove_webhook(tx, app, *webhook).map(drop)?,
                LostThing::OneTimeCodes(account, _) => accounts::forget_codes(tx, *account)?,
                LostThing::OauthKey => tenancy::forget_oauth_key(tx)?,
            }
            all_lost.push(lost);
        }
        documents::put(tx, OPERATOR, DocumentKind::InstallationKey, ID, &key.seal(PURPOSE, KNOWN_TEXT)?, now)?;
        Ok(all_lost)
    };
    store.write(OPERATOR, accept).await
}

impl Engine {
    /// Makes sure that the database belongs to the key of this engine. A new one belongs to it from now on.
    pub(crate) async fn claim_installation(&self) -> Result<()> {
        let known = match self.rooms.store.read(known_text).await? {
            Some(known) => known,
            None => {
                let (first, now) = (self.rooms.tenancy.seal_key().seal(PURPOSE, KNOWN_TEXT)?, self.rooms.clock.now());
                let write = move |tx: &mut Tx<'_>| {
                    documents::put_first(tx, OPERATOR, DocumentKind::InstallationKey, ID, &first, now)?;
                    // Of two nodes that start at once, the other may have been first.
                    known_text(tx)
                };
                self.rooms
                    .store
                    .write(OPERATOR, write)
                    .await?
                    .ok_or_else(|| Error::internal("the known text vanished"))?
            }
        };
        is_known_text(self.rooms.tenancy.seal_key(), &known).then_some(()).ok_or_else(wrong_key)
    }
}

impl Sealed {
    fn is_opened_by(&self, key: &SealKey) -> bool {
        let purpose = match &self.lost.thing {
            LostThing::Platform(name) => name.purpose(self.app),
            LostThing::WebKeys => tenancy::web_keys_purpose(self.app),
            LostThing::AppSecret => tenancy::app_secret_purpose(self.app),
            LostThing::Webhook(webhook) => events::webhook_purpose(self.app, *webhook),
            LostThing::OneTimeCodes(account, _) => accounts::codes_purpose(*account),
            LostThing::OauthKey => tenancy::OAUTH_KEY_PURPOSE.to_owned(),
        };
        key.open(&purpose, &self.text).is_ok()
    }
}

fn is_known_text(key: &SealKey, sealed: &str) -> bool {
    key.open(PURPOSE, sealed).is_ok_and(|text| text == KNOWN_TEXT)
}

fn wrong_key() -> Error {
    Error::Conflict(WRONG_KEY.to_owned())
}

fn known_text(tx: &mut Tx<'_>) -> store::Result<Option<String>> {
    Ok(documents::get(tx, OPERATOR, DocumentKind::InstallationKey, ID)?.map(|known| known.body))
}

/// Everything that is sealed for long. Answers kept for repeated requests are not: they are gone in a day, and one that cannot
/// be read counts as none.
fn all_sealed(tx: &mut Tx<'_>) -> store::Result<Vec<Sealed>> {
    let (mut all, every) = (Vec::new(), Part::every(tx)?);
    let mut add = |kind, thing: fn(&str) -> Option<LostThing>| {
        for (app, key, document) in documents::of_all_apps(tx, &every, kind)? {
            // A platform that only another version knows is skipped.
            let Some(thing) = thing(&document.id) else { continue };
            all.push(Sealed { app, text: document.body, lost: Lost { app: Some(key), thing } });
        }
        Ok::<_, store::Error>(())
    };
    add(DocumentKind::Provider, |id| Provider::from_name(id).map(PlatformName::Provider).map(LostThing::Platform))?;
    add(DocumentKind::Platform, |id| OpenPlatform::new(id).ok().map(PlatformName::Open).map(LostThing::Platform))?;
    add(DocumentKind::WebKeys, |_| Some(LostThing::WebKeys))?;
    add(DocumentKind::AppSecret, |_| Some(LostThing::AppSecret))?;
    for (app, key, webhook) in store::webhooks::of_all_apps(tx, &every)? {
        let lost = Lost { app: Some(key), thing: LostThing::Webhook(webhook.id) };
        all.push(Sealed { app, text: webhook.config, lost });
    }
    let of_installation = |text, thing| Sealed { app: OPERATOR, text, lost: Lost { app: None, thing } };
    for account in store::accounts::page(tx, "", u32::MAX)? {
        let Some(totp) = account.totp else { continue };
        all.push(of_installation(totp.sealed, LostThing::OneTimeCodes(account.id, account.email)));
    }
    all.extend(tenancy::sealed_oauth_key(tx)?.map(|text| of_installation(text, LostThing::OauthKey)));
    Ok(all)
}
