//! Documented paths of Airship that the service does not have, each with a sentence that says so and what to use instead. They are
//! no routes: nobody needs credentials to be told, and the reference does not list them.

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::any;

use crate::edge::Edge;
use crate::error::Error;
use crate::request_log::{Matched, observe, request_id};

pub(crate) const EMAIL: &str = "There are no email channels here. Reach the same person on an open platform \
                     (POST /api/channels/open), whose endpoint of yours may send email.";
pub(crate) const SMS: &str = "There are no SMS channels here. Reach the same person on an open platform \
                              (POST /api/channels/open), whose endpoint of yours may send text messages.";
const ATTACHMENTS: &str = "There are no attachments here, because there are no email channels.";
const CREATED: &str =
    "Channels are made by the upload itself: POST /api/bulk/open/<name> registers every address that is new.";
const BILLING: &str =
    "Nothing is billed here. GET /api/reports/devices and GET /api/reports/activeusers count devices.";
const BRIDGE: &str = "Segments of other products are not read here. Create a segment (POST /api/segments) or upload a list \
                      (POST /api/lists).";
const RENDERED: &str = "Messages have their pages elsewhere: under the 'message_body_url' that GET /api/user/<id>/messages shows, \
                        and under /pages.";
const PAYLOADS: &str = "There are no payloads of remote data to manage here.";

const COMPLIANCE: &str = "Events of compliance are about email and SMS, of which there are no channels here. All events are at POST /api/events.";

/// Every method of these paths is refused, so that none of them is taken for an id.
pub(crate) const NOT_OFFERED: &[(&str, &str)] = &[
    ("/api/channels/email", EMAIL),
    ("/api/channels/email/{*below}", EMAIL),
    ("/api/channels/restricted/email", EMAIL),
    ("/api/attachments", ATTACHMENTS),
    ("/api/channels/sms", SMS),
    ("/api/channels/sms/{*below}", SMS),
    ("/api/channels/restricted/sms", SMS),
    (
        "/api/channels/resend",
        "There is nothing to send again here: confirmations are sent to email and SMS channels only.",
    ),
    ("/api/sms/{*below}", SMS),
    ("/api/mms/{*below}", SMS),
    ("/api/delivery-report/{*below}", SMS),
    ("/api/channels/create/{*below}", CREATED),
    ("/api/channels/import", "Channels are imported with POST."),
    ("/api/billing/{*below}", BILLING),
    ("/api/segmentation-bridge", BRIDGE),
    ("/api/schedules/segmentation-bridge/{id}", BRIDGE),
    ("/api/payloads", PAYLOADS),
    ("/api/events/general", COMPLIANCE),
    ("/binary/{*below}", RENDERED),
    ("/api/airmail/{*below}", "Send messages with POST /api/push and its 'message'; inboxes are at /api/user."),
    ("/api/push/batch", "Send several pushes as an array to POST /api/push."),
    ("/api/push/broadcast", "Send to everybody with POST /api/push and the audience \"all\"."),
    ("/api/feeds", "Feeds are not read here. Create a schedule (POST /api/schedules) for each message."),
    ("/api/feeds/{*below}", "Feeds are not read here. Create a schedule (POST /api/schedules) for each message."),
];

/// Adds the refusals to the routes.
pub(crate) fn beside(routes: Router<Edge>) -> Router<Edge> {
    NOT_OFFERED.iter().fold(routes, |router, (path, sentence)| {
        let refuse = async move |State(edge): State<Edge>, request: Request| {
            let id = request_id(request.headers());
            let matched = Matched { route: path, for_browsers: false, app: None, is_page: false };
            observe(&edge, &id, matched, request, async |_| Err(Error::NotOffered(sentence))).await
        };
        router.route(path, any(refuse))
    })
}
