//! A period of time cut into hours, days or months of UTC.
//!
//! Counts are kept by the hour. An hour belongs to a period when its beginning does: so every hour belongs to exactly one of
//! the periods that follow each other without a gap, and their counts add up wherever the cuts are.

use std::ops::Range;

use jiff::ToSpan;
use jiff::civil::Date;

use crate::time::UtcMillis;

const HOUR_MILLIS: i64 = 60 * 60 * 1000;
const HOURS_PER_DAY: i64 = 24;

/// How long a bucket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    Hourly,
    Daily,
    Monthly,
}

/// From an instant up to another, which is not earlier and not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    start: UtcMillis,
    end: UtcMillis,
    pub precision: Precision,
}

/// The beginning of a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The first hours of its buckets, in order. The first bucket may have begun before the period.
    pub buckets: Vec<i64>,
    /// Which hours are counted.
    pub hours: Range<i64>,
    /// The period after it, if anything is left.
    pub rest: Option<Period>,
}

impl Precision {
    pub const NAMED: [(&'static str, Precision); 3] =
        [("HOURLY", Precision::Hourly), ("DAILY", Precision::Daily), ("MONTHLY", Precision::Monthly)];

    pub const fn name(self) -> &'static str {
        match self {
            Precision::Hourly => "HOURLY",
            Precision::Daily => "DAILY",
            Precision::Monthly => "MONTHLY",
        }
    }

    /// The first hour of the bucket that an hour is in.
    pub fn bucket(self, hour: i64) -> i64 {
        match self {
            Precision::Hourly => hour,
            Precision::Daily => hour.div_euclid(HOURS_PER_DAY) * HOURS_PER_DAY,
            Precision::Monthly => first_hour(date(hour).first_of_month()),
        }
    }

    /// The first hour of the bucket `n_buckets` after the one that an hour is in. Months end with the year 9999.
    fn after(self, hour: i64, n_buckets: i32) -> i64 {
        let bucket = self.bucket(hour);
        match self {
            Precision::Hourly => bucket + i64::from(n_buckets),
            Precision::Daily => bucket + i64::from(n_buckets) * HOURS_PER_DAY,
            Precision::Monthly => {
                let first = date(bucket).checked_add(n_buckets.months());
                first.map_or(first_hour(Date::MAX) + HOURS_PER_DAY, first_hour)
            }
        }
    }
}

impl Period {
    /// `None` when it would end before it starts.
    pub fn new(start: UtcMillis, end: UtcMillis, precision: Precision) -> Option<Self> {
        (start <= end).then_some(Self { start, end, precision })
    }

    /// `n_buckets` buckets, beginning with the one that an instant is in.
    pub fn around(start: UtcMillis, n_buckets: i32, precision: Precision) -> Self {
        let first = precision.bucket(start.0.div_euclid(HOUR_MILLIS));
        Self { start: UtcMillis::of_hour(first), end: UtcMillis::of_hour(precision.after(first, n_buckets)), precision }
    }

    pub const fn start(&self) -> UtcMillis {
        self.start
    }

    pub const fn end(&self) -> UtcMillis {
        self.end
    }

    /// A period that begins and ends `n_buckets` earlier, at the same places of its buckets.
    pub fn earlier(&self, n_buckets: i32) -> Self {
        let earlier = |at: UtcMillis| {
            let bucket = self.precision.bucket(at.0.div_euclid(HOUR_MILLIS));
            let within = at.0 - UtcMillis::of_hour(bucket).0;
            UtcMillis(UtcMillis::of_hour(self.precision.after(bucket, -n_buckets)).0 + within)
        };
        // Months before may be shorter than the place at which this one is cut.
        let end = earlier(self.end).min(self.start);
        Self { start: earlier(self.start).min(end), end, precision: self.precision }
    }

    /// The hours that begin in it.
    pub fn hours(&self) -> Range<i64> {
        let first_from = |at: UtcMillis| at.0.div_euclid(HOUR_MILLIS) + i64::from(at.0.rem_euclid(HOUR_MILLIS) > 0);
        first_from(self.start)..first_from(self.end)
    }

    /// Its first buckets, as many as a page may have. A bucket without an hour of the period is left out.
    pub fn page(&self, at_most: usize) -> Page {
        let hours = self.hours();
        let mut buckets = Vec::new();
        let mut next = hours.start;
        while next < hours.end && buckets.len() < at_most {
            buckets.push(self.precision.bucket(next));
            next = self.precision.after(next, 1).max(next + 1);
        }
        if next >= hours.end {
            return Page { buckets, hours, rest: None };
        }
        let rest = Self { start: UtcMillis::of_hour(next), ..*self };
        Page { buckets, hours: hours.start..next, rest: Some(rest) }
    }
}

fn date(hour: i64) -> Date {
    UtcMillis::of_hour(hour).civil().date()
}

fn first_hour(date: Date) -> i64 {
    let days = Date::constant(1970, 1, 1).until(date).map_or(0, |since| i64::from(since.get_days()));
    days * HOURS_PER_DAY
}

#[cfg(test)]
mod tests;
