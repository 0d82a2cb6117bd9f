//! Custom events that servers send about channels and named users.

use schemars::json_schema;
use serde_json::{Map, Value};

use crate::channel::{ChannelRef, ClaimedType, name_text};
use crate::device_type::DeviceType;
use crate::event::{Custom, CustomSource};
use crate::ids::{ChannelId, NamedUserId};
use crate::json::body::{Body, Read};
use crate::json::{At, Json, OneOrMany};
use crate::limits;
use crate::time::{self, UtcMillis};

/// One event from a server.
#[derive(Clone, Debug, PartialEq, Read)]
#[body(schema = CustomEventBody::json_schema(schemas))]
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
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = {
    let mut keys: Map<String, Value> = Map::new();
    let channel = schemas.subschema_for::<ChannelId>().to_value();
    keys.extend(CHANNEL_KEYS.iter().map(|(key, _)| ((*key).to_owned(), channel.clone())));
    keys.insert("named_user_id".to_owned(), schemas.subschema_for::<NamedUserId>().to_value());
    json_schema!({
        "type": "object", "properties": keys, "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
    })
})]
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
        let CustomEventBody { occurred, user, body } = CustomEventBody::parse(at)?;
        let event = Custom {
            name: body.name,
            source: CustomSource::Api,
            session_id: body.session_id,
            value: body.value,
            transaction: body.transaction,
            interaction_id: body.interaction_id,
            interaction_type: body.interaction_type,
            customer_id: None,
            properties: body.properties,
            last_delivered: None,
            triggering_push: None,
        };
        Some(Self { occurred, about: user, event, unique_id: body.unique_id })
    }
}

/// An event as servers send it.
#[derive(Body)]
#[body(not_printed, name = "CustomEvent")]
struct CustomEventBody {
    /// Without it the event happens now. In UTC, unless it has an offset.
    #[body(read = occurred, nullable, schema = time::schema)]
    occurred: Option<UtcMillis>,
    user: About,
    body: EventBody,
}

#[derive(Body)]
// Campaigns of other systems, in their own form; they have no use here.
/// What happened.
#[body(not_printed, name = "CustomEventBody", ignored = ["external_campaigns"])]
struct EventBody {
    /// Without capital letters.
    #[body(length = 1..=limits::EVENT_NAME_CHARS, read = event_name)]
    name: String,
    #[body(range = -limits::EVENT_VALUE..=limits::EVENT_VALUE, read = event_value, nullable)]
    value: Option<f64>,
    #[body(length = 1..=limits::EVENT_NAME_CHARS, read = text, nullable)]
    transaction: Option<String>,
    #[body(length = 1..=limits::EVENT_NAME_CHARS, read = text, nullable)]
    interaction_id: Option<String>,
    #[body(length = 1..=limits::EVENT_NAME_CHARS, read = text, nullable)]
    interaction_type: Option<String>,
    #[body(length = 1..=limits::EVENT_NAME_CHARS, read = text, nullable)]
    session_id: Option<String>,
    /// The sender's own id, by which a repeat is recognized.
    #[body(length = 1..=limits::EVENT_NAME_CHARS, read = text, nullable)]
    unique_id: Option<String>,
    #[body(read = parse_properties, nullable, default)]
    properties: Map<String, Value>,
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

fn occurred(at: &At<'_>) -> Option<UtcMillis> {
    let text = at.string()?;
    // One client library writes every time with an offset.
    UtcMillis::parse_with_offset(text)
        .or_else(|| at.invalid("This must be a date-time, such as 2024-05-01T08:00:00, which is in UTC."))
}

fn event_name(at: &At<'_>) -> Option<String> {
    let name = text(at)?;
    if name.chars().any(char::is_uppercase) {
        return at.invalid("The name of an event must not contain capital letters.");
    }
    Some(name)
}

fn text(at: &At<'_>) -> Option<String> {
    name_text(at, limits::EVENT_NAME_CHARS)
}

fn event_value(at: &At<'_>) -> Option<f64> {
    at.number(-limits::EVENT_VALUE..=limits::EVENT_VALUE).map(millionths)
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
