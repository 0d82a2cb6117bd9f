//! When something stops being worth delivering: a number of seconds after it was sent, or at an instant.

use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::{Schema, json_schema};
use serde::{Serialize, Serializer};

use crate::json::body::{Limited, Read, Within};
use crate::json::{At, Json, schema};
use crate::time::UtcMillis;

/// When something stops being worth delivering: a number of seconds after sending, or a date-time in UTC.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = json_schema!({ "anyOf": [ {"type": "integer", "minimum": 0, "maximum": u32::MAX}, {"type": "string", "examples": ["2030-01-31T12:00:00"]}, ], }))]
pub enum Expiry {
    /// Zero means "now or never".
    Seconds(u32),
    /// The text is kept because it is printed back as it came.
    At { at: UtcMillis, text: String },
}

impl Expiry {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::parse_within(at, 0..=u32::MAX)
    }

    /// As `parse`, for platforms that limit the number of seconds.
    pub fn parse_within(at: &At<'_>, seconds: RangeInclusive<u32>) -> Option<Self> {
        match at.json() {
            Json::Number(_) => {
                let value = at.integer(i64::from(*seconds.start())..=i64::from(*seconds.end()))?;
                u32::try_from(value).ok().map(Expiry::Seconds)
            }
            Json::String(text) => match UtcMillis::parse_api(text) {
                Some(instant) => Some(Expiry::At { at: instant, text: text.clone() }),
                None => at.invalid(UtcMillis::refusal(text, "in UTC")),
            },
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => {
                at.invalid("This must be a number of seconds or a date-time in UTC.")
            }
        }
    }

    /// The instant after which a push sent at `sent` must not be delivered any more.
    pub fn deadline(&self, sent: UtcMillis) -> UtcMillis {
        match self {
            Expiry::Seconds(seconds) => sent.plus(Duration::from_secs(u64::from(*seconds))),
            Expiry::At { at, .. } => *at,
        }
    }
}

impl Limited for Expiry {
    type Limits = RangeInclusive<u32>;

    fn limit(schema: &mut Schema, seconds: Self::Limits) {
        schema::limit_range(schema, *seconds.start(), *seconds.end());
    }
}

impl Within for Expiry {
    fn read_within(at: &At<'_>, seconds: Self::Limits) -> Option<Self> {
        Self::parse_within(at, seconds)
    }
}

impl Serialize for Expiry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Expiry::Seconds(seconds) => serializer.serialize_u32(*seconds),
            Expiry::At { text, .. } => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn seconds_and_instants() {
        for body in ["0", "3600", "4294967295", r#""2030-01-31T12:00:00""#, r#""2030-01-31 12:00""#] {
            let expiry = parse(body.as_bytes(), Expiry::parse).unwrap();
            assert_eq!(serde_json::to_string(&expiry).unwrap(), body);
        }
        for body in ["-1", "1.5", "4294967296", r#""tomorrow""#, r#""""#, "null", "true", "[60]", "{}"] {
            parse(body.as_bytes(), Expiry::parse).unwrap_err();
        }
        let within = |body: &str| parse(body.as_bytes(), |at| Expiry::parse_within(at, 60..=120)).is_ok();
        assert!(within("60") && within("120") && within(r#""2030-01-31T12:00:00""#));
        assert!(!within("59") && !within("121"));
    }

    #[test]
    fn deadlines() {
        let sent = UtcMillis(1_000);
        assert_eq!(Expiry::Seconds(2).deadline(sent), UtcMillis(3_000));
        let instant = Expiry::At { at: UtcMillis(77), text: String::new() };
        assert_eq!(instant.deadline(sent), UtcMillis(77));
    }
}
