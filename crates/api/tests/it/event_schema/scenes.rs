//! The keys of events about in-app messages beyond their being shown, and about feature flags.

use super::Shape::{Anything, Flag, List, Number, Object, OneOf, Own, Text, Uuid, WholeNumber};
use super::{CAMPAIGNS, Key, PUSH, Shape, may, must};

/// The keys of the bodies, by type.
pub(super) const BODIES: &[(&str, &[&[Key]])] = &[
    ("IN_APP_BUTTON_TAP", &[&SCENE, &[must("button_id", Text)]]),
    (
        "IN_APP_PAGE_VIEW",
        &[&SCENE, PAGE, &[must("page_count", WholeNumber), must("viewed_count", WholeNumber), must("completed", Flag)]],
    ),
    (
        "IN_APP_PAGE_SWIPE",
        &[
            &SCENE,
            &[
                must("pager_identifier", Text),
                must("from_page_index", WholeNumber),
                must("from_pager_identifier", Text),
                must("to_page_index", WholeNumber),
                must("to_page_identifier", Text),
            ],
        ],
    ),
    ("IN_APP_PAGER_COMPLETED", &[&SCENE, PAGE, &[must("page_count", WholeNumber)]]),
    (
        "IN_APP_PAGER_SUMMARY",
        &[
            &SCENE,
            &[
                must("pager_identifier", Text),
                may("page_identifier", Text),
                must("page_count", WholeNumber),
                must("completed", Flag),
                must("viewed_pages", List(VIEWED_PAGE)),
            ],
        ],
    ),
    (
        "IN_APP_FORM_DISPLAY",
        &[&SCENE, &[must("type", OneOf(&["DISPLAY"])), must("forms", Object(&[must("form_id", Text)]))]],
    ),
    ("IN_APP_FORM_RESULT", &[&SCENE, &[must("type", OneOf(&["RESULT"])), must("forms", Object(FORM))]]),
    ("IN_APP_MESSAGE_CONTROL", &[&SCENE, &[must("type", OneOf(&["CONTROL"]))]]),
    ("IN_APP_MESSAGE_EXCLUSION", &[&SCENE, &[must("type", OneOf(&["AUDIENCE_CHECK_EXCLUDED"]))]]),
    (
        "IN_APP_EXPERIENCES",
        &[
            &SCENE,
            &[must(
                "event_name",
                OneOf(&[
                    "scene_displayed",
                    "scene_completed",
                    "scene_incomplete",
                    "survey_displayed",
                    "survey_submitted",
                    "survey_not_submitted",
                ]),
            )],
        ],
    ),
    (
        "FEATURE_FLAG_INTERACTION",
        &[&[must("flag_id", Uuid), must("flag_name", Text), must("eligible", Flag), may("variant_id", Text)]],
    ),
];

/// As `SHOWN`, with where in a scene something happened.
const SCENE: [Key; 9] = [
    may("push_id", Uuid),
    may("app_defined_id", Text),
    may("group_id", Uuid),
    may("variant_id", WholeNumber),
    may("session_id", Text),
    may("triggering_push", PUSH),
    may("campaigns", CAMPAIGNS),
    may("locale", Text),
    may("context", Object(&[may("reporting_context", Own), may("state", Object(STATE))])),
];

const STATE: &[Key] = &[
    may(
        "form",
        Object(&[
            must("form_identifier", Text),
            must("submitted", Flag),
            may("type", FORM_TYPE),
            may("response_type", RESPONSE_TYPE),
        ]),
    ),
    may(
        "pager",
        Object(&[
            must("identifier", Text),
            must("page_identifier", Text),
            must("page_index", WholeNumber),
            must("page_count", WholeNumber),
            may("completed", Flag),
        ]),
    ),
];

const PAGE: &[Key] = &[must("pager_identifier", Text), must("page_identifier", Text), must("page_index", WholeNumber)];

const VIEWED_PAGE: &[Key] =
    &[must("page_identifier", Text), must("page_index", WholeNumber), must("display_time_ms", WholeNumber)];

const FORM_TYPE: Shape = OneOf(&["form", "nps"]);
const RESPONSE_TYPE: Shape = OneOf(&["nps", "user_feedback"]);

const FORM: &[Key] = &[
    must("form_id", Text),
    must("type", FORM_TYPE),
    may("response_type", RESPONSE_TYPE),
    may(
        "nps",
        Object(&[
            must("question_id", Text),
            must("score", Number),
            must("audience_category", OneOf(&["PROMOTER", "PASSIVE", "DETRACTOR"])),
        ]),
    ),
    must("responses", List(&[must("question_id", Text), must("type", QUESTION_TYPE), must("value", Anything)])),
];

const QUESTION_TYPE: Shape = OneOf(&["single_choice", "multiple_choice", "text_input", "email_input"]);
