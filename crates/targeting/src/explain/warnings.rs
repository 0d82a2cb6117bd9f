//! Names in an audience that no channel has, and the names they were probably meant to be.

use std::collections::{BTreeMap, HashMap, HashSet};

use audience::index::Index;
use audience::plan::Plan;
use base::Result;
use model::ids::{AppId, ChannelId, SegmentId};
use model::lifecycle::lifecycle_names;
use model::selector::{Atomic, Location, Selector};
use model::subscription::Scope;
use model::tag::{Tag, TagGroup};
use model::term::subscription_group;
use store::Tx;
use store::channels;
use store::documents::{self, DocumentKind};

use super::Warning;
use super::near::{Effort, KnownName};
use crate::places::find_place;
use crate::plan::tag_plan;
use crate::segments::Reached;

const MOST_NEAR: usize = 3;
/// More warnings would not help to see what went wrong.
const MOST_WARNINGS: usize = 100;

/// The database's knowledge of the names in an audience.
pub(super) struct Names {
    segments: Reached,
    /// All segments, if an unknown one is asked for.
    segment_ids: Vec<String>,
    /// All lists, if any is asked for.
    lists: Vec<String>,
    /// The channels asked for by id that were ever registered, and whether they still are.
    channels: HashMap<ChannelId, bool>,
}

impl Names {
    pub(super) fn read(tx: &mut Tx<'_>, app: AppId, selector: &Selector, segments: Reached) -> Result<Self> {
        let criteria = segments.values().flatten().map(|segment| &segment.criteria);
        let atoms: Vec<&Atomic> = [selector].into_iter().chain(criteria).flat_map(Selector::atoms).collect();
        let asks_for_lists = atoms.iter().any(|atomic| matches!(atomic, Atomic::StaticList(_)));
        let asked_for: Vec<ChannelId> = atoms.iter().flat_map(|atomic| channel_ids(atomic)).copied().collect();
        let channels = channels::installed(tx, app, &asked_for)?.into_iter().collect();
        let (mut lists, mut segment_ids) = (Vec::new(), Vec::new());
        if asks_for_lists {
            lists.extend(documents::heads(tx, app, DocumentKind::List)?.into_iter().map(|head| head.id));
            lists.extend(lifecycle_names().map(str::to_owned));
        }
        if segments.values().any(Option::is_none) {
            segment_ids.extend(documents::heads(tx, app, DocumentKind::Segment)?.into_iter().map(|head| head.id));
        }
        Ok(Self { segments, segment_ids, lists, channels })
    }
}

/// Names that could be taken for each other.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Groups,
    TagsOf(TagGroup),
    Lists,
    Segments,
    SubscriptionLists,
}

/// Where in the audience a name is, and in which segment, if it is not in the text of the audience itself.
#[derive(Clone, Copy)]
struct Mention<'p> {
    path: &'p str,
    segment: Option<&'p str>,
}

/// Collects a warning about every name that selects nobody because no channel has it, where it is first met.
pub(super) struct Warner<'a> {
    index: &'a Index,
    names: &'a Names,
    pub(super) warnings: Vec<Warning>,
    /// Messages given so far.
    said: HashSet<String>,
    met_segments: HashSet<SegmentId>,
    used_groups: HashMap<TagGroup, bool>,
    known: BTreeMap<Family, Vec<KnownName>>,
    effort: Effort,
}

impl<'a> Warner<'a> {
    pub(super) fn new(index: &'a Index, names: &'a Names) -> Self {
        Self {
            index,
            names,
            warnings: Vec::new(),
            said: HashSet::new(),
            met_segments: HashSet::new(),
            used_groups: HashMap::new(),
            known: BTreeMap::new(),
            effort: Effort::default(),
        }
    }

    /// Looks at an atomic selector, and at the criteria of the segments it reaches.
    pub(super) fn look_at(&mut self, atomic: &Atomic, path: &str) {
        if self.warnings.len() >= MOST_WARNINGS {
            return;
        }
        self.look_at_names(atomic, Mention { path, segment: None });
        let mut pending = atomic.segments().to_vec();
        while let Some(id) = pending.pop() {
            let Some(Some(segment)) = self.names.segments.get(&id) else { continue };
            if self.met_segments.insert(id) {
                for atomic in segment.criteria.atoms() {
                    self.look_at_names(atomic, Mention { path, segment: Some(&segment.display_name) });
                    pending.extend(atomic.segments());
                }
            }
        }
    }

    fn look_at_names(&mut self, atomic: &Atomic, mention: Mention<'_>) {
        match atomic {
            Atomic::Tag { tags, group, .. } => {
                let group = group.clone().unwrap_or_else(TagGroup::device);
                tags.as_slice().iter().for_each(|tag| self.look_at_tag(&group, tag, mention));
            }
            Atomic::Segment(ids) => {
                let names = self.names;
                for id in ids.as_slice().iter().filter(|id| !matches!(names.segments.get(id), Some(Some(_)))) {
                    let id = id.to_string();
                    self.warn(mention, "segment", format!("There is no segment {id}."), &Family::Segments, &id);
                }
            }
            Atomic::StaticList(lists) => {
                let names = self.names;
                for name in lists.as_slice().iter().filter(|name| !names.lists.contains(name)) {
                    self.warn(mention, "static_list", format!("There is no list '{name}'."), &Family::Lists, name);
                }
            }
            Atomic::SubscriptionList { ids, .. } => {
                for id in ids.as_slice() {
                    if !self.is_used(&Family::SubscriptionLists, id) {
                        let message = format!("Nobody subscribes to the list '{id}'.");
                        self.warn(mention, "subscription_list", message, &Family::SubscriptionLists, id);
                    }
                }
            }
            Atomic::Location(location) => self.look_at_location(location, mention),
            Atomic::Channel(ids) => self.look_at_channels("channel", ids.as_slice(), mention),
            Atomic::IosChannel(ids) => self.look_at_channels("ios_channel", ids.as_slice(), mention),
            Atomic::AndroidChannel(ids) => self.look_at_channels("android_channel", ids.as_slice(), mention),
            Atomic::AmazonChannel(ids) => self.look_at_channels("amazon_channel", ids.as_slice(), mention),
            Atomic::WebChannel(ids) => self.look_at_channels("web_channel", ids.as_slice(), mention),
            Atomic::NamedUser(_)
            | Atomic::Alias(_)
            | Atomic::OpenChannel(_)
            | Atomic::DeviceToken(_)
            | Atomic::Apid(_)
            | Atomic::Wns(_)
            | Atomic::Mpns(_)
            | Atomic::DevicePin(_)
            | Atomic::SmsId(_)
            | Atomic::SmsSender(_)
            | Atomic::Attribute(_)
            | Atomic::Activity(_)
            | Atomic::Push(_)
            | Atomic::Live => {}
        }
    }

    fn look_at_tag(&mut self, group: &TagGroup, tag: &Tag, mention: Mention<'_>) {
        if is_used_tag(self.index, group, tag) {
            return;
        }
        let index = self.index;
        let group_is_used = *self.used_groups.entry(group.clone()).or_insert_with(|| is_used_group(index, group));
        if group_is_used {
            let message = format!("Nobody has the tag '{tag}' in the group '{group}'.");
            self.warn(mention, "tag", message, &Family::TagsOf(group.clone()), tag.as_str());
        } else {
            let message = format!("Nobody has a tag in the group '{group}'.");
            self.warn(mention, "group", message, &Family::Groups, group.as_str());
        }
    }

    fn look_at_channels(&mut self, key: &str, ids: &[ChannelId], mention: Mention<'_>) {
        for id in ids {
            let message = match self.names.channels.get(id) {
                Some(true) => continue,
                Some(false) => format!("The channel {id} is uninstalled."),
                None => format!("There is no channel {id}."),
            };
            self.say(mention, key, message, |_| Vec::new());
        }
    }

    fn look_at_location(&mut self, location: &Location, mention: Mention<'_>) {
        // Without an atlas the audience could not have been planned.
        let Ok(atlas) = geo::atlas() else { return };
        if find_place(atlas, &location.place).is_none() {
            let (key, name) = location.place.named_by();
            let message = format!("There is no place with the {key} '{name}'.");
            self.say(mention, &format!("location.{key}"), message, |_| Vec::new());
        }
    }

    fn warn(&mut self, mention: Mention<'_>, key: &str, message: String, family: &Family, name: &str) {
        self.say(mention, key, message, |warner| warner.near(family, name));
    }

    fn say(&mut self, mention: Mention<'_>, key: &str, message: String, near: impl FnOnce(&mut Self) -> Vec<String>) {
        if self.warnings.len() >= MOST_WARNINGS || !self.said.insert(message.clone()) {
            return;
        }
        let near = near(self);
        let Mention { path, segment } = mention;
        self.warnings.push(match segment {
            None => Warning { path: format!("{path}.{key}"), message, near },
            Some(name) => {
                let message = format!("In the segment '{name}': {message}");
                Warning { path: format!("{path}.segment"), message, near }
            }
        });
    }

    /// The names in use that are most like a name.
    fn near(&mut self, family: &Family, name: &str) -> Vec<String> {
        let (index, names) = (self.index, self.names);
        let known = self.known.entry(family.clone()).or_insert_with(|| known(index, names, family));
        let alike: Vec<String> = self.effort.alike(name, known).into_iter().map(str::to_owned).collect();
        alike.into_iter().filter(|name| self.is_used(family, name)).take(MOST_NEAR).collect()
    }

    fn is_used(&self, family: &Family, name: &str) -> bool {
        match family {
            Family::Groups => TagGroup::new(name).is_ok_and(|group| is_used_group(self.index, &group)),
            Family::TagsOf(group) => Tag::new(name).is_ok_and(|tag| is_used_tag(self.index, group, &tag)),
            Family::SubscriptionLists => is_somebody(self.index, devices::subscribers(self.index, &[name.to_owned()])),
            Family::Lists | Family::Segments => true,
        }
    }
}

/// The channels that a selector names by their ids.
fn channel_ids(atomic: &Atomic) -> &[ChannelId] {
    let (Atomic::Channel(ids)
    | Atomic::IosChannel(ids)
    | Atomic::AndroidChannel(ids)
    | Atomic::AmazonChannel(ids)
    | Atomic::WebChannel(ids)) = atomic
    else {
        return &[];
    };
    ids.as_slice()
}

/// All names of a family, in use or not.
fn known(index: &Index, names: &Names, family: &Family) -> Vec<KnownName> {
    let names: Vec<String> = match family {
        Family::Groups => index.groups().into_iter().filter(|group| !group.starts_with('@')).collect(),
        Family::TagsOf(group) => index.tags(group.as_str()),
        Family::Lists => names.lists.clone(),
        Family::Segments => names.segment_ids.clone(),
        Family::SubscriptionLists => {
            let groups = Scope::ALL.map(Some).into_iter().chain([None]).map(subscription_group);
            let lists: HashSet<String> = groups.flat_map(|group| index.tags(group)).collect();
            lists.into_iter().collect()
        }
    };
    names.into_iter().map(KnownName::new).collect()
}

fn is_used_group(index: &Index, group: &TagGroup) -> bool {
    index.tags(group.as_str()).iter().any(|tag| Tag::new(tag).is_ok_and(|tag| is_used_tag(index, group, &tag)))
}

fn is_used_tag(index: &Index, group: &TagGroup, tag: &Tag) -> bool {
    is_somebody(index, tag_plan(index, group, tag))
}

fn is_somebody(index: &Index, plan: Plan) -> bool {
    index.count(&plan.normalize()) > 0
}
