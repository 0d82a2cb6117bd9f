//! A channel taken apart into what it is made of, and writing it back with its terms, keys and events.

use std::collections::BTreeSet;

use audience::index::Index;
use model::channel::{Profile, TagSets};
use model::event::{RecordKind, TagChange};
use model::ids::{AppId, ChannelId, Ordinal, TermId};
use model::limits;
use model::property::{property_terms, reach_terms};
use model::tag::{Tag, TagGroup};
use model::term::Term;
use model::time::UtcMillis;
use store::channels::{self, Channel, Key};
use store::{Tx, terms};

use super::keys;
use crate::journal::Journal;
use crate::{Error, Result};

/// A channel as the engine thinks of it: its profile and the tags that people gave it.
#[derive(Clone)]
pub(super) struct State {
    pub(super) profile: Profile,
    pub(super) tags: TagSets,
}

impl State {
    pub(super) fn device_tags(&self) -> BTreeSet<Tag> {
        self.tags.get(&TagGroup::device()).cloned().unwrap_or_default()
    }

    pub(super) fn set_device_tags(&mut self, tags: BTreeSet<Tag>) {
        if tags.is_empty() {
            self.tags.remove(&TagGroup::device());
        } else {
            self.tags.insert(TagGroup::device(), tags);
        }
    }

    /// Everything the channel can be addressed by: its own tags and what follows from its profile.
    fn terms(&self) -> Vec<Term> {
        let own = self
            .tags
            .iter()
            .flat_map(|(group, tags)| tags.iter().map(|tag| Term::Tag { group: group.clone(), tag: tag.clone() }));
        let mut terms: Vec<Term> = own.collect();
        terms.extend(property_terms(&self.profile));
        terms.extend(reach_terms(&self.profile));
        terms
    }
}

/// What a transaction on channels works with.
pub(super) struct Desk<'a> {
    pub(super) app: AppId,
    /// Knows the numbers of most terms, which saves asking the database.
    pub(super) index: &'a Index,
    pub(super) journal: Journal,
}

impl<'a> Desk<'a> {
    pub(super) fn new(app: AppId, index: &'a Index, now: UtcMillis) -> Self {
        Self { app, index, journal: Journal::new(now) }
    }

    /// The state of a stored channel.
    pub(super) fn open(&self, tx: &mut Tx<'_>, channel: &Channel) -> Result<State> {
        let mut profile: Profile = serde_json::from_str(&channel.profile).map_err(Error::internal)?;
        profile.address.clone_from(&channel.address);
        let mut tags = TagSets::new();
        for term in self.names(tx, &channel.terms)? {
            match term {
                Term::Tag { group, tag } if !group.is_read_only() => {
                    tags.entry(group).or_default().insert(tag);
                }
                Term::Tag { .. } | Term::DeviceType(_) | Term::Reach(_) => {}
            }
        }
        Ok(State { profile, tags })
    }

    pub(super) fn create(&mut self, tx: &mut Tx<'_>, id: ChannelId, state: &State) -> Result<Channel> {
        let now = self.journal.now();
        let mut channel = Channel {
            ordinal: store::apps::take_ordinal(tx, self.app)?,
            id,
            device_type: state.profile.device_type.clone(),
            installed: true,
            address: None,
            language: None,
            country: None,
            named_user: None,
            created: now,
            last_registration: Some(now),
            terms: Vec::new(),
            profile: String::new(),
        };
        self.fill(tx, &mut channel, state)?;
        channels::insert(tx, self.app, &channel)?;
        self.journal.event(RecordKind::FirstOpen, Some(channel.ordinal), model::event::FirstOpen {})?;
        self.note_tags(&channel, &TagSets::new(), &state.tags)?;
        Ok(channel)
    }

    /// Writes a changed channel.
    pub(super) fn save(
        &mut self,
        tx: &mut Tx<'_>,
        mut channel: Channel,
        before: &State,
        after: &State,
    ) -> Result<Channel> {
        self.fill(tx, &mut channel, after)?;
        channels::update(tx, self.app, &channel)?;
        self.note_tags(&channel, &before.tags, &after.tags)?;
        Ok(channel)
    }

    /// Puts a state into a row and notes what follows from it for the index and for other channels.
    fn fill(&mut self, tx: &mut Tx<'_>, channel: &mut Channel, state: &State) -> Result<()> {
        let n_tags: usize = state.tags.values().map(BTreeSet::len).sum();
        if n_tags > limits::TAGS_PER_CHANNEL {
            let most = limits::TAGS_PER_CHANNEL;
            return Err(Error::invalid("", format!("A channel has at most {most} tags; this would make {n_tags}.")));
        }
        let mut stored = state.profile.clone();
        channel.address = stored.address.take();
        channel.device_type = stored.device_type.clone();
        channel.language = stored.locale_language.clone();
        channel.country = stored.locale_country.clone();
        channel.profile = serde_json::to_string(&stored).map_err(Error::internal)?;
        let terms = if channel.installed { self.numbers(tx, &state.terms())? } else { Vec::new() };
        self.journal.change_terms(channel.ordinal, &channel.terms, &terms);
        channel.terms = terms;
        let keys = keys::keys(&state.profile);
        for (ordinal, key) in channels::replace_keys(tx, self.app, channel.ordinal, &keys)? {
            self.give_up_key(tx, ordinal, &key)?;
        }
        Ok(())
    }

    /// The channel that had a key before another took it over. Without its address it is no longer reachable, so that one
    /// device never gets a push twice.
    fn give_up_key(&mut self, tx: &mut Tx<'_>, ordinal: Ordinal, key: &Key) -> Result<()> {
        let Some(channel) = channels::by_ordinal(tx, self.app, ordinal)? else { return Ok(()) };
        let before = self.open(tx, &channel)?;
        let mut after = before.clone();
        let hints = &mut after.profile.identity_hints;
        for hint in [&mut hints.user_id, &mut hints.device_id, &mut hints.apid, &mut hints.accengage_device_id] {
            hint.take_if(|value| *value == key.value);
        }
        let device_type = after.profile.device_type.clone();
        after.profile.address.take_if(|address| keys::address_key(&device_type, address) == *key);
        self.save(tx, channel, &before, &after)?;
        Ok(())
    }

    fn note_tags(&mut self, channel: &Channel, before: &TagSets, after: &TagSets) -> Result<()> {
        let (add, remove) = (difference(after, before), difference(before, after));
        if add.is_empty() && remove.is_empty() {
            return Ok(());
        }
        let changed = add.keys().chain(remove.keys());
        let current = changed.map(|group| (group.clone(), after.get(group).cloned().unwrap_or_default())).collect();
        self.journal.event(RecordKind::TagChange, Some(channel.ordinal), TagChange { add, remove, current })
    }

    /// The numbers of terms, sorted. Terms without a number get one.
    fn numbers(&mut self, tx: &mut Tx<'_>, wanted: &[Term]) -> Result<Vec<TermId>> {
        let mut ids = Vec::with_capacity(wanted.len());
        for term in wanted {
            let (group, tag) = term.key();
            let known = match self.index.term(group, &tag) {
                Some(id) => Some(id),
                None => terms::find(tx, self.app, term)?,
            };
            let id = match known {
                Some(id) => id,
                None => {
                    let id = terms::insert(tx, self.app, term)?;
                    self.journal.new_term(id, term);
                    id
                }
            };
            ids.push(id);
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    pub(super) fn names(&self, tx: &mut Tx<'_>, ids: &[TermId]) -> Result<Vec<Term>> {
        let mut names = Vec::with_capacity(ids.len());
        for id in ids {
            let known = self.index.name(*id).and_then(|(group, tag)| Term::from_key(&group, &tag));
            match known {
                Some(term) => names.push(term),
                None => names.push(terms::name(tx, self.app, *id)?),
            }
        }
        Ok(names)
    }
}

/// The tags of `left` that are not in `right`.
fn difference(left: &TagSets, right: &TagSets) -> TagSets {
    let empty = BTreeSet::new();
    left.iter()
        .map(|(group, tags)| (group.clone(), tags - right.get(group).unwrap_or(&empty)))
        .filter(|(_, tags)| !tags.is_empty())
        .collect()
}
