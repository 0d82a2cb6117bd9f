//! The tables of time zones, versions and models, row by row and at their edges.

use super::*;

/// The time zones that have a tag.
#[rustfmt::skip]
const TIME_ZONES: [&str; 42] = [
    "Africa/Addis_Ababa", "Africa/Harare", "Africa/Lagos", "America/Argentina/Buenos_Aires",
    "America/Bogota", "America/Caracas", "America/Chicago", "America/Costa_Rica",
    "America/Denver", "America/Halifax", "America/Juneau", "America/Lima",
    "America/Los_Angeles", "America/New_York", "America/Phoenix", "America/Santiago",
    "America/Sao_Paolo", "Asia/Bangkok", "Asia/Dhaka", "Asia/Dubai", "Asia/Hong_Kong",
    "Asia/Jakarta", "Asia/Karachi", "Asia/Kolkata", "Asia/Manila", "Asia/Seoul",
    "Asia/Singapore", "Asia/Tehran", "Asia/Tokyo", "Asia/Vladivostok", "Australia/Adelaide",
    "Australia/Brisbane", "Australia/Sydney", "Etc/GMT", "Europe/Istanbul", "Europe/Lisbon",
    "Europe/London", "Europe/Moscow", "Europe/Paris", "Pacific/Auckland", "Pacific/Honolulu",
    "UTC",
];

/// Tags, and the first and the last release each stands for.
#[rustfmt::skip]
const IOS_SDK: [(&str, &str, &str); 13] = [
    ("1.0.X", "1.0.0", "1.0.7"), ("1.1.X", "1.1.0", "1.1.5"), ("1.2.X", "1.2.0", "1.2.2"),
    ("1.3.X", "1.3.0", "1.3.7"), ("1.4.X", "1.4.0", "1.4.0"), ("2.0.X", "2.0.0", "2.0.4"),
    ("2.1.X", "2.1.0", "2.1.0"), ("3.0.X", "3.0.0", "3.0.4"), ("4.0.X", "4.0.0", "4.0.4"),
    ("5.0.X", "5.0.0", "5.0.3"), ("5.1.X", "5.1.0", "5.1.1"), ("6.0.X", "6.0.0", "6.0.2"),
    ("6.1.X", "6.1.0", "6.1.0"),
];

#[rustfmt::skip]
const ANDROID_SDK: [(&str, &str, &str); 14] = [
    ("0.9.X", "0.9.1", "0.9.1"), ("1.0.X", "1.0.0", "1.0.9"), ("1.1.X", "1.1.0", "1.1.6"),
    ("2.0.X", "2.0.0", "2.0.5"), ("2.1.X", "2.1.0", "2.1.4"), ("3.0.X", "3.0.0", "3.0.0"),
    ("3.1.X", "3.1.0", "3.1.0"), ("3.2.X", "3.2.0", "3.2.3"), ("3.3.X", "3.3.0", "3.3.2"),
    ("4.0.X", "4.0.0", "4.0.4"), ("5.0.X", "5.0.0", "5.0.3"), ("5.1.X", "5.1.0", "5.1.6"),
    ("6.0.X", "6.0.0", "6.0.2"), ("6.1.X", "6.1.0", "6.1.0"),
];

#[rustfmt::skip]
const IOS: [(&str, &str, &str); 22] = [
    ("1.0.X", "1.0", "1.0.2"), ("1.1.X", "1.1", "1.1.5"), ("2.0.X", "2.0", "2.0.2"),
    ("2.1.X", "2.1", "2.1"), ("2.2.X", "2.2", "2.2.1"), ("3.0.X", "3.0", "3.0.1"),
    ("3.1.X", "3.1", "3.1.3"), ("3.2.X", "3.2", "3.2.2"), ("4.0.X", "4.0", "4.0.2"),
    ("4.1.X", "4.1", "4.1"), ("4.2.X", "4.2.1", "4.2.10"), ("4.3.X", "4.3", "4.3.5"),
    ("5.0.X", "5.0", "5.0.1"), ("5.1.X", "5.1", "5.1.1"), ("6.0.X", "6.0", "6.0.2"),
    ("6.1.X", "6.1", "6.1.6"), ("7.0.X", "7.0", "7.0.6"), ("7.1.X", "7.1", "7.1.2"),
    ("8.0.X", "8.0", "8.0.2"), ("8.1.X", "8.1", "8.1.3"), ("8.2.X", "8.2", "8.2"),
    ("8.3.X", "8.3", "8.3"),
];

#[rustfmt::skip]
const ANDROID: [(&str, &str, &str); 16] = [
    ("1.5.X", "1.5", "1.5"), ("1.6.X", "1.6", "1.6"), ("2.0.X", "2.0", "2.0.1"),
    ("2.1.X", "2.1", "2.1"), ("2.2.X", "2.2", "2.2.3"), ("2.3.X", "2.3", "2.3.7"),
    ("3.0.X", "3.0", "3.0"), ("3.1.X", "3.1", "3.1"), ("3.2.X", "3.2", "3.2.6"),
    ("4.0.X", "4.0", "4.0.4"), ("4.1.X", "4.1", "4.1.2"), ("4.2.X", "4.2", "4.2.2"),
    ("4.3.X", "4.3", "4.3.1"), ("4.4.X", "4.4", "4.4.4"), ("5.0.X", "5.0", "5.0.2"),
    ("5.1.X", "5.1", "5.1.1"),
];

fn time_zone_of(name: &str) -> String {
    tag_of("web", "timezone", |device| device.timezone = some(name)).unwrap()
}

#[test]
fn listed_time_zones_are_their_own_tags() {
    for name in TIME_ZONES {
        assert_eq!(time_zone_of(name), name);
        assert_eq!(time_zone_of(&name.to_uppercase()), name);
        assert_eq!(time_zone_of(&name.to_lowercase()), name);
    }
}

#[test]
fn other_time_zones_count_as_the_nearest() {
    for (name, tag) in [
        ("America/Sao_Paulo", "America/Sao_Paolo"),
        ("US/Pacific", "America/Los_Angeles"),
        ("America/Anchorage", "America/Juneau"),
        ("America/Toronto", "America/New_York"),
        ("America/St_Johns", "America/Halifax"),
        ("America/Mexico_City", "America/Costa_Rica"),
        ("Africa/Abidjan", "Etc/GMT"),
        ("Africa/Cairo", "Europe/Istanbul"),
        ("Asia/Calcutta", "Asia/Kolkata"),
        ("Asia/Kathmandu", "Asia/Kolkata"),
        ("Asia/Riyadh", "Africa/Addis_Ababa"),
        ("Asia/Shanghai", "Asia/Hong_Kong"),
        ("Australia/Perth", "Asia/Singapore"),
        ("Europe/Berlin", "Europe/Paris"),
        ("Europe/Kyiv", "Europe/Istanbul"),
        ("Pacific/Kiritimati", "Pacific/Auckland"),
        ("GMT", "Etc/GMT"),
        ("Etc/UTC", "UTC"),
        (" Europe/Berlin ", "Europe/Paris"),
        ("europe/berlin", "Europe/Paris"),
    ] {
        assert_eq!(time_zone_of(name), tag, "{name}");
    }
}

#[test]
fn time_zones_nobody_knows_have_a_sentinel() {
    for name in ["", " ", "Mars/Olympus", "Europe", "Factory", "Unknown", "America/Chicago (Central)", "#"] {
        assert_eq!(time_zone_of(name), "NO_TIME_ZONE", "{name}");
    }
}

#[test]
fn the_table_of_time_zones_is_whole() {
    let rows: Vec<_> = include_str!("../time_zones.tsv").lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows.len(), 598);
    let mut unused: std::collections::BTreeSet<_> = TIME_ZONES.into();
    for row in rows {
        let (name, rest) = row.split_once('\t').expect(row);
        let tag = rest.strip_suffix("\town").unwrap_or(rest);
        assert!(TIME_ZONES.contains(&tag), "{row}");
        assert_eq!(time_zone_of(name), tag, "names differ in more than case");
        unused.remove(tag);
    }
    assert!(unused.is_empty(), "{unused:?}");
}

type Set = fn(&mut Profile, &str);
type Table = &'static [(&'static str, &'static str, &'static str)];

/// Each group of versions: device type, group, how a device reports its version, table.
fn version_groups() -> [(&'static str, &'static str, Set, Table); 6] {
    let sdk: Set = |device, version| device.sdk_version = some(version);
    let os: Set = |device, version| device.device_os = some(version);
    [
        ("ios", "ua_ios_sdk_version", sdk, &IOS_SDK),
        ("android", "ua_android_sdk_version", sdk, &ANDROID_SDK),
        ("amazon", "ua_android_sdk_version", sdk, &ANDROID_SDK),
        ("ios", "ua_ios_version", os, &IOS),
        ("android", "ua_android_version", os, &ANDROID),
        ("amazon", "ua_android_version", os, &ANDROID),
    ]
}

#[test]
fn released_versions_have_tags_from_the_first_to_the_last() {
    for (device_type, group, set, table) in version_groups() {
        let tag = |version: &str| tag_of(device_type, group, |device| set(device, version)).unwrap();
        for (i, (wanted, first, last)) in table.iter().enumerate() {
            assert_eq!(tag(first), *wanted, "{group} {first}");
            assert_eq!(tag(last), *wanted, "{group} {last}");
            assert_eq!(tag(&format!(" {last}-beta2 ")), *wanted, "{group} {last} beta");
            let minor = wanted.trim_end_matches(".X");
            let patch = |version: &str| version[minor.len()..].trim_start_matches('.').parse::<u32>().unwrap_or(0);
            let after = tag(&format!("{minor}.{}", patch(last) + 1));
            // Only behind the last row is there room for releases the table cannot know.
            assert_eq!(after, if i + 1 == table.len() { wanted } else { "Unknown" }, "{group} after {last}");
            if patch(first) > 0 {
                assert_eq!(tag(&format!("{minor}.{}", patch(first) - 1)), "Unknown", "{group} before {first}");
            }
        }
    }
}

#[test]
fn later_versions_have_tags_of_the_same_form() {
    for (device_type, group, set, _) in version_groups() {
        for (version, wanted) in [
            ("8.4", "8.4.X"),
            ("9", "9.0.X"),
            ("14", "14.0.X"),
            ("17.4.1", "17.4.X"),
            ("20.6.3.1", "20.6.X"),
            ("19.0.0-alpha+7", "19.0.X"),
            ("010.02.3", "10.2.X"),
        ] {
            assert_eq!(tag_of(device_type, group, |device| set(device, version)).unwrap(), wanted, "{group} {version}");
        }
    }
}

#[test]
fn versions_that_are_none_are_unknown() {
    for (device_type, group, set, _) in version_groups() {
        for version in [
            "",
            " ",
            "x",
            "8.x",
            "8..1",
            ".8",
            "8.",
            "8,1",
            "v8.1",
            "+8.1",
            "-8",
            "8.1.0.0.0",
            "99999999999.1",
            "8.1.X",
            "٨.١",
            "iOS 8.1",
            "0.1",
            "1.3.8",
            "4.2.11",
        ] {
            let tag = tag_of(device_type, group, |device| set(device, version)).unwrap();
            assert_eq!(tag, "Unknown", "{group} {version}");
        }
    }
}

#[test]
fn api_levels_stand_for_versions_of_android() {
    let tag = |level: u32, os: Option<&str>| {
        tag_of("android", "ua_android_version", |device| {
            device.android_api_version = Some(level);
            device.device_os = os.map(str::to_owned);
        })
        .unwrap()
    };
    let wanted = [
        "Unknown", "Unknown", "1.5.X", "1.6.X", "2.0.X", "2.0.X", "2.1.X", "2.2.X", "2.3.X", "2.3.X", "3.0.X", "3.1.X",
        "3.2.X", "4.0.X", "4.0.X", "4.1.X", "4.2.X", "4.3.X", "4.4.X", "4.4.X", "5.0.X", "5.1.X", "6.0.X", "7.0.X",
        "7.1.X", "8.0.X", "8.1.X", "9.0.X", "10.0.X", "11.0.X", "12.0.X", "12.0.X", "13.0.X", "14.0.X", "15.0.X",
        "16.0.X",
    ];
    for (level, wanted) in (1..).zip(wanted) {
        assert_eq!(tag(level, None), wanted, "level {level}");
    }
    assert_eq!(tag(37, None), "Unknown");
    assert_eq!(tag(0, None), "Unknown");
    assert_eq!(tag(34, Some("5.1.1")), "5.1.X");
    assert_eq!(tag(34, Some("Upside Down Cake")), "14.0.X");
    assert_eq!(tag_of("ios", "ua_ios_version", |device| device.android_api_version = Some(34)), some("Unknown"));
}

#[test]
fn models_are_their_identifiers() {
    let tag = |model: &str| tag_of("ios", "ua_ios_model", |device| device.device_model = some(model)).unwrap();
    assert_eq!(IOS_MODELS.len(), 46);
    for (identifier, name) in IOS_MODELS {
        assert_eq!(tag(identifier), identifier);
        assert_eq!(ios_model_name(identifier), Some(name));
    }
    for identifier in ["iPhone17,2", "iPad16,6", "AppleTV14,1", "RealityDevice14,1", "arm64"] {
        assert_eq!(tag(identifier), identifier);
        assert_eq!(ios_model_name(identifier), None);
    }
    let endless = format!("iPhone{},1", "1".repeat(130));
    for text in
        ["", "iPhone", "iPhone 6", "iPhone7", "iPhone7,", "7,2", ",", "iPhone,2", "iPhone7,2,1", "i386 ", &endless]
    {
        assert_eq!(tag(text), "Unknown", "{text}");
    }
}
