//! Numbers: as values, and as people of a locale write them.

use serde_json::Value;

use crate::dates::{Digits, malformed_locale};
use crate::functions::Helper;
use crate::template::{Call, Expression};

/// Digits after the point, unless told.
const USUAL_FRACTION_DIGITS: usize = 3;
const MOST_FRACTION_DIGITS: usize = 12;
/// Below this, every integer is exactly itself.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whole numbers are integers, so that they are shown without a point. Null for what is no number.
pub(crate) fn value(number: f64) -> Value {
    if number.fract() == 0.0
        && number.abs() < EXACT
        && let Ok(integer) = format!("{number:.0}").parse::<i64>()
    {
        return Value::from(integer);
    }
    Value::from(number)
}

/// The least and the most digits after the point are 0 to 12.
pub(crate) fn formatted(number: f64, (least, most): (Option<f64>, Option<f64>), locale: Option<&str>) -> String {
    let digits = |wanted: f64| (0..MOST_FRACTION_DIGITS).take_while(|n| (*n as f64) + 0.5 < wanted).count();
    let least = least.map_or(0, digits);
    let most = most.map_or(USUAL_FRACTION_DIGITS.max(least), digits).max(least);
    let plain = format!("{:.most$}", number.abs());
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let n_kept = fraction.trim_end_matches('0').len().max(least);
    let Digits { group, point } = Digits::of(locale.unwrap_or_default());
    let mut text = String::new();
    if number < 0.0 && plain.contains(|c: char| matches!(c, '1'..='9')) {
        text.push('-');
    }
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n).is_multiple_of(3) {
            text.push(group);
        }
        text.push(digit);
    }
    if n_kept > 0 {
        text.push(point);
        text.push_str(&fraction[..n_kept]);
    }
    text
}

/// What is wrong with the options of a call, as far as they are written out.
pub(crate) fn complaint(call: &Call) -> Option<String> {
    if call.helper != Helper::NumberFormat {
        return None;
    }
    call.options.iter().find_map(|(name, value)| match (name.as_str(), value) {
        ("locale", Expression::Text(locale)) => malformed_locale(locale),
        _ => None,
    })
}
