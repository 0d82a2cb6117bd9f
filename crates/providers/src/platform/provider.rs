//! The providers of push messages, and the devices they reach.

use std::fmt;

use model::device_type::DeviceType;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    Apns,
    Fcm,
    Adm,
    Wns,
    WebPush,
}

impl Provider {
    pub const ALL: [Provider; 5] = [Provider::Apns, Provider::Fcm, Provider::Adm, Provider::Wns, Provider::WebPush];

    /// The name that operators use, and that is stored: never change one.
    pub const fn name(self) -> &'static str {
        match self {
            Provider::Apns => "apns",
            Provider::Fcm => "fcm",
            Provider::Adm => "adm",
            Provider::Wns => "wns",
            Provider::WebPush => "webpush",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// The devices that it reaches.
    pub const fn device_type(self) -> DeviceType {
        match self {
            Provider::Apns => DeviceType::Ios,
            Provider::Fcm => DeviceType::Android,
            Provider::Adm => DeviceType::Amazon,
            Provider::Wns => DeviceType::Wns,
            Provider::WebPush => DeviceType::Web,
        }
    }

    /// The provider that reaches devices of a type, if one does.
    pub const fn of(device_type: &DeviceType) -> Option<Self> {
        match device_type {
            DeviceType::Ios => Some(Provider::Apns),
            DeviceType::Android => Some(Provider::Fcm),
            DeviceType::Amazon => Some(Provider::Adm),
            DeviceType::Wns => Some(Provider::Wns),
            DeviceType::Web => Some(Provider::WebPush),
            DeviceType::Sms | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => None,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
