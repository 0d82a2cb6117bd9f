//! The request to an endpoint: up to a thousand messages, each with its target and the payload.

use bytes::Bytes;
use model::payload::notification::OpenNotification;

use crate::form::{Form, Hole};
use crate::recipient::Recipient;
use crate::rendering::Rendering;
use crate::request::{PreparedRequest, header};

/// Messages in one request.
pub const MOST_VALUES: usize = 1000;
/// Bytes in one request: web servers commonly accept this much without being configured. A push whose message is larger by itself
/// is refused.
pub const MOST_BATCH_BYTES: usize = 1024 * 1024;

pub(super) const CONTENT_TYPE: &str = "application/vnd.urbanairship+json; version=3";
/// The key of the body under which the receiver finds the messages.
pub(super) const DATA_ATTRIBUTE: &str = "values";

/// One push for one open platform, ready to be addressed to channels.
#[derive(Clone, Debug)]
pub struct OpenPush {
    value: Form,
}

/// The body of one request.
#[derive(Clone, Debug)]
pub struct Batch {
    pub body: Bytes,
    /// How many of the recipients are in it, counted from the front.
    pub n_values: usize,
}

impl OpenPush {
    pub(crate) fn new(rendering: &Rendering<'_>, payload: &OpenNotification) -> Self {
        let value = Form::default()
            .text("{\"send_id\":")
            .hole(Hole::DeliveryId)
            .text(",\"push_id\":")
            .json(&rendering.push_id)
            .text(",\"app_key\":")
            .json(rendering.app_key)
            .text(",\"target\":{\"address\":")
            .hole(Hole::Address)
            .text(",\"channel_id\":")
            .hole(Hole::ChannelId)
            .text(",\"identifiers\":")
            .hole(Hole::Identifiers)
            .text("},\"payload\":")
            .json(payload)
            .text("}")
            .with_marks(rendering.has_marks);
        Self { value }
    }

    pub(crate) fn form(&self) -> &Form {
        &self.value
    }

    /// As many of the recipients as fit into one request, but at least one; for the others call this again.
    pub fn batch(&self, recipients: &[Recipient<'_>]) -> Batch {
        let mut body = b"{\"values\":[".to_vec();
        let mut n_values = 0;
        for recipient in recipients.iter().take(MOST_VALUES) {
            let end = body.len();
            if n_values > 0 {
                body.push(b',');
            }
            self.value.fill_into(&mut body, recipient);
            if n_values > 0 && body.len() > MOST_BATCH_BYTES {
                body.truncate(end);
                break;
            }
            n_values += 1;
        }
        body.extend_from_slice(b"]}");
        Batch { body: body.into(), n_values }
    }

    /// A request for one channel. The URL is relative because a platform in the sandbox has no endpoint.
    pub fn request(&self, recipient: &Recipient<'_>) -> PreparedRequest {
        let headers = vec![header("content-type", CONTENT_TYPE), header("data-attribute", DATA_ATTRIBUTE)];
        let body = self.batch(std::slice::from_ref(recipient)).body;
        PreparedRequest::post("/push".to_owned(), headers, body.into())
    }
}
