//! Rules for Live Activities and Live Updates: what devices need to start one, and that everybody gets the same.

use personalization::has_tags;

use crate::json::At;
use crate::payload::Push;
use crate::payload::android::LiveUpdate;
use crate::payload::ios::LiveActivity;
use crate::payload::live_event::LiveEvent;

const NO_LOCALIZATION: &str =
    "Content that lives on the screen is the same in all languages; send it without localizations of the notification.";

const NOT_PERSONAL: &str = "Nothing can be filled in here: this says on which devices it is.";

pub(super) fn check(push: &Push, at: &At<'_>) {
    let is_localized = push.localizations.iter().flatten().any(|localization| localization.notification.is_some());
    for (path, notification) in push.notifications() {
        if let Some(activity) = notification.ios.as_ref().and_then(|ios| ios.live_activity.as_ref()) {
            let path = format!("{path}.ios.live_activity");
            check_activity(activity, at, &path);
            for (key, text) in [("name", Some(&activity.name)), ("attributes_type", activity.attributes_type.as_ref())]
            {
                let is_personal = push.is_personalized() && text.is_some_and(|text| has_tags(text));
                refuse_if(is_personal, at, &format!("{path}.{key}"), NOT_PERSONAL);
            }
            refuse_if(is_localized, at, &path, NO_LOCALIZATION);
        }
        if let Some(update) = notification.android.as_ref().and_then(|android| android.live_update.as_ref()) {
            let path = format!("{path}.android.live_update");
            check_update(update, at, &path);
            let is_personal = push.is_personalized() && has_tags(&update.name);
            refuse_if(is_personal, at, &format!("{path}.name"), NOT_PERSONAL);
            refuse_if(is_localized, at, &path, NO_LOCALIZATION);
        }
    }
}

fn check_activity(activity: &LiveActivity, at: &At<'_>, path: &str) {
    let is_start = activity.event == LiveEvent::Start;
    for (key, is_given) in
        [("attributes_type", activity.attributes_type.is_some()), ("attributes", activity.attributes.is_some())]
    {
        let path = format!("{path}.{key}");
        refuse_if(is_start && !is_given, at, &path, "Apple starts a Live Activity only with this.");
        refuse_if(!is_start && is_given, at, &path, "This is for starting a Live Activity, and cannot change.");
    }
    let without_alert = is_start && activity.alert.is_none();
    refuse_if(without_alert, at, &format!("{path}.alert"), "Apple starts a Live Activity only with this.");
}

fn check_update(update: &LiveUpdate, at: &At<'_>, path: &str) {
    let without_type = update.event == LiveEvent::Start && update.kind.is_none();
    refuse_if(without_type, at, &format!("{path}.type"), "The app starts a Live Update by its type; set this.");
}

fn refuse_if(condition: bool, at: &At<'_>, path: &str, message: &str) {
    if condition {
        at.invalid_key::<()>(path, message);
    }
}
