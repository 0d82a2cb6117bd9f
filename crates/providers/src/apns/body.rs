//! The request to Apple for one device: alert, badge and sound under `aps`, everything else beside it.

mod live_activity;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use model::payload::decimal::Decimal;
use model::payload::ios::{ApnsPriority, Badge, InterruptionLevel, IosAlert, IosOverride, Sound};
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::form::{Form, Hole};
use crate::in_app::Banner;
use crate::recipient::Recipient;
use crate::rendering::{Rendering, key};
use crate::request::{PreparedRequest, path_segment};

const SEND_ID: &str = "_";
const MEDIA_ATTACHMENT: &str = "com.urbanairship.media_attachment";

/// One push for iOS, ready to be addressed to devices.
#[derive(Clone, Debug)]
pub struct ApnsPush {
    /// Whether it goes to the token of a Live Activity.
    is_live_activity: bool,
    body: Form,
    /// The body, if it is the same for every device.
    same_body: Option<Bytes>,
    /// All parts of a request, so that copies do not grow: those from the app's credentials and the device are blank.
    headers: HeaderMap,
}

/// The parts that are filled in per app and per device.
pub(super) const TOPIC: HeaderName = HeaderName::from_static("apns-topic");
pub(super) const ID: HeaderName = HeaderName::from_static("apns-id");
const BLANK: HeaderValue = HeaderValue::from_static("");

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Aps<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    alert: Option<IosAlert>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sound: Option<ApsSound<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_available: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutable_content: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_content_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_criteria: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interruption_level: Option<InterruptionLevel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance_score: Option<&'a Decimal>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ApsSound<'a> {
    Name(&'a str),
    Object {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        volume: Option<&'a Decimal>,
        #[serde(skip_serializing_if = "Option::is_none")]
        critical: Option<u8>,
    },
}

impl ApnsPush {
    pub(crate) fn new(rendering: &Rendering<'_>, ios: &IosOverride) -> Self {
        if let Some(activity) = &ios.live_activity {
            let body = live_activity::body(rendering, activity).with_marks(rendering.has_marks);
            let headers = live_activity::headers(rendering, ios, activity);
            let same_body = body.without_holes().map(Bytes::copy_from_slice);
            return Self { is_live_activity: true, same_body, body, headers };
        }
        let aps = aps(rendering, ios);
        let body = Form::default().text("{\"aps\":{");
        let body = match ios.badge {
            None => body.members(&aps),
            Some(badge) => with_badge(body.text("\"badge\":"), badge).members_after(&aps),
        };
        let body = body.text("}").members_after(&beside_aps(rendering, ios)).text("}").with_marks(rendering.has_marks);
        let same_body = body.without_holes().map(Bytes::copy_from_slice);
        Self { is_live_activity: false, same_body, body, headers: headers(rendering, ios) }
    }

    /// The topic and the authorization come with an app's credentials and are not part of this.
    pub fn request(&self, recipient: &Recipient<'_>) -> PreparedRequest {
        let url = format!("https://api.push.apple.com/3/device/{}", path_segment(recipient.address));
        let mut headers = self.headers_for(recipient);
        headers.remove(TOPIC);
        headers.remove(AUTHORIZATION);
        PreparedRequest::with_headers(url, &headers, self.body.fill(recipient))
    }

    pub(super) fn is_live_activity(&self) -> bool {
        self.is_live_activity
    }

    pub(crate) fn form(&self) -> &Form {
        &self.body
    }

    pub(super) fn body_for(&self, recipient: &Recipient<'_>) -> Bytes {
        self.same_body.clone().unwrap_or_else(|| self.body.fill(recipient).into())
    }

    /// Topic and authorization are blank.
    pub(super) fn headers_for(&self, recipient: &Recipient<'_>) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(ID, id_header(recipient));
        headers
    }
}

/// Apple answers with it, and says nowhere that it keeps repeats from being shown: the collapse id does. No two are the same, so
/// they are marked as sensitive, which keeps them out of the connection's header table.
fn id_header(recipient: &Recipient<'_>) -> HeaderValue {
    let mut text = Uuid::encode_buffer();
    let text = recipient.delivery_id.uuid().hyphenated().encode_lower(&mut text);
    let mut id = HeaderValue::from_str(text).expect("a UUID is made of digits and hyphens");
    id.set_sensitive(true);
    id
}

/// Apple cannot count, so the service does: from the badge that the device last registered.
fn with_badge(body: Form, badge: Badge) -> Form {
    match badge {
        Badge::Set(badge) => body.json(&badge),
        Badge::Auto => body.hole(Hole::BadgeMovedBy(0)),
        Badge::Change(by) => body.hole(Hole::BadgeMovedBy(i64::from(by))),
    }
}

fn aps<'a>(rendering: &Rendering<'_>, ios: &'a IosOverride) -> Aps<'a> {
    // The app has to run to keep a banner for later; without anything to show, running is all it does.
    let wakes_app = ios.content_available == Some(true) || rendering.content.in_app.is_some() || !ios.is_visible();
    Aps {
        alert: ios.full_alert(),
        sound: ios.sound.as_ref().map(sound),
        category: ios.apns_category(),
        content_available: wakes_app.then_some(1),
        mutable_content: ios.is_mutable().then_some(1),
        thread_id: ios.thread_id.as_deref(),
        target_content_id: ios.target_content_id.as_deref(),
        filter_criteria: ios.filter_criteria.as_deref(),
        interruption_level: ios.interruption_level,
        relevance_score: ios.relevance_score.as_ref(),
    }
}

fn sound(sound: &Sound) -> ApsSound<'_> {
    match sound {
        Sound::Name(name) => ApsSound::Name(name),
        Sound::Object(sound) => {
            let (name, critical) = (&sound.name, sound.critical.map(u8::from));
            ApsSound::Object { name, volume: sound.volume.as_ref(), critical }
        }
    }
}

/// The keys of the app's own come first, so that they cannot replace ours.
fn beside_aps(rendering: &Rendering<'_>, ios: &IosOverride) -> Map<String, Value> {
    let mut keys: Map<String, Value> =
        ios.extra.iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
    keys.extend(rendering.actions(ios.actions.as_ref()));
    keys.remove("aps");
    // Devices report this id with everything the push led to, so it names the push and not the delivery.
    keys.insert(SEND_ID.to_owned(), json!(rendering.push_id));
    keys.insert(key::METADATA.to_owned(), json!(rendering.metadata()));
    if let Some(message_id) = rendering.message_id() {
        keys.insert(key::MESSAGE_ID.to_owned(), json!(message_id));
    }
    if let Some(buttons) = rendering.button_actions(ios.interactive.as_ref()) {
        keys.insert(key::INTERACTIVE_ACTIONS.to_owned(), Value::Object(buttons));
    }
    if let Some(media) = &ios.media_attachment {
        keys.insert(MEDIA_ATTACHMENT.to_owned(), json!(media));
    }
    if let Some(banner) = Banner::of(rendering) {
        keys.insert(key::IN_APP.to_owned(), json!(banner));
    }
    keys
}

fn headers(rendering: &Rendering<'_>, ios: &IosOverride) -> HeaderMap {
    let push_type = if ios.is_visible() { "alert" } else { "background" };
    let mut headers = common_headers(rendering, ios, push_type, ios.apns_priority());
    if let Some(collapse_id) = collapse_id(rendering, ios) {
        headers.insert("apns-collapse-id", collapse_id);
    }
    headers
}

/// Devices show notifications with the same collapse id as one. A request whose answer was lost is sent once more, so that without
/// an id of the sender's it is the push's: a repeat is shown as the notification that is there already, and every other push beside
/// it. It is the same for all devices, and the connection's header table keeps it.
fn collapse_id(rendering: &Rendering<'_>, ios: &IosOverride) -> Option<HeaderValue> {
    match &ios.collapse_id {
        // Ids that no header can carry are refused when a push is accepted.
        Some(id) => HeaderValue::from_bytes(id.as_bytes()).ok(),
        None if ios.is_visible() => HeaderValue::try_from(rendering.push_id.to_string()).ok(),
        None => None,
    }
}

/// The headers that all messages have. Those that follow from the app's credentials and the device are blank.
fn common_headers(
    rendering: &Rendering<'_>,
    ios: &IosOverride,
    push_type: &'static str,
    priority: ApnsPriority,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("apns-push-type", HeaderValue::from_static(push_type));
    headers.insert("apns-priority", HeaderValue::from(u16::from(priority.as_u8())));
    if let Some(deadline) = rendering.deadline(ios.expiry.as_ref()) {
        headers.insert("apns-expiration", HeaderValue::from(deadline.seconds()));
    }
    for blank in [TOPIC, AUTHORIZATION, ID] {
        headers.insert(blank, BLANK);
    }
    headers
}
