//! The inbox of one user in the database: the union of the messages that the user's channels hold.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use audience::block::slice_of;
use audience::codec;
use base::{Error, Result};
use model::ids::{AppId, ChannelId, MessageNumber, Ordinal, PushId};
use model::inbox::InboxUserId;
use model::limits;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::inbox_users::{self, InboxChannel, InboxUser};
use store::messages::{self, Message};
use store::{Tx, inbox_messages};

use super::decode;

pub(super) struct Mailbox<'a> {
    app: AppId,
    user: &'a InboxUserId,
    pub(super) channels: Vec<InboxChannel>,
    /// The channel that asks, if it is named and one of the user's.
    asking: Option<usize>,
    read: RoaringBitmap,
    deleted: RoaringBitmap,
    pub(super) changed: UtcMillis,
}

/// A message in the inbox, and the channel that views it.
pub(super) struct Held<'m> {
    /// Shared by the inboxes that are read together.
    pub(super) message: Arc<Message>,
    pub(super) viewer: &'m InboxChannel,
}

impl<'a> Mailbox<'a> {
    pub(super) fn open(tx: &mut Tx<'_>, app: AppId, id: &'a InboxUserId, asking: Option<ChannelId>) -> Result<Self> {
        let user = inbox_users::get(tx, app, id)?.ok_or(Error::NotFound("user"))?;
        let channels = inbox_users::channels(tx, app, id)?;
        let asking = channels.iter().position(|channel| Some(channel.id) == asking);
        Self::new(app, id, &user, channels, asking)
    }

    /// The inboxes of users that are there, as far as their channels are wanted.
    pub(super) fn open_all(
        tx: &mut Tx<'_>,
        app: AppId,
        users: &'a BTreeSet<InboxUserId>,
        is_wanted: impl Fn(&[Ordinal]) -> bool,
    ) -> Result<Vec<Self>> {
        let mut channels: BTreeMap<InboxUserId, Vec<InboxChannel>> = BTreeMap::new();
        for (user, channel) in inbox_users::channels_of_all(tx, app, users)? {
            channels.entry(user).or_default().push(channel);
        }
        channels.retain(|_, own| is_wanted(&own.iter().map(|channel| channel.ordinal).collect::<Vec<_>>()));
        let mut mailboxes = Vec::with_capacity(channels.len());
        for (id, user) in inbox_users::all(tx, app, channels.keys())? {
            if let (Some(id), Some(channels)) = (users.get(&id), channels.remove(&id)) {
                mailboxes.push(Self::new(app, id, &user, channels, None)?);
            }
        }
        Ok(mailboxes)
    }

    fn new(
        app: AppId,
        id: &'a InboxUserId,
        user: &InboxUser,
        channels: Vec<InboxChannel>,
        asking: Option<usize>,
    ) -> Result<Self> {
        let (read, deleted) = (decode(&user.read)?, decode(&user.deleted)?);
        Ok(Self { app, user: id, channels, asking, read, deleted, changed: user.changed })
    }

    /// All messages put into the inbox and not forgotten, including ended and deleted ones.
    pub(super) fn ever_held(&self, tx: &mut Tx<'_>) -> Result<Vec<Held<'_>>> {
        Ok(Self::all_ever_held(tx, self.app, std::slice::from_ref(self))?.pop().unwrap_or_default())
    }

    /// The same of several inboxes. What they have in common is read once.
    pub(super) fn all_ever_held<'m>(
        tx: &mut Tx<'_>,
        app: AppId,
        mailboxes: &'m [Mailbox<'a>],
    ) -> Result<Vec<Vec<Held<'m>>>> {
        let mut places: BTreeMap<Ordinal, (usize, &'m InboxChannel)> = BTreeMap::new();
        for (place, mailbox) in mailboxes.iter().enumerate() {
            places.extend(mailbox.channels.iter().map(|channel| (channel.ordinal, (place, channel))));
        }
        let mut by_slice: BTreeMap<u32, Vec<(usize, &'m InboxChannel)>> = BTreeMap::new();
        for (ordinal, place) in &places {
            by_slice.entry(slice_of(*ordinal)).or_default().push(*place);
        }
        let mut holders: Vec<BTreeMap<MessageNumber, &'m InboxChannel>> = vec![BTreeMap::new(); mailboxes.len()];
        for (slice, here) in by_slice {
            for (number, set) in messages::held_within(tx, app, slice)? {
                let set = decode(&set)?;
                for (place, channel) in here.iter().filter(|(_, channel)| set.contains(channel.ordinal.0)) {
                    holders[*place].entry(number).or_insert(channel);
                }
            }
        }
        for (number, ordinal) in inbox_messages::held_by(tx, app, places.keys().copied())? {
            if let Some((place, channel)) = places.get(&ordinal) {
                holders[*place].entry(number).or_insert(channel);
            }
        }
        let numbers: BTreeSet<MessageNumber> = holders.iter().flat_map(BTreeMap::keys).copied().collect();
        let messages: Vec<_> = messages::by_numbers(tx, app, numbers)?.into_iter().map(Arc::new).collect();
        let held_in = |(mailbox, holders): (&'m Mailbox<'a>, &BTreeMap<MessageNumber, &'m InboxChannel>)| {
            let held = messages.iter().filter_map(|message| {
                let holder = holders.get(&message.number)?;
                Some(Held { message: message.clone(), viewer: mailbox.viewer(holder) })
            });
            held.collect()
        };
        Ok(mailboxes.iter().zip(&holders).map(held_in).collect())
    }

    /// One message of the inbox, if it is there now.
    pub(super) fn find(&self, tx: &mut Tx<'_>, push: PushId, now: UtcMillis) -> Result<Option<Held<'_>>> {
        let Some(message) = messages::by_push(tx, self.app, push)? else { return Ok(None) };
        let message = Arc::new(message);
        if message.ends <= now || self.is_deleted(message.number) {
            return Ok(None);
        }
        let few = inbox_messages::holders_among(tx, self.app, message.number, self.ordinals())?;
        if let Some(holder) = self.channels.iter().find(|channel| few.contains(&channel.ordinal)) {
            return Ok(Some(Held { message, viewer: self.viewer(holder) }));
        }
        let slices: BTreeSet<u32> = self.channels.iter().map(|channel| slice_of(channel.ordinal)).collect();
        for set in messages::holders(tx, self.app, message.number, slices)? {
            let set = decode(&set)?;
            if let Some(holder) = self.channels.iter().find(|channel| set.contains(channel.ordinal.0)) {
                return Ok(Some(Held { message, viewer: self.viewer(holder) }));
            }
        }
        Ok(None)
    }

    /// Those of some messages that are there to be seen, with the number of their text, the newest first.
    pub(super) fn visible<'m>(&self, held: Vec<Held<'m>>, now: UtcMillis) -> Vec<(Held<'m>, u32)> {
        let is_there = |held: &Held<'_>| held.message.ends > now && !self.is_deleted(held.message.number);
        let mut there: Vec<(Held<'m>, u32)> =
            held.into_iter().filter(is_there).filter_map(|held| held.text().map(|text| (held, text))).collect();
        there.sort_unstable_by_key(|(held, _)| Reverse(held.message.number));
        there.truncate(limits::MESSAGES_PER_INBOX);
        there
    }

    pub(super) fn is_read(&self, number: MessageNumber) -> bool {
        self.read.contains(number.0)
    }

    pub(super) fn is_deleted(&self, number: MessageNumber) -> bool {
        self.deleted.contains(number.0)
    }

    /// Stores which messages were read and deleted. Forgotten messages are removed here as well.
    pub(super) fn mark(
        &self,
        tx: &mut Tx<'_>,
        read: &RoaringBitmap,
        deleted: &RoaringBitmap,
        now: UtcMillis,
    ) -> Result<()> {
        let oldest = messages::oldest(tx, self.app)?.map_or(0, |number| number.0);
        let encode = |before: &RoaringBitmap, more: &RoaringBitmap| {
            let mut all = before | more;
            all.remove_range(..oldest);
            codec::encode(&all)
        };
        let user = InboxUser {
            changed: now.max(self.changed),
            read: encode(&self.read, read),
            deleted: encode(&self.deleted, deleted),
        };
        Ok(inbox_users::save(tx, self.app, self.user, &user)?)
    }

    pub(super) fn ordinals(&self) -> impl Iterator<Item = Ordinal> {
        self.channels.iter().map(|channel| channel.ordinal)
    }

    fn viewer<'m>(&'m self, holder: &'m InboxChannel) -> &'m InboxChannel {
        self.asking.and_then(|asking| self.channels.get(asking)).unwrap_or(holder)
    }
}

impl Held<'_> {
    /// The text for this viewer; `None` when the message is not for them.
    pub(super) fn text(&self) -> Option<u32> {
        self.message.texts.choose(self.viewer.language.as_deref(), self.viewer.country.as_deref())
    }
}
