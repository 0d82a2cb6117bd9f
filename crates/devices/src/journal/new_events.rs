//! The events that can be written to the log. Each knows the kind of its record, so that no kind gets the body of another.

use model::event::{
    AssociatedPush, AttributeOperations, AttributedCustom, Close, ContactChange, FirstOpen, FirstOptIn,
    FlagInteraction, InAppDisplay, InAppEvent, InAppExpiration, InAppInteraction, InAppResolution, LiveContent,
    Location, Open, PushBody, RecordKind, Region, Rejection, RichMessage, ScreenViewed, SubscriptionChange, TagChange,
    Uninstall, Unrecognized,
};
use model::payload::extra::TextExtra;
use serde::Serialize;

/// An event about at most one channel, stored as its body alone: the record says the kind.
#[derive(Serialize)]
#[serde(untagged)]
pub enum NewEvent<'a> {
    PushBody(PushBody),
    FirstOpen(FirstOpen),
    FirstOptIn(FirstOptIn),
    Uninstall(Uninstall),
    TagChange(TagChange),
    AttributeOperation(&'a AttributeOperations),
    SubscriptionList(SubscriptionChange),
    ContactChange(ContactChange),
    OpenOptIn(FirstOptIn),
    WebSession(Open),
    WebClick(&'a AssociatedPush),
    Open(Open),
    Close(Close),
    RichRead(RichMessage),
    RichDelete(RichMessage),
    Custom(AttributedCustom<'a>),
    Location(Location),
    Region(&'a Region),
    ScreenViewed(&'a ScreenViewed),
    InAppMessageDisplay(InAppDisplay),
    InAppMessageResolution(InAppResolution),
    InAppMessageExpiration(InAppExpiration),
    InApp {
        #[serde(skip)]
        event: InAppEvent,
        #[serde(flatten)]
        body: InAppInteraction,
    },
    FlagInteraction(&'a FlagInteraction),
    Unrecognized(&'a Unrecognized),
}

impl NewEvent<'_> {
    pub(super) const fn kind(&self) -> RecordKind {
        match self {
            NewEvent::PushBody(_) => RecordKind::PushBody,
            NewEvent::FirstOpen(_) => RecordKind::FirstOpen,
            NewEvent::FirstOptIn(_) => RecordKind::FirstOptIn,
            NewEvent::Uninstall(_) => RecordKind::Uninstall,
            NewEvent::TagChange(_) => RecordKind::TagChange,
            NewEvent::AttributeOperation(_) => RecordKind::AttributeOperation,
            NewEvent::SubscriptionList(_) => RecordKind::SubscriptionList,
            NewEvent::ContactChange(_) => RecordKind::ContactChange,
            NewEvent::OpenOptIn(_) => RecordKind::OpenOptIn,
            NewEvent::WebSession(_) => RecordKind::WebSession,
            NewEvent::WebClick(_) => RecordKind::WebClick,
            NewEvent::Open(_) => RecordKind::Open,
            NewEvent::Close(_) => RecordKind::Close,
            NewEvent::RichRead(_) => RecordKind::RichRead,
            NewEvent::RichDelete(_) => RecordKind::RichDelete,
            NewEvent::Custom(_) => RecordKind::Custom,
            NewEvent::Location(_) => RecordKind::Location,
            NewEvent::Region(_) => RecordKind::Region,
            NewEvent::ScreenViewed(_) => RecordKind::ScreenViewed,
            NewEvent::InAppMessageDisplay(_) => RecordKind::InAppMessageDisplay,
            NewEvent::InAppMessageResolution(_) => RecordKind::InAppMessageResolution,
            NewEvent::InAppMessageExpiration(_) => RecordKind::InAppMessageExpiration,
            NewEvent::InApp { event, .. } => RecordKind::InApp(*event),
            NewEvent::FlagInteraction(_) => RecordKind::FlagInteraction,
            NewEvent::Unrecognized(_) => RecordKind::Unrecognized,
        }
    }
}

/// The same event of many channels by one push.
#[derive(Clone, Copy)]
pub enum ManyEvent<'a> {
    Send {
        /// Whether the notification was visible or audible.
        alerting: bool,
    },
    Control,
    RichDelivery {
        /// Stored after the record, unless empty.
        extra: &'a TextExtra,
    },
    SendRejected(&'a Rejection),
    Live(&'a LiveContent),
}

impl ManyEvent<'_> {
    pub(super) const fn kind(self) -> RecordKind {
        match self {
            ManyEvent::Send { .. } => RecordKind::Send,
            ManyEvent::Control => RecordKind::Control,
            ManyEvent::RichDelivery { .. } => RecordKind::RichDelivery,
            ManyEvent::SendRejected(_) => RecordKind::SendRejected,
            ManyEvent::Live(_) => RecordKind::Live,
        }
    }

    pub(super) const fn is_alerting(self) -> bool {
        match self {
            ManyEvent::Send { alerting } => alerting,
            ManyEvent::Control | ManyEvent::RichDelivery { .. } | ManyEvent::SendRejected(_) | ManyEvent::Live(_) => {
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_stored_without_the_name_of_the_event() {
        let bodies = [
            (NewEvent::FirstOpen(FirstOpen { opted_in: false }), "{}"),
            (NewEvent::FirstOptIn(FirstOptIn {}), "{}"),
            (NewEvent::Uninstall(Uninstall { decay: false }), r#"{"decay":false}"#),
            (NewEvent::Close(Close { session_id: "s".to_owned() }), r#"{"session_id":"s"}"#),
        ];
        for (event, stored) in bodies {
            assert_eq!(serde_json::to_string(&event).unwrap(), stored);
        }
    }
}
