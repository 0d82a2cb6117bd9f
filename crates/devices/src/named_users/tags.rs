//! The holdings of a named user, and the effect of changing them on the user's channels.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::slice;

use base::Result;
use boxed::boxed;
use model::channel::TagOperation;
use model::ids::{AppId, NamedUserId, TermId};
use model::limits;
use model::subscription::Scope;
use model::term::Term;
use store::Tx;
use store::named_users::{self, NamedUser};

use crate::change_context::{ChangeContext, Tags, TermDifference};
use crate::holdings::{Holdings, TAGS};
use crate::room::{Batch, Full, Limit, Room};
use crate::subscriptions::check_lists;
use crate::{Author, Devices};

#[boxed]
impl Devices {
    /// Changes the tags of users, who are created if necessary. Users without room are skipped, and each is told in a sentence.
    pub async fn tag_named_users(
        &self,
        app: AppId,
        users: Vec<NamedUserId>,
        operation: TagOperation,
    ) -> Result<Vec<String>> {
        let users: BTreeSet<NamedUserId> = users.into_iter().collect();
        let users: Vec<NamedUserId> = users.into_iter().collect();
        self.change_audience(app, move |tx, context| {
            let mut batch = Batch::default();
            context.change_each(tx, &users, &mut batch, |holdings| operation.apply(&mut holdings.tags))?;
            batch.finish()
        })
        .await
    }
}

/// Users that have no room for a change, and why.
pub(crate) type FullUsers = Vec<(NamedUserId, Full)>;

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
        change: impl Fn(&mut Holdings),
    ) -> Result<()> {
        let full = self.change_or_create(tx, slice::from_ref(id), self.author(), |_, holdings| change(holdings))?;
        full.into_iter().next().map_or(Ok(()), |(_, full)| Err(full.into()))
    }

    /// Gives a new user what was said about it before it had a name, which may fill more than the part of devices.
    pub(crate) fn endow_user(
        &mut self,
        tx: &mut Tx<'_>,
        id: &NamedUserId,
        change: impl Fn(&mut Holdings),
    ) -> Result<()> {
        let full = self.change_or_create(tx, slice::from_ref(id), Author::Servers, |_, holdings| change(holdings))?;
        full.into_iter().next().map_or(Ok(()), |(_, full)| Err(full.into()))
    }

    /// As [`Self::change_user`], for many users, each given once. Those without room are left as they are.
    pub(crate) fn change_each(
        &mut self,
        tx: &mut Tx<'_>,
        ids: &[NamedUserId],
        batch: &mut Batch,
        change: impl Fn(&mut Holdings),
    ) -> Result<()> {
        let full = self.change_or_create(tx, ids, self.author(), |_, holdings| change(holdings))?;
        let mut full: HashMap<NamedUserId, Full> = full.into_iter().collect();
        for id in ids {
            batch.add(|| format!("named user '{}'", id.as_str()), full.remove(id).map_or(Ok(()), Err));
        }
        Ok(())
    }

    /// Changes users, each in its own way, as far as they have room. Those that have none are returned.
    pub(crate) fn change_or_create(
        &mut self,
        tx: &mut Tx<'_>,
        ids: &[NamedUserId],
        author: Author,
        change: impl Fn(&NamedUserId, &mut Holdings),
    ) -> Result<FullUsers> {
        let now = self.journal.now();
        let mut users = named_users::among(tx, self.app, ids)?;
        let known: HashSet<NamedUserId> = users.iter().map(|user| user.id.clone()).collect();
        let unknown = ids.iter().filter(|id| !known.contains(id)).cloned();
        users.extend(unknown.map(|id| NamedUser { id, created: now, modified: now, terms: Vec::new() }));
        let (changes, full) = self.changes(tx, users, author, change)?;
        let changed = changes.iter().map(|change| &change.user.id);
        let new: Vec<NamedUserId> = changed.filter(|id| !known.contains(*id)).cloned().collect();
        for _ in &new {
            self.admit_user(tx)?;
        }
        if !new.is_empty() {
            named_users::insert_many(tx, self.app, &new, &[], now)?;
        }
        self.write_users(tx, changes)?;
        Ok(full)
    }

    /// Changes the holdings of users that exist. Lists, which have no limit, are all that is changed this way.
    pub fn change_users(
        &mut self,
        tx: &mut Tx<'_>,
        users: Vec<NamedUser>,
        change: impl Fn(&mut Holdings),
    ) -> Result<()> {
        let (changes, full) = self.changes(tx, users, self.author(), |_, holdings| change(holdings))?;
        if let Some((_, full)) = full.into_iter().next() {
            return Err(full.into());
        }
        self.write_users(tx, changes)
    }

    /// Nothing is written before it is known which users have room for the change: a refusal leaves nothing to undo.
    fn changes(
        &self,
        tx: &mut Tx<'_>,
        users: Vec<NamedUser>,
        author: Author,
        change: impl Fn(&NamedUserId, &mut Holdings),
    ) -> Result<(Vec<Change>, FullUsers)> {
        let (mut changes, mut full) = (Vec::with_capacity(users.len()), Vec::new());
        for user in users {
            let held: Vec<(TermId, Term)> = user.terms.iter().copied().zip(self.names(tx, &user.terms)?).collect();
            let before = Holdings::of(held.iter().map(|(_, term)| term.clone()));
            let mut after = before.clone();
            change(&user.id, &mut after);
            match has_room(&before, &after, author) {
                Ok(()) => changes.push(Change { user, held, before, after }),
                Err(why) => full.push((user.id, why)),
            }
        }
        Ok((changes, full))
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
            let scope = Some(Scope::of(&channel.device_type));
            self.record_subscription_events(channel.ordinal, scope, &changed.before, &changed.after)?;
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

/// Whether a user has room for a change by an author.
fn has_room(before: &Holdings, after: &Holdings, author: Author) -> Room {
    let tags = Limit::of_user(limits::TAGS_PER_CHANNEL, author);
    tags.check(before.n_tags(), after.n_tags(), "", TAGS)?;
    check_lists(before, after, Limit::of_user(limits::SUBSCRIPTIONS_PER_OWNER, author))
}
