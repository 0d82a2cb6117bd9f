//! Moments relative to now, and comparing instants no finer than to a unit. The calendar is that of UTC.

use std::cmp::Ordering;

use jiff::Span;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::selector::{Direction, Moment, MomentUnit};
use crate::time::UtcMillis;

/// How an instant stands to a moment. An instant that is named is compared no finer than to the unit; a distance
/// from now is counted in units, to the millisecond.
pub(super) fn compare(
    at: UtcMillis,
    moment: &Moment,
    unit: Option<MomentUnit>,
    direction: Option<Direction>,
    now: UtcMillis,
) -> Ordering {
    let to_unit = |other: UtcMillis| match unit {
        Some(unit) => begin(at, unit).cmp(&begin(other, unit)),
        None => at.cmp(&other),
    };
    match moment {
        Moment::Now => to_unit(now),
        Moment::Instant { at, .. } => to_unit(*at),
        Moment::Away { units, .. } => {
            // Reading a selector sees to it that a distance has a unit.
            let unit = unit.unwrap_or(MomentUnit::Days);
            at.cmp(&away(now, *units, unit, direction.unwrap_or(Direction::Past)))
        }
    }
}

/// Whether an instant is in the same unit of the calendar as a moment.
pub(super) fn is_same_unit(
    at: UtcMillis,
    moment: &Moment,
    unit: MomentUnit,
    direction: Option<Direction>,
    now: UtcMillis,
) -> bool {
    let other = match moment {
        Moment::Now => now,
        Moment::Instant { at, .. } => *at,
        Moment::Away { units, .. } => away(now, *units, unit, direction.unwrap_or(Direction::Past)),
    };
    begin(at, unit) == begin(other, unit)
}

/// An instant out of reach of the calendar is as far away as can be.
fn away(now: UtcMillis, units: u32, unit: MomentUnit, direction: Direction) -> UtcMillis {
    let units = i64::from(units);
    let span = match unit {
        MomentUnit::Years => Span::new().try_years(units),
        MomentUnit::Months => Span::new().try_months(units),
        MomentUnit::Days => Span::new().try_days(units),
        MomentUnit::Hours => Span::new().try_hours(units),
        MomentUnit::Minutes => Span::new().try_minutes(units),
    };
    let (moved, farthest) = match direction {
        Direction::Past => (span.and_then(|span| now.civil().checked_sub(span)), UtcMillis(i64::MIN)),
        Direction::Future => (span.and_then(|span| now.civil().checked_add(span)), UtcMillis(i64::MAX)),
    };
    let moved = moved.and_then(|moved| TimeZone::UTC.to_timestamp(moved));
    moved.map_or(farthest, |moved| UtcMillis(moved.as_millisecond()))
}

/// The beginning of the unit that an instant is in.
fn begin(at: UtcMillis, unit: MomentUnit) -> DateTime {
    let civil = at.civil();
    let day = civil.date();
    match unit {
        MomentUnit::Years => day.first_of_year().at(0, 0, 0, 0),
        MomentUnit::Months => day.first_of_month().at(0, 0, 0, 0),
        MomentUnit::Days => day.at(0, 0, 0, 0),
        MomentUnit::Hours => day.at(civil.hour(), 0, 0, 0),
        MomentUnit::Minutes => day.at(civil.hour(), civil.minute(), 0, 0),
    }
}
