//! The meaning of audiences in its plainest form: maps of what was said, looked through one channel at a time.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{ChannelId, SegmentId};

use super::attributes::Attributes;
use super::lifecycle::{self, Days};
use super::tree::Tree;

pub(super) const TYPES: [&str; 7] = ["ios", "android", "amazon", "web", "wns", "open::kiosk", "open::fridge"];
pub(super) const USERS: [&str; 8] = ["ann", "bob", "cem", "dora", "eve", "Ann", "fritz", "gül"];
pub(super) const TAGS: [&str; 6] = ["red", "green", "blue", "News", "news", "vip"];
pub(super) const GROUPS: [&str; 3] = ["device", "crm", "shop"];
pub(super) const SUBSCRIPTIONS: [&str; 3] = ["weekly", "offers", "alerts"];
pub(super) const SCOPES: [&str; 4] = ["app", "web", "email", "sms"];

pub(super) type Tags = BTreeMap<&'static str, BTreeSet<&'static str>>;

#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) id: ChannelId,
    pub(super) device_type: &'static str,
    pub(super) installed: bool,
    pub(super) opt_in: bool,
    pub(super) background: bool,
    pub(super) address: Option<String>,
    pub(super) language: Option<&'static str>,
    pub(super) timezone: Option<&'static str>,
    pub(super) app_version: Option<&'static str>,
    pub(super) user: Option<&'static str>,
    pub(super) tags: Tags,
    pub(super) lists: BTreeSet<String>,
    pub(super) subscriptions: BTreeSet<&'static str>,
    pub(super) attributes: Attributes,
    /// They stay with a channel that leaves.
    pub(super) days: Days,
}

#[derive(Default)]
pub(super) struct User {
    pub(super) tags: Tags,
    pub(super) lists: BTreeSet<String>,
    /// Scopes and lists.
    pub(super) subscriptions: BTreeSet<(&'static str, &'static str)>,
    pub(super) attributes: Attributes,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Row {
    User(&'static str),
    /// Under the name of a column.
    Channel(&'static str, ChannelId),
}

pub(super) struct List {
    pub(super) name: String,
    pub(super) is_deleted: bool,
    pub(super) content: Vec<Row>,
    pub(super) is_applied: bool,
    /// Former contents that have not been withdrawn.
    pub(super) replaced: Vec<Row>,
}

#[derive(Default)]
pub(super) struct Model {
    pub(super) today: i32,
    pub(super) channels: Vec<Channel>,
    pub(super) users: BTreeMap<&'static str, User>,
    /// Users of channels that have not registered yet.
    pub(super) awaited: Vec<(ChannelId, Option<&'static str>)>,
    /// Deleted ones have no criteria any more.
    pub(super) segments: Vec<(SegmentId, Option<Tree>)>,
    pub(super) lists: Vec<List>,
}

impl Channel {
    pub(super) fn new(id: ChannelId, device_type: &'static str) -> Self {
        Self {
            id,
            device_type,
            installed: true,
            opt_in: false,
            background: false,
            address: None,
            language: None,
            timezone: None,
            app_version: None,
            user: None,
            tags: Tags::new(),
            lists: BTreeSet::new(),
            subscriptions: BTreeSet::new(),
            attributes: Attributes::new(),
            days: Days::default(),
        }
    }

    pub(super) fn uninstall(&mut self) {
        let days = std::mem::take(&mut self.days);
        *self = Self { installed: false, days, ..Self::new(self.id, self.device_type) };
    }

    pub(super) fn is_reachable(&self) -> bool {
        self.opt_in && self.address.is_some()
    }

    fn has_property(&self, group: &str, tag: &str) -> bool {
        let flag = |value: bool| if value { "true" } else { "false" };
        let is_android = ["android", "amazon"].contains(&self.device_type);
        match group {
            "ua_opt_in" => tag == flag(self.opt_in),
            "ua_locale_language" => tag == self.language.unwrap_or("Unknown"),
            "timezone" => tag == self.timezone.unwrap_or("NO_TIME_ZONE"),
            "ua_background_enabled" => {
                (is_android || ["ios", "wns"].contains(&self.device_type)) && tag == flag(self.background)
            }
            "ua_ios_app_version" => self.device_type == "ios" && tag == self.app_version.unwrap_or("Unknown"),
            "ua_android_app_version" => is_android && tag == self.app_version.unwrap_or("Unknown"),
            _ => false,
        }
    }

    fn scope(&self) -> &'static str {
        if self.device_type == "web" { "web" } else { "app" }
    }
}

/// Whether a word for a type, such as the column of a list without its ending, means a type of channels.
pub(super) fn means(word: &str, device_type: &str) -> bool {
    word == device_type || (word == "open" && device_type.starts_with("open::"))
}

impl Model {
    pub(super) fn installed(&self) -> impl Iterator<Item = &Channel> {
        self.channels.iter().filter(|channel| channel.installed)
    }

    pub(super) fn count(&self, is_counted: impl Fn(&Channel) -> bool) -> u64 {
        self.installed().filter(|channel| is_counted(channel)).count().try_into().unwrap()
    }

    /// Whether a channel is selected by a push to some open platforms.
    pub(super) fn selects(&self, tree: &Tree, channel: &Channel, open: &[&str]) -> bool {
        let user = channel.user.and_then(|user| self.users.get(user));
        let has_tag = |tags: &Tags, group: &str, tag: &str| tags.get(group).is_some_and(|tags| tags.contains(tag));
        match tree {
            Tree::And(members) => members.iter().all(|member| self.selects(member, channel, open)),
            Tree::Or(members) => members.iter().any(|member| self.selects(member, channel, open)),
            Tree::Not(member) => !self.names_unknown(member) && !self.selects(member, channel, open),
            Tree::Tag { group, tags } => tags.iter().any(|tag| {
                let group = group.unwrap_or("device");
                has_tag(&channel.tags, group, tag)
                    || user.is_some_and(|user| has_tag(&user.tags, group, tag))
                    || channel.has_property(group, tag)
            }),
            Tree::Channel { word, ids } => {
                ids.contains(&channel.id) && word.is_none_or(|word| means(word, channel.device_type))
            }
            Tree::Open(names) => {
                let is_named =
                    |name: &String| channel.address.as_ref() == Some(name) || *name == channel.id.to_string();
                open.contains(&channel.device_type) && names.iter().any(is_named)
            }
            Tree::Address { device_type, addresses } => {
                channel.device_type == *device_type
                    && channel.address.as_ref().is_some_and(|address| addresses.contains(address))
            }
            Tree::User(users) => channel.user.is_some_and(|user| users.contains(&user)),
            Tree::Segment(ids) => {
                let meant = self.segments.iter().filter(|(id, _)| ids.contains(id));
                meant.filter_map(|(_, criteria)| criteria.as_ref()).any(|it| self.selects(it, channel, open))
            }
            Tree::List(names) => names.iter().any(|name| {
                if let Some(is_in) = lifecycle::holds(name, &channel.days, self.today) {
                    return is_in;
                }
                let is_there = self.lists.iter().any(|list| list.name == *name && !list.is_deleted);
                is_there && (channel.lists.contains(name) || user.is_some_and(|user| user.lists.contains(name)))
            }),
            Tree::Activity(openings) => openings.are_met(&channel.days, self.today),
            Tree::Attribute(wish) => wish.is_met(&channel.attributes, user.map(|user| &user.attributes)),
            Tree::Subscription(lists) => lists.iter().any(|list| {
                channel.subscriptions.contains(list)
                    || user.is_some_and(|user| user.subscriptions.contains(&(channel.scope(), list)))
            }),
        }
    }

    /// Whether criteria lead to a segment through whatever they refer to.
    pub(super) fn leads_to(&self, criteria: &Tree, segment: SegmentId) -> bool {
        self.leads_to_any(criteria, &|id| id == segment)
    }

    /// Whether criteria lead to a segment that does not exist: then nobody knows who is not in them.
    fn names_unknown(&self, criteria: &Tree) -> bool {
        self.leads_to_any(criteria, &|id| {
            !self.segments.iter().any(|(known, criteria)| *known == id && criteria.is_some())
        })
    }

    fn leads_to_any(&self, criteria: &Tree, is_meant: &dyn Fn(SegmentId) -> bool) -> bool {
        match criteria {
            Tree::And(members) | Tree::Or(members) => members.iter().any(|member| self.leads_to_any(member, is_meant)),
            Tree::Not(member) => self.leads_to_any(member, is_meant),
            Tree::Segment(ids) => {
                let named = self.segments.iter().filter(|(id, _)| ids.contains(id));
                ids.iter().any(|id| is_meant(*id))
                    || named.filter_map(|(_, criteria)| criteria.as_ref()).any(|it| self.leads_to_any(it, is_meant))
            }
            Tree::Tag { .. }
            | Tree::Channel { .. }
            | Tree::Open(_)
            | Tree::Address { .. }
            | Tree::User(_)
            | Tree::List(_)
            | Tree::Attribute(_)
            | Tree::Activity(_)
            | Tree::Subscription(_) => false,
        }
    }

    /// Puts a channel as it is now in the place of how it was; whoever had its address has lost it.
    pub(super) fn put(&mut self, mut channel: Channel) {
        let place = self.channels.iter().position(|known| known.id == channel.id);
        if place.is_none()
            && let Some((_, user)) = self.awaited.iter_mut().find(|(id, _)| *id == channel.id)
        {
            channel.user = user.take().or(channel.user);
        }
        if let Some(user) = channel.user {
            self.users.entry(user).or_default();
        }
        for other in self.channels.iter_mut().filter(|other| other.device_type == channel.device_type) {
            other.address.take_if(|address| channel.address.as_ref() == Some(address));
        }
        match place {
            Some(place) => self.channels[place] = channel,
            None => {
                channel.days.made = self.today;
                self.channels.push(channel);
            }
        }
    }

    pub(super) fn at_address(&self, device_type: &str, address: Option<&String>) -> Option<&Channel> {
        let address = address?;
        self.installed().find(|known| known.device_type == device_type && known.address.as_ref() == Some(address))
    }

    /// The lists' jobs have run.
    pub(super) fn tend_lists(&mut self) {
        for i in 0..self.lists.len() {
            let list = &mut self.lists[i];
            let (name, content) = (list.name.clone(), list.content.clone());
            let left = std::mem::take(&mut list.replaced);
            if !list.is_applied {
                list.is_applied = true;
                for row in &content {
                    self.lists_of(row).for_each(|lists| lists.extend([name.clone()]));
                }
            }
            for row in left.iter().filter(|row| !content.contains(row)) {
                self.lists_of(row).for_each(|lists| lists.retain(|list| *list != name));
            }
        }
    }

    /// Whom a row of a list means. Users are made, channels are not.
    fn lists_of(&mut self, row: &Row) -> impl Iterator<Item = &mut BTreeSet<String>> {
        let (user, channel) = match row {
            Row::User(user) => (Some(&mut self.users.entry(*user).or_default().lists), None),
            Row::Channel(column, id) => {
                let word = column.trim_end_matches("_channel");
                let is_meant =
                    |known: &&mut Channel| known.id == *id && known.installed && means(word, known.device_type);
                (None, self.channels.iter_mut().find(is_meant).map(|channel| &mut channel.lists))
            }
        };
        user.into_iter().chain(channel)
    }
}
