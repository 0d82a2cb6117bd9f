//! Rules for a push that brings its recipients along, or names the file that they are in: where it goes, and that there is a text
//! for each of them.

use std::collections::BTreeSet;

use crate::create_and_send::{KEY, Recipients};
use crate::device_type::{DeviceType, OpenPlatform};
use crate::json::At;
use crate::limits;
use crate::payload::Push;
use crate::payload::notification::Notification;
use crate::selector::Audience;
use crate::template::Outline;

pub(super) fn check(push: &Push, at: &At<'_>) {
    let listed = push.device_types.listed();
    match (&push.audience, listed) {
        (Audience::CreateAndSend(recipients), [DeviceType::Open(platform)]) => {
            for (path, notification) in push.notifications() {
                only_for(&listed[0], notification, at, &path);
                everybody_has_values(platform, notification, recipients, at);
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

fn everybody_has_values(platform: &OpenPlatform, notification: &Notification, all: &Recipients, at: &At<'_>) {
    let Some(open) = notification.for_open(platform) else { return };
    let texts: Vec<Outline<'_>> = open.personal.iter().map(|(_, text)| text.outline()).collect();
    let keys: BTreeSet<&str> = texts.iter().flat_map(Outline::keys).collect();
    if keys.len() > limits::TEMPLATE_VARIABLES {
        let message = format!("The texts of a push have {} variables at most.", limits::TEMPLATE_VARIABLES);
        at.invalid_key::<()>(&format!("notification.{}.template", DeviceType::Open(platform.clone())), message);
        return;
    }
    for (n, recipient) in all.as_slice().iter().enumerate() {
        let missing: BTreeSet<&str> = texts.iter().flat_map(|text| text.missing(&recipient.values)).collect();
        for key in missing {
            at.invalid_key::<()>(
                &format!("audience.{KEY}[{n}].{key}"),
                format!("The push has a variable '{key}', for which there is neither a value here nor a default."),
            );
        }
        let n_bytes = texts.iter().fold(0, |sum: usize, text| sum.saturating_add(text.n_bytes(&recipient.values)));
        if n_bytes > limits::RENDERED_TEMPLATE_BYTES {
            let most = limits::RENDERED_TEMPLATE_BYTES;
            let message = format!("With these values the texts of the push have more than {most} bytes.");
            at.invalid_key::<()>(&format!("audience.{KEY}[{n}]"), message);
        }
    }
}
