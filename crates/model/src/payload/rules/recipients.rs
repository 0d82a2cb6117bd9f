//! Rules for a push that brings its recipients along, or names the file that they are in: where it goes.

use crate::device_type::DeviceType;
use crate::json::At;
use crate::payload::Push;
use crate::payload::notification::Notification;
use crate::selector::Audience;

pub(super) fn check(push: &Push, at: &At<'_>) {
    let listed = push.device_types.listed();
    match (&push.audience, listed) {
        (Audience::CreateAndSend(_), [device_type @ DeviceType::Open(_)]) => {
            for (path, notification) in push.notifications() {
                only_for(device_type, notification, at, &path);
            }
        }
        (Audience::CreateAndSend(_), _) => {
            let message = "A push that brings its recipients along goes to exactly one open platform, such as \
                           [\"open::kiosk\"].";
            at.invalid_key::<()>("device_types", message);
        }
        (Audience::Uploaded(_), [device_type]) => {
            for (path, notification) in push.notifications() {
                only_for(device_type, notification, at, &path);
            }
            if push.has_message() {
                let message = "A message for inboxes is filled in when it is opened, and what the file says of its \
                               recipients is known only while it is sent; leave it out.";
                at.invalid_key::<()>("message", message);
            }
        }
        (Audience::Uploaded(_), _) => {
            let message = "A push to an uploaded file goes to exactly one device type, such as [\"ios\"].";
            at.invalid_key::<()>("device_types", message);
        }
        (Audience::All(_) | Audience::Triggered(_) | Audience::Selector(_), _) => {}
    }
}

/// An override for another platform is most likely meant for other recipients.
fn only_for(wanted: &DeviceType, notification: &Notification, at: &At<'_>, path: &str) {
    let named = DeviceType::NAMED.into_iter().map(|(_, device_type)| device_type);
    let all = named.chain(notification.open.keys().cloned().map(DeviceType::Open));
    for other in all.filter(|other| other != wanted && notification.has_override(other)) {
        let message = format!("The recipients are on {wanted} only; leave out what is for {other}.");
        at.invalid_key::<()>(&format!("{path}.{other}"), message);
    }
}
