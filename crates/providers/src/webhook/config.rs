//! How a webhook for events is reached, and which events it gets.

use std::time::Duration;

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderName, HeaderValue};
use model::channel::Change;
use model::event::{EventTypes, WebhookStart};
use model::json::At;
use model::json::body::{Body, Limited};
use model::{limits, name};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::endpoint::URL_CHARS;
use crate::http::WebUrl;

/// The configuration of one webhook, as it is stored. `Debug` never shows its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookConfig {
    /// For people.
    pub name: String,
    pub url: WebUrl,
    pub types: EventTypes,
    /// The whole value of the `Authorization` header.
    pub authorization: Option<Credential>,
    pub headers: Vec<CustomHeader>,
    timeout_seconds: u32,
    give_up_hours: u32,
    /// How many events a request has at most. Configurations of earlier versions do not say.
    #[serde(default = "alone")]
    pub batch_size: u32,
}

/// A header that every request has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomHeader {
    /// In lower case.
    pub name: String,
    pub value: Credential,
}

/// A webhook for events.
#[derive(Clone, Debug, Body)]
#[body(not_printed)]
pub struct NewWebhook {
    /// Where events are sent with `POST`.
    #[body(length = 1..=URL_CHARS)]
    pub url: String,
    /// The types of events that it gets.
    pub types: EventTypes,
    #[body(default = WebhookStart::Now)]
    pub start: WebhookStart,
    #[body(flatten)]
    pub settings: WebhookSettings,
}

/// A change of a webhook. Keys that are left out stay as they are.
#[derive(Clone, Debug, Default, Body)]
#[body(not_printed)]
pub struct WebhookChange {
    /// Where events are sent with `POST`.
    #[body(length = 1..=URL_CHARS)]
    pub url: Option<String>,
    /// The types of events that it gets.
    pub types: Option<EventTypes>,
    #[body(flatten)]
    pub settings: WebhookSettings,
}

/// What every webhook may have.
#[derive(Clone, Debug, Default, Body)]
#[body(not_printed)]
pub struct WebhookSettings {
    /// For people. No control characters. A new webhook is named after its host.
    #[body(read = name::parse, length = 1..=limits::DISPLAY_NAME_CHARS)]
    pub name: Option<String>,
    /// The whole value of the `Authorization` header; `null` removes it.
    #[body(read = header_value, length = 1..=VALUE_CHARS)]
    pub authorization: Change<Credential>,
    /// The value of each header that every request has, by its name. They replace all headers that were set before.
    #[body(read = headers, schema = headers_schema)]
    pub headers: Option<Vec<CustomHeader>>,
    /// How long to wait for an answer. A new webhook waits 10 seconds.
    #[body(range = 1..=60)]
    pub timeout_seconds: Option<u32>,
    /// How long an event is tried again that is not taken. A new webhook tries for 24 hours.
    #[body(range = 1..=168)]
    pub give_up_hours: Option<u32>,
    /// How many events a request has at most. With 1, which a new webhook has, its body is the event; with more, an array of
    /// events.
    #[body(range = 1..=MOST_TOGETHER)]
    pub batch_size: Option<u32>,
    /// Whether events are sent. A new webhook is enabled.
    pub enabled: Option<bool>,
}

const VALUE_CHARS: usize = 4096;
const MOST_HEADERS: usize = 32;
const TIMEOUT_SECONDS: u32 = 10;
const GIVE_UP_HOURS: u32 = 24;
const MOST_TOGETHER: u32 = 1000;

/// Headers that are not for the operator to choose: they say how the request is sent, or have a setting of their own.
const RESERVED: [HeaderName; 11] = [
    AUTHORIZATION,
    CONNECTION,
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    EXPECT,
    HOST,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

impl WebhookConfig {
    pub fn new(url: WebUrl, types: EventTypes) -> Self {
        let name = url.uri().host().unwrap_or_default().to_owned();
        Self {
            name,
            url,
            types,
            authorization: None,
            headers: Vec::new(),
            timeout_seconds: TIMEOUT_SECONDS,
            give_up_hours: GIVE_UP_HOURS,
            batch_size: alone(),
        }
    }

    /// How long to wait for an answer.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.into())
    }

    /// How long an event is tried that is not taken.
    pub fn give_up_after(&self) -> Duration {
        Duration::from_secs(u64::from(self.give_up_hours) * 60 * 60)
    }

    /// Applies a change, apart from its URL, which is checked elsewhere.
    pub fn changed(self, url: Option<WebUrl>, change: &WebhookChange) -> Self {
        let types = change.types.clone().unwrap_or(self.types);
        Self { url: url.unwrap_or(self.url), types, ..self }.with(&change.settings)
    }

    pub fn with(mut self, settings: &WebhookSettings) -> Self {
        settings.authorization.update(&mut self.authorization);
        Self {
            name: settings.name.clone().unwrap_or(self.name),
            headers: settings.headers.clone().unwrap_or(self.headers),
            timeout_seconds: settings.timeout_seconds.unwrap_or(self.timeout_seconds),
            give_up_hours: settings.give_up_hours.unwrap_or(self.give_up_hours),
            batch_size: settings.batch_size.unwrap_or(self.batch_size),
            ..self
        }
    }
}

/// Every event has a request of its own.
const fn alone() -> u32 {
    1
}

fn header_value(at: &At<'_>) -> Option<Credential> {
    let text = at.text(1..=VALUE_CHARS)?;
    if HeaderValue::from_str(&text).is_err() || text.trim() != text || !text.is_ascii() {
        return at.invalid("The value of a header is visible ASCII text, with blanks only inside.");
    }
    Some(Credential::new(text))
}

/// An object with the value of each header under its name.
fn headers(at: &At<'_>) -> Option<Vec<CustomHeader>> {
    let mut headers: Vec<CustomHeader> = Vec::new();
    let named = at.object()?.into_map(0..=MOST_HEADERS, |at| Some((at.clone(), header_value(at)?)))?;
    for (name, (at, value)) in named {
        let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
            return at.invalid(format!("'{name}' cannot be the name of a header."));
        };
        if RESERVED.contains(&parsed) {
            return at
                .invalid(format!("The header '{name}' is set by the service; 'authorization' has a key of its own."));
        }
        let name = parsed.as_str().to_owned();
        if headers.iter().any(|header| header.name == name) {
            return at
                .invalid(format!("The header '{name}' is given more than once; upper and lower case mean the same."));
        }
        headers.push(CustomHeader { name, value });
    }
    Some(headers)
}

fn headers_schema(schemas: &mut SchemaGenerator) -> Schema {
    let mut value = schemas.subschema_for::<Credential>();
    Credential::limit(&mut value, 1..=VALUE_CHARS);
    json_schema!({"type": "object", "maxProperties": MOST_HEADERS, "additionalProperties": value})
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::json::parse;

    fn read(body: &str) -> Result<NewWebhook, Vec<String>> {
        let read = parse(body.as_bytes(), NewWebhook::parse);
        read.map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect())
    }

    #[test]
    fn a_webhook_is_read_strictly() {
        let full = r#"{"name": "n", "url": "https://example.com/", "types": ["OPEN"], "authorization": "Basic dTpw",
                       "headers": {"X-One": "1"}, "timeout_seconds": 3, "give_up_hours": 48, "enabled": false}"#;
        let settings = read(full).unwrap().settings;
        assert_eq!(settings.headers.unwrap()[0].name, "x-one");
        assert_eq!(settings.authorization, Change::Set(Credential::new("Basic dTpw")));
        let wrong = [
            ("{}", vec!["url", "types"]),
            (r#"{"url": "https://x.example/", "types": ["NO"]}"#, vec!["types[0]"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "start": "then"}"#, vec!["start"]),
            (r#"{"url": "", "types": [], "name": "a\u0007", "enabled": 1}"#, vec!["url", "types", "name", "enabled"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "headers": {"Host": "x"}}"#, vec!["headers.Host"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "headers": {"a b": "x"}}"#, vec!["headers.a b"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "headers": {"X": "a\nb"}}"#, vec!["headers.X"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "headers": {"X": "1", "x": "2"}}"#, vec!["headers.x"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "retries": 3}"#, vec!["retries"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "timeout_seconds": 0}"#, vec!["timeout_seconds"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "batch_size": 1001}"#, vec!["batch_size"]),
        ];
        for (body, paths) in wrong {
            assert_eq!(read(body).unwrap_err(), paths, "{body}");
        }
    }

    #[test]
    fn null_takes_the_authorization_away_and_a_key_that_is_left_out_keeps_it() {
        let config = WebhookConfig {
            authorization: Some(Credential::new("Basic dTpw")),
            ..WebhookConfig::new(WebUrl::try_from("https://example.com/".to_owned()).unwrap(), EventTypes::all())
        };
        let changed = |body: &str| {
            let change = parse(body.as_bytes(), WebhookChange::parse).unwrap();
            config.clone().changed(None, &change).authorization
        };
        assert_eq!(changed("{}"), config.authorization);
        assert_eq!(changed(r#"{"authorization": null}"#), None);
        assert_eq!(changed(r#"{"authorization": "Bearer x"}"#), Some(Credential::new("Bearer x")));
    }

    #[test]
    fn the_stored_form_comes_back_and_debug_hides_secrets() {
        let url = WebUrl::try_from("https://example.com/hook?a=b".to_owned()).unwrap();
        let secret = || Credential::new("hunter2");
        let headers = vec![CustomHeader { name: "x-key".to_owned(), value: secret() }];
        let authorization = Change::Set(secret());
        let settings = WebhookSettings { authorization, headers: Some(headers), ..WebhookSettings::default() };
        let config = WebhookConfig::new(url, EventTypes::all()).with(&settings);
        assert_eq!(config.name, "example.com");
        let stored = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<WebhookConfig>(&stored).unwrap(), config);
        let earlier = stored.replace(r#","batch_size":1"#, "");
        assert_ne!(earlier, stored);
        assert_eq!(serde_json::from_str::<WebhookConfig>(&earlier).unwrap(), config);
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
