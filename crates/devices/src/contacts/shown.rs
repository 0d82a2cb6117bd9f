//! Named users by the contact ids that events show. Such an id follows from the user and is kept nowhere: it is found by computing
//! those of all users, once, and remembered from then on. Only servers may use it, since it proves nothing.

use std::collections::HashMap;

use base::Result;
use boxed::boxed;
use model::ids::{AppId, ContactId, NamedUserId};
use parking_lot::RwLock;
use store::{Tx, contacts, named_users};

use crate::{Author, Devices};

/// Users whose ids are computed in one transaction.
const USERS_AT_ONCE: u32 = 5000;
/// The ids that a node remembers. They are forgotten together when there are more.
const MOST_REMEMBERED: usize = 100_000;

/// The users of some contact ids.
pub(super) type ShownUsers = HashMap<ContactId, NamedUserId>;

#[derive(Default)]
pub(crate) struct RememberedUsers(RwLock<HashMap<(AppId, ContactId), NamedUserId>>);

impl RememberedUsers {
    fn get(&self, app: AppId, id: ContactId) -> Option<NamedUserId> {
        self.0.read().get(&(app, id)).cloned()
    }

    fn add(&self, app: AppId, id: ContactId, user: NamedUserId) {
        let mut known = self.0.write();
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert((app, id), user);
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
        let mut unknown = Vec::new();
        for id in ids.iter().copied().filter(ContactId::is_of_named_user) {
            match self.0.remembered_users.get(app, id) {
                Some(user) => _ = shown.insert(id, user),
                None => unknown.push(id),
            }
        }
        if !unknown.is_empty() {
            let not_told = move |tx: &mut Tx<'_>| -> Result<Vec<ContactId>> {
                let mut not_told = Vec::new();
                for id in &unknown {
                    if contacts::named_user(tx, app, *id)?.is_none() {
                        not_told.push(*id);
                    }
                }
                Ok(not_told)
            };
            let wanted = self.0.store.read(not_told).await?;
            self.search_users(app, wanted, &mut shown).await?;
        }
        Ok(shown)
    }

    /// Looks for ids among those of all users.
    async fn search_users(&self, app: AppId, mut wanted: Vec<ContactId>, found: &mut ShownUsers) -> Result<()> {
        let key = self.contact_key(app).await?;
        let mut start: Option<NamedUserId> = None;
        while !wanted.is_empty() {
            let first = start.take();
            let read = move |tx: &mut Tx<'_>| named_users::page(tx, app, first.as_ref(), USERS_AT_ONCE + 1);
            let mut page = self.0.store.read(read).await?;
            start = (page.len() > USERS_AT_ONCE as usize).then(|| page.pop()).flatten().map(|user| user.id);
            for user in page {
                let id = key.contact_of(&user.id);
                if wanted.contains(&id) {
                    wanted.retain(|other| *other != id);
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
