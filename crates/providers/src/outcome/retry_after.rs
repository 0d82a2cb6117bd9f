//! The `Retry-After` header: seconds, or one of the three date forms of HTTP.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use model::time::{LONGEST_WAIT, UtcMillis};

/// The form in use, then the two obsolete ones that receivers must still understand.
const DATE_FORMS: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// How long the provider wants to be left alone, but no longer than [`LONGEST_WAIT`], by mistake or on purpose; `None` without
/// a header that can be understood. A date in the past is zero.
pub fn retry_after(headers: &HeaderMap, now: UtcMillis) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds).min(LONGEST_WAIT));
    }
    let date = DATE_FORMS.iter().find_map(|form| DateTime::strptime(form, text).ok())?;
    let millis = date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond();
    Some(Duration::from_millis(u64::try_from(millis.saturating_sub(now.0)).unwrap_or(0)).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates() {
        let now = UtcMillis::parse_api("1994-11-06T08:49:00").unwrap();
        let table = [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 7 ", Some(7)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(37)),
            ("Sun Nov  6 08:49:37 1994", Some(37)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("3600", Some(3600)),
            ("3601", Some(3600)),
            ("18446744073709551615", Some(3600)),
            ("Sat, 06 Nov 2094 08:49:37 GMT", Some(3600)),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ];
        for (text, seconds) in table {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs), "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
