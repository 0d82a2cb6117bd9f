//! Whether a push fits into the limits of the providers, and which part of it is too large if not.

use model::device_type::DeviceType;
use model::ids::{ChannelId, DeliveryId};
use model::payload::Push;
use model::payload::in_app::InApp;
use model::payload::localization::{Content, Localization};
use model::payload::notification::Notification;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::open::MOST_BATCH_BYTES;
use crate::recipient::Recipient;
use crate::rendered::{NotSendable, RenderedPush};
use crate::request::PreparedRequest;
use crate::webpush;

/// A part of a push that is too large for a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Where in the push the largest part of it is.
    pub path: String,
    pub message: String,
}

const MOST_APNS_BYTES: usize = 4096;
/// Keys and values of the data, the size that Firebase limits.
const MOST_FCM_BYTES: usize = 4096;
/// Keys and values of the data.
const MOST_ADM_BYTES: usize = 6 * 1024;
const MOST_WNS_BYTES: usize = 5000;

/// The size of a page in the message of a device, which gets only its address.
const PAGE_WEIGHT: usize = 100;

/// Everything that does not fit, on every platform the push is for. `render` makes the message of one platform for devices
/// that get this content.
pub fn too_large(
    push: &Push,
    render: &dyn Fn(Content<'_>, &DeviceType) -> Result<RenderedPush, NotSendable>,
) -> Vec<TooLarge> {
    let mut found: Vec<TooLarge> = Vec::new();
    let localizations = push.localizations.iter().flatten().map(Some);
    for (n, localization) in std::iter::once(None).chain(localizations).enumerate() {
        let variant = Variant::new(push, localization, n.saturating_sub(1));
        for (_, device_type) in DeviceType::NAMED.iter().filter(|(_, named)| push.device_types.includes(named)) {
            let Ok(rendered) = render(variant.content, device_type) else { continue };
            let Some(message) = MessageSize::largest(&rendered).problem(device_type) else { continue };
            let one = TooLarge { path: variant.largest_part(device_type), message };
            // A problem of a part that a localization inherits is reported at the top.
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    found
}

/// The size of one message, counted as its provider counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSize {
    pub n_bytes: usize,
    /// The most that the provider takes.
    pub most: usize,
}

impl MessageSize {
    /// The size of a message whose request this is.
    pub fn of(rendered: &RenderedPush, request: &PreparedRequest) -> Self {
        let body = &request.body;
        let n_bytes = match rendered {
            RenderedPush::Fcm(_) => data_bytes(body, "/message/data"),
            RenderedPush::Adm(_) => data_bytes(body, "/data"),
            RenderedPush::Apns(_)
            | RenderedPush::Wns(_)
            | RenderedPush::WebPush(_)
            | RenderedPush::UnifiedPush(_)
            | RenderedPush::Open(_) => body.len(),
        };
        Self { n_bytes, most: most_bytes(rendered) }
    }

    /// Why the message of a recipient with texts of their own cannot be sent, if they make it too large.
    pub fn refusal(rendered: &RenderedPush, recipient: &Recipient<'_>) -> Option<String> {
        // A message that is surely small enough, as nearly all are, is not written for this.
        if rendered.form().most_bytes(recipient) <= most_bytes(rendered) {
            return None;
        }
        let Self { n_bytes, most } = Self::of(rendered, &rendered.request(recipient));
        let is_too_large = n_bytes > most;
        is_too_large.then(|| {
            format!("With the values of this device the push has {n_bytes} bytes, and {most} are possible there.")
        })
    }

    /// The largest size for any device.
    fn largest(rendered: &RenderedPush) -> Self {
        let (delivery, channel) = (DeliveryId::from_uuid(Uuid::nil()), ChannelId::from_uuid(Uuid::nil()));
        let recipient = Recipient { badge: i64::MAX, ..Recipient::new(delivery, channel, "") };
        Self::of(rendered, &rendered.request(&recipient))
    }

    /// Why the message cannot be sent, if it is too large.
    fn problem(self, device_type: &DeviceType) -> Option<String> {
        let Self { n_bytes, most } = self;
        let is_too_large = n_bytes > most;
        is_too_large.then(|| {
            format!(
                "The push is too large for {device_type}: it has {n_bytes} bytes there, and {most} are possible. \
                 This is its largest part."
            )
        })
    }
}

fn most_bytes(rendered: &RenderedPush) -> usize {
    match rendered {
        RenderedPush::Apns(_) => MOST_APNS_BYTES,
        RenderedPush::Fcm(_) => MOST_FCM_BYTES,
        RenderedPush::Adm(_) => MOST_ADM_BYTES,
        RenderedPush::Wns(_) => MOST_WNS_BYTES,
        RenderedPush::WebPush(_) | RenderedPush::UnifiedPush(_) => webpush::MOST_MESSAGE_BYTES,
        // A single message never needs a request that is larger than one with many.
        RenderedPush::Open(_) => MOST_BATCH_BYTES,
    }
}

fn data_bytes(body: &str, pointer: &str) -> usize {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let data = body.pointer(pointer).and_then(Value::as_object);
    data.into_iter().flatten().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum()
}

/// The content of some devices, and where in the push it comes from.
struct Variant<'a> {
    content: Content<'a>,
    notification_path: String,
    in_app_path: String,
}

impl<'a> Variant<'a> {
    /// `localization` is the n-th; without one these are the devices that no localization is for.
    fn new(push: &'a Push, localization: Option<&'a Localization>, n: usize) -> Self {
        let top_in_app = in_app_key(push.in_app(), push.notification.as_ref());
        let Some(localization) = localization else {
            let content = push.content_for(None, None);
            return Self { content, notification_path: "notification".to_owned(), in_app_path: top_in_app.to_owned() };
        };
        let within = |path: &str| format!("localizations[{n}].{path}");
        let own = localization.notification.as_ref();
        let has_in_app = localization.in_app.is_some() || own.is_some_and(|own| own.in_app.is_some());
        Self {
            content: push.content_for(localization.language.as_deref(), localization.country.as_deref()),
            notification_path: own.map_or_else(|| "notification".to_owned(), |_| within("notification")),
            in_app_path: match has_in_app {
                true => within(in_app_key(localization.in_app.as_ref(), own)),
                false => top_in_app.to_owned(),
            },
        }
    }

    /// The largest part of the message of a platform.
    fn largest_part(&self, device_type: &DeviceType) -> String {
        let mut parts: Vec<(String, usize)> = Vec::new();
        if let Some(notification) = self.content.notification {
            let all = object(notification);
            let name = device_type.to_string();
            let own = all.get(&name).and_then(Value::as_object);
            let inherited = ["alert", "actions", "interactive"].into_iter();
            let inherited = inherited.filter(|key| own.is_none_or(|own| !own.contains_key(*key)));
            let inherited = inherited.filter_map(|key| Some((key, all.get(key)?)));
            parts.extend(inherited.map(|(key, value)| (format!("{}.{key}", self.notification_path), weight(value))));
            let own = own.into_iter().flatten();
            parts.extend(own.map(|(key, value)| (format!("{}.{name}.{key}", self.notification_path), weight(value))));
        }
        if let Some(in_app) = self.content.in_app {
            let all = object(in_app);
            parts.extend(all.iter().map(|(key, value)| (format!("{}.{key}", self.in_app_path), weight(value))));
        }
        let heaviest = parts.into_iter().max_by_key(|(_, weight)| *weight);
        heaviest.map_or_else(|| self.notification_path.clone(), |(path, _)| path)
    }
}

/// Where the in-app message is: old clients put it inside the notification.
fn in_app_key(in_app: Option<&InApp>, notification: Option<&Notification>) -> &'static str {
    match notification.and_then(|notification| notification.in_app.as_deref()) {
        Some(nested) if in_app.is_none_or(|in_app| std::ptr::eq(in_app, nested)) => "notification.in_app",
        Some(_) | None => "in_app",
    }
}

fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        Ok(_) | Err(_) => Map::new(),
    }
}

/// About how many bytes of a message come of this.
fn weight(value: &Value) -> usize {
    match value {
        Value::Object(page) if page.contains_key("body") && page.contains_key("content_type") => PAGE_WEIGHT,
        Value::Object(object) => object.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::String(text) => text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string().len(),
    }
}
