//! How reachable a channel must be to be sent a push: a notification that shows needs more than a silent one.

use model::device_type::DeviceType;
use model::payload::Push;
use model::payload::android::DeliverTo;
use model::payload::localization::Content;
use model::payload::notification::Notification;
use model::payload::wns::WnsContent;
use model::term::Reach;

/// How a channel of this device type must be reachable to get the push; `None` when there is nothing to send. Of several
/// localizations the most demanding one decides.
pub(crate) fn needed(push: &Push, device_type: &DeviceType) -> Option<Reach> {
    let localized = push.localizations.iter().flatten();
    let localized = localized.map(|one| push.content_for(one.language.as_deref(), one.country.as_deref()));
    let contents = std::iter::once(push.content_for(None, None)).chain(localized);
    contents.filter_map(|content| needed_for(&content, device_type)).min_by_key(|reach| match reach {
        Reach::Alert => 0,
        Reach::Silent => 1,
        Reach::Addressed => 2,
    })
}

fn needed_for(content: &Content<'_>, device_type: &DeviceType) -> Option<Reach> {
    let notification = content.notification;
    let wakes_app = content.message.is_some() || content.in_app.is_some();
    match device_type {
        DeviceType::Ios => match notification.and_then(Notification::for_ios) {
            // What is on the lock screen was put there with the consent of its user.
            Some(ios) if ios.live_activity.is_some() => Some(Reach::Addressed),
            Some(ios) if ios.is_visible() => Some(Reach::Alert),
            Some(_) => Some(Reach::Silent),
            None => wakes_app.then_some(Reach::Silent),
        },
        // The app decides what to show, so an opt-out is respected here unless the push asks for all channels.
        DeviceType::Android => match notification.and_then(Notification::for_android) {
            Some(android) if android.deliver_to == Some(DeliverTo::All) => Some(Reach::Addressed),
            Some(android) if android.alert.is_some() => Some(Reach::Alert),
            Some(_) => Some(Reach::Addressed),
            None => wakes_app.then_some(Reach::Addressed),
        },
        DeviceType::Amazon => match notification.and_then(Notification::for_amazon) {
            Some(amazon) if amazon.alert.is_some() => Some(Reach::Alert),
            Some(_) => Some(Reach::Addressed),
            None => wakes_app.then_some(Reach::Addressed),
        },
        DeviceType::Web => match notification.and_then(Notification::for_web) {
            Some(_) => Some(Reach::Alert),
            None => content.message.is_some().then_some(Reach::Alert),
        },
        DeviceType::Wns => notification.and_then(Notification::for_wns).map(|wns| match wns.content {
            WnsContent::Alert(_) | WnsContent::Toast(_) | WnsContent::Tile(_) | WnsContent::Badge(_) => Reach::Alert,
            WnsContent::Raw(_) => Reach::Addressed,
        }),
        DeviceType::Open(platform) => notification.and_then(|n| n.for_open(platform)).map(|_| Reach::Alert),
        DeviceType::Sms | DeviceType::Mms | DeviceType::Email => None,
    }
}
