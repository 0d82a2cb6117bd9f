//! Tags and the groups they live in, as names that are known to be usable.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::json::body::Read;
use crate::json::{At, schema};
use crate::limits;

/// The name of the group of the flat `tags` of a channel.
pub const DEVICE: &str = "device";

/// A word put on channels: 1 to 128 characters, none of them a control character.
// One change of tags copies each several times, so copying only increments a count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Read)]
#[serde(try_from = "String")]
#[body(schema = schema::text(1..=limits::TAG_CHARS))]
pub struct Tag(Arc<str>);

/// The name of a set of tags: 1 to 128 characters, none of them a control character, the first not `@`.
// As cheap to copy as a tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Read)]
#[serde(try_from = "String")]
#[body(schema = schema::text(1..=limits::TAG_GROUP_CHARS))]
pub struct TagGroup(Arc<str>);

impl Tag {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        if !(1..=limits::TAG_CHARS).contains(&text.chars().count()) {
            return Err("A tag has 1 to 128 characters.");
        }
        if text.contains(char::is_control) {
            return Err("A tag must not contain control characters.");
        }
        Ok(Self(text.into()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|message| at.invalid(message).ok_or(())).ok()
    }

    /// A tag that is written in the code.
    pub(crate) fn fixed(text: &'static str) -> Self {
        debug_assert!(Self::new(text).is_ok(), "{text}");
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TagGroup {
    pub fn new(name: &str) -> Result<Self, &'static str> {
        if !(1..=limits::TAG_GROUP_CHARS).contains(&name.chars().count()) {
            return Err("A tag group name has 1 to 128 characters.");
        }
        if name.contains(char::is_control) {
            return Err("A tag group name must not contain control characters.");
        }
        if name.starts_with('@') {
            return Err("A tag group name must not begin with '@', which marks the groups of the service itself.");
        }
        Ok(Self(name.into()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|message| at.invalid(message).ok_or(())).ok()
    }

    /// The group of the flat `tags` of a channel.
    pub fn device() -> Self {
        Self::fixed(DEVICE)
    }

    /// A group that is written in the code.
    pub(crate) fn fixed(name: &'static str) -> Self {
        debug_assert!(Self::new(name).is_ok(), "{name}");
        Self(name.into())
    }

    /// Whether the tags of this group follow from the properties of a device and cannot be set by hand.
    pub fn is_read_only(&self) -> bool {
        is_read_only(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(crate) fn is_read_only(group: &str) -> bool {
    group.starts_with("ua_") || group == "timezone"
}

impl TryFrom<String> for Tag {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl TryFrom<String> for TagGroup {
    type Error = &'static str;
    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::new(&name)
    }
}

impl Serialize for Tag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl Serialize for TagGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TagGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_limits() {
        let longest = "é".repeat(128);
        assert_eq!(Tag::new(&longest).unwrap().as_str(), longest);
        assert_eq!(TagGroup::new(&longest).unwrap().as_str(), longest);
        for text in ["", "a\u{0}b", "line\nbreak", &"é".repeat(129)] {
            Tag::new(text).unwrap_err();
            TagGroup::new(text).unwrap_err();
        }
        assert!(Tag::new("@home").is_ok());
        assert!(TagGroup::new("@type").is_err());
        assert!(TagGroup::new("a@b").is_ok());
    }

    #[test]
    fn reading_back_checks_again() {
        let tag: Tag = serde_json::from_str(r#""news""#).unwrap();
        assert_eq!(serde_json::to_string(&tag).unwrap(), r#""news""#);
        assert!(serde_json::from_str::<Tag>(r#""""#).is_err());
        assert!(serde_json::from_str::<TagGroup>(r#""@type""#).is_err());
    }

    #[test]
    fn device_property_groups_are_read_only() {
        for name in ["timezone", "ua_opt_in", "ua_", "ua_anything"] {
            assert!(TagGroup::new(name).unwrap().is_read_only(), "{name}");
        }
        for name in ["device", "time_zone", "timezones", "ua", "my_ua_group"] {
            assert!(!TagGroup::new(name).unwrap().is_read_only(), "{name}");
        }
        assert_eq!(TagGroup::device().as_str(), "device");
    }
}
