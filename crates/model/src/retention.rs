//! Cohorts: people who came in the same day or week, by whether they come back.

use crate::lifecycle::OPEN_DAYS_KEPT;

/// How long a period is, in which a cohort comes and comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CohortLength {
    /// Of UTC.
    Day,
    /// From Monday on.
    Week,
}

impl CohortLength {
    pub const NAMED: [(&'static str, CohortLength); 2] = [("day", CohortLength::Day), ("week", CohortLength::Week)];

    pub const fn name(self) -> &'static str {
        match self {
            CohortLength::Day => "day",
            CohortLength::Week => "week",
        }
    }

    pub const fn days(self) -> i32 {
        match self {
            CohortLength::Day => 1,
            CohortLength::Week => 7,
        }
    }

    /// How many cohorts there are if nobody says.
    pub const fn usual(self) -> u32 {
        match self {
            CohortLength::Day => 14,
            CohortLength::Week => 8,
        }
    }

    /// How many there are at most: of all their days it is known who opened the app.
    pub const fn most(self) -> u32 {
        match self {
            CohortLength::Day => 31,
            CohortLength::Week => 13,
        }
    }

    /// The first days of the last periods, the oldest first; today is in the last of them.
    pub fn first_days(self, today: i32, n_periods: u32) -> Vec<i32> {
        let last = match self {
            CohortLength::Day => today,
            // The first day of all was a Thursday.
            CohortLength::Week => today - (today + 3).rem_euclid(7),
        };
        let periods = (0..i32::try_from(n_periods).unwrap_or(0)).rev();
        periods.map(|ago| last - ago * self.days()).collect()
    }
}

const _: () = assert!(CohortLength::Week.most() as i32 * 7 <= OPEN_DAYS_KEPT);
const _: () = assert!(CohortLength::Day.most() as i32 <= OPEN_DAYS_KEPT);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_mondays() {
        // 1970-01-01 was a Thursday; 2024-05-01 was a Wednesday.
        assert_eq!(CohortLength::Week.first_days(0, 1), [-3]);
        assert_eq!(CohortLength::Week.first_days(19_844, 3), [19_828, 19_835, 19_842]);
        assert_eq!(CohortLength::Week.first_days(19_842, 1), [19_842]);
        assert_eq!(CohortLength::Day.first_days(19_844, 2), [19_843, 19_844]);
    }
}
