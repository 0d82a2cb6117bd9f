//! How a webhook for events is reached, and which events it gets.

use std::time::Duration;

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderName, HeaderValue};
use model::event::EventTypes;
use model::json::{At, Fields};
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
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
}

/// A header that every request has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomHeader {
    /// In lower case.
    pub name: String,
    pub value: Credential,
}

/// A change by the operator; a field that is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct WebhookChange {
    pub name: Option<String>,
    pub url: Option<String>,
    pub types: Option<EventTypes>,
    /// `Some(None)` takes it away.
    pub authorization: Option<Option<Credential>>,
    /// All of them.
    pub headers: Option<Vec<CustomHeader>>,
    pub timeout_seconds: Option<u32>,
    pub give_up_hours: Option<u32>,
    pub enabled: Option<bool>,
}

const NAME_CHARS: usize = 128;
const URL_CHARS: usize = 2048;
const VALUE_CHARS: usize = 4096;
const MOST_HEADERS: usize = 32;
const TIMEOUT_SECONDS: u32 = 10;
const GIVE_UP_HOURS: u32 = 24;

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
        let (timeout_seconds, give_up_hours) = (TIMEOUT_SECONDS, GIVE_UP_HOURS);
        Self { name, url, types, authorization: None, headers: Vec::new(), timeout_seconds, give_up_hours }
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
        Self {
            name: change.name.clone().unwrap_or(self.name),
            url: url.unwrap_or(self.url),
            types: change.types.clone().unwrap_or(self.types),
            authorization: change.authorization.clone().unwrap_or(self.authorization),
            headers: change.headers.clone().unwrap_or(self.headers),
            timeout_seconds: change.timeout_seconds.unwrap_or(self.timeout_seconds),
            give_up_hours: change.give_up_hours.unwrap_or(self.give_up_hours),
        }
    }
}

impl WebhookChange {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::of_fields(at.object()?)
    }

    /// A new webhook, which must have a URL and types.
    pub fn parse_new(fields: Fields<'_>) -> Option<Self> {
        for key in ["url", "types"] {
            if !fields.has(key) {
                fields.at().missing::<()>(key);
            }
        }
        Self::of_fields(fields)
    }

    fn of_fields(mut fields: Fields<'_>) -> Option<Self> {
        let name = fields.optional("name", parse_name);
        let url = fields.optional("url", |at| at.text(1..=URL_CHARS));
        let types = fields.optional("types", EventTypes::parse);
        let has_authorization = fields.has("authorization");
        let authorization = fields.nullable("authorization", parse_value);
        let headers = fields.optional("headers", parse_headers);
        let timeout_seconds = fields.optional("timeout_seconds", |at| at.integer(1..=60));
        let give_up_hours = fields.optional("give_up_hours", |at| at.integer(1..=168));
        let enabled = fields.optional("enabled", At::boolean);
        fields.finish();
        let narrow = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
        Some(Self {
            name,
            url,
            types,
            authorization: has_authorization.then_some(authorization),
            headers,
            timeout_seconds: narrow(timeout_seconds),
            give_up_hours: narrow(give_up_hours),
            enabled,
        })
    }
}

fn parse_name(at: &At<'_>) -> Option<String> {
    let name = at.text(1..=NAME_CHARS)?;
    if name.contains(char::is_control) {
        return at.invalid("A name must not contain control characters.");
    }
    Some(name)
}

fn parse_value(at: &At<'_>) -> Option<Credential> {
    let text = at.text(1..=VALUE_CHARS)?;
    if HeaderValue::from_str(&text).is_err() || text.trim() != text || !text.is_ascii() {
        return at.invalid("The value of a header is visible ASCII text, with blanks only inside.");
    }
    Some(Credential::new(text))
}

/// An object with the value of each header under its name.
fn parse_headers(at: &At<'_>) -> Option<Vec<CustomHeader>> {
    let mut headers: Vec<CustomHeader> = Vec::new();
    let named = at.object()?.into_map(0..=MOST_HEADERS, |at| Some((at.clone(), parse_value(at)?)))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::json::parse;

    fn read(body: &str) -> Result<WebhookChange, Vec<String>> {
        let read = parse(body.as_bytes(), |at| WebhookChange::parse_new(at.object()?));
        read.map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect())
    }

    #[test]
    fn a_webhook_is_read_strictly() {
        let full = r#"{"name": "n", "url": "https://example.com/", "types": ["OPEN"], "authorization": "Basic dTpw",
                       "headers": {"X-One": "1"}, "timeout_seconds": 3, "give_up_hours": 48, "enabled": false}"#;
        let change = read(full).unwrap();
        assert_eq!(change.headers.unwrap()[0].name, "x-one");
        assert_eq!(change.authorization, Some(Some(Credential::new("Basic dTpw"))));
        let wrong = [
            ("{}", vec!["url", "types"]),
            (r#"{"url": "https://x.example/", "types": ["NO"]}"#, vec!["types[0]", "types"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "headers": {"Host": "x"}}"#, vec!["headers.Host"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "headers": {"a b": "x"}}"#, vec!["headers.a b"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "headers": {"X": "a\nb"}}"#, vec!["headers.X"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "headers": {"X": "1", "x": "2"}}"#, vec!["headers.x"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "retries": 3}"#, vec!["retries"]),
            (r#"{"url": "https://x.example/", "types": ["OPEN"], "timeout_seconds": 0}"#, vec!["timeout_seconds"]),
        ];
        for (body, paths) in wrong {
            let found = read(body).unwrap_err();
            assert_eq!(found[0], paths[0], "{body}: {found:?}");
        }
    }

    #[test]
    fn the_stored_form_comes_back_and_debug_hides_secrets() {
        let url = WebUrl::try_from("https://example.com/hook?a=b".to_owned()).unwrap();
        let secret = || Credential::new("hunter2");
        let headers = vec![CustomHeader { name: "x-key".to_owned(), value: secret() }];
        let change =
            WebhookChange { authorization: Some(Some(secret())), headers: Some(headers), ..WebhookChange::default() };
        let config = WebhookConfig::new(url, EventTypes::all()).changed(None, &change);
        assert_eq!(config.name, "example.com");
        let stored = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<WebhookConfig>(&stored).unwrap(), config);
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
