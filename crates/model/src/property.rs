//! Device properties: the tags that follow from the data of a channel, in groups that nobody can write to.

mod attribute;
mod locale;
mod models;
mod time_zone;
mod versions;

#[cfg(test)]
mod tests;

pub use attribute::{DeviceAttribute, Source, Tellers};
pub use locale::{COUNTRIES, LANGUAGES, country_tag, language_tag};
pub(crate) use locale::{is_same_country, is_same_language};
pub use models::{IOS_MODELS, ios_model_name};
pub use time_zone::{DeviceClock, device_clocks};

use crate::channel::{DeliveryType, Profile};
use crate::device_type::DeviceType;
use crate::tag::{Tag, TagGroup};
use crate::term::{LiveTerm, Reach, Term};
use versions::Version;

/// The tag of a property that applies to a channel but is not known.
const UNKNOWN: &str = "Unknown";

const APP_VERSION_CHARS: usize = 128;

/// One term for every property group that applies to the channel, and its clock if that differs from the clock of its tag.
pub fn property_terms(profile: &Profile) -> Vec<Term> {
    let mut terms = vec![
        known_or(time_zone::GROUP, time_zone::NO_TIME_ZONE, profile.timezone.as_deref().and_then(time_zone::time_zone)),
        known("ua_locale_language", profile.locale_language.as_deref().and_then(language_tag)),
        known("ua_locale_country", profile.locale_country.as_deref().and_then(country_tag)),
        flag("ua_opt_in", profile.opt_in),
    ];
    let own_clock = profile.timezone.as_deref().and_then(time_zone::own_clock);
    terms.extend(own_clock.map(|name| Term::OwnClock(name.to_owned())));
    match profile.device_type {
        DeviceType::Ios => {
            terms.push(background(profile));
            terms.extend(location(profile));
            terms.extend(ios_terms(profile));
        }
        DeviceType::Android | DeviceType::Amazon => {
            terms.push(background(profile));
            terms.extend(location(profile));
            terms.extend(android_terms(profile));
        }
        DeviceType::Wns => terms.push(background(profile)),
        DeviceType::Web | DeviceType::Sms | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => {}
    }
    terms
}

/// The type of an installed channel and how it can be reached. A channel that is not installed has none of these.
pub fn reach_terms(profile: &Profile) -> Vec<Term> {
    let mut terms = vec![Term::DeviceType(profile.device_type.clone())];
    if profile.address.is_some() || profile.live {
        terms.push(Term::Reach(Reach::Addressed));
        if profile.opt_in {
            terms.push(Term::Reach(Reach::Alert));
        }
        // A connection takes messages that show nothing, whatever the device allows its provider.
        if profile.background == Some(true) || profile.live {
            terms.push(Term::Reach(Reach::Silent));
        }
    }
    if profile.live {
        terms.push(Term::Live(LiveTerm::Any));
        if profile.address.is_none() {
            terms.push(Term::Live(LiveTerm::Only));
        }
    }
    terms.extend(delivery_term(profile));
    terms
}

/// Of an Android channel that Google does not deliver to. All others of its type need no term: what has none is Google's.
fn delivery_term(profile: &Profile) -> Option<Term> {
    let delivery_type = profile.android.as_ref()?.delivery_type;
    let is_other = profile.device_type == DeviceType::Android && delivery_type != DeliveryType::Fcm;
    is_other.then_some(Term::DeliveryType(delivery_type))
}

/// The tag that a selector for a tag in a group means: the same, except for time zones that are spelled in another way.
pub fn selected_tag(group: &TagGroup, tag: &Tag) -> Tag {
    match group.as_str() {
        time_zone::GROUP => Tag::new(time_zone::selected_time_zone(tag.as_str())).unwrap_or_else(|_| tag.clone()),
        _ => tag.clone(),
    }
}

fn ios_terms(profile: &Profile) -> [Term; 4] {
    [
        known("ua_ios_app_version", profile.app_version.as_deref().and_then(app_version)),
        known("ua_ios_sdk_version", sdk_version(profile, &versions::IOS_SDK)),
        known("ua_ios_version", profile.device_os.as_deref().and_then(|os| versions::tag(os, &versions::IOS))),
        known("ua_ios_model", profile.device_model.as_deref().and_then(models::model)),
    ]
}

fn android_terms(profile: &Profile) -> [Term; 3] {
    let tag = |version: &str| versions::tag(version, &versions::ANDROID);
    let version = profile
        .device_os
        .as_deref()
        .and_then(tag)
        .or_else(|| profile.android_api_version.and_then(versions::android_version).and_then(tag));
    [
        known("ua_android_app_version", profile.app_version.as_deref().and_then(app_version)),
        known("ua_android_sdk_version", sdk_version(profile, &versions::ANDROID_SDK)),
        known("ua_android_version", version),
    ]
}

fn sdk_version(profile: &Profile, known: &[versions::Line]) -> Option<String> {
    profile.sdk_version.as_deref().and_then(|version| versions::tag(version, known))
}

/// App versions are free text: without white space at the ends and control characters, and cut to the length of a tag.
fn app_version(text: &str) -> Option<String> {
    let printable: String = text.chars().filter(|c| !c.is_control()).collect();
    let cut: String = printable.trim().chars().take(APP_VERSION_CHARS).collect();
    Some(cut.trim_end().to_owned()).filter(|version| !version.is_empty())
}

fn background(profile: &Profile) -> Term {
    flag("ua_background_enabled", profile.background.unwrap_or(false))
}

/// Only SDKs from 6.0 on report location settings. A device of unknown SDK that reports them has one of those.
fn location(profile: &Profile) -> Option<Term> {
    let is_enabled = match profile.sdk_version.as_deref().and_then(Version::parse) {
        Some(version) if version.major < 6 => None,
        Some(_) => Some(profile.location_settings.unwrap_or(false)),
        None => profile.location_settings,
    };
    is_enabled.map(|is_enabled| flag("ua_location_enabled", is_enabled))
}

fn flag(group: &'static str, value: bool) -> Term {
    Term::Tag { group: TagGroup::fixed(group), tag: Tag::fixed(if value { "true" } else { "false" }) }
}

fn known(group: &'static str, value: Option<impl AsRef<str>>) -> Term {
    known_or(group, UNKNOWN, value)
}

fn known_or(group: &'static str, sentinel: &'static str, value: Option<impl AsRef<str>>) -> Term {
    let tag = value.and_then(|value| Tag::new(value.as_ref()).ok()).unwrap_or_else(|| Tag::fixed(sentinel));
    Term::Tag { group: TagGroup::fixed(group), tag }
}
