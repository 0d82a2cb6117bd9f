//! The request to Amazon for one device: a data message, which the app's own library shows.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use model::payload::amazon::AmazonOverride;
use serde::Serialize;

use super::client::AMAZON;
use crate::data_message::{CHANNEL_ID, DataMessage, Looks};
use crate::form::{Form, Hole};
use crate::recipient::Recipient;
use crate::rendering::Rendering;
use crate::request::{PreparedRequest, path_segment};

const HEADERS: [(HeaderName, &str); 4] = [
    (CONTENT_TYPE, "application/json"),
    (ACCEPT, "application/json"),
    (HeaderName::from_static("x-amzn-type-version"), "com.amazon.device.messaging.ADMMessage@1.0"),
    (HeaderName::from_static("x-amzn-accept-type"), "com.amazon.device.messaging.ADMSendResult@1.0"),
];

/// How long Amazon keeps messages: a minute to 31 days.
const LEAST_EXPIRY_SECONDS: u64 = 60;
const MOST_EXPIRY_SECONDS: u64 = 2_678_400;

/// One push for Amazon devices, ready to be addressed to them.
#[derive(Clone, Debug)]
pub struct AdmPush {
    body: Form,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BesideData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    consolidation_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_after: Option<u64>,
}

impl AdmPush {
    pub(crate) fn new(rendering: &Rendering<'_>, amazon: &AmazonOverride) -> Self {
        let lifetime = rendering.lifetime(amazon.expires_after.as_ref());
        let beside_data = BesideData {
            consolidation_key: amazon.consolidation_key.as_deref(),
            expires_after: lifetime.map(|seconds| seconds.clamp(LEAST_EXPIRY_SECONDS, MOST_EXPIRY_SECONDS)),
        };
        let body = Form::default()
            .text("{\"data\":{")
            .json(&CHANNEL_ID)
            .text(":")
            .hole(Hole::ChannelId)
            .members_after(&data(rendering, amazon).into_map())
            .text("}")
            .members_after(&beside_data)
            .text("}")
            .with_marks(rendering.has_marks);
        Self { body }
    }

    pub(crate) fn form(&self) -> &Form {
        &self.body
    }

    pub fn request(&self, recipient: &Recipient<'_>) -> PreparedRequest {
        let url = format!("{AMAZON}/{}", Self::path(recipient));
        PreparedRequest::with_headers(url, &Self::headers(), self.body(recipient))
    }

    /// Below the root of the provider.
    pub(super) fn path(recipient: &Recipient<'_>) -> String {
        format!("messaging/registrations/{}/messages", path_segment(recipient.address))
    }

    pub(super) fn headers() -> HeaderMap {
        HeaderMap::from_iter(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))))
    }

    pub(super) fn body(&self, recipient: &Recipient<'_>) -> Vec<u8> {
        self.body.fill(recipient)
    }
}

fn data(rendering: &Rendering<'_>, amazon: &AmazonOverride) -> DataMessage {
    let mut data = DataMessage::new(rendering, amazon.extra.as_ref());
    data.looks(&Looks {
        alert: amazon.alert.as_deref(),
        title: amazon.title.as_deref(),
        summary: amazon.summary.as_deref(),
        sound: amazon.sound.as_deref(),
        icon: amazon.icon.as_deref(),
        icon_color: amazon.icon_color.as_ref(),
        notification_channel: amazon.notification_channel.as_deref(),
        notification_tag: amazon.notification_tag.as_deref(),
        style: amazon.style.as_ref(),
    });
    data.expiration(rendering, amazon.expires_after.as_ref());
    data.actions(rendering, amazon.actions.as_ref(), amazon.interactive.as_ref());
    data
}
