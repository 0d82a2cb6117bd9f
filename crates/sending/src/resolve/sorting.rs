//! Sorting an audience: who is sent the push, into whose inbox its message comes, and why the others get nothing.

use std::collections::BTreeMap;

use audience::index::Index;
use audience::plan::Plan;
use index::term_plan;
use model::device_type::DeviceType;
use model::payload::Push;
use model::payload::device_types::DeviceTypes;
use model::push_outcome::LeftOut;
use model::term::{Reach, Term};
use roaring::RoaringBitmap;
use targeting::device_types;

use super::ByDeviceType;
use super::followers::Followers;
use crate::inbox::message_holders;
use crate::reach;

/// An audience by what a push does to its channels. Device types without any are left out.
#[derive(Default)]
pub struct Sorted {
    pub recipients: ByDeviceType,
    /// Those who get its message. Most of them are recipients as well.
    pub holders: ByDeviceType,
    /// Everybody who is no recipient.
    pub left_out: Excluded,
}

/// The channels of an audience that a push is not sent to, by device type and reason. The sets are disjoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excluded(BTreeMap<(DeviceType, LeftOut), RoaringBitmap>);

/// Sorts an audience for a push that may go to so many at most.
pub(super) fn sort(index: &Index, push: &Push, audience: &RoaringBitmap, followers: &Followers, most: u64) -> Sorted {
    let mut sorted = Sorted::default();
    let (mut of_other_types, mut room) = (audience.clone(), most);
    for device_type in device_types(&push.device_types, index) {
        let of_type = among(index, audience, &Term::DeviceType(device_type.clone()));
        if of_type.is_empty() {
            continue;
        }
        of_other_types -= &of_type;
        let holding = match message_holders(index, push, &device_type) {
            Some(way) => index.resolve(&Plan::And(vec![Plan::Set(of_type.clone()), way]).normalize()),
            None => RoaringBitmap::new(),
        };
        let Some(reach) = reach::needed(push, &device_type) else {
            let [_, holding] = within(room, RoaringBitmap::new(), holding);
            room = room.saturating_sub(holding.len());
            put(&mut sorted.holders, &device_type, holding);
            sorted.left_out.add(&device_type, LeftOut::WithoutContent, of_type);
            continue;
        };
        let mut reached = among(index, &of_type, &Term::Reach(reach));
        sorted.left_out.add_unreached(index, &device_type, reach, of_type - &reached);
        if let Some(followers) = followers.among(&device_type) {
            sorted.left_out.add(&device_type, LeftOut::NotFollowing, &reached - followers);
            reached &= followers;
        }
        let [chosen, holding] = within(room, reached.clone(), holding);
        room = room.saturating_sub(chosen.union_len(&holding));
        sorted.left_out.add(&device_type, LeftOut::MostRecipients, reached - &chosen);
        put(&mut sorted.recipients, &device_type, chosen);
        put(&mut sorted.holders, &device_type, holding);
    }
    sorted.left_out.add_of_all_types(index, LeftOut::OtherDeviceType, &of_other_types);
    sorted
}

impl Excluded {
    pub fn add(&mut self, device_type: &DeviceType, why: LeftOut, channels: RoaringBitmap) {
        if !channels.is_empty() {
            *self.0.entry((device_type.clone(), why)).or_default() |= channels;
        }
    }

    /// Adds channels of any type.
    pub fn add_of_all_types(&mut self, index: &Index, why: LeftOut, channels: &RoaringBitmap) {
        if channels.is_empty() {
            return;
        }
        for device_type in device_types(&DeviceTypes::all(), index) {
            let of_type = among(index, channels, &Term::DeviceType(device_type.clone()));
            self.add(&device_type, why, of_type);
        }
    }

    /// Adds channels that lack what the push needs.
    fn add_unreached(&mut self, index: &Index, device_type: &DeviceType, reach: Reach, channels: RoaringBitmap) {
        if channels.is_empty() {
            return;
        }
        let addressed = among(index, &channels, &Term::Reach(Reach::Addressed));
        self.add(device_type, LeftOut::WithoutAddress, channels - &addressed);
        let why = match reach {
            Reach::Alert => LeftOut::OptedOut,
            Reach::Silent => LeftOut::WithoutBackground,
            // They have got an address in this moment, too late to be chosen.
            Reach::Addressed => LeftOut::WithoutAddress,
        };
        self.add(device_type, why, addressed);
    }

    pub fn iter(&self) -> impl Iterator<Item = (&DeviceType, LeftOut, &RoaringBitmap)> {
        self.0.iter().map(|((device_type, why), channels)| (device_type, *why, channels))
    }

    pub fn count(&self, wanted: LeftOut) -> u64 {
        self.iter().filter(|(_, why, _)| *why == wanted).map(|(_, _, channels)| channels.len()).sum()
    }
}

fn put(sets: &mut ByDeviceType, device_type: &DeviceType, set: RoaringBitmap) {
    if !set.is_empty() {
        sets.push((device_type.clone(), set));
    }
}

fn among(index: &Index, channels: &RoaringBitmap, term: &Term) -> RoaringBitmap {
    index.resolve(&Plan::And(vec![Plan::Set(channels.clone()), term_plan(index, term)]).normalize())
}

/// The parts of both sets that together have no more members than the limit.
fn within(most: u64, reached: RoaringBitmap, holding: RoaringBitmap) -> [RoaringBitmap; 2] {
    if reached.union_len(&holding) <= most {
        return [reached, holding];
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let chosen: RoaringBitmap = (&reached | &holding).iter().take(most).collect();
    [reached & &chosen, holding & chosen]
}
