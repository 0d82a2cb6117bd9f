//! What devices say about live messages.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::ids::Offset;
use crate::json::At;
use crate::json::body::Body;

/// Acknowledges live messages.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct LiveAck {
    /// The `at` of a message: the device has this one and all before it.
    #[body(read = position, schema = position_schema)]
    pub at: Offset,
}

/// A position in the log as clients of live messages write it; `None` for any other text.
pub fn live_position(text: &str) -> Option<Offset> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number).map(Offset)
}

fn position(at: &At<'_>) -> Option<Offset> {
    match live_position(at.string()?) {
        Some(offset) => Some(offset),
        None => at.invalid("This must be the 'at' of a message, such as \"813\"."),
    }
}

fn position_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": "^[0-9]{1,18}$"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn a_position_is_a_number_in_text() {
        let at = |body: &str| parse(body.as_bytes(), LiveAck::parse).map(|ack| ack.at).ok();
        assert_eq!(at(r#"{"at": "813"}"#), Some(Offset(813)));
        for bad in [r#"{"at": 813}"#, r#"{"at": "-1"}"#, r#"{"at": "+1"}"#, r#"{"at": ""}"#, r#"{"at": "8e2"}"#, "{}"] {
            assert_eq!(at(bad), None, "{bad}");
        }
        assert_eq!(at(r#"{"at": "99999999999999999999"}"#), None);
    }
}
