//! From an audience to a plan over the index: names become term numbers, single channels become ordinals.

use audience::index::Index;
use audience::plan::Plan;
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal};
use model::platform::DeviceType;
use model::property::selected_tag;
use model::selector::{Atomic, Audience, Selector};
use model::tag::{Tag, TagGroup};
use model::term::Term;
use roaring::RoaringBitmap;
use store::Tx;
use store::channels::{self, Key};

use crate::channels::{address_key, apid_key};
use crate::{Error, Result};

/// Looks up what an audience names. Names that nobody has mean nobody.
pub(crate) struct Planner<'a, 'c> {
    pub(crate) tx: &'a mut Tx<'c>,
    pub(crate) app: AppId,
    pub(crate) index: &'a Index,
    /// The open platforms the push goes to, in which addresses are looked up.
    pub(crate) open_types: Vec<DeviceType>,
}

impl Planner<'_, '_> {
    pub(crate) fn audience(&mut self, audience: &Audience) -> Result<Plan> {
        match audience {
            Audience::All(_) => Ok(Plan::Everyone),
            // Only pipelines accept it, and they put the channels that triggered them in its place.
            Audience::Triggered(_) => Ok(Plan::Nobody),
            Audience::Selector(selector) => Ok(self.selector(selector)?.normalize()),
        }
    }

    fn selector(&mut self, selector: &Selector) -> Result<Plan> {
        match selector {
            Selector::And { members, .. } => self.members(members).map(Plan::And),
            Selector::Or { members, .. } => self.members(members).map(Plan::Or),
            Selector::Not { member, .. } => Ok(Plan::Not(Box::new(self.selector(member)?))),
            Selector::Atomic(atomic) => self.atomic(atomic),
        }
    }

    fn members(&mut self, members: &[Selector]) -> Result<Vec<Plan>> {
        members.iter().map(|member| self.selector(member)).collect()
    }

    fn atomic(&mut self, atomic: &Atomic) -> Result<Plan> {
        match atomic {
            Atomic::Tag { tags, group, .. } => Ok(self.tags(group.as_ref(), tags.as_slice())),
            Atomic::Channel(ids) => self.by_id(ids.as_slice()),
            Atomic::IosChannel(ids) => self.by_id_of_type(ids.as_slice(), DeviceType::Ios),
            Atomic::AndroidChannel(ids) => self.by_id_of_type(ids.as_slice(), DeviceType::Android),
            Atomic::AmazonChannel(ids) => self.by_id_of_type(ids.as_slice(), DeviceType::Amazon),
            Atomic::WebChannel(ids) => self.by_id_of_type(ids.as_slice(), DeviceType::Web),
            Atomic::OpenChannel(names) => self.open_channels(names.as_slice()),
            Atomic::DeviceToken(tokens) => {
                self.by_key(tokens.as_slice().iter().map(|token| address_key(&DeviceType::Ios, token.as_str())))
            }
            Atomic::Wns(addresses) => {
                self.by_key(addresses.as_slice().iter().map(|address| address_key(&DeviceType::Wns, address)))
            }
            Atomic::Apid(apids) => {
                self.by_key(apids.as_slice().iter().map(|apid| apid_key(&DeviceType::Android, apid)))
            }
            Atomic::NamedUser(users) => self.by_user(users.as_slice()),
            // There is nothing of these kinds yet that a channel could be in.
            Atomic::Segment(_)
            | Atomic::Alias(_)
            | Atomic::StaticList(_)
            | Atomic::SubscriptionList { .. }
            | Atomic::Mpns(_)
            | Atomic::DevicePin(_)
            | Atomic::SmsId(_)
            | Atomic::SmsSender(_) => Ok(Plan::Nobody),
            // Refused when the push was accepted: taking these for nobody would make NOT mean everybody.
            Atomic::Attribute(_) | Atomic::Activity(_) | Atomic::Location(_) => {
                Err(Error::internal("an audience that cannot be evaluated was accepted"))
            }
        }
    }

    fn tags(&self, group: Option<&TagGroup>, tags: &[Tag]) -> Plan {
        let group = group.cloned().unwrap_or_else(TagGroup::device);
        let term = |tag| Term::Tag { group: group.clone(), tag: selected_tag(&group, tag) };
        Plan::Or(tags.iter().map(|tag| self.term(&term(tag))).collect())
    }

    pub(crate) fn term(&self, term: &Term) -> Plan {
        let (group, tag) = term.key();
        self.index.term(group, &tag).map_or(Plan::Nobody, Plan::Term)
    }

    fn by_id(&mut self, ids: &[ChannelId]) -> Result<Plan> {
        let mut found = RoaringBitmap::new();
        for id in ids {
            found.extend(channels::ordinal_of(self.tx, self.app, *id)?.map(|Ordinal(number)| number));
        }
        Ok(Plan::Set(found))
    }

    fn by_id_of_type(&mut self, ids: &[ChannelId], device_type: DeviceType) -> Result<Plan> {
        Ok(Plan::And(vec![self.by_id(ids)?, self.term(&Term::DeviceType(device_type))]))
    }

    fn by_user(&mut self, users: &[NamedUserId]) -> Result<Plan> {
        let mut found = RoaringBitmap::new();
        for user in users {
            found
                .extend(channels::ordinals_of_user(self.tx, self.app, user)?.into_iter().map(|Ordinal(number)| number));
        }
        Ok(Plan::Set(found))
    }

    fn by_key(&mut self, keys: impl Iterator<Item = Key>) -> Result<Plan> {
        let mut found = RoaringBitmap::new();
        for key in keys {
            found.extend(channels::by_key(self.tx, self.app, &key)?.map(|Ordinal(number)| number));
        }
        Ok(Plan::Set(found))
    }

    /// An open channel goes by its address or by its id; a name that could be either is looked up as both.
    fn open_channels(&mut self, names: &[String]) -> Result<Plan> {
        let types = self.open_types.clone();
        let addresses = types.iter().flat_map(|open| names.iter().map(|name| address_key(open, name)));
        let by_address = self.by_key(addresses)?;
        let ids: Vec<ChannelId> = names.iter().filter_map(|name| name.parse().ok()).collect();
        let open = types.into_iter().map(|open| self.term(&Term::DeviceType(open))).collect();
        let by_id = Plan::And(vec![self.by_id(&ids)?, Plan::Or(open)]);
        Ok(Plan::Or(vec![by_address, by_id]))
    }
}
