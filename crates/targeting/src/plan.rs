//! From an audience to a plan over the index: names become term numbers, single channels become ordinals.
//!
//! The selectors of each kind are planned in its own file, as further methods of [`Planner`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use audience::index::Index;
use audience::plan::Plan;
use base::{Error, Result};
use devices::{address_key, apid_key};
use index::term_plan;
use model::bulk::Uploaded;
use model::create_and_send::Recipients;
use model::device_type::DeviceType;
use model::ids::{AppId, BulkId, ChannelId, NamedUserId, Ordinal, SegmentId, TermId};
use model::property::selected_tag;
use model::remote_data::Overrides;
use model::selector::{ActivityQuestion, Atomic, Attribute, Audience, PastPushId, Selector};
use model::tag::{Tag, TagGroup};
use model::term::Term;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::attributes::Values;
use store::bulk_rows;
use store::channels::{self, Key};
use store::documents::{self, DocumentKind};

use crate::online::connected;
use crate::past_pushes::PastSets;
use crate::segments::{Reached, reached};

/// Looks up the names in an audience. Unknown names select nobody.
pub struct Planner<'a, 'c> {
    pub tx: &'a mut Tx<'c>,
    pub app: AppId,
    pub index: &'a Index,
    /// The time that dates are compared with.
    pub now: UtcMillis,
    /// The open platforms the push goes to, in which addresses are looked up.
    pub(crate) open_types: Vec<DeviceType>,
    /// The segments that were reached.
    pub(crate) segments: HashMap<SegmentId, PlannedSegment>,
    /// The plans of selectors by attribute, by the name of the attribute.
    pub(crate) attributes: HashMap<String, Vec<(Attribute, Plan)>>,
    /// The one channel that is asked about, so that nothing is read or planned for others.
    pub(crate) only: Option<OneChannel>,
    /// The channels that are asked about, if not everybody.
    pub(crate) asked: Option<AskedChannels>,
    pub unknown: Unknown,
    /// The pushes that were looked up.
    pub past: PastSets,
}

/// What decides whether selectors by attribute mean a channel.
pub(crate) struct OneChannel {
    pub(crate) ordinal: Ordinal,
    pub(crate) terms: Vec<TermId>,
    /// What its device has told, as it is stored.
    pub(crate) profile: String,
    /// Its attributes, and those of its named user.
    pub(crate) attributes: [Values; 2],
    /// What its device has changed and not uploaded yet; the attributes are with that.
    pub(crate) overrides: Overrides,
}

/// Some channels that are asked about. Of others nothing is read that is kept for each channel, so that a plan may be wrong about
/// them.
pub(crate) struct AskedChannels {
    pub(crate) channels: RoaringBitmap,
    /// Their attributes, and those of their named users, once they were read.
    pub(crate) attributes: Option<BTreeMap<Ordinal, [Values; 2]>>,
}

#[derive(Clone)]
pub(crate) struct PlannedSegment {
    pub(crate) plan: Plan,
    /// The unknown names in its criteria, and in those of the segments that these refer to.
    pub(crate) unknown: BTreeSet<String>,
    /// Whether a push is among them.
    pub(crate) has_unknown_push: bool,
}

/// The names met so far that nothing has: places that the atlas lacks, and segments and pushes that do not exist.
#[derive(Default)]
pub struct Unknown {
    /// For people: a few of them, however many there are and however often segments refer to each other.
    pub names: BTreeSet<String>,
    /// Whether a push is among them.
    pub has_push: bool,
    n_met: usize,
}

impl Unknown {
    const MOST_NAMES: usize = 5;

    pub(crate) fn meet(&mut self, name: String) {
        self.meet_all(&BTreeSet::from([name]));
    }

    pub(crate) fn meet_push(&mut self, id: PastPushId) {
        self.has_push = true;
        self.meet(format!("push {id}"));
    }

    /// The unknown names of one segment, if it has any.
    pub(crate) fn meet_all(&mut self, names: &BTreeSet<String>) {
        let n_free = Self::MOST_NAMES - self.names.len();
        let new: Vec<String> = names.difference(&self.names).take(n_free).cloned().collect();
        self.names.extend(new);
        self.n_met += usize::from(!names.is_empty());
    }

    /// How often one was met. It tells whether a part of an audience has any.
    pub(crate) const fn n_met(&self) -> usize {
        self.n_met
    }
}

impl<'a, 'c> Planner<'a, 'c> {
    pub fn new(tx: &'a mut Tx<'c>, app: AppId, index: &'a Index, now: UtcMillis, open_types: Vec<DeviceType>) -> Self {
        Self {
            tx,
            app,
            index,
            now,
            open_types,
            segments: HashMap::new(),
            attributes: HashMap::new(),
            only: None,
            asked: None,
            unknown: Unknown::default(),
            past: PastSets::default(),
        }
    }

    /// For plans that have to be right about these channels only.
    pub(crate) fn about(self, channels: RoaringBitmap) -> Self {
        Self { asked: Some(AskedChannels { channels, attributes: None }), ..self }
    }
}

impl Planner<'_, '_> {
    pub fn audience(&mut self, audience: &Audience) -> Result<Plan> {
        match audience {
            Audience::All(_) => Ok(Plan::Everyone),
            // Only pipelines accept it, and they replace it by the channels that triggered them.
            Audience::Triggered(_) => Ok(Plan::Nobody),
            Audience::CreateAndSend(recipients) => self.recipients(recipients),
            Audience::Uploaded(Uploaded(upload)) => self.uploaded(*upload),
            Audience::Selector(selector) => self.selected(selector),
        }
    }

    pub fn selected(&mut self, selector: &Selector) -> Result<Plan> {
        self.prepare(selector)?;
        Ok(self.selector(selector)?.normalize())
    }

    /// Those of some channels that a selector means. Of others nothing is read that is kept for each channel.
    pub fn meant_among(&mut self, selector: &Selector, channels: &RoaringBitmap) -> Result<RoaringBitmap> {
        let open_types = self.open_types.clone();
        // One of its own, because what a planner has found out about attributes is about the channels that it was asked about.
        let mut planner = Planner::new(self.tx, self.app, self.index, self.now, open_types).about(channels.clone());
        planner.past = std::mem::take(&mut self.past);
        let plan = planner.selected(selector);
        let Planner { past, unknown, .. } = planner;
        self.past = past;
        self.unknown.meet_all(&unknown.names);
        self.unknown.has_push |= unknown.has_push;
        let parts = vec![Plan::Set(channels.clone()), plan?];
        Ok(self.index.resolve(&Plan::And(parts).normalize()))
    }

    /// Finds out what takes more than looking up names: the members of the segments that a selector reaches, and the channels
    /// with the attributes that it or they ask for. Everything is read once, however often it is used.
    pub(crate) fn prepare(&mut self, selector: &Selector) -> Result<Reached> {
        let reached = reached(self.tx, self.app, selector)?;
        let criteria = reached.values().flatten().map(|segment| &segment.criteria);
        self.find_attributes([selector].into_iter().chain(criteria))?;
        self.plan_segments(selector, &reached)?;
        Ok(reached)
    }

    /// The plan of a selector that was prepared.
    pub(crate) fn selector(&mut self, selector: &Selector) -> Result<Plan> {
        match selector {
            Selector::And { members, .. } => self.members(members).map(Plan::And),
            Selector::Or { members, .. } => self.members(members).map(Plan::Or),
            Selector::Not { member, .. } => {
                let n_unknown = self.unknown.n_met();
                let plan = self.selector(member)?;
                Ok(self.opposite(plan, n_unknown))
            }
            Selector::Atomic(atomic) => self.atomic(atomic),
        }
    }

    /// The complement of a plan. A segment that the audience names may have been deleted since, and a later atlas may lack a place:
    /// then the members of the plan are unknown, and treating it as empty would make its complement everybody. `n_unknown` is
    /// how many unknown names had been met before it was planned.
    pub(crate) fn opposite(&self, plan: Plan, n_unknown: usize) -> Plan {
        if self.unknown.n_met() > n_unknown { Plan::Nobody } else { Plan::Not(Box::new(plan)) }
    }

    fn members(&mut self, members: &[Selector]) -> Result<Vec<Plan>> {
        members.iter().map(|member| self.selector(member)).collect()
    }

    /// The plan of an atomic selector of one that was prepared.
    pub(crate) fn atomic(&mut self, atomic: &Atomic) -> Result<Plan> {
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
            Atomic::Wns(names) => self.windows_channels(names.as_slice()),
            Atomic::Apid(apids) => {
                self.by_key(apids.as_slice().iter().map(|apid| apid_key(&DeviceType::Android, apid)))
            }
            Atomic::NamedUser(users) => self.by_user(users.as_slice()),
            Atomic::SubscriptionList { ids, .. } => Ok(devices::subscribers(self.index, ids.as_slice())),
            Atomic::Attribute(attribute) => self.attribute(attribute),
            Atomic::StaticList(names) => self.static_lists(names.as_slice()),
            Atomic::Segment(ids) => Ok(self.in_segments(ids.as_slice())),
            // There is nothing of these kinds yet that a channel could be in.
            Atomic::Alias(_) | Atomic::Mpns(_) | Atomic::DevicePin(_) | Atomic::SmsId(_) | Atomic::SmsSender(_) => {
                Ok(Plan::Nobody)
            }
            Atomic::Location(location) => self.location(location),
            Atomic::Push(past) => self.past_push(past),
            Atomic::Live => Ok(Plan::Set(connected(self.tx, self.app, self.now)?)),
            Atomic::Activity(activity) => match activity.question() {
                Ok(ActivityQuestion::Openings(openings)) => self.openings(&openings),
                Ok(ActivityQuestion::OpenedFrom(past)) => self.past_push(&past),
                Ok(ActivityQuestion::NotOpenedFrom(past)) => {
                    let n_unknown = self.unknown.n_met();
                    let opened = self.past_push(&past)?;
                    Ok(self.opposite(opened, n_unknown))
                }
                // Refused when the push was accepted: treating it as empty would make NOT mean everybody.
                Err(why) => Err(Error::internal(why)),
            },
        }
    }

    fn tags(&self, group: Option<&TagGroup>, tags: &[Tag]) -> Plan {
        let group = group.cloned().unwrap_or_else(TagGroup::device);
        Plan::Or(tags.iter().map(|tag| self.tag(&group, tag)).collect())
    }

    pub fn tag(&self, group: &TagGroup, tag: &Tag) -> Plan {
        match self.only.as_ref().and_then(|only| only.overrides.has_tag(group, tag)) {
            Some(true) => return Plan::Everyone,
            Some(false) => return Plan::Nobody,
            None => {}
        }
        tag_plan(self.index, group, tag)
    }

    pub fn term(&self, term: &Term) -> Plan {
        term_plan(self.index, term)
    }

    fn static_lists(&mut self, names: &[String]) -> Result<Plan> {
        let (mut parts, mut uploaded) = (Vec::with_capacity(names.len()), Vec::new());
        for name in names {
            match self.lifecycle(name)? {
                Some(plan) => parts.push(plan),
                None => uploaded.push(name.as_str()),
            }
        }
        // Not by their terms alone: the term of a deleted list stays until it is removed from all members.
        let found = documents::get_many(self.tx, self.app, DocumentKind::List, &uploaded)?;
        parts.extend(found.into_iter().map(|list| self.term(&Term::List(list.id))));
        Ok(Plan::Or(parts))
    }

    fn by_id(&mut self, ids: &[ChannelId]) -> Result<Plan> {
        Ok(named_one_by_one(channels::ordinals_of(self.tx, self.app, ids)?))
    }

    fn by_id_of_type(&mut self, ids: &[ChannelId], device_type: DeviceType) -> Result<Plan> {
        Ok(Plan::And(vec![self.by_id(ids)?, self.term(&Term::DeviceType(device_type))]))
    }

    fn by_user(&mut self, users: &[NamedUserId]) -> Result<Plan> {
        Ok(named_one_by_one(channels::ordinals_of_users(self.tx, self.app, users)?))
    }

    fn by_key(&mut self, keys: impl Iterator<Item = Key>) -> Result<Plan> {
        Ok(named_one_by_one(channels::by_keys(self.tx, self.app, keys)?))
    }

    /// All of them were registered in the transaction that accepted the push.
    fn recipients(&mut self, recipients: &Recipients) -> Result<Plan> {
        let types = self.open_types.clone();
        let addresses = recipients.as_slice().iter().map(|recipient| &recipient.address);
        self.by_key(addresses.flat_map(|address| types.iter().map(move |open| address_key(open, address))))
    }

    /// Everybody in a file for bulk sending, which may be gone when a schedule comes to it.
    fn uploaded(&mut self, upload: BulkId) -> Result<Plan> {
        if !documents::exists(self.tx, self.app, DocumentKind::BulkUpload, &upload.to_string())? {
            self.unknown.meet(format!("upload {upload}"));
            return Ok(Plan::Nobody);
        }
        Ok(named_one_by_one(bulk_rows::ordinals(self.tx, self.app, upload)?))
    }

    /// A channel of Windows is named by its address, which is a URL, or by its id: one client library takes nothing else.
    fn windows_channels(&mut self, names: &[String]) -> Result<Plan> {
        let by_address = self.by_key(names.iter().map(|name| address_key(&DeviceType::Wns, name)))?;
        let ids: Vec<ChannelId> = names.iter().filter_map(|name| name.parse().ok()).collect();
        Ok(Plan::Or(vec![by_address, self.by_id_of_type(&ids, DeviceType::Wns)?]))
    }

    /// An open channel is named by its address or by its id; a name that could be either is looked up as both.
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

/// The channels with a tag.
pub fn tag_plan(index: &Index, group: &TagGroup, tag: &Tag) -> Plan {
    term_plan(index, &Term::Tag { group: group.clone(), tag: selected_tag(group, tag) })
}

fn named_one_by_one(ordinals: Vec<Ordinal>) -> Plan {
    Plan::Set(ordinals.into_iter().map(|Ordinal(number)| number).collect::<RoaringBitmap>())
}
