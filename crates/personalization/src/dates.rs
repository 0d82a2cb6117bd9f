//! Dates and times as people of a locale write them.

mod locales;

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;
use jiff::{Timestamp, tz::TimeZone};

use crate::functions::Helper;
use crate::template::{Call, Expression};
use locales::{Language, STYLES};

pub(crate) use locales::{Digits, malformed_locale};

/// Which parts of an instant are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Date,
    Time,
    DateTime,
}

/// The options of a call.
pub(crate) struct Style<'s> {
    pub(crate) locale: Option<&'s str>,
    pub(crate) format: Option<&'s str>,
    pub(crate) pattern: Option<&'s str>,
}

/// Letters of patterns that are understood.
const LETTERS: &str = "yuMLdEaHhmsS";

impl Shown {
    pub(crate) const fn of(helper: Helper) -> Self {
        match helper {
            Helper::TimeFormat => Shown::Time,
            Helper::DateTimeFormat => Shown::DateTime,
            _ => Shown::Date,
        }
    }
}

/// The options of a call that are written out and wrong.
pub(crate) fn complaint(call: &Call) -> Option<String> {
    if !matches!(call.helper, Helper::DateFormat | Helper::TimeFormat | Helper::DateTimeFormat) {
        return None;
    }
    let has = |name: &str| call.options.iter().any(|(known, _)| known == name);
    if has("format") && has("pattern") {
        return Some("Give 'format' or 'pattern', not both.".to_owned());
    }
    call.options.iter().find_map(|(name, value)| match (name.as_str(), value) {
        ("locale", Expression::Text(locale)) => malformed_locale(locale),
        ("format", Expression::Text(format)) if !STYLES.contains(&format.as_str()) => {
            Some(format!("There is no format '{format}'; there are {}.", STYLES.join(", ")))
        }
        ("pattern", Expression::Text(pattern)) => {
            let letter = pieces(pattern).into_iter().find_map(|piece| match piece {
                Piece::Field(letter, _) if !LETTERS.contains(letter) => Some(letter),
                Piece::Field(..) | Piece::Text(_) => None,
            })?;
            Some(format!("The letter '{letter}' is not known in patterns; text in them is in single quotes."))
        }
        _ => None,
    })
}

/// `None` if the text is no date, or has no time where one is to be shown.
pub(crate) fn formatted(text: &str, shown: Shown, style: &Style<'_>) -> Option<String> {
    let moment = parsed(text)?;
    let language = Language::of(style.locale.unwrap_or("en-US"));
    let pattern = match (style.pattern, shown) {
        (Some(pattern), _) => pattern.to_owned(),
        (None, Shown::Date) => language.date(style.format).to_owned(),
        (None, Shown::Time) => language.time(style.format).to_owned(),
        (None, Shown::DateTime) => {
            format!("{}{}{}", language.date(style.format), language.between, language.time(style.format))
        }
    };
    Some(pieces(&pattern).into_iter().map(|piece| piece.written(moment, &language)).collect())
}

/// An instant as the API prints it.
pub(crate) fn instant_text(millis: i64) -> Option<String> {
    let instant = Timestamp::from_millisecond(millis).ok()?.to_zoned(TimeZone::UTC);
    strtime::format("%Y-%m-%dT%H:%M:%SZ", &instant).ok()
}

/// The date and the time as they are written, in whatever zone that is; midnight for a date alone.
fn parsed(text: &str) -> Option<DateTime> {
    let text = text.trim();
    let Some((date, time)) = text.split_once(['T', ' ']) else {
        return Some(text.parse::<Date>().ok()?.to_datetime(Time::midnight()));
    };
    let n = time.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(time.len());
    let (time, zone) = time.split_at(n);
    let is_zone = zone.is_empty()
        || zone == "Z"
        || zone.strip_prefix(['+', '-']).is_some_and(|rest| {
            !rest.is_empty() && rest.len() <= 5 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        });
    let time = is_zone.then(|| time.parse::<Time>().ok())??;
    Some(date.parse::<Date>().ok()?.to_datetime(time))
}

enum Piece {
    Text(String),
    /// A letter, and how often it is repeated.
    Field(char, usize),
}

/// Takes a pattern apart: letters are fields, everything else and what is in single quotes is text.
fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let inner = &rest[1..];
            let n = inner.find('\'').unwrap_or(inner.len());
            // Two quotes are one.
            pieces.push(Piece::Text(if n == 0 { "'".to_owned() } else { inner[..n].to_owned() }));
            rest = inner.get(n + 1..).unwrap_or_default();
            continue;
        }
        let n = rest.find(|c: char| c != first).unwrap_or(rest.len());
        pieces.push(match first.is_ascii_alphabetic() {
            true => Piece::Field(first, n),
            false => Piece::Text(rest[..n].to_owned()),
        });
        rest = &rest[n..];
    }
    pieces
}

impl Piece {
    fn written(&self, moment: DateTime, language: &Language) -> String {
        let (letter, n) = match self {
            Piece::Text(text) => return text.clone(),
            Piece::Field(letter, n) => (*letter, (*n).min(12)),
        };
        let month = usize::try_from(moment.month() - 1).unwrap_or(0);
        let weekday = usize::try_from(moment.weekday().to_monday_zero_offset()).unwrap_or(0);
        let hour = i64::from(moment.hour());
        let of_twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
        match (letter, n) {
            ('y' | 'u', 2) => format!("{:02}", moment.year().rem_euclid(100)),
            ('y' | 'u', n) => format!("{:0n$}", moment.year()),
            ('M' | 'L', 3) => language.short_months[month].to_owned(),
            ('M' | 'L', 4..) => language.months[month].to_owned(),
            ('M' | 'L', n) => format!("{:0n$}", moment.month()),
            ('d', n) => format!("{:0n$}", moment.day()),
            ('E', 1..=3) => language.short_weekdays[weekday].to_owned(),
            ('E', _) => language.weekdays[weekday].to_owned(),
            ('a', _) => language.halves[usize::from(hour >= 12)].to_owned(),
            ('H', n) => format!("{hour:0n$}"),
            ('h', n) => format!("{of_twelve:0n$}"),
            ('m', n) => format!("{:0n$}", moment.minute()),
            ('s', n) => format!("{:0n$}", moment.second()),
            ('S', n) => {
                let nanos = format!("{:09}000", moment.subsec_nanosecond());
                nanos[..n].to_owned()
            }
            _ => String::new(),
        }
    }
}
