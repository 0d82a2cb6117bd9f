//! What devices say about live messages.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

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

/// What a device says over its WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSaid {
    /// The device has the message at this position and all before it.
    pub ack: Option<Offset>,
    /// The token with which the connection goes on.
    pub token: Option<String>,
}

impl LiveSaid {
    /// `None` for a text that is not what a device may say. Keys that are not known are passed over.
    pub fn read(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Said {
            ack: Option<String>,
            token: Option<String>,
        }
        let Said { ack, token } = serde_json::from_str(text).ok()?;
        let ack = match ack {
            Some(ack) => Some(live_position(&ack)?),
            None => None,
        };
        Some(Self { ack, token })
    }

    /// Whether it says nothing, and so asks for an answer: pages cannot see pings, and could not tell that a connection is dead.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self { ack: None, token: None })
    }
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
        let said = |ack: &str| LiveSaid::read(&format!(r#"{{"ack": {ack}, "more": 1}}"#)).map(|said| said.ack);
        assert_eq!(said(r#""813""#), Some(Some(Offset(813))));
        assert_eq!((said("null"), LiveSaid::read("{}").map(|said| said.ack)), (Some(None), Some(None)));
        for bad in ["813", r#""-1""#, r#""+1""#, r#""""#, r#""8e2""#, r#"["813"]"#] {
            assert_eq!(at(&format!(r#"{{"at": {bad}}}"#)), None, "{bad}");
            assert_eq!(said(bad), None, "{bad}");
        }
        assert_eq!((at("{}"), LiveSaid::read("[]")), (None, None));
        for (text, is_empty) in
            [("{}", true), (r#"{"more": 1}"#, true), (r#"{"ack": "1"}"#, false), (r#"{"token": ""}"#, false)]
        {
            assert_eq!(LiveSaid::read(text).as_ref().map(LiveSaid::is_empty), Some(is_empty), "{text}");
        }
        assert_eq!(at(r#"{"at": "99999999999999999999"}"#), None);
    }
}
