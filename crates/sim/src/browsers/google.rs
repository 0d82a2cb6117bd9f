//! The requests of Chromium to Google that make a subscription: a checkin, which gives the browser a number, and registrations.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response, StatusCode};
use model::ids::DeliveryId;

use super::mcs;
use super::subscriptions::Subscription;
use crate::answer;
use crate::call::{Call, form};
use crate::shared::Shared;

pub(crate) const CHECKIN: &str = "/checkin";
pub(crate) const REGISTER: &str = "/register";
/// The root of the subscriptions of Chromium.
pub(crate) const PREFIX: &str = "/fcm/send/";
/// The origins of these subscriptions: of Chrome, and of development versions and Debian's Chromium.
pub(crate) const ORIGINS: [&str; 2] = ["https://fcm.googleapis.com", "https://jmt17.google.com"];

/// The answer to a browser; `None` for other requests.
pub(crate) fn answer(shared: &Shared, call: &Call<'_>) -> Option<Response<Bytes>> {
    match call.path {
        CHECKIN if call.method == Method::POST => Some(checkin(shared, call)),
        REGISTER if call.method == Method::POST => Some(register(shared, call)),
        _ => None,
    }
}

fn checkin(shared: &Shared, call: &Call<'_>) -> Response<Bytes> {
    let (number, secret) = DeliveryId::random().uuid().as_u64_pair();
    // Numbers are signed at the browser, and its own stays.
    let browser = mcs::checked_in_as(call.body).unwrap_or(number >> 1);
    let mut response = Response::new(mcs::checkin_answer(browser, secret, shared.now_millis()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuffer"));
    response
}

/// Makes or ends a subscription, and says its token in either case. Ending has `*` for all senders.
fn register(shared: &Shared, call: &Call<'_>) -> Response<Bytes> {
    let fields = form(call.body);
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value).to_owned();
    let (browser, name, sender) = (field("device"), field("X-subtype"), field("sender"));
    if browser.is_empty() {
        return text(StatusCode::OK, "Error=INVALID_PARAMETERS".to_owned());
    }
    if field("delete") == "true" {
        shared.subscriptions.unsubscribe(&browser, &name, Some(&*sender).filter(|sender| *sender != "*"));
        return text(StatusCode::OK, format!("token={name}"));
    }
    let subscription = Subscription { browser, name, app: field("app"), sender, is_ended: false };
    text(StatusCode::OK, format!("token={}", shared.subscriptions.subscribe(subscription)))
}

fn text(status: StatusCode, body: String) -> Response<Bytes> {
    let mut response = answer::empty(status);
    *response.body_mut() = body.into();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}
