//! Import of channels by servers: thousands in one transaction, each created or brought up to date. What there is of them is read
//! with one question of each kind, and new channels, users and attributes are written together.
//!
//! An import tells of channels that people have had for long, so it writes no events: no first opening, no first opt-in, no change
//! of tags. The audience index and the counts of devices learn of it as of any other change.

mod known;
mod later;

use std::collections::HashSet;
use std::result;

use base::{Error, Result};
use boxed::boxed;
use model::channel::{ImportedChannel, TagOperation};
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal};
use model::limits;
use model::subscription::Subscription;
use model::term::Term;
use store::attributes::{Owner, Write};
use store::channels::{self, Channel, Key};
use store::{Tx, named_users};

use super::keys::address_key;
use super::state::{State, stored_profile};
use crate::Devices;
use crate::attributes::{Attributes, attributes_of};
use crate::change_context::ChangeContext;
use crate::holdings::TAGS;
use crate::locations::Whereabouts;
use crate::room::Limit;
use crate::subscriptions::check_lists;
use known::Known;
use later::Later;

/// A channel to import, and the line of the file that tells of it.
#[derive(Clone, Debug)]
pub struct ImportRow {
    pub line: u64,
    pub channel: ImportedChannel,
}

/// What became of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    pub n_created: u64,
    /// Channels that were there, whether or not anything about them is new.
    pub n_updated: u64,
    pub refused: Vec<RefusedRow>,
}

/// A row that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRow {
    pub line: u64,
    /// The place in the row that keeps it out; empty for the row itself.
    pub path: String,
    pub message: String,
}

/// Why a row is left out: the place in it, and a sentence.
type Refusal = (&'static str, String);

/// A row, with the places where its device was.
struct Placed {
    row: ImportRow,
    seen: Vec<Whereabouts>,
}

#[boxed]
impl Devices {
    /// Imports channels. Those that are there, by their id or else by their address, are updated; a new channel under an id takes
    /// its address from the channel that had it, as a registration does.
    ///
    /// Repeating it changes nothing more.
    pub async fn import_channels(&self, app: AppId, rows: Vec<ImportRow>) -> Result<ImportReport> {
        let mut report = ImportReport::default();
        for part in apart(rows) {
            let mut placed = Vec::with_capacity(part.len());
            for row in part {
                let seen = self.whereabouts(row.channel.location().into_iter().collect()).await?;
                placed.push(Placed { row, seen });
            }
            let done = self.change_audience(app, move |tx, context| import(tx, context, &placed)).await?;
            report.n_created += done.n_created;
            report.n_updated += done.n_updated;
            report.refused.extend(done.refused);
        }
        Ok(report)
    }
}

/// Cuts rows into parts, each for a transaction of its own, in which no two rows have the same id or address. Rows about one
/// channel keep their order.
fn apart(rows: Vec<ImportRow>) -> Vec<Vec<ImportRow>> {
    let (mut parts, mut left) = (Vec::new(), rows);
    while !left.is_empty() {
        let (mut ids, mut addresses) = (HashSet::new(), HashSet::new());
        let (part, later) = left.into_iter().partition(|row: &ImportRow| {
            let is_new_id = row.channel.id.is_none_or(|id| ids.insert(id));
            let is_new_address = key_of(&row.channel).is_none_or(|key| addresses.insert((key.kind, key.value)));
            is_new_id && is_new_address
        });
        parts.push(part);
        left = later;
    }
    parts
}

fn key_of(channel: &ImportedChannel) -> Option<Key> {
    channel.address().map(|address| address_key(&channel.device_type(), address))
}

fn import(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, rows: &[Placed]) -> Result<ImportReport> {
    let mut import = Import {
        known: Known::read(tx, context, rows)?,
        later: Later::default(),
        changed: HashSet::new(),
        report: ImportReport::default(),
    };
    import.number_terms(tx, context, rows)?;
    for (n, placed) in rows.iter().enumerate() {
        match import.take(tx, context, n, placed)? {
            Ok(IsNew(true)) => import.report.n_created += 1,
            Ok(IsNew(false)) => import.report.n_updated += 1,
            Err((path, message)) => {
                let line = placed.row.line;
                import.report.refused.push(RefusedRow { line, path: path.to_owned(), message });
            }
        }
    }
    import.later.write(tx, context.app, context.journal.now())?;
    context.journal.forget_events();
    Ok(import.report)
}

/// Whether a row has made a channel.
struct IsNew(bool);

/// One transaction of an import.
struct Import {
    known: Known,
    later: Later,
    /// Channels that are no longer as they were when all were read.
    changed: HashSet<Ordinal>,
    report: ImportReport,
}

impl Import {
    /// The terms of new channels are numbered together.
    fn number_terms(&self, tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, rows: &[Placed]) -> Result<()> {
        let new = rows.iter().enumerate().filter(|(n, placed)| self.known.channel(*n, &placed.row.channel).is_none());
        context.look_up_numbers(tx, new.flat_map(|(_, placed)| after(&placed.row.channel, None).terms()))
    }

    fn take(
        &mut self,
        tx: &mut Tx<'_>,
        context: &mut ChangeContext<'_>,
        n: usize,
        placed: &Placed,
    ) -> Result<result::Result<IsNew, Refusal>> {
        let channel = &placed.row.channel;
        let owner = self.known.owner(n);
        let (found, owner) = match self.known.channel(n, channel) {
            Some(found) if self.changed.contains(&found.ordinal) => self.found_again(tx, context.app, channel)?,
            None if owner.is_some_and(|owner| self.changed.contains(&owner)) => {
                self.found_again(tx, context.app, channel)?
            }
            found => (found.cloned(), owner),
        };
        let done = match found {
            Some(row) => self.update(tx, context, row, channel)?.map(|ordinal| (ordinal, IsNew(false))),
            None => self.create(tx, context, channel, owner)?.map(|ordinal| (ordinal, IsNew(true))),
        };
        let (ordinal, is_new) = match done {
            Ok(done) => done,
            Err(refusal) => return Ok(Err(refusal)),
        };
        // Taking an address changes the channel that had it.
        self.changed.extend(owner);
        if !placed.seen.is_empty() {
            context.seen(tx, ordinal, &placed.seen)?;
        }
        Ok(Ok(is_new))
    }

    /// The channel that a row is about and the owner of its address, after other rows have changed them.
    fn found_again(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        channel: &ImportedChannel,
    ) -> Result<(Option<Channel>, Option<Ordinal>)> {
        let owner = match key_of(channel) {
            Some(key) => channels::by_key(tx, app, &key)?,
            None => None,
        };
        let found = match (channel.id, owner) {
            (Some(id), _) => channels::by_id(tx, app, id)?,
            (None, Some(owner)) => channels::by_ordinal(tx, app, owner)?,
            (None, None) => None,
        };
        Ok((found, owner))
    }

    fn create(
        &mut self,
        tx: &mut Tx<'_>,
        context: &mut ChangeContext<'_>,
        channel: &ImportedChannel,
        owner: Option<Ordinal>,
    ) -> Result<result::Result<Ordinal, Refusal>> {
        let mut state = after(channel, None);
        let refusal = check(&State::nothing(channel.device_type()), &state, &Attributes::new(), channel);
        if let Err(refusal) = refusal.and_then(|()| self.known.admit(None, &state)) {
            return Ok(Err(refusal));
        }
        self.ensure_user(state.named_user.as_ref());
        self.known.count(state.named_user.as_ref(), None);
        let id = channel.id.unwrap_or_else(|| ChannelId::at(context.journal.now()));
        let is_promised = channel.id.is_some_and(|id| self.known.is_promised(id));
        let ordinal = if is_promised || owner.is_some() {
            self.later.write(tx, context.app, context.journal.now())?;
            context.claim_association(tx, id, channel.named_user(), &mut state)?;
            context.create(tx, id, state)?.ordinal
        } else {
            let of_user = self.known.terms_of(state.named_user.as_ref());
            let (row, keys) = context.prepare_new(tx, id, state, &of_user)?;
            let ordinal = row.ordinal;
            self.later.insert_channel(row, keys);
            ordinal
        };
        self.set_attributes(context, ordinal, &Attributes::new(), channel)?;
        Ok(Ok(ordinal))
    }

    fn update(
        &mut self,
        tx: &mut Tx<'_>,
        context: &mut ChangeContext<'_>,
        row: Channel,
        channel: &ImportedChannel,
    ) -> Result<result::Result<Ordinal, Refusal>> {
        let (ordinal, device_type) = (row.ordinal, channel.device_type());
        if !row.installed {
            let text = format!("The channel {} was uninstalled here, and is not brought back.", row.id);
            return Ok(Err(("channel_id", text)));
        }
        if row.device_type != device_type {
            let text = format!("The channel {} is a channel of type {}, not {device_type}.", row.id, row.device_type);
            return Ok(Err(("device_type", text)));
        }
        let is_as_read = !self.changed.contains(&ordinal);
        let held = match self.known.attributes(ordinal).filter(|_| is_as_read) {
            Some(held) => held.clone(),
            None => {
                self.later.write(tx, context.app, context.journal.now())?;
                attributes_of(tx, context.app, &Owner::Channel(ordinal))?
            }
        };
        let of_user = self.known.terms_of(row.named_user.as_ref());
        let profile = stored_profile(&row)?;
        let opened = context.open_known(tx, row, profile, of_user)?;
        let mut after = after(channel, Some(&opened.state));
        let before_user = opened.state.named_user.clone();
        let refusal = check(&opened.state, &after, &held, channel);
        if let Err(refusal) = refusal.and_then(|()| self.known.admit(before_user.as_ref(), &after)) {
            return Ok(Err(refusal));
        }
        self.set_attributes(context, ordinal, &held, channel)?;
        if after == opened.state {
            return Ok(Ok(ordinal));
        }
        if after.named_user != before_user {
            let heir = after.named_user.clone().filter(|user| !self.known.has_user(user));
            self.ensure_user(after.named_user.as_ref());
            self.later.write(tx, context.app, context.journal.now())?;
            context.end_unknown_user(tx, &opened.row, &mut after.own, heir.as_ref())?;
            if let Some(heir) = heir {
                let endowed = named_users::get(tx, context.app, &heir)?.map(|user| user.terms);
                self.known.add_user(&heir, endowed.unwrap_or_default());
            }
            self.known.count(after.named_user.as_ref(), before_user.as_ref());
        }
        self.changed.insert(ordinal);
        context.save(tx, opened, after)?;
        Ok(Ok(ordinal))
    }

    fn ensure_user(&mut self, user: Option<&NamedUserId>) {
        if let Some(user) = user.filter(|user| !self.known.has_user(user)) {
            self.later.insert_user(user.clone());
            self.known.add_user(user, Vec::new());
        }
    }

    /// Sets the attributes that are not held with the same values, and objects in any case, which last longer for it.
    fn set_attributes(
        &mut self,
        context: &ChangeContext<'_>,
        ordinal: Ordinal,
        held: &Attributes,
        channel: &ImportedChannel,
    ) -> Result<()> {
        for (name, value) in &channel.attributes {
            let (now, is_held) = (context.journal.now(), held.get(name.as_str()) == Some(value));
            let expires = value.ends(now);
            if is_held && expires.is_none() {
                continue;
            }
            let value = serde_json::to_string(value).map_err(Error::internal)?;
            let write = Write { name: name.as_str().to_owned(), value: Some(value), at: now, expires };
            self.later.set_attribute(ordinal, write);
            if !is_held {
                self.changed.insert(ordinal);
            }
        }
        Ok(())
    }
}

/// A channel after an import, of what it was before.
fn after(channel: &ImportedChannel, before: Option<&State>) -> State {
    let mut after = match before {
        Some(before) => before.with_profile(channel.apply(Some(&before.profile))),
        None => State::new(channel.apply(None)),
    };
    after.change_device_tags(|tags| channel.device_tags(tags));
    TagOperation::Set(channel.tag_groups.clone()).apply(&mut after.own.tags);
    let lists = channel.subscription_lists.iter().cloned();
    after.own.memberships.extend(lists.map(|list| Term::Subscription(Subscription { list, scope: None })));
    channel.named_user().update(&mut after.named_user);
    after
}

/// Refuses more than a channel may have, before anything is written.
fn check(before: &State, after: &State, held: &Attributes, channel: &ImportedChannel) -> result::Result<(), Refusal> {
    let tags = Limit::whole(limits::TAGS_PER_CHANNEL).check(0, after.own.n_tags(), "", TAGS);
    tags.map_err(|full| ("tag_groups", full.into_message()))?;
    let lists = check_lists(&before.own, &after.own, Limit::whole(limits::SUBSCRIPTIONS_PER_OWNER));
    lists.map_err(|full| ("subscription_lists", full.into_message()))?;
    let n_new = channel.attributes.keys().filter(|key| !held.contains_key(key.as_str())).count();
    let attributes = Limit::whole(limits::ATTRIBUTES_PER_OWNER);
    let attributes = attributes.check(held.len(), held.len() + n_new, "", "attributes");
    attributes.map_err(|full| ("attributes", full.into_message()))
}
