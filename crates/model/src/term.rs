//! Terms: the names of the sets of channels that audiences are made of, and the log record that keeps those sets current.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::channel::DeliveryType;
use crate::device_type::DeviceType;
use crate::ids::{Ordinal, TermId};
use crate::place::PlaceId;
use crate::subscription::{Scope, Subscription, SubscriptionListId};
use crate::tag::{self, Tag, TagGroup};

const TYPE_GROUP: &str = "@type";
const REACH_GROUP: &str = "@reach";
const LIVE_GROUP: &str = "@live";
const DELIVERY_GROUP: &str = "@delivery_type";
const LIST_GROUP: &str = "@list";
/// Events on days.
pub const DAY_GROUP: &str = "@day";
const LAST_PLACE_GROUP: &str = "@last_place";
const CLOCK_GROUP: &str = "@clock";
/// Deleted tags of devices, until every channel has lost them.
pub const RETIRED_GROUP: &str = "@retired";

/// The name of one set of channels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A tag in a group, device properties included.
    Tag { group: TagGroup, tag: Tag },
    /// Every installed channel of a device type.
    DeviceType(DeviceType),
    /// Every channel that can be reached in some way.
    Reach(Reach),
    /// Every channel that takes messages over live connections, in some sense.
    Live(LiveTerm),
    /// Every Android channel that another provider than Google is behind.
    DeliveryType(DeliveryType),
    /// Every channel on an uploaded list, by the list's name.
    List(String),
    /// Every channel that has a subscription. One with a scope is on all channels of the named user, and counts only for
    /// those of the scope.
    Subscription(Subscription),
    /// Every channel to which something happened on a day.
    Day(DayTerm),
    /// Every channel that was in a place when it last reported its location.
    LastPlace(PlaceId),
    /// Every channel in a time zone whose clock is not that of the zone its tag names.
    OwnClock(String),
    /// A device tag that was deleted, under the number it had. Channels hold it until they are next written; it has no
    /// meaning, and the tag gets another number when it is used again.
    Retired { number: TermId, tag: Tag },
}

/// Something that happened on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DayTerm {
    pub kind: DayKind,
    /// Days since 1970 in UTC.
    pub day: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DayKind {
    /// The channel registered for the first time.
    FirstOpen,
    /// The app was opened.
    Open,
    /// A push was sent to the channel.
    Sent,
    /// The app was opened from a notification.
    DirectOpen,
    /// A Message Center message was sent to the channel.
    MessageSent,
    /// A Message Center message was read.
    MessageView,
    /// The channel had a live connection.
    Live,
}

impl DayKind {
    pub const ALL: [(&'static str, DayKind); 7] = [
        ("first_open", DayKind::FirstOpen),
        ("open", DayKind::Open),
        ("sent", DayKind::Sent),
        ("direct_open", DayKind::DirectOpen),
        ("message_sent", DayKind::MessageSent),
        ("message_view", DayKind::MessageView),
        ("live", DayKind::Live),
    ];

    pub const fn name(self) -> &'static str {
        match self {
            DayKind::FirstOpen => "first_open",
            DayKind::Open => "open",
            DayKind::Sent => "sent",
            DayKind::DirectOpen => "direct_open",
            DayKind::MessageSent => "message_sent",
            DayKind::MessageView => "message_view",
            DayKind::Live => "live",
        }
    }
}

impl DayTerm {
    fn from_name(name: &str) -> Option<Self> {
        let (kind, day) = name.split_once('/')?;
        let (_, kind) = DayKind::ALL.into_iter().find(|(known, _)| *known == kind)?;
        Some(Self { kind, day: day.parse().ok()? })
    }
}

/// How a channel can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// Installed, opted in and with an address or live: shows notifications.
    Alert,
    /// Installed, and either background enabled and with an address, or live: receives silent pushes.
    Silent,
    /// Installed and with an address or live.
    Addressed,
}

/// Which channels of those that take live messages are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiveTerm {
    /// All of them.
    Any,
    /// Those that have no address: nothing else reaches them.
    Only,
}

impl LiveTerm {
    pub const ALL: [(&'static str, LiveTerm); 2] = [("any", LiveTerm::Any), ("only", LiveTerm::Only)];

    pub const fn name(self) -> &'static str {
        match self {
            LiveTerm::Any => "any",
            LiveTerm::Only => "only",
        }
    }
}

impl Reach {
    pub const ALL: [(&'static str, Reach); 3] =
        [("alert", Reach::Alert), ("silent", Reach::Silent), ("addressed", Reach::Addressed)];

    pub const fn name(self) -> &'static str {
        match self {
            Reach::Alert => "alert",
            Reach::Silent => "silent",
            Reach::Addressed => "addressed",
        }
    }
}

impl Term {
    /// The group and the tag under which the term is stored. Groups of the service itself begin with `@`, which no
    /// [`TagGroup`] does, so that the two cannot be confused.
    pub fn key(&self) -> (&str, Cow<'_, str>) {
        match self {
            Term::Tag { group, tag } => (group.as_str(), tag.as_str().into()),
            Term::DeviceType(device_type) => (TYPE_GROUP, device_type.to_string().into()),
            Term::Reach(reach) => (REACH_GROUP, reach.name().into()),
            Term::Live(live) => (LIVE_GROUP, live.name().into()),
            Term::DeliveryType(delivery_type) => (DELIVERY_GROUP, delivery_type.word().into()),
            Term::List(name) => (LIST_GROUP, name.as_str().into()),
            Term::Subscription(Subscription { list, scope }) => (subscription_group(*scope), list.as_str().into()),
            Term::Day(DayTerm { kind, day }) => (DAY_GROUP, format!("{}/{day}", kind.name()).into()),
            Term::LastPlace(place) => (LAST_PLACE_GROUP, place.to_string().into()),
            Term::OwnClock(zone) => (CLOCK_GROUP, zone.as_str().into()),
            Term::Retired { number, tag } => (RETIRED_GROUP, format!("{}/{tag}", number.0).into()),
        }
    }

    /// The reverse of [`Term::key`]; `None` for a pair that it never gives.
    pub fn from_key(group: &str, tag: &str) -> Option<Self> {
        match group {
            TYPE_GROUP => DeviceType::from_name(tag).map(Term::DeviceType),
            REACH_GROUP => Reach::ALL.into_iter().find(|(name, _)| *name == tag).map(|(_, reach)| Term::Reach(reach)),
            LIVE_GROUP => LiveTerm::ALL.into_iter().find(|(name, _)| *name == tag).map(|(_, live)| Term::Live(live)),
            DELIVERY_GROUP => {
                let known = DeliveryType::WORDS.iter().find(|(word, _)| *word == tag);
                known.map(|(_, delivery_type)| Term::DeliveryType(*delivery_type))
            }
            LIST_GROUP => Some(Term::List(tag.to_owned())),
            DAY_GROUP => DayTerm::from_name(tag).map(Term::Day),
            LAST_PLACE_GROUP => PlaceId::from_text(tag).map(Term::LastPlace),
            CLOCK_GROUP => Some(Term::OwnClock(tag.to_owned())),
            RETIRED_GROUP => {
                let (number, tag) = tag.split_once('/')?;
                Some(Term::Retired { number: TermId(number.parse().ok()?), tag: Tag::new(tag).ok()? })
            }
            _ => match subscription_scope(group) {
                Some(scope) => {
                    Some(Term::Subscription(Subscription { list: SubscriptionListId::new(tag).ok()?, scope }))
                }
                None => Some(Term::Tag { group: TagGroup::new(group).ok()?, tag: Tag::new(tag).ok()? }),
            },
        }
    }
}

/// The group under which subscriptions of a scope are stored; without a scope, those of channels for themselves.
pub const fn subscription_group(scope: Option<Scope>) -> &'static str {
    match scope {
        None => "@subscription",
        Some(Scope::App) => "@subscription/app",
        Some(Scope::Web) => "@subscription/web",
        Some(Scope::Email) => "@subscription/email",
        Some(Scope::Sms) => "@subscription/sms",
    }
}

/// Whether a group holds subscriptions, of any scope.
pub fn is_subscription(group: &str) -> bool {
    subscription_scope(group).is_some()
}

fn subscription_scope(group: &str) -> Option<Option<Scope>> {
    let mut scopes = std::iter::once(None).chain(Scope::ALL.map(Some));
    scopes.find(|scope| subscription_group(*scope) == group)
}

/// Whether the terms of a group are kept as one set each instead of with every channel.
///
/// An event of a channel on some day remains true when the channel leaves, and does not make it part of everyone.
pub fn is_kept_apart(group: &str) -> bool {
    [DAY_GROUP, LAST_PLACE_GROUP].contains(&group)
}

/// Whether the terms of a group are assigned by customers, rather than reported by devices or caused by events.
pub fn is_assignable(group: &str) -> bool {
    match group.strip_prefix('@') {
        None => !tag::is_read_only(group),
        Some(_) => [LIST_GROUP, RETIRED_GROUP].contains(&group) || is_subscription(group),
    }
}

/// One entry of an app's log: which channels gained and lost which terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermsRecord {
    /// Terms that were given their number here: the number, the group and the tag.
    pub new_terms: Vec<(TermId, String, String)>,
    /// Applied in their order.
    pub changes: Vec<TermChange>,
    /// Applied in their order, after the changes of single channels.
    pub sets: Vec<TermSet>,
}

/// The changes of one channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermChange {
    pub ordinal: Ordinal,
    pub added: Vec<TermId>,
    pub removed: Vec<TermId>,
}

/// The changes of one term for very many channels, as when a list is uploaded.
///
/// A term that is not [kept apart](is_kept_apart) is added only to channels that hold such a term already: being on a
/// list does not make a channel that has been uninstalled, or never was there, part of everyone. A channel that is in
/// both sets is added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermSet {
    pub term: TermId,
    /// A bitmap of ordinals in the portable Roaring format. An empty vector stands for no channels.
    pub added: Vec<u8>,
    /// Like `added`.
    pub removed: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_survives_storage() {
        let tag =
            |group: &str, tag: &str| Term::Tag { group: TagGroup::new(group).unwrap(), tag: Tag::new(tag).unwrap() };
        let mut terms = vec![
            tag("device", "news"),
            tag("ua_ios_model", "iPhone7,2"),
            tag("type", "ios"),
            Term::DeviceType(DeviceType::from_name("open::smart::fridge").unwrap()),
        ];
        terms.extend(DeviceType::NAMED.into_iter().map(|(_, device_type)| Term::DeviceType(device_type)));
        terms.extend(Reach::ALL.into_iter().map(|(_, reach)| Term::Reach(reach)));
        terms.extend(LiveTerm::ALL.into_iter().map(|(_, live)| Term::Live(live)));
        terms.extend(DeliveryType::WORDS.iter().map(|(_, delivery_type)| Term::DeliveryType(*delivery_type)));
        terms.push(Term::List("vip".to_owned()));
        terms.push(Term::OwnClock("Asia/Kathmandu".to_owned()));
        let weekly = SubscriptionListId::new("weekly").unwrap();
        let scopes = [None, Some(Scope::App), Some(Scope::Web), Some(Scope::Email), Some(Scope::Sms)];
        terms.extend(scopes.map(|scope| Term::Subscription(Subscription { list: weekly.clone(), scope })));
        terms.push(Term::Retired { number: TermId(17), tag: Tag::new("a/b").unwrap() });
        let place = PlaceId::from_text("4oFkxX7RcUdirjtaenEQIV").unwrap();
        terms.push(Term::LastPlace(place));
        terms.extend(DayKind::ALL.into_iter().map(|(_, kind)| Term::Day(DayTerm { kind, day: 20_407 })));
        for term in terms {
            let (group, stored_tag) = term.key();
            assert_eq!(Term::from_key(group, &stored_tag), Some(term.clone()), "{group} {stored_tag}");
        }
    }

    #[test]
    fn stored_forms_are_stable() {
        assert_eq!(Term::DeviceType(DeviceType::Ios).key(), ("@type", "ios".into()));
        assert_eq!(Term::Reach(Reach::Alert).key(), ("@reach", "alert".into()));
        assert_eq!(Term::Reach(Reach::Silent).key(), ("@reach", "silent".into()));
        assert_eq!(Term::Reach(Reach::Addressed).key(), ("@reach", "addressed".into()));
        assert_eq!(Term::DeliveryType(DeliveryType::Adm).key(), ("@delivery_type", "adm".into()));
        assert_eq!(Term::DeliveryType(DeliveryType::UnifiedPush).key(), ("@delivery_type", "unifiedpush".into()));
    }

    #[test]
    fn what_was_never_stored_is_no_term() {
        for (group, tag) in [
            ("@type", "toaster"),
            ("@reach", "loud"),
            ("@delivery_type", "c2dm"),
            ("@other", "x"),
            ("", "x"),
            ("device", ""),
        ] {
            assert_eq!(Term::from_key(group, tag), None, "{group} {tag}");
        }
    }
}
