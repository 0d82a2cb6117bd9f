//! With which events a webhook begins, when it is new and when it is told to begin again.

use schemars::json_schema;

use super::EventOffset;
use crate::json::At;
use crate::json::body::{Body, Words};
use crate::time::UtcMillis;

/// With which events a new webhook begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum WebhookStart {
    /// With what happens from now on.
    Now,
    /// With the oldest event that is kept.
    Earliest,
}

/// Where a webhook begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Body)]
#[body(not_printed, one_of = "Say either with 'offset' after which event to begin, or with 'time' when.")]
pub enum ReplayFrom {
    /// After which event to begin again.
    #[body(
        rename = "offset",
        read = |at| webhook_offset(at.string()?).or_else(|why| at.invalid(why).ok_or(())).ok(),
        schema = |_| json_schema!({"type": "string", "pattern": "^[0-9]+$"}),
    )]
    After(EventOffset),
    /// At which time in UTC to begin again.
    #[body(read = time, schema = |_| json_schema!({"type": "string", "examples": ["2026-01-31T12:00:00"]}))]
    Time(UtcMillis),
}

/// The offset of an event, in a body or in a query.
pub fn webhook_offset(text: &str) -> Result<EventOffset, &'static str> {
    text.parse().map_err(|()| "This must be the offset of an event, such as 131072.")
}

fn time(at: &At<'_>) -> Option<UtcMillis> {
    let time = UtcMillis::parse_api(at.string()?);
    time.or_else(|| at.invalid("This must be a time in UTC, such as 2024-05-01T08:00:00."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn a_replay_begins_at_one_place() {
        let read = |body: &str| {
            let read = parse(body.as_bytes(), ReplayFrom::parse);
            read.map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect::<Vec<_>>())
        };
        assert_eq!(read(r#"{"offset": "131072"}"#), Ok(ReplayFrom::After(EventOffset::from_number(131_072))));
        let time = UtcMillis::parse_api("2024-05-01T08:00:00").unwrap();
        assert_eq!(read(r#"{"time": "2024-05-01T08:00:00"}"#), Ok(ReplayFrom::Time(time)));
        for (body, paths) in [
            ("{}", vec![""]),
            (r#"{"offset": "1", "time": "2024-05-01T08:00:00"}"#, vec![""]),
            (r#"{"offset": 1}"#, vec!["offset"]),
            (r#"{"offset": "-1", "x": 1}"#, vec!["offset", "x"]),
            (r#"{"time": "noon"}"#, vec!["time"]),
        ] {
            assert_eq!(read(body), Err(paths.into_iter().map(str::to_owned).collect()), "{body}");
        }
    }
}
