//! Months as ranges of days since 1970.

use std::fmt;
use std::ops::Range;

use model::time::UtcMillis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Month {
    year: i32,
    /// From 1.
    month: u32,
}

const NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Month {
    /// `2024-05`, of the years that the calendar knows.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (year, month) = text.split_once('-')?;
        let (year, month) = (year.parse().ok()?, month.parse().ok()?);
        ((1971..9999).contains(&year) && (1..=12).contains(&month)).then_some(Self { year, month })
    }

    pub(super) fn of_day(day: i32) -> Self {
        let date = UtcMillis::of_day(day).to_api();
        date.get(..7).and_then(Self::parse).unwrap_or(Self { year: 1971, month: 1 })
    }

    pub(super) fn before(self) -> Self {
        match self.month {
            1 => Self { year: self.year - 1, month: 12 },
            month => Self { month: month - 1, ..self },
        }
    }

    pub(super) fn after(self) -> Self {
        match self.month {
            12 => Self { year: self.year + 1, month: 1 },
            month => Self { month: month + 1, ..self },
        }
    }

    pub(super) fn title(self) -> String {
        let name = NAMES.get(self.month as usize - 1).copied().unwrap_or_default();
        format!("{name} {}", self.year)
    }

    pub(super) fn has(self, day: i32) -> bool {
        (self.first()..self.after().first()).contains(&day)
    }

    /// Whole weeks from Monday to Sunday that have all days of the month.
    pub(super) fn days_with_weeks(self) -> Range<i32> {
        let (first, end) = (self.first(), self.after().first());
        first - since_monday(first)..end + (7 - since_monday(end)) % 7
    }

    fn first(self) -> i32 {
        UtcMillis::parse_api(&format!("{self}-01T00:00:00")).map_or(0, UtcMillis::day)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

pub(super) fn weekday(day: i32) -> &'static str {
    match since_monday(day) {
        0 => "Monday",
        1 => "Tuesday",
        2 => "Wednesday",
        3 => "Thursday",
        4 => "Friday",
        5 => "Saturday",
        _ => "Sunday",
    }
}

/// 1970 began with a Thursday.
pub(super) fn since_monday(day: i32) -> i32 {
    (day + 3).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_whole_weeks() {
        let may = Month::parse("2024-05").unwrap();
        let date = |day: i32| UtcMillis::of_day(day).to_api();
        let days = may.days_with_weeks();
        assert_eq!(
            (date(days.start).as_str(), date(days.end).as_str()),
            ("2024-04-29T00:00:00", "2024-06-03T00:00:00")
        );
        let mut month = Month::parse("2023-11").unwrap();
        for _ in 0..40 {
            let days = month.days_with_weeks();
            assert!((days.end - days.start) % 7 == 0 && [28, 35, 42].contains(&(days.end - days.start)), "{month}");
            assert_eq!((weekday(days.start), weekday(days.end - 1)), ("Monday", "Sunday"));
            assert!(
                month.has(days.start + 7) && Month::of_day(days.start + 7) == month && month.after().before() == month
            );
            month = month.after();
        }
        assert_eq!(month.title(), "March 2027");
        for wrong in ["", "2024", "2024-13", "2024-0", "99999-01", "x-1"] {
            assert_eq!(Month::parse(wrong), None, "{wrong}");
        }
    }
}
