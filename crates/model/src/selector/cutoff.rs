//! How far back periods may reach that count units from now.

use jiff::civil::DateTime;
use jiff::{Timestamp, tz::TimeZone};

use super::Resolution;
use super::days::span;
use crate::time::UtcMillis;

/// The units that recent periods are counted in, each with the first unit of the longest such period, as of now.
pub fn recent_cutoffs(now: UtcMillis) -> Vec<(Resolution, String)> {
    let now = Timestamp::from_millisecond(now.0).unwrap_or_default().to_zoned(TimeZone::UTC).datetime();
    let units =
        [Resolution::Hours, Resolution::Days, Resolution::Weeks, Resolution::Months, Resolution::Years].into_iter();
    // A count of one means the current unit.
    units.map(|unit| (unit, cutoff(unit, now, i64::from(unit.most_recent()) - 1))).collect()
}

fn cutoff(unit: Resolution, now: DateTime, back: i64) -> String {
    let first = now.saturating_sub(span(unit, back));
    match unit {
        Resolution::Minutes => first.strftime("%Y-%m-%d %H:%M").to_string(),
        Resolution::Hours => first.strftime("%Y-%m-%d %H").to_string(),
        Resolution::Days => first.strftime("%Y-%m-%d").to_string(),
        Resolution::Weeks => {
            let week = first.date().iso_week_date();
            format!("{:04}-W{:02}", week.year(), week.week())
        }
        Resolution::Months => first.strftime("%Y-%m").to_string(),
        Resolution::Years => first.strftime("%Y").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cutoffs(now: i64) -> Vec<String> {
        recent_cutoffs(UtcMillis(now)).into_iter().map(|(unit, first)| format!("{} {first}", unit.key())).collect()
    }

    #[test]
    fn the_longest_recent_periods_begin_with_the_cutoffs() {
        // 2024-05-01 12:00, a Wednesday of week 18.
        let expected = ["hours 2024-04-29 13", "days 2024-03-03", "weeks 2024-W09", "months 2020-06", "years 2005"];
        assert_eq!(cutoffs(1_714_564_800_000), expected);
        // 2020-12-31 00:00 is in week 53; a month that is too short ends where it ends.
        let expected = ["hours 2020-12-29 01", "days 2020-11-02", "weeks 2020-W44", "months 2017-01", "years 2001"];
        assert_eq!(cutoffs(1_609_372_800_000), expected);
    }
}
