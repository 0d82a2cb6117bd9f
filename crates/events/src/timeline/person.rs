//! Whose timeline it is: a channel, or a named user with the channels that are or were theirs.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, Result};
use model::device_type::DeviceType;
use model::event::{Face, RecordKind};
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal};
use roaring::RoaringBitmap;
use store::channels::Channel;
use store::{Tx, channels, faces, named_users};

use super::postings::Subject;
use crate::{EventClause, EventFilter};

/// Channels that have left a user, of which more are not looked for.
const MOST_FORMER_CHANNELS: u32 = 100;

pub(super) struct Person {
    pub(super) channels: Vec<PersonChannel>,
    /// Only what happened while a channel was this user's is theirs.
    pub(super) user: Option<NamedUserId>,
}

pub(super) struct PersonChannel {
    pub(super) ordinal: Ordinal,
    pub(super) id: ChannelId,
    pub(super) device_type: DeviceType,
    /// What it looks like now.
    pub(super) face: Face,
}

impl Person {
    pub(super) fn of_channel(tx: &mut Tx<'_>, app: AppId, id: ChannelId) -> Result<Self> {
        let channel = channels::by_id(tx, app, id)?.ok_or(Error::NotFound("channel"))?;
        Ok(Self { channels: vec![PersonChannel::of(channel)?], user: None })
    }

    pub(super) fn of_user(tx: &mut Tx<'_>, app: AppId, user: NamedUserId) -> Result<Self> {
        let now = named_users::channels_of(tx, app, &user)?;
        let left = faces::left_by(tx, app, &user, MOST_FORMER_CHANNELS)?;
        if now.is_empty() && left.is_empty() && named_users::get(tx, app, &user)?.is_none() {
            return Err(Error::NotFound("named user"));
        }
        let mut found: BTreeMap<Ordinal, Channel> = now.into_iter().map(|channel| (channel.ordinal, channel)).collect();
        let left: Vec<Ordinal> = left.into_iter().filter(|ordinal| !found.contains_key(ordinal)).collect();
        found.extend(channels::by_ordinals(tx, app, &left)?.into_iter().map(|channel| (channel.ordinal, channel)));
        let channels = found.into_values().map(PersonChannel::of).collect::<Result<_>>()?;
        Ok(Self { channels, user: Some(user) })
    }

    pub(super) fn subjects(&self) -> BTreeSet<Subject> {
        let of_channel =
            |channel: &PersonChannel| [Subject::Channel(channel.ordinal), Subject::block_of(channel.ordinal)];
        self.channels.iter().flat_map(of_channel).chain(self.user.as_ref().map(Subject::user)).collect()
    }

    /// The events of some kinds of the channels, while they were the user's.
    pub(super) fn filter(&self, kinds: BTreeSet<RecordKind>) -> EventFilter {
        let channels: RoaringBitmap = self.channels.iter().map(|channel| channel.ordinal.0).collect();
        EventFilter::any_of(vec![EventClause {
            kinds: Some(kinds),
            channels: Some(channels),
            named_users: self.user.as_ref().map(|user| [user.as_str().to_owned()].into()),
            ..EventClause::default()
        }])
    }

    /// Whether a change of a channel is one of this person's.
    pub(super) fn is_concerned(&self, before: &Face, after: &Face) -> bool {
        self.user.is_none() || before.named_user == self.user || after.named_user == self.user
    }

    pub(super) fn channel(&self, ordinal: Ordinal) -> Option<&PersonChannel> {
        self.channels.iter().find(|channel| channel.ordinal == ordinal)
    }
}

impl PersonChannel {
    fn of(channel: Channel) -> Result<Self> {
        let Channel { ordinal, id, device_type, named_user, profile, .. } = channel;
        let profile = serde_json::from_str(&profile).map_err(Error::internal)?;
        Ok(Self { ordinal, id, device_type, face: Face { named_user, profile } })
    }
}
