//! The lists that the service keeps itself: what happened to a channel on which day, and who is in which list then.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::chance::Chance;

/// Days, counted as the service counts them.
#[derive(Clone, Debug, Default)]
pub(super) struct Days {
    pub(super) made: i32,
    pub(super) sent: BTreeSet<i32>,
}

/// A list by its name. A list covers today and so many days before.
pub(super) const LISTS: [(&str, What, i32); 10] = [
    ("ua_first_app_open_last_1_day", What::FirstOpen, 1),
    ("ua_first_app_open_last_7_days", What::FirstOpen, 7),
    ("ua_first_app_open_last_30_days", What::FirstOpen, 30),
    ("ua_app_open_last_7_days", What::FirstOpen, 7),
    ("ua_has_not_opened_last_7_days", What::NoOpen, 7),
    ("ua_message_sent_last_1_day", What::Sent, 1),
    ("ua_message_sent_last_7_days", What::Sent, 7),
    ("ua_message_sent_last_30_days", What::Sent, 30),
    ("ua_direct_open_last_7_days", What::Never, 7),
    ("ua_uninstalls_last_30_days", What::Never, 30),
];

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// Nothing else that opens an app happens here.
    FirstOpen,
    NoOpen,
    Sent,
    /// What does not happen here, or only to those whom nothing can reach.
    Never,
}

/// Whether a list has a channel in it; `None` for a list of another kind.
pub(super) fn holds(name: &str, days: &Days, today: i32) -> Option<bool> {
    let (_, what, n_days) = LISTS.iter().find(|(known, _, _)| *known == name)?;
    let first = today - n_days;
    Some(match what {
        What::FirstOpen => days.made >= first,
        What::NoOpen => days.made < first,
        What::Sent => days.sent.range(first..).next().is_some(),
        What::Never => false,
    })
}

/// A question about when the app was opened, in days before today.
#[derive(Clone, Copy, Debug)]
pub(super) struct Openings {
    asked: Asked,
    after: i32,
    before: Option<i32>,
}

#[derive(Clone, Copy, Debug)]
enum Asked {
    Some,
    None,
    First,
    Last,
}

impl Openings {
    pub(super) fn random(chance: &mut Chance) -> Self {
        let asked = chance.pick(&[Asked::Some, Asked::None, Asked::First, Asked::Last]);
        let after = chance.pick(&[1, 3, 10, 40]);
        let before = chance.pick(&[None, Some(1), Some(2), Some(8)]);
        Self { asked, after, before: before.filter(|before| *before <= after) }
    }

    pub(super) fn print(self) -> Value {
        let mut printed = json!({"activity": "app_open", "after": self.after, "precision": "days"});
        let more = match self.asked {
            Asked::Some => json!({"metric": "count", "operator": "greater", "value": 0}),
            Asked::None => json!({"metric": "count", "operator": "equals", "value": 0}),
            Asked::First => json!({"metric": "first"}),
            Asked::Last => json!({"metric": "last"}),
        };
        printed.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        if let Some(before) = self.before {
            printed["before"] = json!(before);
        }
        printed
    }

    /// A channel opens the app when it is made, and never again here: the first time is the last.
    pub(super) fn are_met(self, days: &Days, today: i32) -> bool {
        let is_within = (today - self.after..=today - self.before.unwrap_or(0)).contains(&days.made);
        match self.asked {
            Asked::None => !is_within,
            Asked::Some | Asked::First | Asked::Last => is_within,
        }
    }
}
