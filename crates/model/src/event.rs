//! The events of an app, as they are stored in the log.
//!
//! A public event is one record of its type, whose body is stored as customers see it. Where the same happens to thousands of
//! channels at once, one record stands for all of them, and readers expand it.

mod channels;
mod device;
mod devices;
mod face;
mod interactions;
mod offset;
mod pushes;
mod request;
mod subset;
mod timeline;
mod types;
mod webhook;

use serde::{Deserialize, Serialize};

use crate::ids::EventId;
use crate::time::UtcMillis;

pub use channels::{
    AttributeOperations, AttributeRemoved, AttributeSet, ContactChange, ContactChangeKind, FirstOpen, FirstOptIn,
    SubscriptionChange, TagChange, Uninstall,
};
pub use device::{EventDevice, EventUser, device_type_name};
pub use devices::{
    AttributedCustom, Close, Custom, CustomSource, Expiration, ExpirationKind, InAppDisplay, InAppExpiration,
    InAppResolution, Location, Open, Region, RegionAction, RegionSource, Resolution, ResolutionKind, ScreenViewed,
    Unrecognized,
};
pub use face::Face;
pub use interactions::{FlagInteraction, InAppEvent, InAppInteraction};
pub use offset::EventOffset;
pub use pushes::{
    AssociatedPush, Campaign, LiveContent, Many, MessageContext, PushBody, PushResource, Rejection, RejectionStatus,
    RichMessage, SharedPush,
};
pub use request::{EventConditions, EventRequest, EventStart, NO_OFFSET};
pub use subset::EventSubset;
pub use timeline::{TimelineKind, Told};
pub use types::EventTypes;
pub use webhook::{ReplayFrom, WebhookStart, webhook_offset};

/// The type of a log record. The numbers are stored: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordKind {
    /// Terms that channels gained and lost; feeds the audience index and is not shown to customers.
    Terms,
    PushBody,
    /// One record for many channels: [`Many`].
    Send,
    FirstOpen,
    Uninstall,
    TagChange,
    /// One record for many channels: [`Many`].
    Control,
    Open,
    Close,
    /// One record for many channels: [`Many`].
    RichDelivery,
    RichRead,
    RichDelete,
    Custom,
    Location,
    Region,
    ScreenViewed,
    InAppMessageDisplay,
    InAppMessageResolution,
    InAppMessageExpiration,
    /// An event of a device that has no type of its own. Kept as it came, and not shown among the events.
    Unrecognized,
    /// A channel that existed already can be shown notifications for the first time. Not shown to customers.
    FirstOptIn,
    /// One record for many channels: [`Many`].
    SendRejected,
    /// One record for many channels, with the message that live connections of them are sent: [`Many`] and [`LiveContent`].
    /// Not shown to customers: the SEND beside it tells of the delivery.
    Live,
    /// Something happened with an in-app message beyond its being shown.
    InApp(InAppEvent),
    /// The app has used a feature flag.
    FlagInteraction,
    /// Attributes of a channel, or of its named user, were set or removed.
    AttributeOperation,
    /// Subscriptions of a channel, or of its named user for channels like it, began or ended.
    SubscriptionList,
    /// A channel came to a named user, left one, or was uninstalled while it had one.
    ContactChange,
    /// A channel of an open platform can be shown notifications for the first time.
    OpenOptIn,
    /// A web page was opened. Beside it is the OPEN that all platforms have.
    WebSession,
    /// A notification of a browser was clicked, which is the direct response to its push.
    WebClick,
}

impl RecordKind {
    pub const NUMBERED: [(i64, RecordKind); 40] = [
        (0, RecordKind::Terms),
        (1, RecordKind::PushBody),
        (2, RecordKind::Send),
        (3, RecordKind::FirstOpen),
        (4, RecordKind::Uninstall),
        (5, RecordKind::TagChange),
        (6, RecordKind::Control),
        (7, RecordKind::Open),
        (8, RecordKind::Close),
        (9, RecordKind::RichDelivery),
        (10, RecordKind::RichRead),
        (11, RecordKind::RichDelete),
        (12, RecordKind::Custom),
        (13, RecordKind::Location),
        (14, RecordKind::Region),
        (15, RecordKind::ScreenViewed),
        (16, RecordKind::InAppMessageDisplay),
        (17, RecordKind::InAppMessageResolution),
        (18, RecordKind::InAppMessageExpiration),
        (19, RecordKind::Unrecognized),
        (20, RecordKind::FirstOptIn),
        (21, RecordKind::SendRejected),
        (22, RecordKind::Live),
        (40, RecordKind::InApp(InAppEvent::ButtonTap)),
        (41, RecordKind::InApp(InAppEvent::PageView)),
        (42, RecordKind::InApp(InAppEvent::PageSwipe)),
        (43, RecordKind::InApp(InAppEvent::PagerCompleted)),
        (44, RecordKind::InApp(InAppEvent::PagerSummary)),
        (45, RecordKind::InApp(InAppEvent::FormDisplay)),
        (46, RecordKind::InApp(InAppEvent::FormResult)),
        (47, RecordKind::InApp(InAppEvent::Control)),
        (48, RecordKind::InApp(InAppEvent::Exclusion)),
        (49, RecordKind::FlagInteraction),
        (50, RecordKind::AttributeOperation),
        (51, RecordKind::SubscriptionList),
        (52, RecordKind::ContactChange),
        (53, RecordKind::OpenOptIn),
        (54, RecordKind::WebSession),
        (55, RecordKind::WebClick),
        (56, RecordKind::InApp(InAppEvent::Experience)),
    ];

    pub fn number(self) -> i64 {
        let mut numbered = Self::NUMBERED.into_iter();
        numbered.find(|(_, kind)| *kind == self).map_or(-1, |(number, _)| number)
    }

    pub fn from_number(number: i64) -> Option<Self> {
        Self::NUMBERED.into_iter().find(|(n, _)| *n == number).map(|(_, kind)| kind)
    }

    /// Whether a record of this kind is about many channels: [`Many`].
    pub const fn is_of_many(self) -> bool {
        matches!(
            self,
            RecordKind::Send
                | RecordKind::Control
                | RecordKind::RichDelivery
                | RecordKind::SendRejected
                | RecordKind::Live
        )
    }

    /// The type under which customers know it; `None` for internal records.
    pub const fn public_name(self) -> Option<&'static str> {
        Some(match self {
            RecordKind::Terms | RecordKind::Unrecognized | RecordKind::FirstOptIn | RecordKind::Live => {
                return None;
            }
            RecordKind::PushBody => "PUSH_BODY",
            RecordKind::Send => "SEND",
            RecordKind::SendRejected => "SEND_REJECTED",
            RecordKind::FirstOpen => "FIRST_OPEN",
            RecordKind::Uninstall => "UNINSTALL",
            RecordKind::TagChange => "TAG_CHANGE",
            RecordKind::Control => "CONTROL",
            RecordKind::Open => "OPEN",
            RecordKind::Close => "CLOSE",
            RecordKind::RichDelivery => "RICH_DELIVERY",
            RecordKind::RichRead => "RICH_READ",
            RecordKind::RichDelete => "RICH_DELETE",
            RecordKind::Custom => "CUSTOM",
            RecordKind::Location => "LOCATION",
            RecordKind::Region => "REGION",
            RecordKind::ScreenViewed => "SCREEN_VIEWED",
            RecordKind::InAppMessageDisplay => "IN_APP_MESSAGE_DISPLAY",
            RecordKind::InAppMessageResolution => "IN_APP_MESSAGE_RESOLUTION",
            RecordKind::InAppMessageExpiration => "IN_APP_MESSAGE_EXPIRATION",
            RecordKind::InApp(event) => event.public_name(),
            RecordKind::FlagInteraction => "FEATURE_FLAG_INTERACTION",
            RecordKind::AttributeOperation => "ATTRIBUTE_OPERATION",
            RecordKind::SubscriptionList => "SUBSCRIPTION_LIST",
            RecordKind::ContactChange => "CONTACT_CHANGE",
            RecordKind::OpenOptIn => "FIRST_OPT_IN",
            RecordKind::WebSession => "WEB_SESSION",
            RecordKind::WebClick => "WEB_CLICK",
        })
    }

    pub fn from_public_name(name: &str) -> Option<Self> {
        Self::NUMBERED.into_iter().map(|(_, kind)| kind).find(|kind| kind.public_name() == Some(name))
    }
}

/// An event about at most one channel, as stored (JSON) in a record of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event<Body> {
    pub id: EventId,
    pub occurred: UtcMillis,
    pub body: Body,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_number_and_at_most_one_name() {
        for (number, kind) in RecordKind::NUMBERED {
            assert_eq!(kind.number(), number);
            assert_eq!(RecordKind::from_number(number), Some(kind));
            if let Some(name) = kind.public_name() {
                assert_eq!(RecordKind::from_public_name(name), Some(kind));
            }
        }
        let n_public = RecordKind::NUMBERED.iter().filter(|(_, kind)| kind.public_name().is_some()).count();
        assert_eq!(n_public, 36);
    }
}
