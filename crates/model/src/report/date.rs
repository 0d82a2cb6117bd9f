//! The dates of reports. Every client library writes them differently, and some forget to escape them.

use jiff::civil::DateTime;

use crate::time::UtcMillis;

/// A date with or without zeroes before day and month, optionally with a time after a `T`, a space or a `+`, and optionally
/// with `Z` or an offset. Without a time it means midnight, without an offset UTC.
///
/// A `+` that was not escaped arrives as a space: `2024-05-01T00:00:00 02:00` has an offset of two hours.
pub fn parse_date(text: &str) -> Option<UtcMillis> {
    let mut rest = Rest(text.trim());
    let year = rest.digits(4..=4)?;
    rest.mark("-")?;
    let month = rest.digits(1..=2)?;
    rest.mark("-")?;
    let day = rest.digits(1..=2)?;
    let (mut hour, mut minute, mut second, mut nanos) = (0, 0, 0, 0);
    if rest.mark("Tt +").is_some() {
        hour = rest.digits(1..=2)?;
        rest.mark(":")?;
        minute = rest.digits(2..=2)?;
        if rest.mark(":").is_some() {
            second = rest.digits(2..=2)?;
            if rest.mark(".,").is_some() {
                nanos = rest.fraction()?;
            }
        }
    }
    let offset_minutes = rest.offset()?;
    if !rest.0.is_empty() {
        return None;
    }
    let small = |number: i32| i8::try_from(number).ok();
    let civil = DateTime::new(
        i16::try_from(year).ok()?,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        small(second)?,
        nanos,
    );
    let since_1970 = civil.ok()?.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    let millis = since_1970.as_secs() * 1000 + i64::from(since_1970.subsec_millis());
    Some(UtcMillis(millis - i64::from(offset_minutes) * 60_000))
}

/// The part that has not been read yet.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    /// A number with an allowed count of digits.
    fn digits(&mut self, count: std::ops::RangeInclusive<usize>) -> Option<i32> {
        let n_digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        if !count.contains(&n_digits) {
            return None;
        }
        let (digits, rest) = self.0.split_at(n_digits);
        self.0 = rest;
        digits.parse().ok()
    }

    /// One of some characters.
    fn mark(&mut self, marks: &str) -> Option<char> {
        let mark = self.0.chars().next().filter(|c| marks.contains(*c))?;
        self.0 = &self.0[mark.len_utf8()..];
        Some(mark)
    }

    /// The digits after a point, in nanoseconds.
    fn fraction(&mut self) -> Option<i32> {
        let n_digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(n_digits);
        self.0 = rest;
        let digits = digits.get(..n_digits.min(9)).filter(|digits| !digits.is_empty())?;
        format!("{digits:0<9}").parse().ok()
    }

    /// How many minutes the text is ahead of UTC; zero for an empty text.
    fn offset(&mut self) -> Option<i32> {
        let sign = match self.mark("Zz+- ") {
            None | Some('Z' | 'z') => return Some(0),
            Some('-') => -1,
            Some(_) => 1,
        };
        let (hours, minutes) = match self.digits(4..=4) {
            Some(both) => (both / 100, both % 100),
            None => {
                let hours = self.digits(2..=2)?;
                let minutes = if self.mark(":").is_some() { self.digits(2..=2)? } else { 0 };
                (hours, minutes)
            }
        };
        (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_date() {
        let table = [
            ("2024-05-01", "2024-05-01 00:00:00"),
            ("2024-5-1", "2024-05-01 00:00:00"),
            ("2024-2-29", "2024-02-29 00:00:00"),
            (" 2024-05-01 ", "2024-05-01 00:00:00"),
            ("2024-05-01Z", "2024-05-01 00:00:00"),
            ("2024-05-01 10:00", "2024-05-01 10:00:00"),
            ("2024-05-01+10:00", "2024-05-01 10:00:00"),
            ("2024-5-1 9:05", "2024-05-01 09:05:00"),
            ("2024-05-01T10:00", "2024-05-01 10:00:00"),
            ("2024-05-01t10:00:07z", "2024-05-01 10:00:07"),
            ("2024-05-01 10:00:07", "2024-05-01 10:00:07"),
            ("2024-05-01T10:00:07.123456789123Z", "2024-05-01 10:00:07"),
            ("2024-05-01T10:00:00+02:00", "2024-05-01 08:00:00"),
            ("2024-05-01T10:00:00 02:00", "2024-05-01 08:00:00"),
            ("2024-05-01T00:30:00+0130", "2024-04-30 23:00:00"),
            ("2024-02-28T23:00:00-02", "2024-02-29 01:00:00"),
        ];
        for (text, expected) in table {
            assert_eq!(parse_date(text).map(UtcMillis::to_report).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(parse_date("2024-05-01T10:00:00.5"), Some(UtcMillis(1_714_557_600_500)));
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "x",
            "yesterday",
            "2024",
            "2024-05",
            "24-05-01",
            "2024-05-001",
            "2024-13-01",
            "2024-02-30",
            "2023-02-29",
            "2024-05-01T",
            "2024-05-01 10",
            "2024-05-01 10:0",
            "2024-05-01 24:00",
            "2024-05-01 10:60",
            "2024-05-01 10:00:60",
            "2024-05-01 10:00:00.",
            "2024-05-01 10:00 x",
            "2024-05-01T10:00:00+24:00",
            "2024-05-01T10:00:00+02:60",
            "2024-05-01T10:00:00+2",
            "2024-05-01T10:00:00Zulu",
            "2024/05/01",
            "1714557600",
            "२०२४-०५-०१",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }
}
