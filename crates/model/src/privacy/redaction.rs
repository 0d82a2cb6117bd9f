//! Finding the identifiers of a person in texts and JSON, and putting a fixed word in their place.
//!
//! The result is as readable as before: a selector that names an erased channel names a channel that nobody has.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::create_and_send;

/// The word that takes the place of an identifier, where any text can stand.
pub const ERASED: &str = "(erased)";
const ERASED_UUID: &str = "00000000-0000-0000-0000-000000000000";
const ERASED_TOKEN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Shorter ones, and words, are replaced only where they are the whole value of one of [`NAMING`]: a user may be called "all".
const DISTINCTIVE_CHARS: usize = 8;

/// The keys whose values name persons and devices, in bodies of the API and in what is stored of them.
const NAMING: [&str; 26] = [
    "address",
    "alias",
    "amazon_channel",
    "android_channel",
    "apid",
    "channel",
    "channel_id",
    "contact_id",
    "customer_id",
    "device_id",
    "device_pin",
    "device_token",
    "identifier",
    "ios_channel",
    "mpns",
    "named_user",
    "named_user_id",
    "new_address",
    "old_address",
    "open_channel",
    "push_address",
    "ua_address",
    "user_id",
    "web_channel",
    "wns",
    "accengage_device_id",
];

/// The keys of values that the app chooses freely. A number there may be an identifier; elsewhere it is a count, a time or a
/// limit, and a text in its place could not be read.
const FREE: [&str; 4] = ["attributes", "extra", "global_attributes", "properties"];

/// A text that a device says of itself names the device wherever it stands if it is as long as this, as tokens of providers are.
/// Otherwise one that calls itself as a tag or a user is called would have these replaced.
const TOKEN_CHARS: usize = 32;

/// A text that names a person or one of their devices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identifier {
    text: String,
    /// Whether it counts only as the whole value of one of [`NAMING`].
    is_weak: bool,
}

/// Whether a text is a UUID or as a token of Apple is: digits that are written in either letter case.
pub fn is_hexadecimal(text: &str) -> bool {
    let is_token = text.len() >= TOKEN_CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_token || text.len() == ERASED_UUID.len() && uuid::Uuid::try_parse(text).is_ok()
}

/// Identifiers, and the word for each.
#[derive(Clone, Debug, Default)]
pub struct Redaction(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    identifier: String,
    word: &'static str,
    ignores_case: bool,
    is_distinctive: bool,
}

impl Identifier {
    /// `None` for an empty text.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        Some(text.into()).filter(|text| !text.is_empty()).map(|text| Self { text, is_weak: false })
    }

    /// An address, an alias or another hint, which devices can choose as they like.
    pub fn said_by_device(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let is_weak = text.chars().count() < TOKEN_CHARS;
        Self::new(text).map(|identifier| Self { is_weak, ..identifier })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Redaction {
    pub fn of<'i>(identifiers: impl IntoIterator<Item = &'i Identifier>) -> Self {
        Self(identifiers.into_iter().map(Rule::new).collect())
    }

    /// JSON without the identifiers; `None` if it has none of them. A text that is no JSON is cleaned as a text.
    pub fn json(&self, text: &str) -> Option<String> {
        if !self.may_be_in(text.as_bytes()) {
            return None;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(text) else { return self.text(text) };
        self.clean(&mut value, Place::default()).then(|| value.to_string())
    }

    /// A text without the identifiers; `None` if it has none of them.
    pub fn text(&self, text: &str) -> Option<String> {
        let mut cleaned: Option<String> = None;
        for rule in self.0.iter().filter(|rule| rule.is_distinctive) {
            if let Some(without) = rule.replaced_in(cleaned.as_deref().unwrap_or(text)) {
                cleaned = Some(without);
            }
        }
        cleaned
    }

    /// The same for bytes, which may be JSON, text or neither.
    pub fn bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if !self.may_be_in(bytes) {
            return None;
        }
        self.json(std::str::from_utf8(bytes).ok()?).map(String::into_bytes)
    }

    /// Whether bytes of any form hold one of the identifiers that could not be anything else.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        self.0.iter().any(|rule| rule.is_distinctive && rule.is_in(bytes))
    }

    /// Quick, and wrong only in saying yes: JSON may have any character escaped.
    pub fn may_be_in(&self, bytes: &[u8]) -> bool {
        bytes.contains(&b'\\') || self.0.iter().any(|rule| rule.is_in(bytes))
    }

    /// Replaces identifiers within a value. Returns whether there were any.
    fn clean(&self, value: &mut Value, place: Place<'_>) -> bool {
        match value {
            Value::Null | Value::Bool(_) => false,
            Value::Number(number) => {
                let word = place.may_name_by_number().then(|| self.whole(&number.to_string(), place.key)).flatten();
                let is_found = word.is_some();
                if let Some(word) = word {
                    *value = Value::String(word);
                }
                is_found
            }
            Value::String(text) => {
                let cleaned = self.whole(text, place.key).or_else(|| match text.as_bytes().first() {
                    // A body of a request may be stored as text within JSON.
                    Some(b'{' | b'[') => self.json(text),
                    Some(_) | None => self.text(text),
                });
                match cleaned {
                    Some(cleaned) => *text = cleaned,
                    None => return false,
                }
                true
            }
            Value::Array(items) if place.key == Some(create_and_send::KEY) => self.clean_recipients(items),
            Value::Array(items) => self.clean_each(items, place),
            Value::Object(fields) => self.clean_fields(fields, place),
        }
    }

    fn clean_fields(&self, fields: &mut Map<String, Value>, place: Place<'_>) -> bool {
        let named: Vec<String> = fields.keys().filter(|key| self.text(key).is_some()).cloned().collect();
        let mut is_found = !named.is_empty();
        for key in named {
            if let (Some(value), Some(cleaned)) = (fields.remove(&key), self.text(&key)) {
                fields.insert(cleaned, value);
            }
        }
        let is_equality = fields.contains_key("attribute") && fields.get("operator") == Some(&Value::from("equals"));
        for (key, value) in fields.iter_mut() {
            let is_compared = is_equality && key == "value";
            let is_free = place.is_free || is_compared || FREE.contains(&key.as_str());
            is_found |= self.clean(value, Place { key: Some(key), is_free });
        }
        is_found
    }

    /// A recipient is more than an address: the values for the texts of the push are theirs as well. A push has at least one.
    fn clean_recipients(&self, recipients: &mut Vec<Value>) -> bool {
        let n_before = recipients.len();
        recipients.retain(|recipient| {
            let address = recipient.get("ua_address").and_then(Value::as_str);
            address.is_none_or(|address| self.whole(address, Some("ua_address")).is_none())
        });
        let is_any_gone = recipients.len() < n_before;
        if recipients.is_empty() {
            recipients.push(serde_json::json!({"ua_address": ERASED}));
        }
        self.clean_each(recipients, Place { key: None, is_free: true }) || is_any_gone
    }

    /// All of them, also after one in which something was found.
    fn clean_each(&self, values: &mut [Value], place: Place<'_>) -> bool {
        let mut is_found = false;
        for value in values {
            is_found |= self.clean(value, place);
        }
        is_found
    }

    /// The word for a value that is an identifier and nothing else.
    fn whole(&self, text: &str, key: Option<&str>) -> Option<String> {
        let is_named = key.is_some_and(is_naming);
        let mut rules = self.0.iter().filter(|rule| rule.is_distinctive || is_named);
        rules.find(|rule| rule.is(text)).map(|rule| rule.word.to_owned())
    }
}

/// Where a value stands in JSON.
#[derive(Clone, Copy, Default)]
struct Place<'k> {
    /// The key of the value, or of the list that it is in.
    key: Option<&'k str>,
    /// Whether the app chooses what stands there.
    is_free: bool,
}

impl Place<'_> {
    fn may_name_by_number(self) -> bool {
        self.is_free || self.key.is_some_and(is_naming)
    }
}

fn is_naming(key: &str) -> bool {
    NAMING.contains(&key)
}

impl Rule {
    fn new(Identifier { text: identifier, is_weak }: &Identifier) -> Self {
        let ignores_case = is_hexadecimal(identifier);
        let is_token = identifier.len() == ERASED_TOKEN.len() && ignores_case;
        let is_uuid = identifier.len() == ERASED_UUID.len() && uuid::Uuid::try_parse(identifier).is_ok();
        Self {
            identifier: identifier.to_owned(),
            word: match (is_uuid, is_token) {
                (true, _) => ERASED_UUID,
                (false, true) => ERASED_TOKEN,
                (false, false) => ERASED,
            },
            ignores_case,
            is_distinctive: !is_weak
                && identifier.chars().count() >= DISTINCTIVE_CHARS
                && !identifier.bytes().all(|byte| byte.is_ascii_alphabetic()),
        }
    }

    fn is(&self, text: &str) -> bool {
        if self.ignores_case { self.identifier.eq_ignore_ascii_case(text) } else { self.identifier == text }
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.next_in(bytes, 0).is_some()
    }

    fn next_in(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let wanted = self.identifier.as_bytes();
        let is_here = |window: &[u8]| match self.ignores_case {
            true => window.eq_ignore_ascii_case(wanted),
            false => window == wanted,
        };
        let found = bytes.get(from..)?.windows(wanted.len()).position(is_here)?;
        Some(from + found)
    }

    /// Without the identifier wherever it stands by itself, as a word does.
    fn replaced_in(&self, text: &str) -> Option<String> {
        let (mut cleaned, mut done, mut from) = (String::new(), 0, 0);
        while let Some(start) = self.next_in(text.as_bytes(), from) {
            let end = start + self.identifier.len();
            from = start + 1;
            let (Some(before), Some(after)) = (text.get(..start), text.get(end..)) else { continue };
            let goes_on = |next: Option<char>| next.is_some_and(char::is_alphanumeric);
            if goes_on(before.chars().next_back()) || goes_on(after.chars().next()) {
                continue;
            }
            cleaned.push_str(text.get(done..start)?);
            cleaned.push_str(self.word);
            (done, from) = (end, end);
        }
        (done > 0).then(|| cleaned + text.get(done..).unwrap_or_default())
    }
}
