//! The questions about openings of the app that selectors by activity can ask. Only the days on which a channel opened it are
//! kept, and the instant of the first time, so not every possible selector can be answered.

use std::ops::RangeInclusive;

use super::activity::{Activity, Metric, Threshold, ThresholdOperator, Window, WindowUnit};
use super::comparison::Moment;
use super::days::{first_day, last_day, number, span};
use super::location::Resolution;
use crate::lifecycle::OPEN_DAYS_KEPT;
use crate::time::UtcMillis;

/// The name of the activity of opening the app.
pub(super) const APP_OPEN: &str = "app_open";

pub(super) const OTHER_ACTIVITY: &str =
    "Of activities only app_open is known for each channel; tag the others from a custom event instead.";
const NO_VALUE: &str = "Openings of the app have no value; ask for count, first or last.";
pub(super) const NO_COUNT: &str =
    "Only the days of opens are known, not how many there were; ask for a count greater than 0, or equal to 0.";
const TOO_OLD: &str = "Opens are known for the last 95 days; ask for a shorter time, or for the first open.";
const DATED: &str = "Opens are known for the last 95 days; say how long ago, instead of a date.";

/// A question about openings that can be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Openings<'a> {
    pub asked: Asked,
    window: &'a Window,
}

/// The question about the days of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Whether a channel opened the app on one of them.
    Some,
    /// Whether a channel opened it on none of them.
    None,
    /// Whether the first time was on one of them.
    First,
    /// Whether the last time was on one of them.
    Last,
    /// The answer is the same for any number of openings.
    Always(bool),
}

impl Activity {
    /// The question of a selector without a filter, or why it cannot be answered.
    pub(super) fn openings(&self) -> Result<Openings<'_>, &'static str> {
        if self.activity != APP_OPEN {
            return Err(OTHER_ACTIVITY);
        }
        let asked = match &self.metric {
            Metric::Count(threshold) => threshold.asked().ok_or(NO_COUNT)?,
            Metric::TotalValue(_) => return Err(NO_VALUE),
            Metric::First => Asked::First,
            Metric::Last => Asked::Last,
        };
        match asked {
            Asked::Some | Asked::None | Asked::Last => self.window.check_reach()?,
            Asked::First | Asked::Always(_) => {}
        }
        Ok(Openings { asked, window: &self.window })
    }
}

impl Openings<'_> {
    /// The days of the window, counted from 1970 in UTC: its first, unless it reaches back to the beginning, and its last,
    /// which is today at the latest.
    pub fn days(&self, now: UtcMillis) -> (Option<i32>, i32) {
        let (first, last) = self.window.edges(now);
        (first, last.map_or(now.day(), |last| last.min(now.day())))
    }
}

impl Threshold {
    /// `None` when the answer depends on whether there were one opening or more.
    pub(super) fn asked(&self) -> Option<Asked> {
        let value = self.value.as_f64()?;
        let holds = |n: f64| match self.operator {
            ThresholdOperator::Less => n < value,
            ThresholdOperator::LessEq => n <= value,
            ThresholdOperator::Equals => (n - value).abs() < f64::EPSILON,
            ThresholdOperator::Greater => n > value,
            ThresholdOperator::GreaterEq => n >= value,
        };
        // The answer for one opening has to hold for two, and for so many that the value is far away.
        let (of_none, of_one) = (holds(0.0), holds(1.0));
        let is_same = value <= 1.0 && [2.0, f64::INFINITY].into_iter().all(|n| holds(n) == of_one);
        match (is_same, of_none, of_one) {
            (false, ..) => None,
            (true, false, true) => Some(Asked::Some),
            (true, true, false) => Some(Asked::None),
            (true, true, true) => Some(Asked::Always(true)),
            (true, false, false) => Some(Asked::Always(false)),
        }
    }
}

impl Window {
    /// Fails unless everything in the window is known at any later time. Dates are not: sooner or later they are too long ago.
    fn check_reach(&self) -> Result<(), &'static str> {
        let edges = [
            (&self.after, self.precision, 0),
            (&self.before, self.precision, 0),
            // A unit of the calendar may have begun almost a unit ago.
            (&self.on, self.on_precision, 1),
        ];
        for (moment, unit, n_more) in edges {
            let units = match moment {
                None => continue,
                Some(Moment::Now) => 0,
                Some(Moment::Away { units, .. }) => *units,
                Some(Moment::Instant { .. }) => return Err(DATED),
            };
            let days = unit.unwrap_or(WindowUnit::Days).most_days();
            if units.saturating_add(n_more).saturating_mul(days) > OPEN_DAYS_KEPT.unsigned_abs() {
                return Err(TOO_OLD);
            }
        }
        Ok(())
    }

    /// The first day and the last, both included, as far as they are given.
    fn edges(&self, now: UtcMillis) -> (Option<i32>, Option<i32>) {
        let day = |moment: &Moment| *days(moment, self.precision, WindowUnit::Days, now).start();
        let (mut first, mut last) = (self.after.as_ref().map(day), self.before.as_ref().map(day));
        if let Some(on) = &self.on {
            let on = days(on, self.on_precision, self.on_precision.unwrap_or(WindowUnit::Days), now);
            first = Some(first.map_or(*on.start(), |first| first.max(*on.start())));
            last = Some(last.map_or(*on.end(), |last| last.min(*on.end())));
        }
        (first, last)
    }
}

/// The unit of the calendar that a moment is in.
fn days(moment: &Moment, away: Option<WindowUnit>, around: WindowUnit, now: UtcMillis) -> RangeInclusive<i32> {
    let at = match moment {
        Moment::Now => now.civil(),
        Moment::Instant { at, .. } => at.civil(),
        Moment::Away { units, .. } => {
            now.civil().saturating_sub(span(away.unwrap_or(WindowUnit::Days).resolution(), i64::from(*units)))
        }
    };
    let unit = around.resolution();
    number(first_day(unit, at))..=number(last_day(unit, at))
}

impl WindowUnit {
    const fn most_days(self) -> u32 {
        match self {
            WindowUnit::Days => 1,
            WindowUnit::Weeks => 7,
            WindowUnit::Months => 31,
            WindowUnit::Years => 366,
        }
    }

    const fn resolution(self) -> Resolution {
        match self {
            WindowUnit::Days => Resolution::Days,
            WindowUnit::Weeks => Resolution::Weeks,
            WindowUnit::Months => Resolution::Months,
            WindowUnit::Years => Resolution::Years,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::selector::{Atomic, Audience, Purpose, Selector};

    /// 2024-05-01 12:00, a Wednesday.
    const NOW: UtcMillis = UtcMillis(1_714_564_800_000);
    const TODAY: i32 = 19_844;

    fn activity(text: &str) -> Activity {
        match json::parse(text.as_bytes(), |at| Audience::parse(at, Purpose::Send)).unwrap() {
            Audience::Selector(Selector::Atomic(Atomic::Activity(activity))) => *activity,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn counts_are_answered_when_the_day_is_enough() {
        for (operator, value, wanted) in [
            ("greater", "0", Some(Asked::Some)),
            ("greater_eq", "1", Some(Asked::Some)),
            ("greater", "0.5", Some(Asked::Some)),
            ("equals", "0", Some(Asked::None)),
            ("less", "1", Some(Asked::None)),
            ("less_eq", "0", Some(Asked::None)),
            ("greater_eq", "0", Some(Asked::Always(true))),
            ("less", "0", Some(Asked::Always(false))),
            ("equals", "-1", Some(Asked::Always(false))),
            ("greater", "1", None),
            ("greater_eq", "2", None),
            ("less", "2", None),
            ("less_eq", "1", None),
            ("equals", "1", None),
            ("equals", "7", None),
            ("less", "100", None),
        ] {
            let text = format!(r#"{{"activity":"app_open","metric":"count","operator":"{operator}","value":{value}}}"#);
            let activity = activity(&text);
            assert_eq!(activity.openings().ok().map(|openings| openings.asked), wanted, "{operator} {value}");
        }
    }

    #[test]
    fn windows_are_days_of_the_calendar() {
        for (window, wanted) in [
            ("", (None, TODAY)),
            (r#","after":7,"precision":"days""#, (Some(TODAY - 7), TODAY)),
            (r#","after":2,"before":1,"precision":"weeks""#, (Some(TODAY - 14), TODAY - 7)),
            (r#","after":3,"before":"now","precision":"months""#, (Some(TODAY - 90), TODAY)),
            (r#","on":1,"on_precision":"days""#, (Some(TODAY - 1), TODAY - 1)),
            (r#","on":1,"on_precision":"weeks""#, (Some(TODAY - 9), TODAY - 3)),
            (r#","on":1,"on_precision":"months""#, (Some(TODAY - 30), TODAY - 1)),
            (r#","on":"now","on_precision":"months","after":3,"precision":"days""#, (Some(TODAY), TODAY)),
        ] {
            let activity = activity(&format!(r#"{{"activity":"app_open","metric":"last"{window}}}"#));
            assert_eq!(activity.openings().unwrap().days(NOW), wanted, "{window}");
        }
    }

    #[test]
    fn what_is_not_kept_cannot_be_asked_for() {
        let count = r#""metric":"count","operator":"greater","value":0"#;
        for (text, wanted) in [
            (format!(r#"{{"activity":"bought",{count}}}"#), Some(OTHER_ACTIVITY)),
            (format!(r#"{{"activity":"app_open",{count},"after":95,"precision":"days"}}"#), None),
            (format!(r#"{{"activity":"app_open",{count},"on":2,"on_precision":"months"}}"#), None),
            (format!(r#"{{"activity":"app_open",{count},"on":3,"on_precision":"months"}}"#), Some(TOO_OLD)),
            (format!(r#"{{"activity":"app_open",{count},"after":"2024-04-30T00:00:00Z"}}"#), Some(DATED)),
            (r#"{"activity":"app_open","metric":"first","after":"2020-04-30T00:00:00Z"}"#.to_owned(), None),
            (format!(r#"{{"activity":"app_open",{count},"after":96,"precision":"days"}}"#), Some(TOO_OLD)),
            (r#"{"activity":"app_open","metric":"first","after":9,"precision":"years"}"#.to_owned(), None),
            (
                r#"{"activity":"app_open","metric":"total_value","operator":"greater","value":0}"#.to_owned(),
                Some(NO_VALUE),
            ),
        ] {
            assert_eq!(activity(&text).openings().err(), wanted, "{text}");
        }
    }
}
