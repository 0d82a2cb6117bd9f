//! The request to Firebase for one device: a data message, which the app's own library shows.

use bytes::Bytes;
use model::payload::android::{AndroidOverride, DeliveryPriority, LiveUpdate, Wearable, WearablePage};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::data_message::{CHANNEL_ID, DataMessage, Looks};
use crate::form::{Form, Hole};
use crate::recipient::Recipient;
use crate::rendering::Rendering;
use crate::request::{PreparedRequest, header};

/// The longest that Firebase keeps a message: four weeks.
const MOST_TTL_SECONDS: u64 = 2_419_200;

/// One push for Android, ready to be addressed to devices.
#[derive(Clone, Debug)]
pub struct FcmPush {
    body: Form,
    url: String,
}

#[derive(Serialize)]
struct AndroidConfig<'a> {
    priority: DeliveryPriority,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    collapse_key: Option<&'a str>,
}

#[derive(Serialize)]
struct WearableData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    interactive_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interactive_actions: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background_image: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_pages: Option<&'a [WearablePage]>,
}

impl FcmPush {
    /// The Firebase project comes with an app's credentials; until then the app key stands in its place.
    pub(crate) fn new(rendering: &Rendering<'_>, android: &AndroidOverride) -> Self {
        let lifetime = rendering.lifetime(android.time_to_live.as_ref());
        let config = AndroidConfig {
            priority: android.delivery_priority.unwrap_or(default_priority(android)),
            ttl: lifetime.map(|seconds| format!("{}s", seconds.min(MOST_TTL_SECONDS))),
            collapse_key: android.collapse_key.as_deref(),
        };
        let body = Form::default()
            .text("{\"message\":{\"token\":")
            .hole(Hole::Address)
            .text(",\"data\":{")
            .json(&CHANNEL_ID)
            .text(":")
            .hole(Hole::ChannelId)
            .members_after(&data(rendering, android).into_map())
            .text("},\"android\":")
            .json(&config)
            .text("}}")
            .with_marks(rendering.has_marks);
        Self { body, url: format!("https://fcm.googleapis.com/v1/projects/{}/messages:send", rendering.app_key) }
    }

    pub(crate) fn form(&self) -> &Form {
        &self.body
    }

    pub(super) fn body_for(&self, recipient: &Recipient<'_>) -> Bytes {
        self.body.fill(recipient).into()
    }

    pub fn request(&self, recipient: &Recipient<'_>) -> PreparedRequest {
        let headers = vec![header("content-type", "application/json")];
        PreparedRequest::post(self.url.clone(), headers, self.body.fill(recipient))
    }
}

/// What the library of an Android app reads, whichever way it comes.
pub(crate) fn data(rendering: &Rendering<'_>, android: &AndroidOverride) -> DataMessage {
    let mut data = DataMessage::new(rendering, android.extra.as_ref());
    data.looks(&Looks {
        alert: android.alert.as_deref(),
        title: android.title.as_deref(),
        summary: android.summary.as_deref(),
        sound: android.sound.as_deref(),
        icon: android.icon.as_deref(),
        icon_color: android.icon_color.as_ref(),
        notification_channel: android.notification_channel.as_deref(),
        notification_tag: android.notification_tag.as_deref(),
        style: android.style.as_ref(),
    });
    data.expiration(rendering, android.time_to_live.as_ref());
    data.actions(rendering, android.actions.as_ref(), android.interactive.as_ref());
    data.json("com.urbanairship.priority", android.priority.as_ref());
    data.word("com.urbanairship.category", android.category.as_ref());
    data.json("com.urbanairship.visibility", android.visibility.as_ref());
    data.json("com.urbanairship.public_notification", android.public_notification.as_ref());
    data.json("com.urbanairship.local_only", android.local_only.as_ref());
    let wearable = android.wearable.as_ref().map(|wearable| wearable_data(rendering, wearable));
    data.json("com.urbanairship.wearable", wearable.as_ref());
    let live_update = android.live_update.as_ref().map(|update| LiveUpdate {
        // Devices ignore updates without a time.
        timestamp: update.timestamp.or(Some(rendering.sent_at.seconds())),
        ..update.clone()
    });
    data.json("com.urbanairship.live_update", live_update.as_ref());
    data
}

/// What is on the screen has to change at once.
fn default_priority(android: &AndroidOverride) -> DeliveryPriority {
    if android.live_update.is_some() { DeliveryPriority::High } else { DeliveryPriority::default() }
}

fn wearable_data<'a>(rendering: &Rendering<'_>, wearable: &'a Wearable) -> WearableData<'a> {
    WearableData {
        interactive_type: wearable.interactive.as_ref().map(|interactive| interactive.kind.name()),
        interactive_actions: rendering.button_actions(wearable.interactive.as_ref()),
        background_image: wearable.background_image.as_deref(),
        extra_pages: wearable.extra_pages.as_deref(),
    }
}
