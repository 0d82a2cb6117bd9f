//! People who are logged in, as their requests come: found by the secret of their cookie, and remembered for some seconds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::account::Role;
use model::ids::{AppId, SignInId};
use model::time::UtcMillis;
use parking_lot::Mutex;
use store::accounts::Account;
use store::sign_ins::{self, SignIn};
use store::{Tx, accounts};
use tenancy::{OPERATOR, credentials};

use crate::Accounts;

/// Somebody who does nothing for this long is logged out.
pub(crate) const IDLE: Duration = Duration::from_secs(12 * 60 * 60);
/// Everybody logs in anew after this long.
pub(crate) const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How exactly it is known when somebody was last there.
const NOTED_EVERY: Duration = Duration::from_secs(5 * 60);
/// For how long a visitor is believed who may have been locked out on another node, if its signal is lost.
const REMEMBERED: Duration = Duration::from_secs(5);
const MOST_REMEMBERED: usize = 10_000;

/// Somebody who is logged in.
#[derive(Clone, Debug)]
pub struct Visitor {
    pub account: Account,
    pub sign_in: SignInId,
    pub(crate) hash: [u8; 32],
    used: UtcMillis,
    ends: UtcMillis,
    created: UtcMillis,
}

impl Visitor {
    /// Whether the visitor may do in an app what a role may.
    pub fn may(&self, app: AppId, role: Role) -> bool {
        self.account.is_owner || self.account.roles.get(&app).is_some_and(|own| *own >= role)
    }

    /// What the audit log calls the visitor.
    pub fn credential(&self) -> String {
        format!("account {}", self.account.email)
    }
}

/// By the hash of the cookie's secret, with the time since when it is known.
type Known = HashMap<[u8; 32], (UtcMillis, Arc<Visitor>)>;

#[derive(Default)]
pub(crate) struct Visitors(Mutex<Known>);

impl Visitors {
    fn get(&self, hash: &[u8; 32], now: UtcMillis) -> Option<Arc<Visitor>> {
        let known = self.0.lock();
        let (since, visitor) = known.get(hash)?;
        (*since <= now && now < since.plus(REMEMBERED)).then(|| visitor.clone())
    }

    fn keep(&self, visitor: &Arc<Visitor>, now: UtcMillis) {
        let mut known = self.0.lock();
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert(visitor.hash, (now, visitor.clone()));
    }

    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}

#[boxed]
impl Accounts {
    /// Who has the secret of a cookie; `None` if nobody is logged in with it.
    pub async fn visitor(&self, secret: &str) -> Result<Option<Arc<Visitor>>> {
        let now = self.0.clock.now();
        match self.watcher(secret).await? {
            Some(visitor) if now >= visitor.used.plus(NOTED_EVERY) => self.note_use(&visitor, now).await.map(Some),
            found => Ok(found),
        }
    }

    /// As [`Accounts::visitor`], without taking it for a sign of life: an open page asks by itself.
    pub async fn watcher(&self, secret: &str) -> Result<Option<Arc<Visitor>>> {
        let (hash, now) = (credentials::hash(secret), self.0.clock.now());
        let is_in = |visitor: &Arc<Visitor>| now < visitor.ends && !visitor.account.is_disabled;
        if let Some(known) = self.0.visitors.get(&hash, now) {
            return Ok(Some(known).filter(is_in));
        }
        let found = self.read_visitor(hash).await?.map(Arc::new).filter(is_in);
        if let Some(visitor) = &found {
            self.0.visitors.keep(visitor, now);
        }
        Ok(found)
    }

    async fn read_visitor(&self, hash: [u8; 32]) -> Result<Option<Visitor>> {
        let read = move |tx: &mut Tx<'_>| {
            let Some(sign_in) = sign_ins::by_hash(tx, &hash)? else { return Ok(None) };
            let SignIn { id, used, ends, created, .. } = sign_in;
            let account = accounts::get(tx, sign_in.account)?;
            Ok(account.map(|account| Visitor { account, sign_in: id, hash, used, ends, created }))
        };
        self.0.store.read(read).await
    }

    /// The visitor is still there, and stays logged in.
    async fn note_use(&self, visitor: &Visitor, now: UtcMillis) -> Result<Arc<Visitor>> {
        let ends = now.plus(IDLE).min(visitor.created.plus(LONGEST));
        let (hash, account) = (visitor.hash, visitor.account.id);
        let write = move |tx: &mut Tx<'_>| {
            sign_ins::extend(tx, &hash, now, ends)?;
            Ok::<_, base::Error>(accounts::set_seen(tx, account, now)?)
        };
        self.0.store.write(OPERATOR, write).await?;
        let visitor = Arc::new(Visitor { used: now, ends, ..visitor.clone() });
        self.0.visitors.keep(&visitor, now);
        Ok(visitor)
    }
}
