//! Custom events that servers send about channels and named users.

use serde_json::{Map, Value};

use crate::channel::{ChannelRef, ClaimedType, name_text};
use crate::device_type::DeviceType;
use crate::event::{Custom, CustomSource};
use crate::ids::{ChannelId, NamedUserId};
use crate::json::{At, Json, OneOrMany};
use crate::limits;
use crate::time::UtcMillis;

/// One event from a server.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomEvent {
    /// Without it the event happens now.
    pub occurred: Option<UtcMillis>,
    pub about: About,
    /// Without the push that may have led to it.
    pub event: Custom,
    /// The sender's own id, by which a repeat is recognized.
    pub unique_id: Option<String>,
}

/// The channel or named user that an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    Channel(ChannelRef),
    NamedUser(NamedUserId),
}

const CHANNEL_KEYS: [(&str, Option<DeviceType>); 5] = [
    ("channel", None),
    ("ios_channel", Some(DeviceType::Ios)),
    ("android_channel", Some(DeviceType::Android)),
    ("amazon_channel", Some(DeviceType::Amazon)),
    ("web_channel", Some(DeviceType::Web)),
];

impl CustomEvent {
    /// An event, or an array of them.
    pub fn parse_one_or_many(at: &At<'_>) -> Option<OneOrMany<Self>> {
        at.one_or_many(1..=limits::CUSTOM_EVENTS_PER_REQUEST, Self::parse)
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let occurred = fields.nullable("occurred", |at| {
            let text = at.string()?;
            // One client library writes every time with an offset.
            UtcMillis::parse_with_offset(text)
                .or_else(|| at.invalid("This must be a date-time, such as 2024-05-01T08:00:00, which is in UTC."))
        });
        let about = fields.required("user", About::parse);
        let body = fields.required("body", parse_body);
        fields.finish();
        let (event, unique_id) = body?;
        Some(Self { occurred, about: about?, event, unique_id })
    }
}

impl About {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let mut named = Vec::new();
        for (key, device_type) in CHANNEL_KEYS {
            let has_key = fields.has(key);
            let claimed = device_type.map(ClaimedType::Exactly);
            let channel = fields.optional(key, ChannelId::parse).map(|id| ChannelRef { id, claimed });
            named.extend(has_key.then_some(channel.map(About::Channel)));
        }
        let has_user = fields.has("named_user_id");
        let user = fields.optional("named_user_id", NamedUserId::parse);
        named.extend(has_user.then_some(user.map(About::NamedUser)));
        fields.finish();
        match named.len() {
            1 => named.pop()?,
            _ => at.invalid("Name one channel or one named user, such as {\"channel\": \"<channel id>\"}."),
        }
    }
}

fn parse_body(at: &At<'_>) -> Option<(Custom, Option<String>)> {
    let mut fields = at.object()?;
    let name = fields.required("name", |at| {
        let name = name_text(at, limits::EVENT_NAME_CHARS)?;
        if name.chars().any(char::is_uppercase) {
            return at.invalid("The name of an event must not contain capital letters.");
        }
        Some(name)
    });
    let value = fields.nullable("value", |at| at.number(-limits::EVENT_VALUE..=limits::EVENT_VALUE).map(millionths));
    let mut text = |key: &str| fields.nullable(key, |at| name_text(at, limits::EVENT_NAME_CHARS));
    let (transaction, interaction_id) = (text("transaction"), text("interaction_id"));
    let (interaction_type, session_id) = (text("interaction_type"), text("session_id"));
    let unique_id = text("unique_id");
    let properties = fields.nullable("properties", parse_properties).unwrap_or_default();
    // Campaigns of other systems, in their own form; they have no use here.
    fields.take("external_campaigns");
    fields.finish();
    let event = Custom {
        name: name?,
        source: CustomSource::Api,
        session_id,
        value,
        transaction,
        interaction_id,
        interaction_type,
        customer_id: None,
        properties,
        last_delivered: None,
        triggering_push: None,
    };
    Some((event, unique_id))
}

/// Values have six decimals.
fn millionths(value: f64) -> f64 {
    (value * 1_000_000.0).round() / 1_000_000.0
}

fn parse_properties(at: &At<'_>) -> Option<Map<String, Value>> {
    let Json::Object(_) = at.json() else { return at.object().map(|_| Map::new()) };
    let Value::Object(properties) = at.json().to_value() else { return None };
    let n_bytes = serde_json::to_vec(&properties).map_or(usize::MAX, |text| text.len());
    if n_bytes > limits::EVENT_PROPERTIES_BYTES {
        let most = limits::EVENT_PROPERTIES_BYTES;
        return at.invalid(format!("The properties of an event have at most {most} bytes; these have {n_bytes}."));
    }
    Some(properties)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::parse;

    const CHANNEL: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

    fn read(body: &Value) -> Result<Vec<CustomEvent>, Vec<String>> {
        let read = parse(body.to_string().as_bytes(), CustomEvent::parse_one_or_many);
        read.map(OneOrMany::into_vec).map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect())
    }

    #[test]
    fn events_are_read() {
        let body = json!({
            "occurred": "2024-05-01T08:00:00.250Z",
            "user": {"ios_channel": CHANNEL},
            "body": {"name": "bought", "value": 1.234_567_8, "transaction": "t", "interaction_id": "i",
                     "interaction_type": "url", "session_id": "s", "unique_id": "u",
                     "properties": {"a": {"b": [1, null]}}},
        });
        let [event] = &read(&body).unwrap()[..] else { panic!() };
        assert_eq!(event.occurred, Some(UtcMillis(1_714_550_400_250)));
        assert_eq!((event.event.value, event.unique_id.as_deref()), (Some(1.234_568), Some("u")));
        assert_eq!(json!(event.event.properties), body["body"]["properties"]);
        let about = ChannelRef { id: CHANNEL.parse().unwrap(), claimed: Some(ClaimedType::Exactly(DeviceType::Ios)) };
        assert_eq!(event.about, About::Channel(about));
        let small = json!({"user": {"named_user_id": "jo"}, "body": {"name": "x"}});
        assert_eq!(read(&json!([small, small])).unwrap().len(), 2);
    }

    #[test]
    fn every_problem_is_named() {
        let (user, event) = (json!({"channel": CHANNEL}), json!({"name": "x"}));
        for (body, paths) in [
            (json!([]), vec![""]),
            (json!({}), vec!["user", "body"]),
            (json!({"user": {}, "body": event}), vec!["user"]),
            (json!({"user": {"channel": CHANNEL, "named_user_id": "jo"}, "body": event}), vec!["user"]),
            (json!({"user": {"channel": "x"}, "body": event}), vec!["user.channel"]),
            (json!({"user": {"email": "x"}, "body": event}), vec!["user.email", "user"]),
            (json!({"user": user, "body": {"name": "Bought"}}), vec!["body.name"]),
            (json!({"user": user, "body": {"name": "", "value": "1"}}), vec!["body.name", "body.value"]),
            (json!({"user": user, "body": {"name": "x", "value": 1e10}}), vec!["body.value"]),
            (json!({"user": user, "body": {"name": "x", "properties": []}}), vec!["body.properties"]),
            (
                json!({"user": user, "body": {"name": "x", "properties": {"a": "b".repeat(65_536)}}}),
                vec!["body.properties"],
            ),
            (json!({"user": user, "body": {"name": "x", "extra": 1}}), vec!["body.extra"]),
            (json!({"user": user, "body": event, "occurred": "yesterday", "at": 1}), vec!["occurred", "at"]),
            (json!([{"user": user, "body": event}, {"user": user}]), vec!["[1].body"]),
        ] {
            assert_eq!(read(&body).unwrap_err(), paths, "{}", &body.to_string()[..body.to_string().len().min(200)]);
        }
    }
}
