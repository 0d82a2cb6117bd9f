//! Who gets nothing of a push that is sent by the clock of each device: one that has told no time zone has no clock to go by.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::client::Client;
use crate::commands::audience::{Explanation, explained};

/// The first times that are of each device's own.
const LOCAL: [&str; 2] = ["local_scheduled_time", "best_time"];

/// How many of the devices that a schedule would reach now have no time zone. None if all have one, or if that cannot be found
/// out: the server says what is wrong with the schedule. Several schedules of one request are left alone, because each would take
/// a call.
pub(super) async fn warning_about(client: &Client, body: &Bytes) -> Option<String> {
    let schedule: Value = serde_json::from_slice(body).ok()?;
    let time = LOCAL.into_iter().find(|time| !schedule["schedule"][*time].is_null())?;
    let push = &schedule["push"];
    let reply = explained(client, &without_zone(&push["audience"])?, &push["device_types"]).await.ok()?;
    let who = match reply.read::<Explanation>().ok()?.reachable {
        0 => return None,
        1 => "1 device has no time zone and gets".to_owned(),
        n => format!("{n} devices have no time zone and get"),
    };
    Some(format!("warning: schedule.{time}: {who} nothing."))
}

/// Those of an audience whose time zone is not known.
fn without_zone(audience: &Value) -> Option<Value> {
    let no_zone = json!({"tag": "NO_TIME_ZONE", "group": "timezone"});
    match audience {
        Value::Null => None,
        Value::String(word) if word.eq_ignore_ascii_case("all") => Some(no_zone),
        some => Some(json!({"and": [some, no_zone]})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audience_is_narrowed_to_those_without_a_zone() {
        let no_zone = json!({"tag": "NO_TIME_ZONE", "group": "timezone"});
        assert_eq!(without_zone(&json!("ALL")), Some(no_zone.clone()));
        assert_eq!(without_zone(&json!({"tag": "a"})), Some(json!({"and": [{"tag": "a"}, no_zone]})));
        assert_eq!(without_zone(&Value::Null), None);
    }
}
