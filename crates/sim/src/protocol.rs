//! The protocols that the simulator speaks.

use std::fmt;

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Apns,
    Fcm,
    Adm,
    Wns,
    WebPush,
    UnifiedPush,
    Open,
}

impl Protocol {
    pub const ALL: [Protocol; 7] = [
        Protocol::Apns,
        Protocol::Fcm,
        Protocol::Adm,
        Protocol::Wns,
        Protocol::WebPush,
        Protocol::UnifiedPush,
        Protocol::Open,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Apns => "apns",
            Protocol::Fcm => "fcm",
            Protocol::Adm => "adm",
            Protocol::Wns => "wns",
            Protocol::WebPush => "webpush",
            Protocol::UnifiedPush => "unifiedpush",
            Protocol::Open => "open",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
