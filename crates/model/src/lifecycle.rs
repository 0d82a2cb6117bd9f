//! Lifecycle lists: lists that the service maintains, of channels to which something happened in the last days.

use crate::term::{DayKind, DayTerm};

/// The members of a lifecycle list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    AnyOf(Vec<DayTerm>),
    NoneOf(Vec<DayTerm>),
    /// Channels that are uninstalled, which no push can reach.
    Nobody,
}

#[derive(Clone, Copy)]
enum Content {
    Did(DayKind),
    DidNot(DayKind),
    Uninstalled,
}

/// The name, the content, and how many days the list looks back.
const LISTS: [(&str, Content, i32); 22] = [
    ("ua_first_app_open_last_1_day", Content::Did(DayKind::FirstOpen), 1),
    ("ua_first_app_open_last_7_days", Content::Did(DayKind::FirstOpen), 7),
    ("ua_first_app_open_last_30_days", Content::Did(DayKind::FirstOpen), 30),
    ("ua_app_open_last_1_day", Content::Did(DayKind::Open), 1),
    ("ua_app_open_last_7_days", Content::Did(DayKind::Open), 7),
    ("ua_app_open_last_30_days", Content::Did(DayKind::Open), 30),
    ("ua_has_not_opened_last_1_day", Content::DidNot(DayKind::Open), 1),
    ("ua_has_not_opened_last_7_days", Content::DidNot(DayKind::Open), 7),
    ("ua_has_not_opened_last_30_days", Content::DidNot(DayKind::Open), 30),
    ("ua_message_sent_last_1_day", Content::Did(DayKind::Sent), 1),
    ("ua_message_sent_last_7_days", Content::Did(DayKind::Sent), 7),
    ("ua_message_sent_last_30_days", Content::Did(DayKind::Sent), 30),
    ("ua_direct_open_last_1_day", Content::Did(DayKind::DirectOpen), 1),
    ("ua_direct_open_last_7_days", Content::Did(DayKind::DirectOpen), 7),
    ("ua_direct_open_last_30_days", Content::Did(DayKind::DirectOpen), 30),
    ("ua_uninstalls_last_1_day", Content::Uninstalled, 1),
    ("ua_uninstalls_last_7_days", Content::Uninstalled, 7),
    ("ua_uninstalls_last_30_days", Content::Uninstalled, 30),
    ("ua_message_center_sent_last_7_days", Content::Did(DayKind::MessageSent), 7),
    ("ua_message_center_sent_last_30_days", Content::Did(DayKind::MessageSent), 30),
    ("ua_message_center_view_last_7_days", Content::Did(DayKind::MessageView), 7),
    ("ua_message_center_view_last_30_days", Content::Did(DayKind::MessageView), 30),
];

/// The longest that any list looks back: day terms that are older are of no use.
pub const LONGEST_LOOK_BACK_DAYS: i32 = 30;

/// For how many days openings of the app are kept: pipelines look back that far, including those still to be created, and some days
/// are added in case no pipeline looked for a while.
pub const OPEN_DAYS_KEPT: i32 = 95;

/// The members of the list of this name on a day, which counts in addition to the days that the list looks back: it
/// never covers less than its name says.
pub fn lifecycle(name: &str, today: i32) -> Option<Lifecycle> {
    let (_, content, n_days) = LISTS.iter().find(|(known, _, _)| *known == name)?;
    let days = |kind| (0..=*n_days).map(|ago| DayTerm { kind, day: today.saturating_sub(ago) }).collect();
    Some(match *content {
        Content::Did(kind) => Lifecycle::AnyOf(days(kind)),
        Content::DidNot(kind) => Lifecycle::NoneOf(days(kind)),
        Content::Uninstalled => Lifecycle::Nobody,
    })
}

/// The names of all lifecycle lists.
pub fn lifecycle_names() -> impl Iterator<Item = &'static str> {
    LISTS.iter().map(|(name, _, _)| *name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::static_list::ListName;

    #[test]
    fn names_are_reserved_and_say_how_far_the_list_looks_back() {
        let names: BTreeSet<_> = lifecycle_names().collect();
        assert_eq!(names.len(), LISTS.len());
        for (name, _, n_days) in LISTS {
            assert!(ListName::new(name).unwrap().is_reserved(), "{name}");
            let unit = if n_days == 1 { "day" } else { "days" };
            assert!(name.ends_with(&format!("_last_{n_days}_{unit}")), "{name}");
            assert!(n_days <= LONGEST_LOOK_BACK_DAYS, "{name}");
        }
    }

    #[test]
    fn openings_are_known_for_as_long_as_pipelines_look_back() {
        // The day of the last opening and the day of the check count in addition.
        assert!(i64::from(OPEN_DAYS_KEPT) > crate::limits::PIPELINE_INACTIVE_DAYS + 2);
        const { assert!(OPEN_DAYS_KEPT >= LONGEST_LOOK_BACK_DAYS) };
    }

    #[test]
    fn lists_are_made_of_days() {
        let today = 20_000;
        let days = |kind, from: i32| (from..=20_000).rev().map(|day| DayTerm { kind, day }).collect();
        for (name, wanted) in [
            ("ua_first_app_open_last_1_day", Some(Lifecycle::AnyOf(days(DayKind::FirstOpen, 19_999)))),
            ("ua_app_open_last_7_days", Some(Lifecycle::AnyOf(days(DayKind::Open, 19_993)))),
            ("ua_has_not_opened_last_30_days", Some(Lifecycle::NoneOf(days(DayKind::Open, 19_970)))),
            ("ua_message_sent_last_1_day", Some(Lifecycle::AnyOf(days(DayKind::Sent, 19_999)))),
            ("ua_direct_open_last_7_days", Some(Lifecycle::AnyOf(days(DayKind::DirectOpen, 19_993)))),
            ("ua_message_center_sent_last_7_days", Some(Lifecycle::AnyOf(days(DayKind::MessageSent, 19_993)))),
            ("ua_message_center_view_last_30_days", Some(Lifecycle::AnyOf(days(DayKind::MessageView, 19_970)))),
            ("ua_uninstalls_last_7_days", Some(Lifecycle::Nobody)),
            ("ua_message_center_sent_last_1_day", None),
            ("ua_app_open_last_7_day", None),
            ("UA_app_open_last_7_days", None),
            ("vip", None),
        ] {
            assert_eq!(lifecycle(name, today), wanted, "{name}");
        }
    }
}
