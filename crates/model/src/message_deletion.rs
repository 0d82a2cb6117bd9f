//! Messages that a server wants to remove from all inboxes.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;
use uuid::Uuid;

use crate::json::At;
use crate::json::body::Body;
use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed, one_of = "Give exactly one of 'message_ids' and 'group_ids'.")]
pub enum MessageDeletion {
    /// Each by its own id or by that of its push. A text that is not an id at all counts as an id of nothing.
    #[body(rename = "message_ids", length = 1..=limits::MESSAGE_DELETIONS)]
    Messages(Vec<String>),
    /// Everything that a schedule, an experiment or a pipeline has sent.
    #[body(rename = "group_ids", read = |at| at.array(1..=limits::MESSAGE_DELETIONS, parse_group), schema = groups)]
    Groups(Vec<Uuid>),
}

fn groups(_: &mut SchemaGenerator) -> Schema {
    let group = json!({"type": "string", "format": "uuid"});
    json_schema!({"type": "array", "minItems": 1, "maxItems": limits::MESSAGE_DELETIONS, "items": group})
}

fn parse_group(at: &At<'_>) -> Option<Uuid> {
    let text = at.string()?;
    match text.parse() {
        Ok(group) => Some(group),
        Err(_) => at.invalid(format!("'{text}' is not a UUID.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn messages_or_groups() {
        let read = |body: &str| parse(body.as_bytes(), MessageDeletion::parse).map_err(|it| it.first().path.clone());
        let messages = MessageDeletion::Messages(vec!["a".to_owned()]);
        assert_eq!(read(r#"{"message_ids": ["a"]}"#), Ok(messages));
        let group = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
        let groups = MessageDeletion::Groups(vec![group.parse().unwrap()]);
        assert_eq!(read(&format!(r#"{{"group_ids": ["{group}"]}}"#)), Ok(groups));
        let many = format!(r#"{{"message_ids": [{}]}}"#, vec![r#""a""#; 51].join(","));
        for (body, path) in [
            ("{}", ""),
            (r#"{"message_ids": ["a"], "group_ids": []}"#, "group_ids"),
            (r#"{"message_ids": []}"#, "message_ids"),
            (r#"{"message_ids": [1]}"#, "message_ids[0]"),
            (r#"{"group_ids": ["x"]}"#, "group_ids[0]"),
            (r#"{"message_ids": ["a"], "x": 1}"#, "x"),
            (many.as_str(), "message_ids"),
        ] {
            assert_eq!(read(body), Err(path.to_owned()), "{body}");
        }
    }
}
