//! What became of scenes and surveys, told in one word beside the events that say it in detail.

use model::device_event::UploadedInApp;
use model::event::InAppEvent;
use serde_json::Value;

/// When a message is shown.
pub(super) fn shown(about: &UploadedInApp) -> Vec<&'static str> {
    let kinds = [("scene", "scene_displayed"), ("survey", "survey_displayed")];
    kinds.into_iter().filter(|(kind, _)| is_of(about, kind)).map(|(_, name)| name).collect()
}

/// When somebody does something with it.
pub(super) fn used(event: InAppEvent, about: &UploadedInApp) -> Vec<&'static str> {
    match event {
        InAppEvent::PagerCompleted if is_of(about, "scene") => vec!["scene_completed"],
        InAppEvent::FormResult if is_of(about, "survey") => vec!["survey_submitted"],
        _ => Vec::new(),
    }
}

/// When it is closed.
pub(super) fn closed(about: &UploadedInApp) -> Vec<&'static str> {
    let is_left = |part: &str, key: &str| about.context.as_ref().is_some_and(|context| context[part][key] == false);
    let scene = (is_of(about, "scene") && is_left("pager", "completed")).then_some("scene_incomplete");
    let survey = (is_of(about, "survey") && is_left("form", "submitted")).then_some("survey_not_submitted");
    scene.into_iter().chain(survey).collect()
}

/// Whether the message says that it is of a kind.
fn is_of(about: &UploadedInApp, kind: &str) -> bool {
    let kinds = about.context.as_ref().and_then(|context| context.get("reporting_context")?.get("content_types"));
    kinds.and_then(Value::as_array).is_some_and(|kinds| kinds.iter().any(|one| one == kind))
}
