//! The channels that audiences are measured on: any number of them, the same in every run.
//!
//! A channel has one value in each of 20 property groups and three of 10,000 tags. Values and tags have the popularity
//! of words: the n-th has 1/n as many channels as the first.

use model::device_type::DeviceType;
use model::ids::{ChannelId, Ordinal, TermId};
use model::tag::{Tag, TagGroup};
use model::term::{Reach, Term};
use model::time::UtcMillis;
use store::channels::{Channel, Key};
use uuid::Uuid;

/// Property groups and how many values each has.
pub(crate) const GROUPS: [(&str, usize); 20] = [
    ("ua_opt_in", 2),
    ("ua_background_enabled", 2),
    ("ua_location_enabled", 2),
    ("ua_locale_language", 40),
    ("ua_locale_country", 200),
    ("timezone", 300),
    ("ua_ios_app_version", 30),
    ("ua_ios_sdk_version", 20),
    ("ua_ios_version", 25),
    ("ua_ios_model", 60),
    ("ua_android_app_version", 30),
    ("ua_android_sdk_version", 20),
    ("ua_android_version", 15),
    ("ua_amazon_app_version", 10),
    ("ua_amazon_version", 8),
    ("ua_web_browser_name", 6),
    ("ua_web_browser_version", 50),
    ("ua_web_browser_type", 3),
    ("ua_carrier", 150),
    ("ua_device_model", 400),
];
pub(crate) const TAGS: usize = 10_000;
const TAGS_PER_CHANNEL: usize = 3;
/// About the profile that a registration of an Android device leaves.
const PROFILE: &str = r#"{"device_type":"android","opt_in":true,"background":true,"timezone":"Europe/Berlin","locale_language":"de","locale_country":"DE","app_version":"12.4.1","sdk_version":"17.8.1","device_model":"Pixel 8","device_os":"14","android_api_version":34,"carrier":"Telekom"}"#;
/// 2026-01-01.
const CREATED: UtcMillis = UtcMillis(1_767_225_600_000);

pub(crate) struct Population {
    /// All terms; a channel's terms are positions in it.
    terms: Vec<Term>,
    tags: Zipf,
    groups: Vec<(usize, Zipf)>,
    first_tag: usize,
    first_of_service: usize,
}

impl Population {
    pub(crate) fn new() -> Self {
        let mut terms = Vec::new();
        let mut groups = Vec::new();
        for (group, n_values) in GROUPS {
            groups.push((terms.len(), Zipf::new(n_values)));
            terms.extend((0..n_values).map(|value| term(group, &value_name(value))));
        }
        let first_tag = terms.len();
        terms.extend((0..TAGS).map(|rank| term("device", &tag_name(rank))));
        let first_of_service = terms.len();
        terms.extend([DeviceType::Ios, DeviceType::Android].map(Term::DeviceType));
        terms.extend([Reach::Addressed, Reach::Alert].map(Term::Reach));
        Self { terms, tags: Zipf::new(TAGS), groups, first_tag, first_of_service }
    }

    pub(crate) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The positions of a channel's terms, sorted.
    pub(crate) fn terms_of(&self, ordinal: Ordinal) -> Vec<usize> {
        let mut random = Random::new(ordinal);
        let mut held: Vec<usize> = self.groups.iter().map(|(first, zipf)| first + zipf.draw(&mut random)).collect();
        let is_opted_in = held.first() == Some(&0);
        held.push(self.first_of_service + usize::from(random.unit() < 0.6));
        held.push(self.first_of_service + 2);
        held.extend(is_opted_in.then_some(self.first_of_service + 3));
        let n_others = held.len();
        while held.len() < n_others + TAGS_PER_CHANNEL {
            let tag = self.first_tag + self.tags.draw(&mut random);
            if !held[n_others..].contains(&tag) {
                held.push(tag);
            }
        }
        held.sort_unstable();
        held
    }

    /// A channel as it is stored. `numbers` are those of the terms, in ascending order.
    pub(crate) fn channel(&self, ordinal: Ordinal, numbers: &[TermId]) -> (Channel, Vec<Key>) {
        // Ascending like the ids that the service makes, and unlike real addresses, whose order would only slow loading.
        let address = format!("{:08x}{:048x}", ordinal.0, Random::new(ordinal).next());
        let channel = Channel {
            ordinal,
            id: id(ordinal),
            device_type: DeviceType::Android,
            installed: true,
            address: Some(address.clone()),
            language: Some("de".to_owned()),
            country: Some("DE".to_owned()),
            named_user: None,
            created: CREATED,
            last_registration: Some(CREATED),
            terms: self.terms_of(ordinal).into_iter().map(|position| numbers[position]).collect(),
            profile: PROFILE.to_owned(),
        };
        (channel, vec![Key { kind: "address:android".to_owned(), value: address }])
    }
}

/// The id of a channel.
pub(crate) fn id(ordinal: Ordinal) -> ChannelId {
    ChannelId::from_uuid(Uuid::from_u128(u128::from(ordinal.0) << 96 | u128::from(Random::new(ordinal).next())))
}

pub(crate) fn tag_name(rank: usize) -> String {
    format!("tag-{rank}")
}

pub(crate) fn value_name(value: usize) -> String {
    format!("value-{value}")
}

fn term(group: &str, tag: &str) -> Term {
    let group = TagGroup::new(group).expect("the groups above are groups");
    Term::Tag { group, tag: Tag::new(tag).expect("the names below are tags") }
}

/// Draws numbers from 0 on, the n-th with a chance proportional to 1/n.
struct Zipf {
    cumulative: Vec<f64>,
}

impl Zipf {
    fn new(n: usize) -> Self {
        let weights = (1..=n).scan(0.0, |sum, rank| {
            *sum += 1.0 / rank as f64;
            Some(*sum)
        });
        Self { cumulative: weights.collect() }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let all = self.cumulative.last().copied().unwrap_or(0.0);
        let point = random.unit() * all;
        self.cumulative.partition_point(|sum| *sum <= point).min(self.cumulative.len() - 1)
    }
}

/// The numbers of one channel, in a fixed order (SplitMix64).
struct Random(u64);

impl Random {
    fn new(ordinal: Ordinal) -> Self {
        Self(u64::from(ordinal.0).wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
