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
    /// The role of the visitor in an app, which for owners is the highest.
    pub fn role_in(&self, app: AppId) -> Option<Role> {
        if self.account.is_owner { Some(Role::Admin) } else { self.account.roles.get(&app).copied() }
    }

    /// Whether the visitor may do in an app what a role may.
    pub fn may(&self, app: AppId, role: Role) -> bool {
        self.role_in(app).is_some_and(|own| own >= role)
    }

    /// What the audit log calls the visitor.
    pub fn credential(&self) -> String {
        format!("account {}", self.account.email)
    }
}

/// By the hash of the cookie's secret, with the time since when it is known.
type Known = HashMap<[u8; 32], (UtcMillis, Arc<Visitor>)>;

#[derive(Default)]
pub(crate) struct Visitors(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    known: Known,
    /// Raised whenever all are forgotten, so that a visitor who was read before that is not remembered after it.
    generation: u64,
}

impl Visitors {
    fn get(&self, hash: &[u8; 32], now: UtcMillis) -> Option<Arc<Visitor>> {
        let remembered = self.0.lock();
        let (since, visitor) = remembered.known.get(hash)?;
        (*since <= now && now < since.plus(REMEMBERED)).then(|| visitor.clone())
    }

    fn generation(&self) -> u64 {
        self.0.lock().generation
    }

    fn keep(&self, visitor: &Arc<Visitor>, now: UtcMillis, read_in: u64) {
        let mut remembered = self.0.lock();
        if remembered.generation != read_in {
            return;
        }
        if remembered.known.len() >= MOST_REMEMBERED {
            remembered.known.clear();
        }
        remembered.known.insert(visitor.hash, (now, visitor.clone()));
    }

    pub(crate) fn clear(&self) {
        let mut remembered = self.0.lock();
        remembered.known.clear();
        remembered.generation += 1;
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
        let generation = self.0.visitors.generation();
        let found = self.read_visitor(hash).await?.map(Arc::new).filter(is_in);
        if let Some(visitor) = &found {
            self.0.visitors.keep(visitor, now, generation);
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
        let generation = self.0.visitors.generation();
        self.0.store.write(OPERATOR, write).await?;
        let visitor = Arc::new(Visitor { used: now, ends, ..visitor.clone() });
        self.0.visitors.keep(&visitor, now, generation);
        Ok(visitor)
    }
}
