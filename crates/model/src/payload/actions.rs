//! The actions of a device when its user taps the notification or one of its buttons.

mod changes;
mod device;
mod open;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json::body::Body;
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::tag::Tag;

pub use changes::{AttributeChange, CustomEvent, Subject, SubscriptionChange, TagChange, TagOperation};
pub use open::{InlinePage, LandingPage, OpenAction, SceneContent, SceneTemplate};

/// What a tap on the notification or on a button does. At least one action is given.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(
    not_empty = "At least one action must be given; leave 'actions' out when there is none.",
    check = Actions::note_conflicts
)]
pub struct Actions {
    /// Tags that the channel gets.
    #[body(length = 1..=limits::TAGS_PER_OPERATION)]
    pub add_tag: Option<OneOrMany<Tag>>,
    /// Tags that the channel loses.
    #[body(length = 1..=limits::TAGS_PER_OPERATION)]
    pub remove_tag: Option<OneOrMany<Tag>>,
    /// Text that the user may share.
    #[body(length = 1..=limits::SHARE_CHARS)]
    pub share: Option<String>,
    /// What is opened.
    pub open: Option<OpenAction>,
    /// Actions of the app's own, by the name it registered them under.
    pub app_defined: Option<BTreeMap<String, Value>>,
    /// An event that is reported.
    pub add_custom_event: Option<CustomEvent>,
    /// Attributes that are set or removed.
    #[body(length = 1..=limits::CHANGES_PER_ACTION)]
    pub attributes: Option<Vec<AttributeChange>>,
    /// Tags in groups that are added or removed.
    #[body(length = 1..=limits::CHANGES_PER_ACTION)]
    pub tags: Option<Vec<TagChange>>,
    /// Subscriptions that begin or end.
    #[body(length = 1..=limits::CHANGES_PER_ACTION)]
    pub subscription_list: Option<Vec<SubscriptionChange>>,
}

impl Actions {
    /// The page that the service has to host for the `open` action, if it has one.
    pub fn inline_page(&self) -> Option<&InlinePage> {
        match &self.open {
            Some(OpenAction::LandingPage { content: LandingPage::Inline(page), .. }) => Some(page),
            Some(
                OpenAction::LandingPage { content: LandingPage::Hosted { .. }, .. }
                | OpenAction::Url { .. }
                | OpenAction::DeepLink { .. }
                | OpenAction::Scene { .. }
                | OpenAction::Home,
            )
            | None => None,
        }
    }

    /// An app-defined action must not have the name of one that is given under its own key as well.
    fn note_conflicts(self, at: &At<'_>) -> Option<Self> {
        for name in self.app_defined.iter().flatten().map(|(name, _)| name) {
            if let Some(key) = self.action_called(name) {
                at.invalid_key::<()>(
                    &format!("app_defined.{name}"),
                    format!("The action '{name}' is already given as '{key}'."),
                );
            }
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests;
