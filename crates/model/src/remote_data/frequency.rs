//! Frequency constraints: how many in-app messages a device shows in a time.

use std::collections::BTreeSet;

use crate::json::At;
use crate::json::body::{Body, Words};
use crate::limits;

/// All frequency constraints of an app.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
#[body(check = FrequencyConstraints::check)]
pub struct FrequencyConstraints {
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS)]
    pub frequency_constraints: Vec<FrequencyConstraint>,
}

/// At most `boundary` times in `range` periods.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct FrequencyConstraint {
    /// By which in-app messages name it.
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub id: String,
    #[body(range = 1..=1_000_000)]
    pub range: u32,
    pub period: FrequencyPeriod,
    #[body(range = 0..=1_000_000)]
    pub boundary: u32,
}

/// A month is 30 days and a year 365. Weeks are sent as days: libraries for iOS count six days to a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum FrequencyPeriod {
    Seconds,
    Minutes,
    Hours,
    Days,
    Weeks,
    Months,
    Years,
}

impl FrequencyConstraints {
    fn check(mut self, at: &At<'_>) -> Option<Self> {
        let mut ids = BTreeSet::new();
        for constraint in &mut self.frequency_constraints {
            if !ids.insert(constraint.id.clone()) {
                let message = format!("Two constraints have the id '{}'.", constraint.id);
                return at.invalid_key("frequency_constraints", message);
            }
            if constraint.period == FrequencyPeriod::Weeks {
                constraint.period = FrequencyPeriod::Days;
                constraint.range *= 7;
            }
        }
        Some(self)
    }

    pub fn has(&self, id: &str) -> bool {
        self.frequency_constraints.iter().any(|constraint| constraint.id == id)
    }
}
