//! The context of a transaction that changes the audience of an app: the app, the numbers of its terms, and the journal.

mod subscription_events;
mod tag_events;
mod term_difference;

pub(crate) use tag_events::Tags;
pub(crate) use term_difference::TermDifference;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use audience::index::Index;
use base::{Claim, Error, Result};
use boxed::boxed;
use model::channel::ChannelRef;
use model::ids::{AppId, TermId};
use model::tag::DEVICE;
use model::term::Term;
use model::time::{Clock, UtcMillis};
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::channels::{self, Channel};
use store::{Tx, terms};
use tenancy::IdempotencyKey;

use crate::Devices;
use crate::holdings::Holdings;
use crate::journal::Journal;
use crate::mistaken::Meant;

pub struct ChangeContext<'a> {
    pub app: AppId,
    /// Knows the numbers of most terms, which saves asking the database.
    pub(crate) index: &'a Index,
    pub journal: Journal,
    /// Limits what is created, if devices create it.
    pub(crate) growth: Option<&'a Claim>,
    /// Whether the index has read the deletion of every deleted tag; looked up when first needed.
    knows_deletions: OnceCell<bool>,
    /// The numbers of terms that the index does not know and this transaction has looked up or given out.
    looked_up: HashMap<Term, TermId>,
}

#[boxed]
impl Devices {
    /// Changes the audience of an app in one transaction, together with the log records of the change.
    pub async fn change_audience<T: Send + 'static>(
        &self,
        app: AppId,
        change: impl Fn(&mut Tx<'_>, &mut ChangeContext<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let index = self.0.index.get(app).await?;
        let change = with_records(app, index, self.0.clock.clone(), self.claim(app), change);
        self.0.store.write(app, change).await
    }

    /// The same for a request that may carry a key, by which repeats of it are recognized.
    pub(crate) async fn change_audience_once<T: Serialize + DeserializeOwned + Send + 'static>(
        &self,
        app: AppId,
        idempotency_key: Option<IdempotencyKey>,
        change: impl Fn(&mut Tx<'_>, &mut ChangeContext<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let index = self.0.index.get(app).await?;
        let change = with_records(app, index, self.0.clock.clone(), self.claim(app), change);
        self.0.tenancy.write_once(app, idempotency_key, change).await
    }
}

/// A change with the log records of it. The clock is read when the change is made, not when it was asked for: while a registration
/// waits for its turn, a delivery may read the address that it replaces, and what the provider says of that one counts for channels
/// that have not registered since.
fn with_records<T>(
    app: AppId,
    index: Arc<Index>,
    clock: Clock,
    claim: Option<Claim>,
    change: impl Fn(&mut Tx<'_>, &mut ChangeContext<'_>) -> Result<T>,
) -> impl Fn(&mut Tx<'_>) -> Result<T> {
    move |tx| {
        if let Some(claim) = &claim {
            claim.restart();
        }
        let context = ChangeContext::new(app, &index, clock.now());
        let mut context = ChangeContext { growth: claim.as_ref(), ..context };
        let changed = change(tx, &mut context).and_then(|answer| context.journal.write(tx, app).map(|_| answer));
        if let (Err(_), Some(claim)) = (&changed, &claim) {
            claim.restart();
        }
        changed
    }
}

impl<'a> ChangeContext<'a> {
    pub fn new(app: AppId, index: &'a Index, now: UtcMillis) -> Self {
        let (knows_deletions, looked_up) = (OnceCell::new(), HashMap::new());
        Self { app, index, journal: Journal::new(now), growth: None, knows_deletions, looked_up }
    }

    /// The given channels that are installed and have the device type that the caller expects. A channel may be given more than
    /// once, each time with another type.
    pub fn meant(&self, tx: &mut Tx<'_>, wanted: &[ChannelRef]) -> Result<Meant> {
        let found = channels::holders(tx, self.app, wanted.iter().map(|channel| channel.id))?;
        Ok(Meant::among(found, wanted))
    }

    pub(crate) fn installed_one(&self, tx: &mut Tx<'_>, wanted: &ChannelRef) -> Result<Channel> {
        let found = channels::by_id(tx, self.app, wanted.id)?;
        found.filter(|row| row.installed && wanted.fits(&row.device_type)).ok_or(Error::NotFound("channel"))
    }

    /// The number of a term. One without a number gets one.
    pub fn number(&mut self, tx: &mut Tx<'_>, term: &Term) -> Result<TermId> {
        if let Some(id) = self.known_number(tx, term)? {
            return Ok(id);
        }
        match terms::find(tx, self.app, term)? {
            Some(id) => {
                self.looked_up.insert(term.clone(), id);
                Ok(id)
            }
            None => self.give_number(tx, term),
        }
    }

    /// Looks up the numbers of very many terms together, so that [`Self::number`] knows them. Those without numbers get some.
    pub(crate) fn look_up_numbers(&mut self, tx: &mut Tx<'_>, wanted: impl IntoIterator<Item = Term>) -> Result<()> {
        let mut unknown = BTreeSet::new();
        for term in wanted {
            if !unknown.contains(&term) && self.known_number(tx, &term)?.is_none() {
                unknown.insert(term);
            }
        }
        self.looked_up.extend(terms::among(tx, self.app, &unknown)?);
        for term in &unknown {
            if !self.looked_up.contains_key(term) {
                self.give_number(tx, term)?;
            }
        }
        Ok(())
    }

    /// The number of a term, if the database need not be asked for it.
    fn known_number(&self, tx: &mut Tx<'_>, term: &Term) -> Result<Option<TermId>> {
        let (group, tag) = term.key();
        if let Some(id) = self.index.number_of(group, &tag)
            && self.may_trust_index(tx, group)?
        {
            return Ok(Some(id));
        }
        Ok(self.looked_up.get(term).copied())
    }

    fn give_number(&mut self, tx: &mut Tx<'_>, term: &Term) -> Result<TermId> {
        self.admit_term(tx, term)?;
        let id = terms::insert(tx, self.app, term)?;
        self.journal.new_term(id, term);
        self.looked_up.insert(term.clone(), id);
        Ok(id)
    }

    /// The numbers of terms, sorted.
    pub(crate) fn numbers<'t>(
        &mut self,
        tx: &mut Tx<'_>,
        wanted: impl IntoIterator<Item = &'t Term>,
    ) -> Result<Vec<TermId>> {
        let numbers = wanted.into_iter().map(|term| self.number(tx, term));
        let mut numbers: Vec<TermId> = numbers.collect::<Result<_>>()?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    pub(crate) fn names(&self, tx: &mut Tx<'_>, ids: &[TermId]) -> Result<Vec<Term>> {
        let mut names = Vec::with_capacity(ids.len());
        for id in ids {
            let known = match self.index.name_of(*id) {
                Some((group, tag)) if self.may_trust_index(tx, &group)? => Term::from_key(&group, &tag),
                Some(_) | None => None,
            };
            match known {
                Some(term) => names.push(term),
                None => names.push(terms::name(tx, self.app, *id)?),
            }
        }
        Ok(names)
    }

    /// The terms of some groups, with their numbers. The groups of device properties are never asked for.
    pub(crate) fn named_of(
        &self,
        tx: &mut Tx<'_>,
        ids: &[TermId],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<(TermId, Term)>> {
        let mut found = Vec::new();
        self.index.visit_names(ids, |id, name| match name {
            Some((group, tag)) if is_wanted(group) => found.push((id, Term::from_key(group, tag), group == DEVICE)),
            Some(_) => {}
            None => found.push((id, None, false)),
        });
        let mut named = Vec::with_capacity(found.len());
        for (id, known, is_of_device) in found {
            match known {
                Some(term) if !is_of_device || self.may_trust_index(tx, DEVICE)? => named.push((id, term)),
                Some(_) | None => {
                    let term = terms::name(tx, self.app, id)?;
                    if is_wanted(term.key().0) {
                        named.push((id, term));
                    }
                }
            }
        }
        Ok(named)
    }

    /// The difference that a change of holdings makes, of which `held` are all terms before it, with their numbers in order.
    /// Only new terms are looked up. Terms of deleted tags are in no holdings, so they go.
    pub(crate) fn difference(
        &mut self,
        tx: &mut Tx<'_>,
        held: &[(TermId, Term)],
        before: &Holdings,
        after: &Holdings,
    ) -> Result<TermDifference> {
        let removed = held.iter().filter(|(_, term)| !after.has(term)).map(|(id, _)| *id).collect();
        Ok(TermDifference { added: self.numbers(tx, &after.terms_not_in(before))?, removed })
    }

    /// Numbers keep their names forever, except those of deleted device tags: an index that has not read the last deletion yet
    /// would bring the tag back, or add it under a number that no longer has a name.
    fn may_trust_index(&self, tx: &mut Tx<'_>, group: &str) -> Result<bool> {
        if group != DEVICE {
            return Ok(true);
        }
        if let Some(knows) = self.knows_deletions.get() {
            return Ok(*knows);
        }
        let knows = self.index.offset() >= terms::retired_at(tx, self.app)?;
        Ok(*self.knows_deletions.get_or_init(|| knows))
    }
}

/// Two sorted lists as one.
pub(crate) fn union<'l>(left: &'l [TermId], right: &[TermId]) -> Cow<'l, [TermId]> {
    if right.is_empty() {
        return Cow::Borrowed(left);
    }
    let mut all = [left, right].concat();
    all.sort_unstable();
    all.dedup();
    Cow::Owned(all)
}
