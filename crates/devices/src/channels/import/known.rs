//! What is known of the channels and users that the rows of an import name, read before anything is changed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::result;

use base::Result;
use model::channel::ImportedChannel;
use model::ids::{ChannelId, NamedUserId, Ordinal, TermId};
use model::limits;
use store::attributes::{self, Owner};
use store::channels::{self, Channel, Key};
use store::{Tx, named_users};

use super::{Placed, Refusal, key_of};
use crate::attributes::{Attributes, read};
use crate::change_context::ChangeContext;
use crate::channels::state::State;

pub(super) struct Known {
    by_id: HashMap<ChannelId, Channel>,
    by_ordinal: HashMap<Ordinal, Channel>,
    /// The channel that has the address of a row, by the number of the row.
    owners: HashMap<usize, Ordinal>,
    /// Free ids that somebody has promised to a user.
    promised: HashSet<ChannelId>,
    attributes: HashMap<Ordinal, Attributes>,
    /// The terms of the users that there are.
    users: HashMap<NamedUserId, Vec<TermId>>,
    /// How many channels users have.
    n_channels: HashMap<NamedUserId, usize>,
}

impl Known {
    pub(super) fn read(tx: &mut Tx<'_>, context: &ChangeContext<'_>, rows: &[Placed]) -> Result<Self> {
        let app = context.app;
        let ids: Vec<ChannelId> = rows.iter().filter_map(|placed| placed.row.channel.id).collect();
        let by_id = channels::by_ids(tx, app, ids.iter().copied())?;
        let by_id: HashMap<ChannelId, Channel> = by_id.into_iter().map(|channel| (channel.id, channel)).collect();
        let free = ids.into_iter().filter(|id| !by_id.contains_key(id));
        let promised = named_users::pending_among(tx, app, free)?.into_iter().collect();

        let (numbers, keys): (Vec<usize>, Vec<Key>) =
            rows.iter().enumerate().filter_map(|(n, placed)| Some((n, key_of(&placed.row.channel)?))).unzip();
        let owners = numbers.into_iter().zip(channels::owners_of_keys(tx, app, &keys)?);
        let owners: HashMap<usize, Ordinal> = owners.filter_map(|(n, owner)| Some((n, owner?))).collect();
        let by_address: BTreeSet<Ordinal> = owners
            .iter()
            .filter(|(n, _)| rows.get(**n).is_some_and(|placed| placed.row.channel.id.is_none()))
            .map(|(_, owner)| *owner)
            .collect();
        let by_address: Vec<Ordinal> = by_address.into_iter().collect();
        let by_ordinal = channels::by_ordinals(tx, app, &by_address)?;
        let by_ordinal: HashMap<Ordinal, Channel> =
            by_ordinal.into_iter().map(|channel| (channel.ordinal, channel)).collect();

        let channels: Vec<&Channel> = by_id.values().chain(by_ordinal.values()).collect();
        let of_channels = channels.iter().filter_map(|channel| channel.named_user.clone());
        let said = rows.iter().filter_map(|placed| placed.row.channel.named_user().given().cloned());
        let said: BTreeSet<NamedUserId> = said.collect();
        let wanted: BTreeSet<NamedUserId> = said.iter().cloned().chain(of_channels).collect();
        let wanted: Vec<NamedUserId> = wanted.into_iter().collect();
        let users = named_users::among(tx, app, &wanted)?;
        let users: HashMap<NamedUserId, Vec<TermId>> = users.into_iter().map(|user| (user.id, user.terms)).collect();
        let n_channels =
            named_users::count_channels_of_all(tx, app, said.iter().filter(|user| users.contains_key(*user)))?;

        let owning: Vec<Owner> = channels.iter().map(|channel| Owner::Channel(channel.ordinal)).collect();
        let held = attributes::of_owners(tx, app, &owning)?;
        let held = channels.iter().zip(held).map(|(channel, values)| Ok((channel.ordinal, read(values)?)));
        let attributes = held.collect::<Result<_>>()?;
        Ok(Self { by_id, by_ordinal, owners, promised, attributes, users, n_channels })
    }

    /// The channel that a row is about.
    pub(super) fn channel(&self, n: usize, channel: &ImportedChannel) -> Option<&Channel> {
        match channel.id {
            Some(id) => self.by_id.get(&id),
            None => self.owner(n).and_then(|owner| self.by_ordinal.get(&owner)),
        }
    }

    /// The channel that has the address of a row.
    pub(super) fn owner(&self, n: usize) -> Option<Ordinal> {
        self.owners.get(&n).copied()
    }

    pub(super) fn is_promised(&self, id: ChannelId) -> bool {
        self.promised.contains(&id)
    }

    pub(super) fn attributes(&self, ordinal: Ordinal) -> Option<&Attributes> {
        self.attributes.get(&ordinal)
    }

    pub(super) fn has_user(&self, user: &NamedUserId) -> bool {
        self.users.contains_key(user)
    }

    pub(super) fn add_user(&mut self, user: &NamedUserId, terms: Vec<TermId>) {
        self.users.insert(user.clone(), terms);
    }

    /// The terms that channels get from a user.
    pub(super) fn terms_of(&self, user: Option<&NamedUserId>) -> Vec<TermId> {
        user.and_then(|user| self.users.get(user)).cloned().unwrap_or_default()
    }

    /// Refuses a user that has as many channels as it may.
    pub(super) fn admit(&self, before: Option<&NamedUserId>, after: &State) -> result::Result<(), Refusal> {
        let most = limits::CHANNELS_PER_NAMED_USER;
        match &after.named_user {
            Some(user) if before != Some(user) && self.n_channels.get(user).is_some_and(|n| *n >= most) => {
                let user = user.as_str();
                let text =
                    format!("The named user '{user}' has {most} channels, which is the most; disassociate one first.");
                Err(("named_user_id", text))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A channel has come to a user, from another perhaps.
    pub(super) fn count(&mut self, user: Option<&NamedUserId>, before: Option<&NamedUserId>) {
        if let Some(user) = user {
            *self.n_channels.entry(user.clone()).or_default() += 1;
        }
        if let Some(n) = before.and_then(|user| self.n_channels.get_mut(user)) {
            *n = n.saturating_sub(1);
        }
    }
}
