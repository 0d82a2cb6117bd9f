//! The holdings of a named user, and the effect of changing them on the user's channels.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::slice;

use base::Result;
use boxed::boxed;
use model::channel::TagOperation;
use model::ids::{AppId, NamedUserId, TermId};
use model::term::Term;
use store::Tx;
use store::named_users::{self, NamedUser};

use crate::Devices;
use crate::change_context::{ChangeContext, Tags, TermDifference};
use crate::holdings::Holdings;

#[boxed]
impl Devices {
    /// Changes the tags of users, who are created if necessary.
    pub async fn tag_named_users(&self, app: AppId, users: Vec<NamedUserId>, operation: TagOperation) -> Result<()> {
        let users: BTreeSet<NamedUserId> = users.into_iter().collect();
        let users: Vec<NamedUserId> = users.into_iter().collect();
        self.change_audience(app, move |tx, context| {
            context.change_or_create(tx, &users, |holdings| {
                operation.apply(&mut holdings.tags);
                Ok(())
            })
        })
        .await
    }
}

/// A user with its holdings before and after a change.
struct Change {
    user: NamedUser,
    /// The terms of the user with their numbers, in order.
    held: Vec<(TermId, Term)>,
    before: Holdings,
    after: Holdings,
}

struct ChangedUser {
    user: NamedUser,
    difference: TermDifference,
    before: Holdings,
    after: Holdings,
}

impl ChangeContext<'_> {
    /// Changes the holdings of a user, and with it the terms of all the user's channels. The user is created if necessary.
    pub(crate) fn change_user(
        &mut self,
        tx: &mut Tx<'_>,
        id: &NamedUserId,
        change: impl Fn(&mut Holdings) -> Result<()>,
    ) -> Result<()> {
        self.change_or_create(tx, slice::from_ref(id), change)
    }

    /// The same for many users, each given once.
    fn change_or_create(
        &mut self,
        tx: &mut Tx<'_>,
        ids: &[NamedUserId],
        change: impl Fn(&mut Holdings) -> Result<()>,
    ) -> Result<()> {
        let now = self.journal.now();
        let mut users = named_users::among(tx, self.app, ids)?;
        let known: HashSet<&NamedUserId> = users.iter().map(|user| &user.id).collect();
        let new: Vec<NamedUserId> = ids.iter().filter(|id| !known.contains(id)).cloned().collect();
        let created = new.iter().cloned();
        users.extend(created.map(|id| NamedUser { id, created: now, modified: now, terms: Vec::new() }));
        let changes = self.changes(tx, users, change)?;
        for _ in &new {
            self.admit_user(tx)?;
        }
        if !new.is_empty() {
            named_users::insert_many(tx, self.app, &new, &[], now)?;
        }
        self.write_users(tx, changes)
    }

    /// The same for users that exist.
    pub fn change_users(
        &mut self,
        tx: &mut Tx<'_>,
        users: Vec<NamedUser>,
        change: impl Fn(&mut Holdings) -> Result<()>,
    ) -> Result<()> {
        let changes = self.changes(tx, users, change)?;
        self.write_users(tx, changes)
    }

    /// Nothing is written before all users are known to have room for the change: a refusal leaves nothing to undo.
    fn changes(
        &self,
        tx: &mut Tx<'_>,
        users: Vec<NamedUser>,
        change: impl Fn(&mut Holdings) -> Result<()>,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::with_capacity(users.len());
        for user in users {
            let held: Vec<(TermId, Term)> = user.terms.iter().copied().zip(self.names(tx, &user.terms)?).collect();
            let before = Holdings::of(held.iter().map(|(_, term)| term.clone()));
            let mut after = before.clone();
            change(&mut after)?;
            after.check_number_of_tags()?;
            changes.push(Change { user, held, before, after });
        }
        Ok(changes)
    }

    /// `None` when the change changes nothing.
    fn changed(&mut self, tx: &mut Tx<'_>, change: Change) -> Result<Option<ChangedUser>> {
        let Change { mut user, held, before, after } = change;
        let difference = self.difference(tx, &held, &before, &after)?;
        if difference.is_empty() {
            return Ok(None);
        }
        user.terms = difference.apply(&user.terms);
        user.modified = self.journal.now();
        Ok(Some(ChangedUser { user, difference, before, after }))
    }

    fn write_users(&mut self, tx: &mut Tx<'_>, changes: Vec<Change>) -> Result<()> {
        let mut changed = Vec::with_capacity(changes.len());
        for change in changes {
            changed.extend(self.changed(tx, change)?);
        }
        named_users::save(tx, self.app, changed.iter().map(|changed| &changed.user))?;
        let by_id: HashMap<&NamedUserId, &ChangedUser> =
            changed.iter().map(|changed| (&changed.user.id, changed)).collect();
        let channels = named_users::channels_of_all(tx, self.app, changed.iter().map(|changed| &changed.user.id))?;
        for channel in channels.iter().filter(|channel| channel.installed) {
            let Some(changed) = channel.named_user.as_ref().and_then(|user| by_id.get(user)) else { continue };
            self.journal.change_terms(channel.ordinal, changed.difference.clone().beside(&channel.terms));
            let before = Tags { own: &changed.before.published_tags(), others: &channel.terms };
            self.record_tag_events(
                tx,
                channel.ordinal,
                before,
                Tags { own: &changed.after.tags, others: &channel.terms },
            )?;
        }
        Ok(())
    }
}
