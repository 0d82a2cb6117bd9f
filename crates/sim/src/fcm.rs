//! Google's service: which requests it takes, and its answers to the others.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

use crate::answer::{self, Refusal, Reply};
use crate::book::Message;
use crate::call::Call;
use crate::chance::Fingerprint;
use crate::keys::FCM_PROJECT_ID;
use crate::protocol::Protocol;
use crate::shared::Shared;
use crate::tokens::Standing;

pub(crate) const PREFIX: &str = "/v1/projects/";
const SUFFIX: &str = "/messages:send";
const MOST_DATA_BYTES: usize = 4096;
const MOST_TTL_SECONDS: f64 = 2_419_200.0;
const ERROR_TYPE: &str = "type.googleapis.com/google.firebase.fcm.v1.FcmError";
const PUSH_ID: &str = "com.urbanairship.push.PUSH_ID";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    #[serde(default)]
    validate_only: bool,
    #[serde(borrow)]
    message: Envelope<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that other fields may be there, but no more, is all that matters about them")]
struct Envelope<'a> {
    #[serde(borrow)]
    token: Text<'a>,
    #[serde(borrow, default)]
    data: Data<'a>,
    #[serde(borrow, default)]
    android: Option<Android<'a>>,
    #[serde(default)]
    notification: Option<IgnoredAny>,
    #[serde(default)]
    webpush: Option<IgnoredAny>,
    #[serde(default)]
    apns: Option<IgnoredAny>,
    #[serde(default)]
    fcm_options: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that other fields may be there, but no more, is all that matters about them")]
struct Android<'a> {
    #[serde(borrow, default)]
    ttl: Option<Text<'a>>,
    #[serde(default)]
    priority: Option<Priority>,
    #[serde(borrow, default)]
    collapse_key: Option<Text<'a>>,
    #[serde(default)]
    notification: Option<IgnoredAny>,
    #[serde(default)]
    data: Option<IgnoredAny>,
    #[serde(default)]
    restricted_package_name: Option<IgnoredAny>,
    #[serde(default)]
    fcm_options: Option<IgnoredAny>,
    #[serde(default)]
    direct_boot_ok: Option<bool>,
}

#[derive(Deserialize)]
enum Priority {
    #[serde(rename = "normal", alias = "NORMAL")]
    Normal,
    #[serde(rename = "high", alias = "HIGH")]
    High,
}

/// Text that is borrowed from the body if it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Keys and values that are text: their total length, and the value that is needed.
#[derive(Default)]
struct Data<'a> {
    n_bytes: usize,
    push_id: Option<Cow<'a, str>>,
    reserved: Option<String>,
}

pub(crate) fn check<'a>(shared: &Shared, call: &Call<'a>) -> Result<Message<'a>, Refusal> {
    let project = call.path.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    let Some(project) = project.filter(|_| call.method == Method::POST) else {
        return Err(Refusal::rejected("NOT_FOUND", error(StatusCode::NOT_FOUND, "NOT_FOUND", "Not found.", None)));
    };
    let standing = call.bearer().map(|token| shared.tokens.standing(token, Protocol::Fcm, shared.clock.now()));
    if standing != Some(Standing::Good) {
        return Err(unauthenticated());
    }
    if project != FCM_PROJECT_ID {
        let message = format!(
            "Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/{project}' (or it may not exist)."
        );
        let response = error(StatusCode::FORBIDDEN, "PERMISSION_DENIED", &message, None);
        return Err(Refusal::unauthorized("PERMISSION_DENIED", response));
    }
    let request: Request<'a> =
        serde_json::from_slice(call.body).map_err(|problem| field_error(&problem.to_string()))?;
    let Envelope { token: Text(token), data, android, .. } = request.message;
    if let Some(key) = data.reserved {
        return Err(field_error(&format!("Invalid data payload key: {key}")));
    }
    if data.n_bytes > MOST_DATA_BYTES {
        return Err(invalid_argument("Android message is too big"));
    }
    if let Some(Text(ttl)) = android.as_ref().and_then(|android| android.ttl.as_ref()) {
        let seconds = ttl.strip_suffix('s').and_then(|number| number.parse::<f64>().ok());
        if !seconds.is_some_and(|seconds| (0.0..=MOST_TTL_SECONDS).contains(&seconds)) {
            return Err(field_error("Invalid value at 'message.android.ttl', Field 'ttl', Illegal duration format."));
        }
    }
    // A real token never needs an escape in JSON.
    let Cow::Borrowed(token) = token else { return Err(bad_token(None)) };
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:".contains(&byte);
    if token.is_empty() || !token.bytes().all(is_token) {
        return Err(bad_token(None));
    }
    if request.validate_only {
        let body = format!("{{\"name\":\"projects/{FCM_PROJECT_ID}/messages/fake_message_id\"}}");
        return Err(Refusal::uncounted(answer::json_text(StatusCode::OK, body)));
    }
    let id = data.push_id.as_ref().map(|id| Fingerprint::of(&[b"fcm", token.as_bytes(), id.as_bytes()]));
    Ok(Message { protocol: Protocol::Fcm, address: token.into(), id, label: None, body: call.body.into() })
}

pub(crate) fn respond(message: &Message<'_>, reply: Reply) -> Response<Bytes> {
    match reply {
        Reply::Accepted => {
            let id = Fingerprint::of(&[message.address.as_bytes(), &message.body]).0;
            let body = format!("{{\"name\":\"projects/{FCM_PROJECT_ID}/messages/0:{id:016x}\"}}");
            answer::json_text(StatusCode::OK, body)
        }
        Reply::Gone => {
            error(StatusCode::NOT_FOUND, "NOT_FOUND", "Requested entity was not found.", Some("UNREGISTERED"))
        }
        Reply::Throttled => {
            let text = "Resource has been exhausted (e.g. check quota).";
            error(StatusCode::TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", text, Some("QUOTA_EXCEEDED"))
        }
        Reply::Unavailable => {
            let text = "The service is currently unavailable.";
            error(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", text, Some("UNAVAILABLE"))
        }
    }
}

pub(crate) fn unauthenticated() -> Refusal {
    let text = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.";
    Refusal::unauthorized("UNAUTHENTICATED", error(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", text, None))
}

pub(crate) fn bad_token(named: Option<&str>) -> Refusal {
    let named = named.map(|token| format!(": {token}")).unwrap_or_default();
    invalid_argument(&format!("The registration token is not a valid FCM registration token{named}"))
}

fn invalid_argument(text: &str) -> Refusal {
    let response = error(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", text, Some("INVALID_ARGUMENT"));
    Refusal::rejected("INVALID_ARGUMENT", response)
}

/// The request is not of the documented form.
fn field_error(text: &str) -> Refusal {
    let details = json!([{
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{ "field": "message", "description": text }],
    }]);
    let body = json!({ "error": {
        "code": 400, "message": text, "status": "INVALID_ARGUMENT", "details": details,
    }});
    Refusal::rejected(text, answer::json(StatusCode::BAD_REQUEST, &body))
}

fn error(code: StatusCode, status: &str, message: &str, error_code: Option<&str>) -> Response<Bytes> {
    let mut body = json!({ "error": { "code": code.as_u16(), "message": message, "status": status } });
    if let Some(error_code) = error_code {
        body["error"]["details"] = Value::Array(vec![json!({ "@type": ERROR_TYPE, "errorCode": error_code })]);
    }
    answer::json(code, &body)
}

impl<'de: 'a, 'a> Deserialize<'de> for Data<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Data<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object whose values are strings")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Data<'de>, M::Error> {
                let mut data = Data::default();
                while let Some((Text(key), Text(value))) = map.next_entry::<Text<'de>, Text<'de>>()? {
                    data.n_bytes += key.len() + value.len();
                    if key == PUSH_ID {
                        data.push_id = Some(value);
                    } else if key == "from"
                        || key == "message_type"
                        || key.starts_with("google")
                        || key.starts_with("gcm")
                    {
                        data.reserved = Some(key.into_owned());
                    }
                }
                Ok(data)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
