//! Parts of a push that this service understands and cannot do. They are refused, because a push that is accepted is sent as its
//! author meant it.

use crate::json::At;
use crate::payload::Push;
use crate::payload::actions::{Actions, OpenAction};
use crate::payload::orchestration::Orchestration;
use crate::payload::personal;
use crate::selector::Audience;

pub(super) fn check(push: &Push, at: &At<'_>) {
    orchestration(push, at);
    scenes(push, at);
    personal::check(push, at);
}

/// Everybody would get the push on all channels instead of on one.
fn orchestration(push: &Push, at: &At<'_>) {
    match &push.orchestration {
        None | Some(Orchestration::FanOut) => {}
        Some(Orchestration::TriggeringChannel) if matches!(push.audience, Audience::Triggered(_)) => {}
        Some(Orchestration::ChannelPriority(_) | Orchestration::TriggeringChannel | Orchestration::LastActive) => {
            at.invalid_key::<()>(
                "orchestration.type",
                "A push goes to all channels of its audience: use 'fan_out', and an audience with the channels that are meant.",
            );
        }
    }
}

/// A scene is content of the hosted service, which devices could not fetch.
fn scenes(push: &Push, at: &At<'_>) {
    let localized = push.localizations.iter().flatten().enumerate();
    let localized = localized.filter_map(|(i, one)| Some((format!("localizations[{i}].in_app"), one.in_app.as_ref()?)));
    // An in-app message inside a notification is among the actions of that notification.
    let in_apps = push.in_app.iter().map(|in_app| ("in_app".to_owned(), in_app)).chain(localized);
    let in_apps = in_apps.flat_map(|(path, in_app)| below(&path, in_app.all_actions()));
    let notifications = push.notifications().flat_map(|(path, notification)| below(&path, notification.all_actions()));
    for (path, _) in notifications.chain(in_apps).filter(|(_, actions)| opens_scene(actions)) {
        at.invalid_key::<()>(
            &format!("{path}.open.type"),
            "There are no scenes here; open a url, a deep_link or a landing_page.",
        );
    }
}

fn below<'a>(path: &str, actions: Vec<(String, &'a Actions)>) -> Vec<(String, &'a Actions)> {
    actions.into_iter().map(|(inside, actions)| (format!("{path}.{inside}"), actions)).collect()
}

fn opens_scene(actions: &Actions) -> bool {
    match &actions.open {
        Some(OpenAction::Scene { .. }) => true,
        Some(
            OpenAction::Url { .. } | OpenAction::DeepLink { .. } | OpenAction::LandingPage { .. } | OpenAction::Home,
        )
        | None => false,
    }
}
