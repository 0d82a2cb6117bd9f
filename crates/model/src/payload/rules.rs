//! Rules across the parts of one push, checked when every part by itself is good.

mod abilities;
mod live_events;
mod recipients;

use super::Push;
use super::device_types::DeviceTypes;
use super::interactive::InteractiveType;
use super::ios::ApnsPriority;
use super::localization::Content;
use super::notification::Notification;
use crate::device_type::DeviceType;
use crate::json::At;
use crate::selector::{Atomic, Audience, Purpose};

/// Notes every rule that the push breaks, at the path of the value to change.
pub(super) fn check(push: &Push, at: &At<'_>, purpose: Purpose) {
    audience_fits_device_types(push, at);
    recipients::check(push, at);
    every_platform_gets_something(push, at);
    message_center_platforms(push, at);
    redaction(push, at, purpose);
    abilities::check(push, at);
    live_events::check(push, at);
    notification_rules(push, at, "", &push.top_content());
    if let (Some(_), Some(_)) = (&push.in_app, push.notification.as_ref().and_then(|n| n.in_app.as_ref())) {
        at.invalid_key::<()>("notification.in_app", "'in_app' is given next to 'notification' as well.");
    }
    for (i, localization) in push.localizations.iter().flatten().enumerate() {
        if localization.notification.is_some() {
            let content = localization.content_over(push.top_content());
            notification_rules(push, at, &format!("localizations[{i}]."), &content);
        }
    }
}

/// A device id is of no use when its platform is left out, and only two platforms know where devices have been.
fn audience_fits_device_types(push: &Push, at: &At<'_>) {
    let Audience::Selector(selector) = &push.audience else { return };
    let device_types = &push.device_types;
    for (path, atomic) in selector.atoms_with_paths("audience") {
        if let Some((key, wanted)) = missing_platform(atomic, device_types) {
            at.invalid_key::<()>(
                &format!("{path}.{key}"),
                format!("This selects devices of a platform that is not in 'device_types': {wanted}."),
            );
        }
    }
    if !device_types.know_places() && selector.atoms().any(|atomic| atomic.location().is_some()) {
        at.invalid_key::<()>("device_types", "An audience by location needs 'ios' or 'android' to be listed here.");
    }
}

/// The key of a selector that names devices of one platform, and that platform, when the push does not go to it.
fn missing_platform(atomic: &Atomic, device_types: &DeviceTypes) -> Option<(&'static str, &'static str)> {
    let DeviceTypes::List(list) = device_types else { return None };
    let lacks = |wanted: DeviceType| !list.contains(&wanted);
    match atomic {
        Atomic::IosChannel(_) if lacks(DeviceType::Ios) => Some(("ios_channel", "ios")),
        Atomic::DeviceToken(_) if lacks(DeviceType::Ios) => Some(("device_token", "ios")),
        Atomic::AndroidChannel(_) if lacks(DeviceType::Android) => Some(("android_channel", "android")),
        Atomic::Apid(_) if lacks(DeviceType::Android) => Some(("apid", "android")),
        Atomic::AmazonChannel(_) if lacks(DeviceType::Amazon) => Some(("amazon_channel", "amazon")),
        Atomic::WebChannel(_) if lacks(DeviceType::Web) => Some(("web_channel", "web")),
        Atomic::Wns(_) if lacks(DeviceType::Wns) => Some(("wns", "wns")),
        Atomic::SmsId(_) if lacks(DeviceType::Sms) && lacks(DeviceType::Mms) => Some(("sms_id", "sms or mms")),
        Atomic::SmsSender(_) if lacks(DeviceType::Sms) && lacks(DeviceType::Mms) => Some(("sms_sender", "sms or mms")),
        Atomic::OpenChannel(_) if !list.iter().any(|t| matches!(t, DeviceType::Open(_))) => {
            Some(("open_channel", "open::<platform name>"))
        }
        Atomic::IosChannel(_)
        | Atomic::DeviceToken(_)
        | Atomic::AndroidChannel(_)
        | Atomic::Apid(_)
        | Atomic::AmazonChannel(_)
        | Atomic::WebChannel(_)
        | Atomic::Wns(_)
        | Atomic::SmsId(_)
        | Atomic::SmsSender(_)
        | Atomic::OpenChannel(_)
        | Atomic::Channel(_)
        | Atomic::Tag { .. }
        | Atomic::Segment(_)
        | Atomic::NamedUser(_)
        | Atomic::Alias(_)
        | Atomic::StaticList(_)
        | Atomic::SubscriptionList { .. }
        | Atomic::Mpns(_)
        | Atomic::DevicePin(_)
        | Atomic::Attribute(_)
        | Atomic::Activity(_)
        | Atomic::Location(_)
        | Atomic::Push(_)
        | Atomic::Live => None,
    }
}

/// Every listed platform must have something to show; for "all" it is enough that there is anything.
fn every_platform_gets_something(push: &Push, at: &At<'_>) {
    let top = push.top_content();
    let listed = push.device_types.listed();
    if listed.is_empty() && !is_sendable_somewhere(&top) {
        at.invalid_key::<()>("notification", "There is nothing to send: give an alert or an override.");
    }
    for (i, device_type) in listed.iter().enumerate().filter(|(_, t)| !is_sendable(&top, t)) {
        if *device_type == DeviceType::Email {
            at.missing::<()>("notification.email");
            continue;
        }
        at.invalid_key::<()>(
            &format!("device_types[{i}]"),
            format!("There is nothing to send to {device_type}: give an alert, or an override for it."),
        );
    }
    for (i, localization) in push.localizations.iter().flatten().enumerate() {
        let content = localization.content_over(top);
        for device_type in listed.iter().filter(|t| is_sendable(&top, t) && !is_sendable(&content, t)) {
            at.invalid_key::<()>(
                &format!("localizations[{i}].notification"),
                format!("There is nothing to send to {device_type}: give an alert, or an override for it."),
            );
        }
    }
}

fn is_sendable_somewhere(content: &Content<'_>) -> bool {
    content.message.is_some() || content.in_app.is_some() || content.notification.is_some_and(can_say_something)
}

/// Whether a platform can show any of the content. Email and MMS have no short form, so an alert is not enough.
fn is_sendable(content: &Content<'_>, device_type: &DeviceType) -> bool {
    let has_alert = content.notification.is_some_and(|n| n.alert.is_some());
    let has_override = content.notification.is_some_and(|n| n.has_override(device_type));
    has_override
        || match device_type {
            DeviceType::Ios | DeviceType::Android | DeviceType::Amazon => {
                has_alert || content.message.is_some() || content.in_app.is_some()
            }
            DeviceType::Web => has_alert || content.message.is_some(),
            DeviceType::Wns | DeviceType::Sms | DeviceType::Open(_) => has_alert,
            DeviceType::Mms | DeviceType::Email => false,
        }
}

fn can_say_something(notification: &Notification) -> bool {
    let open_platforms = notification.open.keys().cloned().map(DeviceType::Open);
    let named = DeviceType::NAMED.into_iter().map(|(_, device_type)| device_type);
    notification.alert.is_some()
        || named.chain(open_platforms).any(|device_type| notification.has_override(&device_type))
}

/// Only some platforms have a Message Center. With "all" the message simply does not go to the others.
fn message_center_platforms(push: &Push, at: &At<'_>) {
    if !push.has_message() {
        return;
    }
    for (i, device_type) in push.device_types.listed().iter().enumerate() {
        match device_type {
            DeviceType::Ios | DeviceType::Android | DeviceType::Amazon | DeviceType::Web => {}
            DeviceType::Wns | DeviceType::Sms | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => {
                at.invalid_key::<()>(
                    &format!("device_types[{i}]"),
                    format!("A Message Center message cannot be sent to {device_type}; send it to ios, android, amazon or web."),
                );
            }
        }
    }
}

/// A redacted payload is kept only until it is sent, so nothing may need it later.
fn redaction(push: &Push, at: &At<'_>, purpose: Purpose) {
    if !push.is_redacted() {
        return;
    }
    if push.has_message() {
        at.invalid_key::<()>(
            "options.redact_payload",
            "A payload with a Message Center message cannot be redacted, because the message is kept.",
        );
    }
    match purpose {
        Purpose::Send | Purpose::CreateAndSend | Purpose::Stored => {}
        Purpose::Pipeline => {
            at.invalid_key::<()>(
                "options.redact_payload",
                "The payload of a pipeline cannot be redacted, because it is kept to be sent later.",
            );
        }
    }
}

/// Rules inside one notification, at the top level or in a localization.
fn notification_rules(push: &Push, at: &At<'_>, prefix: &str, content: &Content<'_>) {
    let Some(notification) = content.notification else { return };
    let note = |key: &str, message: &str| {
        at.invalid_key::<()>(&format!("{prefix}{key}"), message);
    };
    let listed = push.device_types.listed();
    let has_web_buttons = notification.web.as_ref().is_some_and(|web| web.buttons.is_some());
    if let Some(interactive) = &notification.interactive
        && !listed.is_empty()
        && !has_web_buttons
        && !listed.iter().any(|device_type| shows_buttons(device_type, &interactive.kind))
    {
        note("notification.interactive", "None of the device types listed can show these buttons.");
    }
    if let Some(web) = &notification.web
        && web.buttons.is_none()
        && web.interactive.as_ref().is_some_and(|interactive| !shows_buttons(&DeviceType::Web, &interactive.kind))
    {
        note("notification.web.interactive", "Browsers do not know the buttons of this type; give 'buttons' instead.");
    }
    if let Some(ios) = &notification.ios {
        if ios.priority == Some(ApnsPriority::Immediate) && !notification.for_ios().is_some_and(|ios| ios.is_visible())
        {
            note(
                "notification.ios.priority",
                "Priority 10 is only for notifications with an alert, a title, a badge or a sound.",
            );
        }
        if ios.content_available == Some(false) && content.in_app.is_some() {
            note(
                "notification.ios.content_available",
                "This must not be false, because an in-app message comes in the background.",
            );
        }
    }
    if let (Some(email), Some(message_type)) = (&notification.email, push.message_type)
        && email.message_type != message_type
    {
        note("notification.email.message_type", "This must be the same as 'message_type' of the push.");
    }
}

/// Browsers are told the buttons, which is possible for built-in types only; apps know those of their own types.
const fn shows_buttons(device_type: &DeviceType, kind: &InteractiveType) -> bool {
    match (device_type, kind) {
        (DeviceType::Ios | DeviceType::Android | DeviceType::Amazon | DeviceType::Open(_), _)
        | (DeviceType::Web, InteractiveType::BuiltIn(_)) => true,
        (DeviceType::Web, InteractiveType::Custom(_))
        | (DeviceType::Wns | DeviceType::Sms | DeviceType::Mms | DeviceType::Email, _) => false,
    }
}
