//! Device types: the types of channels and the targets of pushes.

use std::fmt;

use schemars::json_schema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::body::Read;
use crate::json::{At, schema};
use crate::limits;

/// A kind of device or of messaging platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Read)]
#[body(schema = json_schema!({"type": "string", "pattern": "^(ios|android|amazon|web|wns|sms|mms|email|open::.+)$"}))]
pub enum DeviceType {
    Ios,
    Android,
    Amazon,
    Web,
    Wns,
    Sms,
    Mms,
    Email,
    /// `open::<name>`: a platform of the customer's own.
    Open(OpenPlatform),
}

/// The name of an open platform, without the `open::` prefix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Read)]
#[body(schema = schema::text(1..=limits::OPEN_PLATFORM_CHARS))]
pub struct OpenPlatform(String);

impl OpenPlatform {
    pub fn new(name: &str) -> Result<Self, &'static str> {
        let n_chars = name.chars().count();
        if n_chars == 0 || n_chars > limits::OPEN_PLATFORM_CHARS {
            return Err("An open platform name has 1 to 128 characters.");
        }
        if name.chars().any(|c| c.is_control() || c.is_whitespace() || c == '/') {
            return Err("An open platform name must not contain white space, control characters or '/'.");
        }
        Ok(Self(name.to_owned()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|message| at.invalid(message).ok_or(())).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl DeviceType {
    /// The types that have a fixed name.
    pub const NAMED: [(&'static str, DeviceType); 8] = [
        ("ios", DeviceType::Ios),
        ("android", DeviceType::Android),
        ("amazon", DeviceType::Amazon),
        ("web", DeviceType::Web),
        ("wns", DeviceType::Wns),
        ("sms", DeviceType::Sms),
        ("mms", DeviceType::Mms),
        ("email", DeviceType::Email),
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(platform) = name.strip_prefix("open::") {
            return OpenPlatform::new(platform).ok().map(DeviceType::Open);
        }
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, device_type)| device_type)
    }

    /// The name; for open platforms the part before `::`, so that they are one family.
    pub const fn family(&self) -> &'static str {
        match self {
            DeviceType::Ios => "ios",
            DeviceType::Android => "android",
            DeviceType::Amazon => "amazon",
            DeviceType::Web => "web",
            DeviceType::Wns => "wns",
            DeviceType::Sms => "sms",
            DeviceType::Mms => "mms",
            DeviceType::Email => "email",
            DeviceType::Open(_) => "open",
        }
    }

    /// Whether this version has channels of the type, to which something can be sent.
    pub const fn has_channels(&self) -> bool {
        match self {
            DeviceType::Ios
            | DeviceType::Android
            | DeviceType::Amazon
            | DeviceType::Web
            | DeviceType::Wns
            | DeviceType::Open(_) => true,
            DeviceType::Sms | DeviceType::Mms | DeviceType::Email => false,
        }
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let name = at.string()?;
        match Self::from_name(name) {
            Some(device_type) => Some(device_type),
            None => at.invalid(format!(
                "'{name}' is not a device type; use ios, android, amazon, web, wns, sms, mms, email or open::<platform name>."
            )),
        }
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.family())?;
        if let DeviceType::Open(platform) = self { write!(f, "::{}", platform.as_str()) } else { Ok(()) }
    }
}

impl<'de> Deserialize<'de> for DeviceType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| D::Error::custom("no device type has this name"))
    }
}

impl Serialize for DeviceType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
