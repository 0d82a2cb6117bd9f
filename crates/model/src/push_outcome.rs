//! The outcome of a push for one channel: what is recorded about everybody whom the audience had.

use serde::Serialize;

/// What became of a push for a channel. The numbers are stored: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PushOutcome {
    /// The provider took the message.
    Delivered,
    /// The provider refused it, or could not be reached for too long.
    Failed,
    /// The device left after the audience was chosen, or the provider does not know it any more.
    Gone,
    /// It was too late.
    Expired,
    /// Has an address and does not want what the push shows.
    OptedOut,
    NoAddress,
    /// The push is not for its device type, or has nothing for it.
    NotAddressed,
    /// Would have got it, but was left out on purpose.
    HeldBack,
    /// The push was canceled before its turn came.
    Canceled,
}

impl PushOutcome {
    pub const NUMBERED: [(i64, PushOutcome); 9] = [
        (0, PushOutcome::Delivered),
        (1, PushOutcome::Failed),
        (2, PushOutcome::Gone),
        (3, PushOutcome::Expired),
        (4, PushOutcome::OptedOut),
        (5, PushOutcome::NoAddress),
        (6, PushOutcome::NotAddressed),
        (7, PushOutcome::HeldBack),
        (8, PushOutcome::Canceled),
    ];

    /// By their numbers.
    pub const FIRST: PushOutcome = PushOutcome::Delivered;
    pub const LAST: PushOutcome = PushOutcome::Canceled;

    pub fn number(self) -> i64 {
        let mut numbered = Self::NUMBERED.into_iter();
        numbered.find(|(_, outcome)| *outcome == self).map_or(-1, |(number, _)| number)
    }

    pub fn from_number(number: i64) -> Option<Self> {
        Self::NUMBERED.into_iter().find(|(n, _)| *n == number).map(|(_, outcome)| outcome)
    }

    /// For callers.
    pub const fn name(self) -> &'static str {
        match self {
            PushOutcome::Delivered => "delivered",
            PushOutcome::Failed => "failed",
            PushOutcome::Gone => "gone",
            PushOutcome::Expired => "expired",
            PushOutcome::OptedOut => "opted_out",
            PushOutcome::NoAddress => "no_address",
            PushOutcome::NotAddressed => "not_addressed",
            PushOutcome::HeldBack => "held_back",
            PushOutcome::Canceled => "canceled",
        }
    }
}

/// Why a channel of the audience was not chosen as a recipient. The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeftOut {
    OptedOut,
    /// Shows notifications but takes no background pushes, and the push is nothing else.
    WithoutBackground,
    WithoutAddress,
    OtherDeviceType,
    WithoutContent,
    ControlGroup,
    OtherVariant,
    /// Its clock shows the time of another push of the same schedule.
    OtherWave,
    /// Another push of the same run was quicker.
    Served,
    /// The push may go to so many at most.
    MostRecipients,
    /// It got as many messages of the pipeline, or of all pipelines, as the limits allow.
    Rate,
    /// A condition of the pipeline did not hold.
    Conditions,
    /// The push is about a Live Activity or a Live Update that the device has not told of.
    NotFollowing,
}

impl LeftOut {
    pub const ALL: [LeftOut; 13] = [
        LeftOut::OptedOut,
        LeftOut::WithoutBackground,
        LeftOut::WithoutAddress,
        LeftOut::OtherDeviceType,
        LeftOut::WithoutContent,
        LeftOut::ControlGroup,
        LeftOut::OtherVariant,
        LeftOut::OtherWave,
        LeftOut::Served,
        LeftOut::MostRecipients,
        LeftOut::Rate,
        LeftOut::Conditions,
        LeftOut::NotFollowing,
    ];

    pub const fn outcome(self) -> PushOutcome {
        match self {
            LeftOut::OptedOut | LeftOut::WithoutBackground => PushOutcome::OptedOut,
            LeftOut::WithoutAddress => PushOutcome::NoAddress,
            LeftOut::OtherDeviceType | LeftOut::WithoutContent | LeftOut::NotFollowing => PushOutcome::NotAddressed,
            LeftOut::ControlGroup
            | LeftOut::OtherVariant
            | LeftOut::OtherWave
            | LeftOut::Served
            | LeftOut::MostRecipients
            | LeftOut::Rate
            | LeftOut::Conditions => PushOutcome::HeldBack,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            LeftOut::OptedOut => "opted_out",
            LeftOut::WithoutBackground => "no_background_pushes",
            LeftOut::WithoutAddress => "no_address",
            LeftOut::OtherDeviceType => "device_type",
            LeftOut::WithoutContent => "no_content",
            LeftOut::ControlGroup => "control_group",
            LeftOut::OtherVariant => "other_variant",
            LeftOut::OtherWave => "other_wave",
            LeftOut::Served => "served_by_another_push",
            LeftOut::MostRecipients => "max_recipients",
            LeftOut::Rate => "rate_limit",
            LeftOut::Conditions => "conditions",
            LeftOut::NotFollowing => "not_following",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            LeftOut::OptedOut => "The device had not opted in to notifications when the audience was chosen.",
            LeftOut::WithoutBackground => "The device took no background pushes, and this push is nothing else.",
            LeftOut::WithoutAddress => "The device had no address that a provider could send to.",
            LeftOut::OtherDeviceType => "The push is not for devices of this type: 'device_types' leaves them out.",
            LeftOut::WithoutContent => "The push has nothing that devices of this type could show.",
            LeftOut::ControlGroup => "The device is in the control group of the experiment, which gets nothing.",
            LeftOut::OtherVariant => "The device was assigned another variant of the experiment.",
            LeftOut::OtherWave => "The clock of the device shows the time of another push of the same schedule.",
            LeftOut::Served => "The device gets another push of the same run, and only one of them.",
            LeftOut::MostRecipients => {
                "The push had as many recipients as 'max_recipients' allows without this device."
            }
            LeftOut::Rate => "The device had got as many automated messages as the limits of the pipeline allow.",
            LeftOut::Conditions => "A condition of the pipeline did not hold for the device.",
            LeftOut::NotFollowing => {
                "The push is about a Live Activity or a Live Update, and the device has told of none with its name or type."
            }
        }
    }
}

/// Why a recipient is gone. The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GoneBy {
    /// The provider says so.
    Provider,
    Uninstalled,
    OptedOut,
    WithoutAddress,
    /// The address that the push names is another channel's by now.
    OtherAddress,
    /// The Live Activity or Live Update that the push is about is not there any more.
    NotFollowing,
}

impl GoneBy {
    pub const ALL: [GoneBy; 6] = [
        GoneBy::Provider,
        GoneBy::Uninstalled,
        GoneBy::OptedOut,
        GoneBy::WithoutAddress,
        GoneBy::OtherAddress,
        GoneBy::NotFollowing,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            GoneBy::Provider => "unregistered",
            GoneBy::Uninstalled => "uninstalled",
            GoneBy::OptedOut => "opted_out",
            GoneBy::WithoutAddress => "no_address",
            GoneBy::OtherAddress => "other_address",
            GoneBy::NotFollowing => "not_following",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            GoneBy::Provider => {
                "The provider said that it does not know the device any more; the channel was uninstalled."
            }
            GoneBy::Uninstalled => {
                "The channel was uninstalled after the audience was chosen and before its turn came."
            }
            GoneBy::OptedOut => "The device opted out after the audience was chosen and before its turn came.",
            GoneBy::WithoutAddress => {
                "The device lost its address after the audience was chosen and before its turn came."
            }
            GoneBy::OtherAddress => "The channel got another address than the one that the push names.",
            GoneBy::NotFollowing => {
                "The Live Activity or Live Update ended on the device after the audience was chosen and before its turn came."
            }
        }
    }
}

/// What an outcome means, for people. `reason` is as it is stored: a name of ours, or the words of a provider.
pub fn sentence(outcome: PushOutcome, reason: &str) -> String {
    let given = |text: &str| if reason.is_empty() { text.to_owned() } else { format!("{text} {reason}") };
    match outcome {
        PushOutcome::Delivered => "The provider took the message.".to_owned(),
        PushOutcome::Failed => given("The message could not be delivered:"),
        PushOutcome::Canceled => "The push was canceled before the turn of the device came.".to_owned(),
        PushOutcome::Expired => given("The push expired before the turn of the device came."),
        PushOutcome::Gone => {
            let known = GoneBy::ALL.into_iter().find(|gone| gone.name() == reason);
            known.map_or_else(|| given("The device is gone."), |gone| gone.sentence().to_owned())
        }
        PushOutcome::OptedOut | PushOutcome::NoAddress | PushOutcome::NotAddressed | PushOutcome::HeldBack => {
            let known = LeftOut::ALL.into_iter().find(|left_out| left_out.name() == reason);
            known.map_or_else(|| given("The device was left out."), |left_out| left_out.sentence().to_owned())
        }
    }
}

impl Serialize for PushOutcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_one_number() {
        for (number, outcome) in PushOutcome::NUMBERED {
            assert_eq!((outcome.number(), PushOutcome::from_number(number)), (number, Some(outcome)));
        }
        assert_eq!(PushOutcome::from_number(99), None);
    }

    #[test]
    fn every_reason_is_told_in_a_sentence_of_its_own() {
        let left_out = LeftOut::ALL.map(|why| sentence(why.outcome(), why.name()));
        let gone = GoneBy::ALL.map(|why| sentence(PushOutcome::Gone, why.name()));
        let told: std::collections::BTreeSet<_> = left_out.iter().chain(&gone).collect();
        assert_eq!(told.len(), LeftOut::ALL.len() + GoneBy::ALL.len());
        assert_eq!(
            sentence(PushOutcome::Failed, "BadDeviceToken"),
            "The message could not be delivered: BadDeviceToken"
        );
    }
}
