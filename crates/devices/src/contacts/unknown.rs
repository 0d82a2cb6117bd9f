//! The user of a channel without a named user. What is said about that user is kept with the channel, the only one the user has,
//! so that audiences find it there; and which part of the channel's it is, so that it goes with the user.

use std::collections::BTreeSet;

use base::{Error, Result};
use model::channel::ChannelBatch;
use model::contact::ContactUpdate;
use model::device_type::DeviceType;
use model::ids::{ContactId, NamedUserId, TermId};
use model::subscription::{Scope, ScopedOperation, Subscription};
use model::term::Term;
use store::attributes::{self, Owner};
use store::channels::{self, Channel};
use store::{Tx, unknown_users};

use crate::attributes::attributes_of;
use crate::change_context::{ChangeContext, TermDifference, union};
use crate::holdings::Holdings;

impl ChangeContext<'_> {
    /// Changes what is known of the user of an installed channel. What the channel had already stays its own.
    pub(super) fn change_unknown_user(&mut self, tx: &mut Tx<'_>, row: Channel, update: &ContactUpdate) -> Result<()> {
        let (app, ordinal, owner) = (self.app, row.ordinal, Owner::Channel(row.ordinal));
        let batch = of_channel(update, &row.device_type);
        let (terms_before, attributes_before) = (row.terms.clone(), attributes_of(tx, app, &owner)?);
        self.change_channel(tx, &row.into(), &batch)?;
        let terms = channels::by_ordinal(tx, app, ordinal)?.ok_or(Error::NotFound("channel"))?.terms;
        let attributes = attributes_of(tx, app, &owner)?;

        let mut user = unknown_users::get(tx, app, ordinal)?.unwrap_or_default();
        let new = TermDifference::between(&terms_before, &terms).added;
        user.terms = shared(&union(&user.terms, &new), &terms);
        user.attributes.retain(|name| attributes.contains_key(name));
        let new = attributes.into_iter().filter(|(name, value)| attributes_before.get(name) != Some(value));
        user.attributes.extend(new.map(|(name, _)| name));
        Ok(unknown_users::put(tx, app, ordinal, &user)?)
    }

    /// Takes what was said about the user of a channel out of what the channel holds itself, because from now on it is somebody
    /// else's. The heir gets it; without one it is forgotten.
    pub(crate) fn end_unknown_user(
        &mut self,
        tx: &mut Tx<'_>,
        row: &Channel,
        own: &mut Holdings,
        heir: Option<&NamedUserId>,
    ) -> Result<()> {
        let Some(user) = unknown_users::get(tx, self.app, row.ordinal)? else { return Ok(()) };
        unknown_users::delete(tx, self.app, row.ordinal)?;
        let said = Holdings::of(self.names(tx, &shared(&user.terms, &row.terms))?);
        own.remove(&said);
        let (owner, names) = (Owner::Channel(row.ordinal), user.attributes.iter().map(String::as_str));
        let Some(heir) = heir else {
            return Ok(attributes::forget_some(tx, self.app, &owner, names)?);
        };
        attributes::hand_over(tx, self.app, &owner, &Owner::NamedUser(heir.clone()), names)?;
        let scope = Some(Scope::of(&row.device_type));
        self.endow_user(tx, heir, |holdings| {
            let lists = said.own_subscriptions().into_iter();
            holdings.memberships.extend(lists.map(|list| Term::Subscription(Subscription { list, scope })));
            for (group, tags) in &said.tags {
                holdings.tags.entry(group.clone()).or_default().extend(tags.iter().cloned());
            }
        })
    }

    /// Another user, of whom nothing is known, uses the channel from now on. Libraries tell the two apart by their contact ids.
    pub(super) fn replace_unknown_user(&mut self, tx: &mut Tx<'_>, row: Channel, next: ContactId) -> Result<()> {
        let opened = self.open(tx, row)?;
        let mut after = opened.state.clone();
        self.end_unknown_user(tx, &opened.row, &mut after.own, None)?;
        after.profile.unknown_contact = Some(next);
        after.profile.associated = Some(self.journal.now());
        self.save(tx, opened, after)?;
        Ok(())
    }
}

/// The effect of an update of a contact on its only channel. Subscriptions for other kinds of channels have none.
fn of_channel(update: &ContactUpdate, device_type: &DeviceType) -> ChannelBatch {
    let is_for_it = |scoped: &&ScopedOperation| scoped.scope == Scope::of(device_type);
    ChannelBatch {
        tags: update.tags.clone(),
        attributes: update.attributes.clone(),
        subscriptions: update.subscriptions.iter().filter(is_for_it).map(|scoped| scoped.operation.clone()).collect(),
        live_activities: Vec::new(),
        live_updates: Vec::new(),
    }
}

fn shared(left: &[TermId], right: &[TermId]) -> Vec<TermId> {
    let right: BTreeSet<&TermId> = right.iter().collect();
    left.iter().filter(|id| right.contains(id)).copied().collect()
}
