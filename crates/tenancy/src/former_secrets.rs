//! Secrets that were replaced and are good for some time yet, so that servers and apps can be changed one after the other.

use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::time::UtcMillis;
use ring::hmac;
use store::former_secrets::{self, FormerSecret, SecretKind};
use store::{Signal, Tx};

use crate::{Tenancy, credentials};

/// A secret that was replaced, as callers are compared with it.
pub(crate) struct Former {
    pub(crate) hash: [u8; 32],
    pub(crate) ends: UtcMillis,
    /// What the audit log calls a server that has it.
    pub(crate) credential: Arc<str>,
    /// With which devices sign, if it is an app secret.
    signing: Option<hmac::Key>,
}

/// What an app has of each.
#[derive(Default)]
pub(crate) struct Formers {
    app: Option<Former>,
    master: Option<Former>,
}

impl Formers {
    pub(crate) fn app(&self, now: UtcMillis) -> Option<&Former> {
        self.app.as_ref().filter(|former| now < former.ends)
    }

    pub(crate) fn master(&self, now: UtcMillis) -> Option<&Former> {
        self.master.as_ref().filter(|former| now < former.ends)
    }

    /// The key with which devices signed before the secret was replaced, with the hash of that secret.
    pub(crate) fn signing(&self, now: UtcMillis) -> Option<([u8; 32], &hmac::Key)> {
        let former = self.app(now)?;
        Some((former.hash, former.signing.as_ref()?))
    }
}

impl Former {
    pub(crate) fn is(&self, given: &[u8; 32]) -> bool {
        credentials::matches(given, &self.hash)
    }
}

#[boxed]
impl Tenancy {
    /// The replaced secrets of an app that are still good.
    pub async fn former_secrets(&self, key: &str) -> Result<Vec<(SecretKind, UtcMillis)>> {
        let (app, now) = (self.app(key).await?.id, self.0.clock.now());
        let all = self.0.store.read(move |tx: &mut Tx<'_>| former_secrets::of_app(tx, app)).await?;
        Ok(all.into_iter().filter(|former| now < former.ends).map(|former| (former.kind, former.ends)).collect())
    }

    /// Ends a replaced secret before its time.
    pub async fn end_former_secret(&self, key: &str, kind: SecretKind) -> Result<()> {
        let app = self.app(key).await?.id;
        let write = move |tx: &mut Tx<'_>| {
            if !former_secrets::delete(tx, app, kind)? {
                return Err(Error::NotFound("secret that was replaced"));
            }
            tx.note_detail("secret", kind.word());
            tx.signal(Signal::Apps);
            Ok::<_, Error>(())
        };
        self.0.store.write(app, write).await?;
        self.0.apps.clear();
        Ok(())
    }

    /// Deletes replaced secrets that are not good any more.
    pub async fn forget_ended_secrets(&self, app: AppId) -> Result<()> {
        let now = self.0.clock.now();
        let ended = move |tx: &mut Tx<'_>| {
            let all = former_secrets::of_app(tx, app)?;
            Ok::<_, Error>(
                all.into_iter().filter(|former| former.ends <= now).map(|former| former.kind).collect::<Vec<_>>(),
            )
        };
        if self.0.store.read(ended).await?.is_empty() {
            return Ok(());
        }
        let delete = move |tx: &mut Tx<'_>| {
            ended(tx)?.into_iter().try_for_each(|kind| former_secrets::delete(tx, app, kind).map(drop))?;
            Ok::<_, Error>(())
        };
        self.0.store.write(app, delete).await
    }

    pub(crate) fn formers(&self, app: AppId, all: Vec<FormerSecret>) -> Formers {
        let mut formers = Formers::default();
        for FormerSecret { kind, hash, sealed, ends } in all {
            let signing = sealed.and_then(|sealed| self.signing_key(app, &sealed));
            let former = Former { hash, ends, credential: self.master_credential(&hash), signing };
            match kind {
                SecretKind::App => formers.app = Some(former),
                SecretKind::Master => formers.master = Some(former),
            }
        }
        formers
    }
}
