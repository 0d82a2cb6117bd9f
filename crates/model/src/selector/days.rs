//! Which days a period in a location selector covers.

use std::ops::RangeInclusive;

use jiff::civil::{Date, DateTime, Weekday, date};
use jiff::{Span, ToSpan};

use super::{Period, Resolution};
use crate::time::UtcMillis;

impl Period {
    /// The days, counted from 1970 in UTC, that the period touches. Periods are calendar units: one month is the current
    /// month, however far it has got.
    pub fn days(&self, now: UtcMillis) -> RangeInclusive<i32> {
        match self {
            Period::Recent { resolution, count, .. } => {
                let back = i64::from(*count) - 1;
                let now = now.civil();
                let first = now.saturating_sub(span(*resolution, back));
                number(first_day(*resolution, first))..=number(now.date())
            }
            Period::Absolute { resolution, start, end } => {
                let first = edge(*resolution, start).map_or(i32::MAX, |start| number(first_day(*resolution, start)));
                let last = edge(*resolution, end).map_or(i32::MIN, |end| number(last_day(*resolution, end)));
                first..=last
            }
        }
    }
}

/// A number of units of a resolution.
pub(super) fn span(resolution: Resolution, n: i64) -> Span {
    match resolution {
        Resolution::Minutes => n.minutes(),
        Resolution::Hours => n.hours(),
        Resolution::Days => n.days(),
        Resolution::Weeks => n.weeks(),
        Resolution::Months => n.months(),
        Resolution::Years => n.years(),
    }
}

/// A moment in the unit that an edge names; the form of edges was checked when the selector was read.
fn edge(resolution: Resolution, text: &str) -> Option<DateTime> {
    let day = match resolution {
        Resolution::Minutes | Resolution::Hours | Resolution::Days => text.get(..10)?.parse().ok()?,
        Resolution::Weeks => {
            let (year, week): (i16, i64) = (text.get(..4)?.parse().ok()?, text.get(6..)?.parse().ok()?);
            // The fourth of January is always in the first week.
            date(year, 1, 4).checked_add((week - 1).weeks()).ok()?
        }
        Resolution::Months => format!("{text}-01").parse::<Date>().ok()?,
        Resolution::Years => format!("{text}-01-01").parse().ok()?,
    };
    Some(day.to_datetime(jiff::civil::Time::midnight()))
}

pub(super) fn first_day(resolution: Resolution, moment: DateTime) -> Date {
    let day = moment.date();
    match resolution {
        Resolution::Minutes | Resolution::Hours | Resolution::Days => day,
        Resolution::Weeks => day.saturating_sub(i64::from(day.weekday().since(Weekday::Monday)).days()),
        Resolution::Months => day.first_of_month(),
        Resolution::Years => day.first_of_year(),
    }
}

pub(super) fn last_day(resolution: Resolution, moment: DateTime) -> Date {
    let day = moment.date();
    match resolution {
        Resolution::Minutes | Resolution::Hours | Resolution::Days => day,
        Resolution::Weeks => first_day(resolution, moment).saturating_add(6.days()),
        Resolution::Months => day.last_of_month(),
        Resolution::Years => day.last_of_year(),
    }
}

pub(super) fn number(day: Date) -> i32 {
    (day - date(1970, 1, 1)).get_days()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::RecentForm;

    /// A Wednesday.
    const NOW: &str = "2024-05-15 12:30";

    fn dates(days: &RangeInclusive<i32>) -> (String, String) {
        let date = |day: i32| date(1970, 1, 1).saturating_add(i64::from(day).days()).to_string();
        (date(*days.start()), date(*days.end()))
    }

    #[test]
    fn recent_units_are_those_of_the_calendar() {
        for (resolution, count, first) in [
            (Resolution::Hours, 1, "2024-05-15"),
            (Resolution::Hours, 13, "2024-05-15"),
            (Resolution::Hours, 14, "2024-05-14"),
            (Resolution::Hours, 48, "2024-05-13"),
            (Resolution::Days, 1, "2024-05-15"),
            (Resolution::Days, 60, "2024-03-17"),
            (Resolution::Weeks, 1, "2024-05-13"),
            (Resolution::Weeks, 2, "2024-05-06"),
            (Resolution::Months, 1, "2024-05-01"),
            (Resolution::Months, 3, "2024-03-01"),
            (Resolution::Months, 48, "2020-06-01"),
            (Resolution::Years, 1, "2024-01-01"),
            (Resolution::Years, 20, "2005-01-01"),
        ] {
            let period = Period::Recent { resolution, count, form: RecentForm::RecentOutside };
            let days = period.days(UtcMillis::parse_api(NOW).unwrap());
            assert_eq!(dates(&days), (first.to_owned(), "2024-05-15".to_owned()), "{resolution:?} {count}");
        }
    }

    #[test]
    fn a_month_that_is_too_short_is_still_a_month_back() {
        let period = Period::Recent { resolution: Resolution::Months, count: 2, form: RecentForm::RecentOutside };
        let days = period.days(UtcMillis::parse_api("2024-03-31 00:00").unwrap());
        assert_eq!(dates(&days), ("2024-02-01".to_owned(), "2024-03-31".to_owned()));
    }

    #[test]
    fn absolute_periods_cover_their_last_unit() {
        for (resolution, start, end, first, last) in [
            (Resolution::Minutes, "2015-10-15 10:00", "2015-10-15 10:30", "2015-10-15", "2015-10-15"),
            (Resolution::Hours, "2015-10-15 22", "2015-10-16T01", "2015-10-15", "2015-10-16"),
            (Resolution::Days, "2015-10-15", "2015-10-21", "2015-10-15", "2015-10-21"),
            (Resolution::Weeks, "2015-W42", "2015-W43", "2015-10-12", "2015-10-25"),
            (Resolution::Weeks, "2015-W01", "2015-W01", "2014-12-29", "2015-01-04"),
            (Resolution::Weeks, "2020-W53", "2020-W53", "2020-12-28", "2021-01-03"),
            (Resolution::Months, "2015-01", "2016-02", "2015-01-01", "2016-02-29"),
            (Resolution::Years, "2015", "2016", "2015-01-01", "2016-12-31"),
        ] {
            let period = Period::Absolute { resolution, start: start.to_owned(), end: end.to_owned() };
            let days = period.days(UtcMillis::parse_api(NOW).unwrap());
            assert_eq!(dates(&days), (first.to_owned(), last.to_owned()), "{start} {end}");
        }
    }
}
