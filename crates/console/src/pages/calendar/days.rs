//! The days that the calendar shows, a month or a week of them, by the clock of the visitor.

use std::ops::Range;

use model::schedule::WallTime;
use model::time::UtcMillis;

use super::month::{Month, since_monday};

/// What is shown at once. Days are counted from 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Month(Month),
    /// From its Monday on.
    Week(i32),
}

impl Span {
    pub(super) fn week_of(day: i32) -> Self {
        Self::Week(day - since_monday(day))
    }

    /// Whole weeks.
    pub(super) fn days(self) -> Range<i32> {
        match self {
            Self::Month(month) => month.days_with_weeks(),
            Self::Week(monday) => monday..monday + 7,
        }
    }

    pub(super) fn has(self, day: i32) -> bool {
        match self {
            Self::Month(month) => month.has(day),
            Self::Week(_) => self.days().contains(&day),
        }
    }

    pub(super) fn before(self) -> Self {
        match self {
            Self::Month(month) => Self::Month(month.before()),
            Self::Week(monday) => Self::Week(monday - 7),
        }
    }

    pub(super) fn after(self) -> Self {
        match self {
            Self::Month(month) => Self::Month(month.after()),
            Self::Week(monday) => Self::Week(monday + 7),
        }
    }

    pub(super) fn title(self) -> String {
        match self {
            Self::Month(month) => month.title(),
            Self::Week(monday) => {
                let (first, last) = (Month::of_day(monday), Month::of_day(monday + 6));
                let from = if first == last { String::new() } else { format!(" {}", first.title()) };
                format!("{}{from} – {} {}", number(monday), number(monday + 6), last.title())
            }
        }
    }

    /// How the address of the page names it.
    pub(super) fn field(self) -> (&'static str, String) {
        match self {
            Self::Month(month) => ("month", month.to_string()),
            Self::Week(monday) => ("week", date(monday)),
        }
    }
}

/// Clocks of a zone.
#[derive(Clone, Copy)]
pub(super) struct Zone<'z>(pub(super) &'z str);

impl Zone<'_> {
    /// What the clocks show at an instant, as if it were UTC.
    pub(super) fn shows(self, at: UtcMillis) -> UtcMillis {
        let wall = WallTime::at_named(at, self.0).and_then(|wall| UtcMillis::parse_api(&wall.to_string()));
        wall.unwrap_or(at)
    }

    /// When a day begins.
    pub(super) fn begin(self, day: i32) -> UtcMillis {
        let midnight = WallTime::from_api(&UtcMillis::of_day(day).to_api());
        midnight.and_then(|midnight| midnight.in_zone_named(self.0)).unwrap_or_else(|| UtcMillis::of_day(day))
    }
}

pub(super) fn date(day: i32) -> String {
    UtcMillis::of_day(day).to_api().get(..10).unwrap_or_default().to_owned()
}

/// Of a day in its month.
pub(super) fn number(day: i32) -> String {
    date(day).get(8..).unwrap_or_default().trim_start_matches('0').to_owned()
}

/// The day of a text such as `2024-05-01`.
pub(super) fn parse(text: &str) -> Option<i32> {
    UtcMillis::parse_api(&format!("{text}T00:00:00")).map(UtcMillis::day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_have_names_and_neighbours() {
        let week = |text: &str| Span::week_of(parse(text).unwrap());
        assert_eq!(week("2024-05-08").title(), "6 – 12 May 2024");
        assert_eq!(week("2024-05-01").title(), "29 April 2024 – 5 May 2024");
        assert_eq!(week("2024-05-08").before().after().field(), ("week", "2024-05-06".to_owned()));
        assert!(
            week("2024-05-08").has(parse("2024-05-12").unwrap())
                && !week("2024-05-08").has(parse("2024-05-13").unwrap())
        );
        assert_eq!((parse("2024-05"), parse("x")), (None, None));
    }

    #[test]
    fn days_begin_by_the_clock_of_the_zone() {
        let (berlin, day) = (Zone("Europe/Berlin"), parse("2024-05-02").unwrap());
        assert_eq!(berlin.begin(day).to_api(), "2024-05-01T22:00:00");
        assert_eq!(berlin.shows(berlin.begin(day)).day(), day);
        assert_eq!(Zone("Moon").begin(day), UtcMillis::of_day(day));
    }
}
