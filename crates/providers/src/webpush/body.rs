//! The request to a push service. The payload for browsers is our own format, read by our service worker; the sandbox shows it
//! before it is encrypted.

use http::{HeaderMap, HeaderName, HeaderValue};
use model::payload::extra::TextExtra;
use model::payload::web::{WebButton, WebImage, WebOverride};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::form::Form;
use crate::recipient::Recipient;
use crate::rendering::Rendering;
use crate::request::PreparedRequest;

const TTL: HeaderName = HeaderName::from_static("ttl");
const URGENCY: HeaderName = HeaderName::from_static("urgency");
const TOPIC: HeaderName = HeaderName::from_static("topic");

/// Push services insist on a lifetime; four weeks is the longest that all of them keep.
const USUAL_TTL_SECONDS: u64 = 2_419_200;

/// How push services treat a message that waits for its device.
pub(super) struct Delivery {
    /// In seconds.
    pub(super) lifetime: Option<u64>,
    pub(super) urgency: &'static str,
    pub(super) topic: Option<HeaderValue>,
}

/// One push for browsers, or for phones by UnifiedPush, ready to be addressed to them.
#[derive(Clone, Debug)]
pub struct WebPush {
    body: Form,
    headers: HeaderMap,
}

#[derive(Serialize)]
struct Payload<'a> {
    /// Browsers report this id with everything the push led to.
    #[serde(rename = "_")]
    send_id: String,
    push_id: String,
    #[serde(rename = "com.urbanairship.metadata")]
    metadata: String,
    #[serde(rename = "_uamid", skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alert: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<&'a WebImage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a WebImage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    require_interaction: Option<bool>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    actions: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    buttons: Option<Vec<Button<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'a TextExtra>,
}

#[derive(Serialize)]
struct Button<'a> {
    id: &'a str,
    label: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    actions: Map<String, Value>,
    /// A click opens no page.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    background: bool,
}

impl<'a> Payload<'a> {
    fn new(rendering: &Rendering<'_>, web: &'a WebOverride) -> Self {
        Self {
            send_id: rendering.push_id.to_string(),
            push_id: rendering.push_id.to_string(),
            metadata: rendering.metadata(),
            message_id: rendering.message_id(),
            alert: web.alert.as_deref(),
            title: web.title.as_deref(),
            icon: web.icon.as_ref(),
            image: web.image.as_ref(),
            require_interaction: web.require_interaction,
            actions: rendering.browser_actions(web.actions.as_ref()),
            buttons: web.buttons.as_deref().map(|buttons| with_actions(rendering, buttons)),
            extra: web.extra.as_ref(),
        }
    }
}

impl WebPush {
    pub(super) fn new(body: Form, Delivery { lifetime, urgency, topic }: Delivery) -> Self {
        let ttl = lifetime.unwrap_or(USUAL_TTL_SECONDS).min(USUAL_TTL_SECONDS);
        let mut headers =
            HeaderMap::from_iter([(TTL, HeaderValue::from(ttl)), (URGENCY, HeaderValue::from_static(urgency))]);
        headers.extend(topic.map(|topic| (TOPIC, topic)));
        Self { body, headers }
    }

    pub(crate) fn for_browsers(rendering: &Rendering<'_>, web: &WebOverride) -> Self {
        let body = Form::default().json(&Payload::new(rendering, web)).with_marks(rendering.has_marks);
        let lifetime = rendering.lifetime(web.time_to_live.as_ref());
        Self::new(body, Delivery { lifetime, urgency: "normal", topic: None })
    }

    /// The payload alone, for connections of our own.
    pub(crate) fn payload(rendering: &Rendering<'_>, web: &WebOverride) -> Map<String, Value> {
        match serde_json::to_value(Payload::new(rendering, web)) {
            Ok(Value::Object(payload)) => payload,
            // It is an object, whose keys are texts.
            Ok(_) | Err(_) => Map::new(),
        }
    }

    pub(crate) fn form(&self) -> &Form {
        &self.body
    }

    /// The address is the URL of the subscription.
    pub fn request(&self, recipient: &Recipient<'_>) -> PreparedRequest {
        PreparedRequest::with_headers(recipient.address.to_owned(), &self.headers, self.message(recipient))
    }

    /// The message that the device reads once it is decrypted.
    pub(crate) fn message(&self, recipient: &Recipient<'_>) -> Vec<u8> {
        self.body.fill(recipient)
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

fn with_actions<'a>(rendering: &Rendering<'_>, buttons: &'a [WebButton]) -> Vec<Button<'a>> {
    let shown = |button: &'a WebButton| Button {
        id: &button.id,
        label: &button.label,
        actions: rendering.browser_actions(button.actions.as_ref()),
        background: button.background == Some(true),
    };
    buttons.iter().map(shown).collect()
}
