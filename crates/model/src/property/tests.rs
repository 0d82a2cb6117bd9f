//! Every group, table and rule of the device properties.

use std::collections::BTreeMap;

use super::*;
use crate::channel::AndroidDetails;

mod tables;

/// The tags of the property groups of a channel.
fn tags(profile: &Profile) -> BTreeMap<String, String> {
    let mut terms = property_terms(profile);
    terms.retain(|term| !matches!(term, Term::OwnClock(_)));
    let n_terms = terms.len();
    let tags: BTreeMap<_, _> = terms
        .into_iter()
        .map(|term| match term {
            Term::Tag { group, tag } => {
                assert!(group.is_read_only(), "{group}");
                (group.as_str().to_owned(), tag.as_str().to_owned())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(tags.len(), n_terms, "one tag for each group");
    tags
}

fn profile(device_type: &str) -> Profile {
    Profile::new(DeviceType::from_name(device_type).unwrap())
}

/// The tag in one group of a channel that differs from an empty one in some way.
fn tag_of(device_type: &str, group: &str, change: impl FnOnce(&mut Profile)) -> Option<String> {
    let mut profile = profile(device_type);
    change(&mut profile);
    tags(&profile).remove(group)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn groups_that_apply_to_a_channel_of_which_nothing_is_known() {
    let everywhere = [
        ("timezone", "NO_TIME_ZONE"),
        ("ua_locale_language", "Unknown"),
        ("ua_locale_country", "Unknown"),
        ("ua_opt_in", "false"),
    ];
    let background = [("ua_background_enabled", "false")];
    let ios = [
        ("ua_ios_app_version", "Unknown"),
        ("ua_ios_sdk_version", "Unknown"),
        ("ua_ios_version", "Unknown"),
        ("ua_ios_model", "Unknown"),
    ];
    let android = [
        ("ua_android_app_version", "Unknown"),
        ("ua_android_sdk_version", "Unknown"),
        ("ua_android_version", "Unknown"),
    ];
    let cases: [(&str, Vec<(&str, &str)>); 9] = [
        ("ios", [&everywhere[..], &background, &ios].concat()),
        ("android", [&everywhere[..], &background, &android].concat()),
        ("amazon", [&everywhere[..], &background, &android].concat()),
        ("wns", [&everywhere[..], &background].concat()),
        ("web", everywhere.to_vec()),
        ("sms", everywhere.to_vec()),
        ("mms", everywhere.to_vec()),
        ("email", everywhere.to_vec()),
        ("open::fridge", everywhere.to_vec()),
    ];
    for (device_type, wanted) in cases {
        let wanted = wanted.into_iter().map(|(group, tag)| (group.to_owned(), tag.to_owned())).collect();
        assert_eq!(tags(&profile(device_type)), wanted, "{device_type}");
    }
}

#[test]
fn a_whole_ios_device() {
    let mut device = profile("ios");
    device.opt_in = true;
    device.background = Some(true);
    device.location_settings = Some(true);
    device.timezone = some("Europe/Berlin");
    device.locale_language = some("de");
    device.locale_country = some("AT");
    device.app_version = some("3.1 (beta)");
    device.sdk_version = some("6.0.2");
    device.device_os = some("8.1.3");
    device.device_model = some("iPhone7,2");
    let wanted = [
        ("timezone", "Europe/Paris"),
        ("ua_background_enabled", "true"),
        ("ua_ios_app_version", "3.1 (beta)"),
        ("ua_ios_model", "iPhone7,2"),
        ("ua_ios_sdk_version", "6.0.X"),
        ("ua_ios_version", "8.1.X"),
        ("ua_locale_country", "AT"),
        ("ua_locale_language", "de"),
        ("ua_location_enabled", "true"),
        ("ua_opt_in", "true"),
    ];
    let tags = tags(&device);
    let tags: Vec<_> = tags.iter().map(|(group, tag)| (group.as_str(), tag.as_str())).collect();
    assert_eq!(tags, wanted);
}

#[test]
fn location_is_told_by_sdk_6_and_later() {
    let location = |sdk: Option<&str>, setting: Option<bool>| {
        tag_of("android", "ua_location_enabled", |device| {
            device.sdk_version = sdk.map(str::to_owned);
            device.location_settings = setting;
        })
    };
    assert_eq!(location(Some("5.1.6"), Some(true)), None);
    assert_eq!(location(Some("6.0.0"), Some(true)), some("true"));
    assert_eq!(location(Some("6.0.0"), Some(false)), some("false"));
    assert_eq!(location(Some("19.4"), None), some("false"));
    assert_eq!(location(None, Some(true)), some("true"));
    assert_eq!(location(None, None), None);
    assert_eq!(location(Some("?"), None), None);
    for device_type in ["web", "wns", "open::fridge"] {
        let told = tag_of(device_type, "ua_location_enabled", |device| {
            device.sdk_version = some("6.0.0");
            device.location_settings = Some(true);
        });
        assert_eq!(told, None, "{device_type}");
    }
}

#[test]
fn app_versions_are_sanitized() {
    let version = |text: &str| tag_of("amazon", "ua_android_app_version", |device| device.app_version = some(text));
    assert_eq!(version("1.0-rc.1+7"), some("1.0-rc.1+7"));
    assert_eq!(version(" \t1.0\n"), some("1.0"));
    assert_eq!(version("1\u{0}.\u{7f}0"), some("1.0"));
    assert_eq!(version(&"é".repeat(200)), Some("é".repeat(128)));
    assert_eq!(version(&format!("{} end", "x".repeat(127))), Some("x".repeat(127)));
    assert_eq!(version(""), some("Unknown"));
    assert_eq!(version(" \u{1} "), some("Unknown"));
    assert_eq!(version("Unknown"), some("Unknown"));
}

#[test]
fn locales_are_codes_of_the_standards() {
    let language = |text: &str| tag_of("web", "ua_locale_language", |device| device.locale_language = some(text));
    for code in LANGUAGES {
        assert_eq!(language(code), some(code));
        assert_eq!(language(&code.to_uppercase()), some(code));
    }
    for (old, new) in [("iw", "he"), ("in", "id"), ("ji", "yi"), ("IW", "he")] {
        assert_eq!(language(old), some(new));
    }
    for text in ["", "xx", "eng", "en-US", "e", "é"] {
        assert_eq!(language(text), some("Unknown"), "{text}");
    }

    let country = |text: &str| tag_of("open::fridge", "ua_locale_country", |device| device.locale_country = some(text));
    for code in COUNTRIES {
        assert_eq!(country(code), some(code));
        assert_eq!(country(&code.to_lowercase()), some(code));
    }
    for text in ["", "XX", "USA", "UK", "840", "ÉÉ"] {
        assert_eq!(country(text), some("Unknown"), "{text}");
    }
    assert!(LANGUAGES.is_sorted() && COUNTRIES.is_sorted());
}

#[test]
fn reach_follows_from_address_opt_in_and_background() {
    let reach = |address: Option<&str>, opt_in: bool, background: Option<bool>| {
        let mut device = profile("ios");
        device.address = address.map(str::to_owned);
        device.opt_in = opt_in;
        device.background = background;
        let (types, reach): (Vec<_>, Vec<_>) =
            reach_terms(&device).into_iter().partition(|term| matches!(term, Term::DeviceType(_)));
        assert_eq!(types, [Term::DeviceType(DeviceType::Ios)]);
        reach.into_iter().map(|term| term.key().1.into_owned()).collect::<Vec<_>>()
    };
    assert!(reach(None, true, Some(true)).is_empty());
    assert_eq!(reach(Some("a"), false, None), ["addressed"]);
    assert_eq!(reach(Some("a"), false, Some(false)), ["addressed"]);
    assert_eq!(reach(Some("a"), true, Some(false)), ["addressed", "alert"]);
    assert_eq!(reach(Some("a"), false, Some(true)), ["addressed", "silent"]);
    assert_eq!(reach(Some("a"), true, Some(true)), ["addressed", "alert", "silent"]);
}

#[test]
fn only_android_devices_that_google_does_not_deliver_to_say_who_does() {
    let told = |device_type: &str, delivery_type: Option<DeliveryType>| {
        let mut device = profile(device_type);
        device.android = delivery_type.map(|delivery_type| AndroidDetails { delivery_type, subscription: None });
        let mut terms = reach_terms(&device);
        terms.retain(|term| matches!(term, Term::DeliveryType(_)));
        terms
    };
    for of_google in [None, Some(DeliveryType::Fcm)] {
        assert!(told("android", of_google).is_empty());
    }
    for other in [DeliveryType::Adm, DeliveryType::Hms, DeliveryType::UnifiedPush] {
        assert_eq!(told("android", Some(other)), [Term::DeliveryType(other)]);
        assert!(told("amazon", Some(other)).is_empty());
    }
}

#[test]
fn selectors_may_write_time_zones_as_documented() {
    let selected = |group: &str, tag: &str| {
        selected_tag(&TagGroup::new(group).unwrap(), &Tag::new(tag).unwrap()).as_str().to_owned()
    };
    assert_eq!(selected("timezone", "America/Chicago (Central)"), "America/Chicago");
    assert_eq!(selected("timezone", "America/Sao_Paulo"), "America/Sao_Paolo");
    assert_eq!(selected("timezone", "NO_TIME_ZONE"), "NO_TIME_ZONE");
    assert_eq!(selected("timezone", " (x"), " (x");
    assert_eq!(selected("device", "America/Sao_Paulo (x)"), "America/Sao_Paulo (x)");
}
