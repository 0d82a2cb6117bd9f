//! What devices tell about themselves as if it were attributes: which tags of device properties satisfy a selector.

use super::{UNKNOWN, country_tag, language_tag};
use crate::attribute::{self, AttributeValue};
use crate::selector::{Attribute, AttributeTest, Comparison, Ordering, Scalar};
use crate::time::UtcMillis;

/// An attribute of devices that audiences can ask for.
#[derive(Debug)]
pub struct DeviceAttribute {
    name: &'static str,
    /// The groups of the tags that are its values; no channel has tags of two of them.
    pub groups: &'static [&'static str],
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text,
    Version,
    Language,
    Country,
}

const SELECTABLE: [DeviceAttribute; 4] = [
    DeviceAttribute {
        name: "ua_app_version",
        groups: &["ua_ios_app_version", "ua_android_app_version"],
        kind: Kind::Version,
    },
    DeviceAttribute { name: "ua_language", groups: &["ua_locale_language"], kind: Kind::Language },
    DeviceAttribute { name: "ua_country", groups: &["ua_locale_country"], kind: Kind::Country },
    DeviceAttribute { name: "ua_location_settings", groups: &["ua_location_enabled"], kind: Kind::Text },
];

/// The others that [`crate::channel::Profile::device_attributes`] has. No tags say exactly what their values are.
const NOT_SELECTABLE: [&str; 8] = [
    "ua_sdk_version",
    "ua_device_model",
    "ua_device_os",
    "ua_carrier",
    "ua_local_tz",
    "ua_browser_name",
    "ua_browser_type",
    "ua_browser_version",
];

impl DeviceAttribute {
    /// `None` for other attributes.
    pub fn named(name: &str) -> Option<&'static Self> {
        SELECTABLE.iter().find(|attribute| attribute.name == name)
    }

    /// Why audiences cannot ask for an attribute of devices, if so.
    pub fn refusal(name: &str) -> Option<String> {
        let names: Vec<&str> = SELECTABLE.iter().map(|attribute| attribute.name).collect();
        NOT_SELECTABLE.contains(&name).then(|| {
            format!(
                "Audiences cannot ask for '{name}': of what devices tell about themselves, {} can be selected by. The tag groups \
                 of device properties, such as 'ua_ios_version' and 'timezone', select by more.",
                names.join(", ")
            )
        })
    }

    /// Whether channels with a tag of one of the groups satisfy a selector by this attribute; or, without a tag, those that have
    /// none.
    pub fn satisfies(&self, selector: &Attribute, tag: Option<&str>, now: UtcMillis) -> bool {
        let Some(tag) = tag.filter(|tag| *tag != UNKNOWN) else { return attribute::matches(selector, None, now) };
        match (&self.kind, &selector.test) {
            (Kind::Version, AttributeTest::Plain(Comparison::Equals(wanted))) => {
                let wanted = text_of(wanted);
                match (version(tag), version(&wanted)) {
                    (Some(own), Some(wanted)) => own == wanted,
                    (_, None) | (None, Some(_)) => tag == wanted,
                }
            }
            (Kind::Version, AttributeTest::Plain(Comparison::Order { ordering, value })) => {
                let Some((own, wanted)) = version(tag).zip(version(&text_of(value))) else { return false };
                match ordering {
                    Ordering::Less => own < wanted,
                    Ordering::LessEq => own <= wanted,
                    Ordering::Greater => own > wanted,
                    Ordering::GreaterEq => own >= wanted,
                }
            }
            (Kind::Language, AttributeTest::Plain(Comparison::Equals(Scalar::Text(wanted)))) => {
                language_tag(wanted) == Some(tag)
            }
            (Kind::Country, AttributeTest::Plain(Comparison::Equals(Scalar::Text(wanted)))) => {
                country_tag(wanted) == Some(tag)
            }
            (Kind::Text | Kind::Version | Kind::Language | Kind::Country, _) => {
                attribute::matches(selector, Some(&AttributeValue::Text(tag.to_owned())), now)
            }
        }
    }
}

fn text_of(value: &Scalar) -> String {
    match value {
        Scalar::Text(text) => text.clone(),
        Scalar::Number(number) => number.to_string(),
        Scalar::Boolean(value) => value.to_string(),
    }
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
    fn every_attribute_of_a_device_is_answered_or_refused() {
        use crate::channel::{Profile, WebDetails};
        use crate::device_type::DeviceType;
        let mut phone = Profile::new(DeviceType::Ios);
        let text = || Some("1".to_owned());
        (phone.app_version, phone.sdk_version, phone.device_model, phone.device_os) = (text(), text(), text(), text());
        (phone.carrier, phone.locale_country, phone.locale_language, phone.timezone) = (text(), text(), text(), text());
        phone.location_settings = Some(true);
        let mut browser = Profile::new(DeviceType::Web);
        let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0".to_owned();
        browser.web = Some(WebDetails { user_agent_string: Some(agent), ..WebDetails::default() });
        for name in phone.device_attributes().keys().chain(browser.device_attributes().keys()) {
            assert_ne!(DeviceAttribute::named(name).is_some(), DeviceAttribute::refusal(name).is_some(), "{name}");
        }
        let n_all = phone.device_attributes().len() + browser.device_attributes().len();
        assert_eq!(n_all, SELECTABLE.len() + NOT_SELECTABLE.len());
    }
}
