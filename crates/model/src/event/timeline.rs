//! The entries of a timeline, which shows what happened to one channel or named user.

use super::RecordKind;

/// What an entry tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimelineKind {
    /// Something was sent to the device, or held back.
    Send,
    /// The device or its user did something.
    Event,
    /// The channel became another: its tags, its user, what it reports about itself.
    Change,
}

impl TimelineKind {
    pub const WORDS: [(&'static str, TimelineKind); 3] =
        [("send", TimelineKind::Send), ("event", TimelineKind::Event), ("change", TimelineKind::Change)];

    pub const fn word(self) -> &'static str {
        match self {
            TimelineKind::Send => "send",
            TimelineKind::Event => "event",
            TimelineKind::Change => "change",
        }
    }
}

/// What an event tells in a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Delivered,
    HeldBack,
    /// The provider refused the message, or does not know the device any more.
    Rejected,
    Did,
    Registered,
    Uninstalled,
    Tagged,
    /// Attributes were set or removed.
    Attributes,
    /// Subscriptions began or ended.
    Subscriptions,
}

impl Told {
    /// `None` for a record that is about nobody or not shown to customers.
    pub const fn by(kind: RecordKind) -> Option<Self> {
        match kind {
            RecordKind::Send | RecordKind::RichDelivery => Some(Told::Delivered),
            RecordKind::Control => Some(Told::HeldBack),
            RecordKind::SendRejected => Some(Told::Rejected),
            RecordKind::FirstOpen => Some(Told::Registered),
            RecordKind::Uninstall => Some(Told::Uninstalled),
            RecordKind::TagChange => Some(Told::Tagged),
            RecordKind::AttributeOperation => Some(Told::Attributes),
            RecordKind::SubscriptionList => Some(Told::Subscriptions),
            RecordKind::Open
            | RecordKind::Close
            | RecordKind::RichRead
            | RecordKind::RichDelete
            | RecordKind::Custom
            | RecordKind::Location
            | RecordKind::Region
            | RecordKind::ScreenViewed
            | RecordKind::InAppMessageDisplay
            | RecordKind::InAppMessageResolution
            | RecordKind::InAppMessageExpiration
            | RecordKind::InApp(_)
            | RecordKind::FlagInteraction
            | RecordKind::WebClick => Some(Told::Did),
            // A timeline tells of these anyway: as the OPEN, and as changes of the channel.
            RecordKind::WebSession | RecordKind::ContactChange | RecordKind::OpenOptIn => None,
            RecordKind::Terms
            | RecordKind::PushBody
            | RecordKind::Unrecognized
            | RecordKind::FirstOptIn
            | RecordKind::Live => None,
        }
    }

    pub const fn kind(self) -> TimelineKind {
        match self {
            Told::Delivered | Told::HeldBack | Told::Rejected => TimelineKind::Send,
            Told::Did => TimelineKind::Event,
            Told::Registered | Told::Uninstalled | Told::Tagged | Told::Attributes | Told::Subscriptions => {
                TimelineKind::Change
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_public_event_of_a_device_has_a_kind() {
        for (_, kind) in RecordKind::NUMBERED {
            let is_of_devices = kind.public_name().is_some() && kind != RecordKind::PushBody;
            let is_told_otherwise =
                matches!(kind, RecordKind::WebSession | RecordKind::ContactChange | RecordKind::OpenOptIn);
            assert_eq!(Told::by(kind).is_some(), is_of_devices && !is_told_otherwise, "{kind:?}");
        }
        assert!(TimelineKind::WORDS.iter().all(|(word, kind)| kind.word() == *word));
    }
}
