//! Events about in-app messages beyond their being shown, and about feature flags, with the bodies that customers see.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::devices::InAppDisplay;

/// Something that happened with an in-app message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InAppEvent {
    ButtonTap,
    PageView,
    PageSwipe,
    PagerCompleted,
    PagerSummary,
    FormDisplay,
    FormResult,
    /// It would have been shown, but the device is in a holdout group.
    Control,
    /// It would have been shown, but the service said no.
    Exclusion,
    /// What became of a scene or a survey, in a word.
    Experience,
}

impl InAppEvent {
    pub(super) const fn public_name(self) -> &'static str {
        match self {
            InAppEvent::ButtonTap => "IN_APP_BUTTON_TAP",
            InAppEvent::PageView => "IN_APP_PAGE_VIEW",
            InAppEvent::PageSwipe => "IN_APP_PAGE_SWIPE",
            InAppEvent::PagerCompleted => "IN_APP_PAGER_COMPLETED",
            InAppEvent::PagerSummary => "IN_APP_PAGER_SUMMARY",
            InAppEvent::FormDisplay => "IN_APP_FORM_DISPLAY",
            InAppEvent::FormResult => "IN_APP_FORM_RESULT",
            InAppEvent::Control => "IN_APP_MESSAGE_CONTROL",
            InAppEvent::Exclusion => "IN_APP_MESSAGE_EXCLUSION",
            InAppEvent::Experience => "IN_APP_EXPERIENCES",
        }
    }
}

/// The message that it is about, and what happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InAppInteraction {
    #[serde(flatten)]
    pub display: InAppDisplay,
    /// By the type of the event.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

/// The app has used a feature flag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlagInteraction {
    pub flag_id: String,
    pub flag_name: String,
    /// Whether it was on.
    pub eligible: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant_id: Option<String>,
}
