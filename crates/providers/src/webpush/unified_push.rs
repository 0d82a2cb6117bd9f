//! The request to the UnifiedPush endpoint of an Android device: the data that the app gets from Firebase elsewhere, encrypted as
//! for browsers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;
use model::payload::android::{AndroidOverride, DeliveryPriority};
use ring::digest::{SHA256, digest};

use super::WebPush;
use super::body::Delivery;
use crate::data_message::CHANNEL_ID;
use crate::fcm;
use crate::form::{Form, Hole};
use crate::rendering::Rendering;

/// A topic has up to 32 characters of base64url, which are so many bytes.
const TOPIC_BYTES: usize = 24;

impl WebPush {
    /// For Android devices: one object with the keys of Firebase's data, every value a text.
    pub(crate) fn for_android(rendering: &Rendering<'_>, android: &AndroidOverride) -> Self {
        let body = Form::default()
            .text("{")
            .json(&CHANNEL_ID)
            .text(":")
            .hole(Hole::ChannelId)
            .members_after(&fcm::data(rendering, android).into_map())
            .text("}");
        let delivery = Delivery {
            lifetime: rendering.lifetime(android.time_to_live.as_ref()),
            urgency: match android.delivery_priority.unwrap_or_default() {
                DeliveryPriority::High => "high",
                DeliveryPriority::Normal => "normal",
            },
            topic: android.collapse_key.as_deref().and_then(topic),
        };
        Self::new(body.with_marks(rendering.has_marks), delivery)
    }
}

/// Messages with the same topic replace each other while they wait. Collapse keys may have any characters, topics may not.
fn topic(collapse_key: &str) -> Option<HeaderValue> {
    let digest = digest(&SHA256, collapse_key.as_bytes());
    HeaderValue::try_from(URL_SAFE_NO_PAD.encode(&digest.as_ref()[..TOPIC_BYTES])).ok()
}
