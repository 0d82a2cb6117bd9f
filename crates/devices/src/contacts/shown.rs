//! Named users by the contact ids that events show. Such an id follows from the user and is kept nowhere: it is found by computing
//! those of all users, once, and remembered from then on. Only servers may use it, since it proves nothing.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::ids::{AppId, ContactId, NamedUserId};
use model::time::UtcMillis;
use parking_lot::RwLock;
use store::{Tx, contacts, named_users};

use crate::{Author, Devices};

/// Users whose ids are computed in one transaction.
const USERS_AT_ONCE: u32 = 5000;
/// The ids that a node remembers. They are forgotten together when there are more.
const MOST_REMEMBERED: usize = 100_000;
/// The ids of nobody that a node remembers of one app. They are forgotten together when there are more.
const MOST_MISSES: usize = 10_000;
/// How long an id stays nobody's after a search. A user of that id who is made meanwhile, on any node, is found after it.
const MISSED_FOR: Duration = Duration::from_secs(60);

/// The users of some contact ids.
pub(super) type ShownUsers = HashMap<ContactId, NamedUserId>;

#[derive(Default)]
pub(crate) struct RememberedUsers {
    known: RwLock<HashMap<(AppId, ContactId), NamedUserId>>,
    /// When ids were looked for in vain: a search goes through all users of the app.
    missed: RwLock<HashMap<AppId, HashMap<ContactId, UtcMillis>>>,
}

impl RememberedUsers {
    fn get(&self, app: AppId, id: ContactId) -> Option<NamedUserId> {
        self.known.read().get(&(app, id)).cloned()
    }

    fn add(&self, app: AppId, id: ContactId, user: NamedUserId) {
        let mut known = self.known.write();
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert((app, id), user);
    }

    fn was_missed(&self, app: AppId, id: ContactId, now: UtcMillis) -> bool {
        let missed = self.missed.read();
        let since = missed.get(&app).and_then(|missed| missed.get(&id));
        // A clock that was set back does not make it last longer.
        since.is_some_and(|since| (*since..since.plus(MISSED_FOR)).contains(&now))
    }

    fn miss(&self, app: AppId, ids: HashSet<ContactId>, now: UtcMillis) {
        if ids.is_empty() {
            return;
        }
        let mut missed = self.missed.write();
        let missed = missed.entry(app).or_default();
        if missed.len() >= MOST_MISSES {
            missed.clear();
        }
        missed.extend(ids.into_iter().map(|id| (id, now)));
    }
}

#[boxed]
impl Devices {
    /// The contact id under which events show a user.
    pub(super) async fn shown_contact(&self, app: AppId, user: &NamedUserId) -> Result<ContactId> {
        let id = self.contact_key(app).await?.contact_of(user);
        self.0.remembered_users.add(app, id, user.clone());
        Ok(id)
    }

    /// The users that events show under these ids. Ids that a device was told are left out.
    pub(super) async fn users_shown(&self, app: AppId, ids: &[ContactId]) -> Result<ShownUsers> {
        let mut shown = ShownUsers::new();
        if self.1 == Author::Devices {
            return Ok(shown);
        }
        let (remembered, now) = (&self.0.remembered_users, self.0.clock.now());
        let mut wanted = HashSet::new();
        for id in ids.iter().copied().filter(ContactId::is_of_named_user) {
            match remembered.get(app, id) {
                Some(user) => _ = shown.insert(id, user),
                None if remembered.was_missed(app, id, now) => {}
                None => _ = wanted.insert(id),
            }
        }
        if !wanted.is_empty() {
            let unknown: Vec<ContactId> = wanted.iter().copied().collect();
            for told in self.0.store.read(move |tx| contacts::among(tx, app, &unknown)).await? {
                wanted.remove(&told);
            }
            self.search_users(app, &mut wanted, &mut shown).await?;
            remembered.miss(app, wanted, now);
        }
        Ok(shown)
    }

    /// Looks for ids among those of all users, and leaves those of nobody.
    async fn search_users(&self, app: AppId, wanted: &mut HashSet<ContactId>, found: &mut ShownUsers) -> Result<()> {
        let key = self.contact_key(app).await?;
        let mut start: Option<NamedUserId> = None;
        while !wanted.is_empty() {
            let first = start.take();
            let read = move |tx: &mut Tx<'_>| named_users::page(tx, app, first.as_ref(), USERS_AT_ONCE + 1);
            let mut page = self.0.store.read(read).await?;
            start = (page.len() > USERS_AT_ONCE as usize).then(|| page.pop()).flatten().map(|user| user.id);
            for user in page {
                let id = key.contact_of(&user.id);
                if wanted.remove(&id) {
                    self.0.remembered_users.add(app, id, user.id.clone());
                    found.insert(id, user.id);
                }
            }
            if start.is_none() {
                break;
            }
        }
        Ok(())
    }
}
