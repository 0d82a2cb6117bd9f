//! The time that a report is about, as the URL says it.

use model::time::UtcMillis;

use crate::error::{Error, Result};
use crate::form::{Fields, query};

/// From here on there is a column per month.
const MOST_DAILY: i32 = 186;
/// As far as the columns of months fit.
const MOST_DAYS: i32 = 366 * 10;

pub(super) struct Period {
    /// The first day, `2024-05-01`.
    pub(super) from: String,
    /// The last day.
    pub(super) to: String,
    /// The day after the last one.
    pub(super) end: String,
    pub(super) precision: &'static str,
    /// The number of days until today, if that was chosen.
    pub(super) preset: Option<u32>,
}

impl Period {
    pub(super) fn of(chosen: &Fields, now: UtcMillis) -> Result<Self> {
        if let Some((from, to)) = chosen.text("from").zip(chosen.text("to")) {
            let (first, last) = (day(from, "from")?, day(to, "to")?);
            if last < first || last - first >= MOST_DAYS {
                return Err(Error::invalid(
                    "to",
                    "The last day must not be before the first, and at most ten years after it.",
                ));
            }
            return Ok(Self::between(first, last, None));
        }
        let days =
            chosen.text("days").and_then(|days| days.parse::<u32>().ok()).filter(|days| (1..=366).contains(days));
        let days = days.unwrap_or(30);
        let back = i32::try_from(days).unwrap_or(30) - 1;
        Ok(Self::between(now.day() - back, now.day(), Some(days)))
    }

    fn between(first: i32, last: i32, preset: Option<u32>) -> Self {
        let precision = if last - first < MOST_DAILY { "DAILY" } else { "MONTHLY" };
        Self { from: date(first), to: date(last), end: date(last + 1), precision, preset }
    }

    /// The same time as a query.
    pub(super) fn query(&self) -> String {
        query([("from", self.from.as_str()), ("to", self.to.as_str())])
    }
}

fn day(text: &str, field: &str) -> Result<i32> {
    let at = UtcMillis::parse_api(&format!("{text}T00:00:00"));
    at.map(UtcMillis::day).ok_or_else(|| Error::invalid(field, &format!("'{text}' is no day; write it as 2030-01-31.")))
}

fn date(day: i32) -> String {
    UtcMillis::of_day(day).to_api().get(..10).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole_days() {
        let now = UtcMillis::parse_api("2024-05-01T08:00:00").unwrap();
        let period = |query: &str| {
            Period::of(&Fields::parse(query), now)
                .map(|period| (period.from, period.end, period.precision, period.preset))
        };
        let texts = |from: &str, end: &str| (from.to_owned(), end.to_owned());
        let expected = |(from, end), precision, preset| (from, end, precision, preset);
        assert_eq!(period("").unwrap(), expected(texts("2024-04-02", "2024-05-02"), "DAILY", Some(30)));
        assert_eq!(period("days=7").unwrap(), expected(texts("2024-04-25", "2024-05-02"), "DAILY", Some(7)));
        assert_eq!(
            period("from=2023-01-01&to=2024-02-29").unwrap(),
            expected(texts("2023-01-01", "2024-03-01"), "MONTHLY", None)
        );
        assert!(period("from=x&to=2024-02-29").is_err() && period("from=2024-05-02&to=2024-05-01").is_err());
    }
}
