//! Parts of a push that this service understands and cannot do. They are refused, because a push that is accepted is sent as its
//! author meant it.

use crate::json::{At, Json};
use crate::payload::Push;
use crate::payload::actions::{Actions, OpenAction};
use crate::payload::orchestration::Orchestration;
use crate::selector::{Audience, Purpose};

pub(super) fn check(push: &Push, at: &At<'_>, purpose: Purpose) {
    orchestration(push, at);
    live_activities(push, at);
    scenes(push, at);
    unfilled_texts(push, at, purpose);
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

/// Their updates go to addresses of their own, which devices do not tell us.
fn live_activities(push: &Push, at: &At<'_>) {
    for (path, notification) in push.notifications() {
        if notification.ios.as_ref().is_some_and(|ios| ios.live_activity.is_some()) {
            at.invalid_key::<()>(
                &format!("{path}.ios.live_activity"),
                "Live Activities cannot be started or updated from here; leave this out.",
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

const PERSONALIZATION: &str = "options.personalization";

/// Texts that are meant to be filled in with attributes, feeds or snippets would be shown with their braces.
fn unfilled_texts(push: &Push, at: &At<'_>, purpose: Purpose) {
    let personalization = push.options.as_ref().and_then(|options| options.personalization) == Some(true);
    let asked_by = [
        ("global_attributes", push.global_attributes.is_some()),
        ("feed_references", push.feed_references.is_some()),
        ("snippet_references", push.snippet_references.is_some()),
        (PERSONALIZATION, personalization),
    ];
    let Some((asked_by, _)) = asked_by.into_iter().find(|(_, is_given)| *is_given) else { return };
    let Some(mut fields) = at.object() else { return };
    for key in ["notification", "message", "in_app", "localizations"] {
        if let Some(part) = fields.take(key) {
            refuse_braces(&part, asked_by, purpose);
        }
    }
}

fn refuse_braces(at: &At<'_>, asked_by: &str, purpose: Purpose) {
    match at.json() {
        Json::String(text) if text.contains("{{") => {
            at.invalid::<()>(format!(
                "'{asked_by}' has no effect here, so nothing of it would be put into this text; leave it out, or write \
                 the text out."
            ));
        }
        Json::Array(_) => {
            at.items(0..=usize::MAX).iter().flatten().for_each(|item| refuse_braces(item, asked_by, purpose));
        }
        Json::Object(_) => {
            let Some(mut fields) = at.object() else { return };
            if asked_by == PERSONALIZATION
                && let Some(template) = fields.take("template")
                && !is_filled_in(&template, purpose)
            {
                refuse_braces(&template, asked_by, purpose);
            }
            fields.rest().iter().for_each(|(_, value)| refuse_braces(value, asked_by, purpose));
        }
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Whether the texts of a template inside the push are filled in: with what is known of a recipient, or with its defaults.
fn is_filled_in(template: &At<'_>, purpose: Purpose) -> bool {
    let is_for_recipients = match purpose {
        Purpose::CreateAndSend => true,
        Purpose::Send | Purpose::Stored | Purpose::Pipeline => false,
    };
    let Json::Object(_) = template.json() else { return false };
    let Some(mut fields) = template.object() else { return false };
    let has_defaults = fields.take("variable_defaults").is_some();
    fields.rest();
    is_for_recipients || has_defaults
}
