//! What devices tell about themselves as if it were attributes: where it is found, and which of it satisfies a selector.

use super::time_zone::{self, NO_TIME_ZONE, time_zone};
use super::{UNKNOWN, country_tag, language_tag};
use crate::attribute::{self, AttributeValue};
use crate::device_type::DeviceType;
use crate::selector::{Attribute, AttributeTest, Comparison, Ordering, Scalar};
use crate::time::UtcMillis;

/// An attribute of devices that audiences can ask for.
#[derive(Debug)]
pub struct DeviceAttribute {
    pub name: &'static str,
    pub source: Source,
    kind: Kind,
}

/// Where the values of an attribute are.
#[derive(Debug)]
pub enum Source {
    /// They are the tags of these groups; no channel has tags of two of them.
    Tags(&'static [&'static str]),
    /// They are in the profiles of channels. The tags of some groups follow from them and may say enough.
    Profiles { tellers: Tellers, groups: &'static [&'static str] },
}

/// Which channels have values of an attribute.
#[derive(Clone, Copy, Debug)]
pub enum Tellers {
    All,
    Apps,
    Browsers,
}

#[derive(Debug)]
enum Kind {
    Text,
    Version,
    /// A version that may begin with the name of the browser, as `chrome-141`.
    BrowserVersion,
    Language,
    Country,
    TimeZone,
}

/// All that [`crate::channel::Profile::device_attributes`] has. There is no end of some values, so that they are no tags: an app
/// has devices of ten thousand models.
static SELECTABLE: [DeviceAttribute; 12] = [
    DeviceAttribute {
        name: "ua_app_version",
        source: Source::Tags(&["ua_ios_app_version", "ua_android_app_version"]),
        kind: Kind::Version,
    },
    DeviceAttribute { name: "ua_language", source: Source::Tags(&["ua_locale_language"]), kind: Kind::Language },
    DeviceAttribute { name: "ua_country", source: Source::Tags(&["ua_locale_country"]), kind: Kind::Country },
    DeviceAttribute { name: "ua_location_settings", source: Source::Tags(&["ua_location_enabled"]), kind: Kind::Text },
    DeviceAttribute {
        name: "ua_sdk_version",
        source: Source::Profiles { tellers: Tellers::All, groups: &["ua_ios_sdk_version", "ua_android_sdk_version"] },
        kind: Kind::Version,
    },
    DeviceAttribute {
        name: "ua_device_os",
        // Not that of Android, which may follow from the level of the API instead.
        source: Source::Profiles { tellers: Tellers::Apps, groups: &["ua_ios_version"] },
        kind: Kind::Version,
    },
    DeviceAttribute {
        name: "ua_local_tz",
        source: Source::Profiles { tellers: Tellers::All, groups: &[time_zone::GROUP] },
        kind: Kind::TimeZone,
    },
    of_profiles("ua_device_model", Tellers::Apps, Kind::Text),
    of_profiles("ua_carrier", Tellers::Apps, Kind::Text),
    of_profiles("ua_browser_name", Tellers::Browsers, Kind::Text),
    of_profiles("ua_browser_type", Tellers::Browsers, Kind::Text),
    of_profiles("ua_browser_version", Tellers::Browsers, Kind::BrowserVersion),
];

const fn of_profiles(name: &'static str, tellers: Tellers, kind: Kind) -> DeviceAttribute {
    DeviceAttribute { name, source: Source::Profiles { tellers, groups: &[] }, kind }
}

impl Tellers {
    /// The types of these channels; none for all channels.
    pub fn device_types(self) -> Vec<DeviceType> {
        match self {
            Tellers::All => Vec::new(),
            Tellers::Apps => vec![DeviceType::Ios, DeviceType::Android, DeviceType::Amazon, DeviceType::Wns],
            Tellers::Browsers => vec![DeviceType::Web],
        }
    }
}

impl DeviceAttribute {
    /// `None` for other attributes.
    pub fn named(name: &str) -> Option<&'static Self> {
        SELECTABLE.iter().find(|attribute| attribute.name == name)
    }

    /// Whether channels with a value satisfy a selector by this attribute; or, without a value, those that have none.
    pub fn satisfies(&self, selector: &Attribute, value: Option<&str>, now: UtcMillis) -> bool {
        let is_unknown = |value: &str| matches!(self.source, Source::Tags(_)) && value == UNKNOWN;
        let Some(value) = value.filter(|value| !is_unknown(value)) else {
            return attribute::matches(selector, None, now);
        };
        match (&self.kind, &selector.test) {
            (Kind::Version | Kind::BrowserVersion, AttributeTest::Plain(Comparison::Equals(wanted))) => {
                let wanted = text_of(wanted);
                self.versions(value, &wanted).map_or_else(|| value == wanted, |(own, wanted)| own == wanted)
            }
            (
                Kind::Version | Kind::BrowserVersion,
                AttributeTest::Plain(Comparison::Order { ordering, value: wanted }),
            ) => {
                let Some((own, wanted)) = self.versions(value, &text_of(wanted)) else { return false };
                match ordering {
                    Ordering::Less => own < wanted,
                    Ordering::LessEq => own <= wanted,
                    Ordering::Greater => own > wanted,
                    Ordering::GreaterEq => own >= wanted,
                }
            }
            (Kind::Language, AttributeTest::Plain(Comparison::Equals(Scalar::Text(wanted)))) => {
                language_tag(wanted) == Some(value)
            }
            (Kind::Country, AttributeTest::Plain(Comparison::Equals(Scalar::Text(wanted)))) => {
                country_tag(wanted) == Some(value)
            }
            (
                Kind::Text | Kind::Version | Kind::BrowserVersion | Kind::Language | Kind::Country | Kind::TimeZone,
                _,
            ) => attribute::matches(selector, Some(&AttributeValue::Text(value.to_owned())), now),
        }
    }

    /// Whether a selector means all channels with a tag or none of them; `None` if that depends on their values. The tag is one of
    /// the groups that follow from the values.
    pub fn decides(&self, selector: &Attribute, tag: &str) -> Option<bool> {
        let AttributeTest::Plain(comparison) = &selector.test else { return None };
        match self.kind {
            // The tag has the first two numbers.
            Kind::Version => {
                let own = minor_version(tag)?;
                match comparison {
                    Comparison::IsEmpty => Some(false),
                    Comparison::NotEmpty => Some(true),
                    Comparison::Equals(wanted) => (own != minor_version(&text_of(wanted))?).then_some(false),
                    Comparison::Order { ordering, value } => {
                        let is_less = match own.cmp(&minor_version(&text_of(value))?) {
                            std::cmp::Ordering::Less => true,
                            std::cmp::Ordering::Equal => return None,
                            std::cmp::Ordering::Greater => false,
                        };
                        Some(is_less == matches!(ordering, Ordering::Less | Ordering::LessEq))
                    }
                    Comparison::SameDate { .. }
                    | Comparison::SameUnit { .. }
                    | Comparison::Moment { .. }
                    | Comparison::Range { .. }
                    | Comparison::Contains(_)
                    | Comparison::NotContains(_) => None,
                }
            }
            Kind::TimeZone => match comparison {
                Comparison::Equals(Scalar::Text(wanted)) => {
                    (time_zone(wanted).unwrap_or(NO_TIME_ZONE) != tag).then_some(false)
                }
                _ => None,
            },
            Kind::Text | Kind::BrowserVersion | Kind::Language | Kind::Country => None,
        }
    }

    /// Two versions, if they can be compared.
    fn versions(&self, own: &str, wanted: &str) -> Option<([u64; 3], [u64; 3])> {
        if !matches!(self.kind, Kind::BrowserVersion) {
            return version(own).zip(version(wanted));
        }
        let ((own_name, own), (wanted_name, wanted)) = (of_browser(own), of_browser(wanted));
        let is_same = own_name == wanted_name || own_name.is_empty() || wanted_name.is_empty();
        if is_same { version(own).zip(version(wanted)) } else { None }
    }
}

/// The name of the browser, if there is one, and the version after it.
fn of_browser(text: &str) -> (&str, &str) {
    match text.rsplit_once('-') {
        Some((name, number)) if !name.starts_with(|first: char| first.is_ascii_digit()) => (name, number),
        Some(_) | None => ("", text),
    }
}

fn text_of(value: &Scalar) -> String {
    match value {
        Scalar::Text(text) => text.clone(),
        Scalar::Number(number) => number.to_string(),
        Scalar::Boolean(value) => value.to_string(),
    }
}

fn minor_version(text: &str) -> Option<[u64; 2]> {
    version(text).map(|[major, minor, _]| [major, minor])
}

/// The first three numbers of a version; what comes after them means nothing, and those that are not there are zero.
fn version(text: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let mut rest = text.trim();
    for (n, number) in numbers.iter_mut().enumerate() {
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, after) = rest.split_at(n_digits);
        match digits.parse() {
            Ok(value) => *number = value,
            Err(_) if n == 0 => return None,
            Err(_) => break,
        }
        match after.strip_prefix('.') {
            Some(after) => rest = after,
            None => break,
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_three_numbers() {
        let table = [
            ("4", Some([4, 0, 0])),
            (" 4.10 ", Some([4, 10, 0])),
            ("4.2.1", Some([4, 2, 1])),
            ("4.2.1.9", Some([4, 2, 1])),
            ("4.2.1-beta+7", Some([4, 2, 1])),
            ("4.2beta", Some([4, 2, 0])),
            ("4.x", Some([4, 0, 0])),
            ("v4", None),
            ("", None),
            ("99999999999999999999", None),
        ];
        for (text, expected) in table {
            assert_eq!(version(text), expected, "{text}");
        }
    }

    #[test]
    fn every_attribute_of_a_device_is_answered() {
        use crate::channel::{Profile, WebDetails};
        let mut phone = Profile::new(DeviceType::Ios);
        let text = || Some("1".to_owned());
        (phone.app_version, phone.sdk_version, phone.device_model, phone.device_os) = (text(), text(), text(), text());
        (phone.carrier, phone.locale_country, phone.locale_language, phone.timezone) = (text(), text(), text(), text());
        phone.location_settings = Some(true);
        let mut browser = Profile::new(DeviceType::Web);
        let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0".to_owned();
        browser.web = Some(WebDetails { user_agent_string: Some(agent), ..WebDetails::default() });
        for profile in [&phone, &browser] {
            for (name, value) in profile.device_attributes() {
                assert_eq!(profile.device_attribute(name).as_deref(), Some(value.as_str()), "{name}");
                assert!(DeviceAttribute::named(name).is_some(), "{name}");
            }
        }
        assert_eq!(phone.device_attributes().len() + browser.device_attributes().len(), SELECTABLE.len());
    }

    fn by(name: &str, operator: &str, value: &str) -> Attribute {
        let comparison = match operator {
            "equals" => Comparison::Equals(Scalar::Text(value.to_owned())),
            "less" => Comparison::Order { ordering: Ordering::Less, value: Scalar::Text(value.to_owned()) },
            _ => Comparison::Order { ordering: Ordering::GreaterEq, value: Scalar::Text(value.to_owned()) },
        };
        Attribute { attribute: name.to_owned(), test: AttributeTest::Plain(comparison) }
    }

    #[test]
    fn tags_decide_what_follows_from_them() {
        for (name, operator, wanted, tag, expected) in [
            ("ua_device_os", "equals", "17.4.1", "17.4.X", None),
            ("ua_device_os", "equals", "17.4.1", "17.5.X", Some(false)),
            ("ua_device_os", "less", "17.4.1", "17.3.X", Some(true)),
            ("ua_device_os", "less", "17.4.1", "17.4.X", None),
            ("ua_device_os", "less", "17.4.1", "18.0.X", Some(false)),
            ("ua_device_os", "greater or equal", "17.4", "17.3.X", Some(false)),
            ("ua_device_os", "greater or equal", "17.4", "17.10.X", Some(true)),
            ("ua_device_os", "less", "17.4.1", "Unknown", None),
            ("ua_device_os", "less", "new", "17.4.X", None),
            ("ua_sdk_version", "equals", "20.6", "20.7.X", Some(false)),
            ("ua_local_tz", "equals", "Europe/Oslo", time_zone("Europe/Oslo").unwrap(), None),
            ("ua_local_tz", "equals", "Europe/Oslo", "Asia/Tokyo", Some(false)),
            ("ua_local_tz", "equals", "Nowhere", "Asia/Tokyo", Some(false)),
            ("ua_local_tz", "equals", "Nowhere", NO_TIME_ZONE, None),
            ("ua_carrier", "equals", "Telia", "Telia", None),
        ] {
            let decided = DeviceAttribute::named(name).unwrap().decides(&by(name, operator, wanted), tag);
            assert_eq!(decided, expected, "{name} {operator} {wanted}: {tag}");
        }
    }

    #[test]
    fn versions_of_browsers_are_compared_with_and_without_their_names() {
        let browser = DeviceAttribute::named("ua_browser_version").unwrap();
        for (operator, wanted, own, expected) in [
            ("equals", "chrome-141", "chrome-141", true),
            ("equals", "141", "chrome-141", true),
            ("equals", "firefox-141", "chrome-141", false),
            ("less", "chrome-141", "chrome-99", true),
            ("less", "141", "chrome-99", true),
            ("less", "firefox-141", "chrome-99", false),
            ("less", "141.0.1-beta", "141", true),
            ("greater or equal", "chrome-141", "chrome-141", true),
        ] {
            let is_meant = browser.satisfies(&by("ua_browser_version", operator, wanted), Some(own), UtcMillis(0));
            assert_eq!(is_meant, expected, "{own} {operator} {wanted}");
        }
    }
}
