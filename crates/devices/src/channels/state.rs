//! A channel taken apart into its state, and writing it back with its terms, keys and events.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, Result};
use model::channel::{Change, Profile, TagSets};
use model::device_type::DeviceType;
use model::event::{ContactChange, ContactChangeKind, Face, FirstOpen, FirstOptIn};
use model::ids::{ChannelId, NamedUserId, Ordinal, TermId};
use model::named_user::Association;
use model::property::{property_terms, reach_terms};
use model::tag::{Tag, TagGroup};
use model::term::{Term, is_assignable};
use store::channels::{self, Channel, Key};
use store::{Tx, contacts, named_users};

use super::counting::count_change;
use super::keys;
use crate::Author;
use crate::addresses;
use crate::change_context::{ChangeContext, Tags, TermDifference, union};
use crate::holdings::Holdings;
use crate::inbox_users;
use crate::journal::NewEvent;
use crate::named_users::has_room;

/// A channel as the devices thinks of it.
#[derive(Clone, PartialEq)]
pub struct State {
    pub(crate) profile: Profile,
    pub(crate) named_user: Option<NamedUserId>,
    /// The tags and lists assigned to the channel; the terms derived from its profile come on top.
    pub own: Holdings,
}

/// A stored channel that is about to be changed. The row may be changed too; the rest is how it was.
pub struct OpenedChannel {
    pub(crate) row: Channel,
    pub state: State,
    was_installed: bool,
    /// All of its terms, its own and those of its named user.
    held: Vec<TermId>,
    of_user: Vec<TermId>,
}

/// The holdings of a row that is ready to be written: its own, and the terms it gets from its named user.
struct Filled {
    own: Holdings,
    of_user: Vec<TermId>,
}

impl State {
    pub(crate) fn new(profile: Profile) -> Self {
        Self { profile, named_user: None, own: Holdings::default() }
    }

    pub(crate) fn nothing(device_type: DeviceType) -> Self {
        Self::new(Profile::new(device_type))
    }

    /// The same channel, which reports another profile.
    pub fn with_profile(&self, profile: Profile) -> Self {
        Self { profile, named_user: self.named_user.clone(), own: self.own.clone() }
    }

    pub(super) fn change_device_tags(&mut self, change: impl FnOnce(&BTreeSet<Tag>) -> BTreeSet<Tag>) {
        let tags = self.own.tags.entry(TagGroup::device()).or_default();
        *tags = change(tags);
    }

    pub(super) fn terms(&self) -> Vec<Term> {
        let mut terms = self.own.terms();
        terms.extend(property_terms(&self.profile));
        terms.extend(reach_terms(&self.profile));
        terms
    }
}

/// The profile of a channel, with its address.
pub fn stored_profile(row: &Channel) -> Result<Profile> {
    let mut profile: Profile = serde_json::from_str(&row.profile).map_err(Error::internal)?;
    profile.address.clone_from(&row.address);
    Ok(profile)
}

impl ChangeContext<'_> {
    pub(crate) fn open(&self, tx: &mut Tx<'_>, row: Channel) -> Result<OpenedChannel> {
        let profile = stored_profile(&row)?;
        self.open_with(tx, row, profile)
    }

    /// Opens a channel whose stored profile has been read.
    pub fn open_with(&self, tx: &mut Tx<'_>, row: Channel, profile: Profile) -> Result<OpenedChannel> {
        let of_user = self.of_user(tx, &row)?;
        self.open_known(tx, row, profile, of_user)
    }

    /// Opens a channel of which also the terms that it gets from its named user have been read.
    pub(super) fn open_known(
        &self,
        tx: &mut Tx<'_>,
        row: Channel,
        profile: Profile,
        of_user: Vec<TermId>,
    ) -> Result<OpenedChannel> {
        let own = Holdings::of(self.named_of(tx, &row.terms, is_assignable)?.into_iter().map(|(_, term)| term));
        let state = State { profile, named_user: row.named_user.clone(), own };
        let held = union(&row.terms, &of_user).into_owned();
        Ok(OpenedChannel { was_installed: row.installed, row, state, held, of_user })
    }

    pub(crate) fn create(&mut self, tx: &mut Tx<'_>, id: ChannelId, state: State) -> Result<Channel> {
        self.admit_channel(tx)?;
        let mut opened = self.open_new(tx, id, &state.profile.device_type)?;
        let first_open = FirstOpen { opted_in: state.profile.is_opted_in() };
        let Filled { own, of_user } = self.fill(tx, &mut opened, state)?;
        let row = opened.row;
        channels::insert(tx, self.app, &row)?;
        self.journal.event(Some(row.ordinal), NewEvent::FirstOpen(first_open))?;
        if first_open.opted_in {
            self.record_open_opt_in(&row)?;
        }
        self.record_contact_change(&row, None)?;
        self.record_subscription_events(row.ordinal, None, &Holdings::default(), &own)?;
        let before = Tags { own: &TagSets::new(), others: &[] };
        self.record_tag_events(tx, row.ordinal, before, Tags { own: &own.tags, others: &of_user })?;
        Ok(row)
    }

    /// A new channel whose keys no channel has, with these keys: both are left to be inserted, with those of many others.
    /// `of_user` are the terms of its named user.
    pub(super) fn prepare_new(
        &mut self,
        tx: &mut Tx<'_>,
        id: ChannelId,
        state: State,
        of_user: &[TermId],
    ) -> Result<(Channel, Vec<Key>)> {
        let mut opened = self.open_new(tx, id, &state.profile.device_type)?;
        let keys = keys::keys(&state.profile);
        self.fill_row(tx, &mut opened, state, of_user)?;
        Ok((opened.row, keys))
    }

    /// A channel of which nothing but its type is known yet.
    fn open_new(&self, tx: &mut Tx<'_>, id: ChannelId, device_type: &DeviceType) -> Result<OpenedChannel> {
        let now = self.journal.now();
        let row = Channel {
            ordinal: store::apps::take_ordinal(tx, self.app)?,
            id,
            device_type: device_type.clone(),
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
        let state = State::nothing(device_type.clone());
        Ok(OpenedChannel { row, state, was_installed: false, held: Vec::new(), of_user: Vec::new() })
    }

    /// Gives a channel that is about to be created the user it was associated with in advance, unless a channel of another type
    /// was meant. Only ids chosen by devices can be known in advance. A user named in the registration itself takes precedence.
    pub(super) fn claim_association(
        &self,
        tx: &mut Tx<'_>,
        id: ChannelId,
        said: &Change<NamedUserId>,
        state: &mut State,
    ) -> Result<()> {
        let Some(waiting) = named_users::pending(tx, self.app, id)? else { return Ok(()) };
        named_users::delete_pending(tx, self.app, id)?;
        let Association { channel, named_user_id: user } = waiting;
        // The channel was counted when it was promised, if a device promised it.
        let has_room = has_room(tx, self.app, &user, Author::Servers)?;
        if *said == Change::Keep && channel.fits(&state.profile.device_type) && has_room {
            self.ensure_user(tx, &user)?;
            state.named_user = Some(user);
        }
        Ok(())
    }

    pub fn save(&mut self, tx: &mut Tx<'_>, mut opened: OpenedChannel, after: State) -> Result<Channel> {
        let (before, profile) = (&opened.state.profile, &after.profile);
        let is_first_opt_in = profile.is_opted_in() && !before.is_opted_in() && !before.was_opted_in;
        let is_locale_other =
            opened.row.language != profile.locale_language || opened.row.country != profile.locale_country;
        self.end_face(&opened, &after)?;
        let Filled { own, of_user } = self.fill(tx, &mut opened, after)?;
        let OpenedChannel { row, state: before, of_user: of_user_before, .. } = opened;
        channels::update(tx, self.app, &row)?;
        if is_locale_other {
            inbox_users::relocalized(tx, self.app, row.ordinal, self.journal.now())?;
        }
        // An uninstalled channel has no tags; its departure is another event.
        if row.installed {
            if is_first_opt_in {
                self.journal.event(Some(row.ordinal), NewEvent::FirstOptIn(FirstOptIn {}))?;
                self.record_open_opt_in(&row)?;
            }
            self.record_contact_change(&row, before.named_user.as_ref())?;
            self.record_subscription_events(row.ordinal, None, &before.own, &own)?;
            let before = Tags { own: &before.own.published_tags(), others: &of_user_before };
            self.record_tag_events(tx, row.ordinal, before, Tags { own: &own.tags, others: &of_user })?;
        }
        Ok(row)
    }

    /// Customers are told of the first opt-in on open platforms, whose channels servers opt in.
    fn record_open_opt_in(&mut self, row: &Channel) -> Result<()> {
        if !matches!(row.device_type, DeviceType::Open(_)) {
            return Ok(());
        }
        self.journal.event(Some(row.ordinal), NewEvent::OpenOptIn(FirstOptIn {}))
    }

    /// Writes that a channel has left a user or come to one.
    fn record_contact_change(&mut self, row: &Channel, before: Option<&NamedUserId>) -> Result<()> {
        let after = row.named_user.as_ref();
        if after == before {
            return Ok(());
        }
        for (change_type, user) in [(ContactChangeKind::Dissociation, before), (ContactChangeKind::Association, after)]
        {
            if let Some(user) = user {
                let change = ContactChange { change_type, channel_id: row.id, named_user_id: user.clone() };
                self.journal.event(Some(row.ordinal), NewEvent::ContactChange(change))?;
            }
        }
        Ok(())
    }

    /// Earlier events go on showing the channel as it is before this change.
    fn end_face(&mut self, opened: &OpenedChannel, after: &State) -> Result<()> {
        let OpenedChannel { row, state: before, .. } = opened;
        let (shown, to_show) = [before, after].map(|state| (&state.profile, state.named_user.as_ref())).into();
        if Face::is_alike(row.id, shown, to_show) {
            return Ok(());
        }
        let face = Face::of(&before.profile, before.named_user.as_ref());
        let n_bytes = self.journal.end_face(row.ordinal, &face, after.named_user.as_ref(), !row.installed)?;
        self.count_face(n_bytes);
        Ok(())
    }

    /// Puts a state into a row and writes the consequences for the index and for other channels.
    fn fill(&mut self, tx: &mut Tx<'_>, opened: &mut OpenedChannel, after: State) -> Result<Filled> {
        let (keys_before, keys_after) = (keys::keys(&opened.state.profile), keys::keys(&after.profile));
        let of_user = self.terms_of_user(tx, after.named_user.as_ref().filter(|_| opened.row.installed))?;
        let own = self.fill_row(tx, opened, after, &of_user)?;
        self.change_keys(tx, opened.row.ordinal, &keys_before, &keys_after)?;
        Ok(Filled { own, of_user })
    }

    /// The same without the consequences for other channels. Returns what the channel holds itself.
    fn fill_row(
        &mut self,
        tx: &mut Tx<'_>,
        opened: &mut OpenedChannel,
        after: State,
        of_user: &[TermId],
    ) -> Result<Holdings> {
        after.own.check_number_of_tags()?;
        let OpenedChannel { row, state: before, was_installed, held, .. } = opened;
        let now = self.journal.now();
        let was = was_installed.then_some(&before.profile);
        count_change(tx, self.app, now, was, row.installed.then_some(&after.profile))?;
        row.terms = if row.installed { self.numbers(tx, &after.terms())? } else { Vec::new() };
        let State { mut profile, named_user, own } = after;
        profile.was_opted_in = !profile.is_opted_in() && (before.profile.is_opted_in() || before.profile.was_opted_in);
        if row.installed && named_user != before.named_user {
            profile.associated = Some(now);
            // Who has left a user, or was taken from them, does not come back by the id of the contact. One whose channel was
            // uninstalled does.
            profile.named_contact = None;
            if let Some(ended) = before.profile.named_contact {
                contacts::forget(tx, self.app, ended)?;
            }
        }
        // The address has a column of its own.
        row.address = profile.address.take();
        if before.profile.address.is_some() && before.profile.address != row.address {
            addresses::forget(tx, self.app, row.ordinal)?;
        }
        row.profile = serde_json::to_string(&profile).map_err(Error::internal)?;
        row.device_type = profile.device_type;
        row.language = profile.locale_language;
        row.country = profile.locale_country;
        row.named_user = named_user;
        let difference = TermDifference::between(held, &union(&row.terms, of_user));
        self.journal.change_terms(row.ordinal, difference);
        Ok(own)
    }

    /// Most changes leave the keys alone, and most new channels have new keys.
    fn change_keys(&mut self, tx: &mut Tx<'_>, ordinal: Ordinal, before: &[Key], after: &[Key]) -> Result<()> {
        if before == after {
            return Ok(());
        }
        let taken = match before {
            [] => channels::add_keys(tx, self.app, ordinal, after)?,
            _ => channels::replace_keys(tx, self.app, ordinal, after)?,
        };
        // A channel gives up all of them at once: one that it kept for a moment would be taken back.
        let mut released_keys: BTreeMap<Ordinal, Vec<Key>> = BTreeMap::new();
        for (previous_owner, key) in taken {
            released_keys.entry(previous_owner).or_default().push(key);
        }
        for (previous_owner, keys) in released_keys {
            self.give_up_keys(tx, previous_owner, &keys)?;
        }
        Ok(())
    }

    fn of_user(&self, tx: &mut Tx<'_>, row: &Channel) -> Result<Vec<TermId>> {
        self.terms_of_user(tx, row.named_user.as_ref().filter(|_| row.installed))
    }

    /// The terms that an installed channel gets from its named user.
    pub(super) fn terms_of_user(&self, tx: &mut Tx<'_>, user: Option<&NamedUserId>) -> Result<Vec<TermId>> {
        let Some(user) = user else { return Ok(Vec::new()) };
        Ok(named_users::get(tx, self.app, user)?.map_or_else(Vec::new, |user| user.terms))
    }

    /// The channel that had keys before another took them over. Without its address it is no longer reachable, so that one
    /// device never gets a push twice.
    fn give_up_keys(&mut self, tx: &mut Tx<'_>, ordinal: Ordinal, taken: &[Key]) -> Result<()> {
        let Some(row) = channels::by_ordinal(tx, self.app, ordinal)? else { return Ok(()) };
        let opened = self.open(tx, row)?;
        let mut after = opened.state.clone();
        keys::give_up(&mut after.profile, taken);
        self.save(tx, opened, after)?;
        Ok(())
    }
}
