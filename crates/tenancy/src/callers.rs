//! Authentication: apps by their keys and secrets, and what the bearer of each kind of credentials may speak for.

mod known_apps;

pub(crate) use known_apps::{Known, KnownApps};

use std::sync::Arc;

use base::Result;
use boxed::boxed;
use model::app::{AppKey, Secret};
use model::channel::Proof;
use model::ids::{AppId, ChannelId, ContactId};
use model::time::UtcMillis;
use ring::hmac::{self, HMAC_SHA256};
use store::apps::{App, SecretHashes};
use store::documents::{self, DocumentKind};
use store::former_secrets::SecretKind;
use store::{Signal, Tx};

use crate::former_secrets::Formers;
use crate::{Tenancy, TokenLimits, credentials};

/// A caller who speaks for an app, and with which rights.
#[derive(Clone)]
pub struct Caller {
    known: Arc<KnownApp>,
    pub rights: Rights,
    pub known_by: KnownBy,
    /// What a server is limited by that has a token, and not the master secret.
    token: Option<Arc<TokenLimits>>,
    /// Of the secret that the caller gave, or by which its token was signed.
    given: Option<[u8; 32]>,
}

/// The credentials that a caller gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    Key,
    Secret,
    Signature,
    /// A token of ours, which does not prove that its bearer has a secret.
    Token,
    /// The account of a person of the app's team.
    Account,
    /// A token that was made for a server, or one that an OAuth client has got.
    ServerToken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// The master secret, which stays on servers.
    Master,
    /// The app secret, which ships inside apps, or a signature made with it.
    Device,
    /// A token of one channel.
    Channel(ChannelId),
    /// A token of one contact.
    Contact(ContactId),
    /// No credentials at all, only the key of the app, which is no secret.
    KeyOnly,
}

impl Rights {
    /// How well an upload with them proves to come from the device it names.
    pub const fn proof(self) -> Proof {
        match self {
            Rights::Master | Rights::Device | Rights::Channel(_) | Rights::Contact(_) => Proof::Proven,
            Rights::KeyOnly => Proof::Claimed,
        }
    }
}

/// An app and what its callers are known by.
pub(crate) struct KnownApp {
    pub(crate) app: Arc<App>,
    pub(crate) hashes: SecretHashes,
    /// What servers of the app are called in the audit log.
    pub(crate) master_credential: Arc<str>,
    /// The secret that devices sign with. Apps that were created before the service kept their secrets have none until one of
    /// their devices presents it.
    pub(crate) signing: Option<hmac::Key>,
    /// Secrets that were replaced and may be good yet.
    pub(crate) formers: Formers,
}

impl KnownApp {
    /// Whether a secret with this hash is good for servers.
    fn takes_master(&self, hash: &[u8; 32], now: UtcMillis) -> bool {
        credentials::matches(hash, &self.hashes.master)
            || self.formers.master(now).is_some_and(|former| former.is(hash))
    }

    /// Whether a secret with this hash is good for devices.
    fn takes_device(&self, hash: &[u8; 32], now: UtcMillis) -> bool {
        credentials::matches(hash, &self.hashes.app) || self.formers.app(now).is_some_and(|former| former.is(hash))
    }
}

impl Caller {
    pub(crate) fn new(known: &Arc<KnownApp>, rights: Rights, known_by: KnownBy) -> Self {
        Self { known: known.clone(), rights, known_by, token: None, given: None }
    }

    /// One that has proven to know a secret, of which this is the hash.
    pub(crate) fn by_secret(known: &Arc<KnownApp>, rights: Rights, known_by: KnownBy, given: [u8; 32]) -> Self {
        Self { given: Some(given), ..Self::new(known, rights, known_by) }
    }

    /// A server with a token, which may do what servers may as far as the limits of the token go.
    pub(crate) fn with_token(known: &Arc<KnownApp>, limits: Arc<TokenLimits>) -> Self {
        let (rights, known_by) = (Rights::Master, KnownBy::ServerToken);
        Self { known: known.clone(), rights, known_by, token: Some(limits), given: None }
    }

    pub fn app(&self) -> &Arc<App> {
        &self.known.app
    }

    /// What the audit log calls a server of the app: the kind of its credential, with a fingerprint or a name.
    pub fn server_credential(&self) -> &Arc<str> {
        if let Some(token) = &self.token {
            return &token.credential;
        }
        // Whether it is still good was decided when the caller came.
        let former = self.known.formers.master(UtcMillis(i64::MIN));
        let used = former.filter(|former| self.given.is_some_and(|given| former.is(&given)));
        used.map_or(&self.known.master_credential, |former| &former.credential)
    }

    /// Whether both are let in for as long as each other: they speak for the same app, by the same secret.
    pub fn stands_as(&self, other: &Self) -> bool {
        let is_master = |caller: &Self| caller.rights == Rights::Master;
        let (one, two) = (&self.known, &other.known);
        let has_same_secret = match is_master(self) {
            true => one.hashes.master == two.hashes.master,
            false => one.hashes.app == two.hashes.app,
        };
        let token = |caller: &Self| caller.token.as_ref().map(|token| (token.id, token.expires));
        is_master(self) == is_master(other)
            && one.app.id == two.app.id
            && has_same_secret
            && self.given == other.given
            && token(self) == token(other)
    }

    /// The limits of a server that has a token, and not the master secret.
    pub fn token(&self) -> Option<&TokenLimits> {
        self.token.as_deref()
    }

    /// What is kept of the master secret that the caller gave, or of the current one if it was let in by something else.
    pub(crate) fn own_master_hash(&self) -> &[u8; 32] {
        let given = self.given.as_ref().filter(|_| self.rights == Rights::Master);
        given.unwrap_or(&self.known.hashes.master)
    }

    /// What is kept of the master secret, and of the one before it, if that is good yet.
    pub(crate) fn master_hashes(&self, now: UtcMillis) -> (&[u8; 32], Option<&[u8; 32]>) {
        (&self.known.hashes.master, self.known.formers.master(now).map(|former| &former.hash))
    }
}

#[boxed]
impl Tenancy {
    /// Whether a caller would be let in again: not once the app is deleted, or the secret replaced that they were known by.
    pub async fn is_current(&self, caller: &Caller) -> Result<bool> {
        let then = &caller.known;
        let Some(now) = self.known_app(then.app.key.as_str()).await? else { return Ok(false) };
        if let Some(token) = caller.token() {
            return Ok(now.app.id == then.app.id && self.is_token_current(token).await?);
        }
        let time = self.0.clock.now();
        let has_secret = match caller.rights {
            Rights::Master => now.takes_master(&caller.given.unwrap_or(then.hashes.master), time),
            Rights::Device | Rights::Channel(_) | Rights::Contact(_) => {
                now.takes_device(&caller.given.unwrap_or(then.hashes.app), time)
            }
            Rights::KeyOnly => true,
        };
        Ok(now.app.id == then.app.id && has_secret)
    }

    /// A caller who gives no more than the key of an app; `None` when there is no such app.
    pub async fn caller_by_key(&self, key: &str) -> Result<Option<Caller>> {
        Ok(self.known_app(key).await?.map(|known| Caller::new(&known, Rights::KeyOnly, KnownBy::Key)))
    }

    /// Somebody of the team of an app, whose role the caller of this has checked.
    pub async fn caller_for_member(&self, key: &str) -> Result<Option<Caller>> {
        Ok(self.known_app(key).await?.map(|known| Caller::new(&known, Rights::Master, KnownBy::Account)))
    }

    /// The caller with this key and secret; `None` when they do not fit together.
    pub async fn authenticate(&self, key: &str, secret: &str) -> Result<Option<Caller>> {
        let Some(known) = self.known_app(key).await? else { return Ok(None) };
        let (given, now) = (credentials::hash(secret), self.0.clock.now());
        let is_master = known.takes_master(&given, now);
        let is_device = known.takes_device(&given, now);
        let rights = match (is_master, is_device) {
            (true, _) => Rights::Master,
            (false, true) => Rights::Device,
            (false, false) => return Ok(None),
        };
        // Nothing is learned of a secret that was replaced, however often devices present it.
        if known.signing.is_none() && credentials::matches(&given, &known.hashes.app) {
            self.learn_app_secret(&known, secret).await?;
        }
        Ok(Some(Caller::by_secret(&known, rights, KnownBy::Secret, given)))
    }

    /// The app with this key as long as this node remembers it, which it does of every app that was called lately.
    pub fn remembered_app(&self, key: &str) -> Option<Arc<App>> {
        self.0.apps.get(key).map(|known| known.app.clone())
    }

    pub(crate) async fn known_app(&self, key: &str) -> Result<Option<Arc<KnownApp>>> {
        if let Some(known) = self.0.apps.get(key) {
            return Ok(Some(known));
        }
        // A malformed key belongs to no app, and need not even be a text that a database can hold.
        let Some(wanted) = AppKey::new(key) else { return Ok(None) };
        self.0.apps.read(key.to_owned(), self.read_app(wanted)).await
    }

    async fn read_app(&self, key: AppKey) -> Result<Option<KnownApp>> {
        let read = move |tx: &mut Tx<'_>| {
            let Some((app, hashes)) = store::apps::by_key(tx, key.as_str())? else { return Ok(None) };
            let sealed = documents::get(tx, app.id, DocumentKind::AppSecret, APP_SECRET)?;
            let formers = store::former_secrets::of_app(tx, app.id)?;
            Ok::<_, store::Error>(Some((app, hashes, sealed, formers)))
        };
        let Some((app, hashes, sealed, formers)) = self.0.store.read(read).await? else { return Ok(None) };
        let signing = sealed.and_then(|sealed| self.signing_key(app.id, &sealed.body));
        let master_credential = self.master_credential(&hashes.master);
        let formers = self.formers(app.id, formers);
        Ok(Some(KnownApp { app: Arc::new(app), hashes, master_credential, signing, formers }))
    }

    /// Keeps the app secret in a form that can be read again, in the transaction that makes it the app's.
    pub(crate) fn put_app_secret(&self, tx: &mut Tx<'_>, app: AppId, secret: &Secret, now: UtcMillis) -> Result<()> {
        let sealed = self.0.seal_key.seal(&app_secret_purpose(app), secret.reveal())?;
        Ok(documents::put(tx, app, DocumentKind::AppSecret, APP_SECRET, &sealed, now)?)
    }

    /// A secret that cannot be read again, because the key of the installation is another one now, is as good as none: the
    /// next device that presents it brings it back.
    pub(crate) fn signing_key(&self, app: AppId, sealed: &str) -> Option<hmac::Key> {
        let secret = self.0.seal_key.open(&app_secret_purpose(app), sealed).ok()?;
        Some(hmac::Key::new(HMAC_SHA256, secret.as_bytes()))
    }

    async fn learn_app_secret(&self, known: &KnownApp, secret: &str) -> Result<()> {
        let Some(secret) = Secret::new(secret) else { return Ok(()) };
        let (tenancy, app, now) = (self.clone(), known.app.id, self.0.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            let current = store::apps::by_id(tx, app)?;
            // It may have been replaced since it was compared.
            let given = credentials::hash(secret.reveal());
            if current.is_some_and(|(_, hashes)| credentials::matches(&given, &hashes.app)) {
                tenancy.put_app_secret(tx, app, &secret, now)?;
                tx.signal(Signal::Apps);
            }
            Ok::<_, base::Error>(())
        };
        self.0.store.write(app, write).await?;
        self.0.apps.clear_one(known.app.key.as_str());
        Ok(())
    }
}

const APP_SECRET: &str = "current";

/// The app secret in a form that can be read again, if the service has it.
pub(crate) fn sealed_app_secret(tx: &mut Tx<'_>, app: AppId) -> Result<Option<String>> {
    Ok(documents::get(tx, app, DocumentKind::AppSecret, APP_SECRET)?.map(|sealed| sealed.body))
}

/// The next device that presents the secret brings it back.
pub fn forget_app_secret(tx: &mut Tx<'_>, app: AppId) -> store::Result<()> {
    store::former_secrets::delete(tx, app, SecretKind::App)?;
    documents::delete(tx, app, DocumentKind::AppSecret, APP_SECRET).map(drop)
}

/// The purpose for which the secret of an app is sealed.
pub fn app_secret_purpose(app: AppId) -> String {
    format!("app secret of {}", app.0)
}
