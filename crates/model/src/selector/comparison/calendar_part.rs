//! Parts of a date that have to be equal, such as the month and the day of a birthday.

use jiff::civil::Date;
use serde::Serialize;

use super::{Scalar, instant};
use crate::time::UtcMillis;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CalendarPart {
    Day,
    Month,
    MonthDay,
    YearMonth,
    YearMonthDay,
}

impl CalendarPart {
    pub(super) const fn form(self) -> &'static str {
        match self {
            CalendarPart::Day => "DD",
            CalendarPart::Month => "MM",
            CalendarPart::MonthDay => "MM-DD",
            CalendarPart::YearMonth => "YYYY-MM",
            CalendarPart::YearMonthDay => "YYYY-MM-DD",
        }
    }

    pub(super) fn accepts(self, value: &Scalar) -> bool {
        self.date(value, UtcMillis::default()).is_some()
    }

    /// The date that a value stands for. The parts of it that are not compared are arbitrary.
    pub(crate) fn date(self, value: &Scalar, now: UtcMillis) -> Option<Date> {
        let text = match value {
            Scalar::Text(text) => text.clone(),
            // Only a day or a month alone is a number.
            Scalar::Number(number) => format!("{:0>2}", number.to_string()),
            Scalar::Boolean(_) => return None,
        };
        if text == "now" {
            return Some(now.civil().date());
        }
        // A leap year, so that 29 February is a day of it.
        let date = match self {
            CalendarPart::Day => format!("2000-01-{text}"),
            CalendarPart::Month => format!("2000-{text}-01"),
            CalendarPart::MonthDay => format!("2000-{text}"),
            CalendarPart::YearMonth => format!("{text}-01"),
            CalendarPart::YearMonthDay => text.clone(),
        };
        let whole = (date.len() == 10).then(|| date.parse().ok()).flatten();
        whole.or_else(|| instant(&text).map(|at| at.civil().date()))
    }

    /// Whether two dates agree in this part.
    pub(crate) fn is_same(self, a: Date, b: Date) -> bool {
        match self {
            CalendarPart::Day => a.day() == b.day(),
            CalendarPart::Month => a.month() == b.month(),
            CalendarPart::MonthDay => (a.month(), a.day()) == (b.month(), b.day()),
            CalendarPart::YearMonth => (a.year(), a.month()) == (b.year(), b.month()),
            CalendarPart::YearMonthDay => a == b,
        }
    }
}
