//! The actions of a device when its user taps the notification or one of its buttons.

mod changes;
mod device;
mod open;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::json::{At, Json, OneOrMany};
use crate::limits;
use crate::tag::Tag;

pub use changes::{AttributeChange, CustomEvent, Subject, SubscriptionChange, TagChange, TagOperation};
pub use open::{InlinePage, LandingPage, OpenAction, SceneContent, SceneTemplate};

/// At least one of the actions is given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Actions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_tag: Option<OneOrMany<Tag>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_tag: Option<OneOrMany<Tag>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenAction>,
    /// Actions of the app's own, by the name it registered them under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_defined: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_custom_event: Option<CustomEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<AttributeChange>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<TagChange>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription_list: Option<Vec<SubscriptionChange>>,
}

impl Actions {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        if matches!(at.json(), Json::Object(entries) if entries.is_empty()) {
            return at.invalid("At least one action must be given; leave 'actions' out when there is none.");
        }
        let add_tag = fields.optional("add_tag", tags);
        let remove_tag = fields.optional("remove_tag", tags);
        let share = fields.optional("share", |text| text.text(1..=limits::SHARE_CHARS));
        let open = fields.optional("open", OpenAction::parse);
        let own = fields.take("app_defined");
        let app_defined = own.as_ref().and_then(app_defined);
        let add_custom_event = fields.optional("add_custom_event", CustomEvent::parse);
        let changes = 1..=limits::CHANGES_PER_ACTION;
        let attributes = fields.optional("attributes", |at| at.array(changes.clone(), AttributeChange::parse));
        let tags = fields.optional("tags", |at| at.array(changes.clone(), TagChange::parse));
        let subscription_list = fields.optional("subscription_list", |at| at.array(changes, SubscriptionChange::parse));
        fields.finish();
        let actions = Self {
            add_tag,
            remove_tag,
            share,
            open,
            app_defined,
            add_custom_event,
            attributes,
            tags,
            subscription_list,
        };
        if let Some(own) = own {
            actions.note_conflicts(&own);
        }
        Some(actions)
    }

    /// The page that the service has to host for the `open` action, if it has one.
    pub fn inline_page(&self) -> Option<&InlinePage> {
        match &self.open {
            Some(OpenAction::LandingPage { content: LandingPage::Inline(page) }) => Some(page),
            Some(
                OpenAction::LandingPage { content: LandingPage::Hosted { .. } }
                | OpenAction::Url { .. }
                | OpenAction::DeepLink { .. }
                | OpenAction::Scene { .. }
                | OpenAction::Home,
            )
            | None => None,
        }
    }

    /// An app-defined action must not have the name of one that is given under its own key as well.
    fn note_conflicts(&self, app_defined: &At<'_>) {
        for name in self.app_defined.iter().flatten().map(|(name, _)| name) {
            if let Some(key) = self.action_called(name) {
                let message = format!("The action '{name}' is already given as '{key}'.");
                app_defined.invalid_key::<()>(name, message);
            }
        }
    }
}

fn tags(at: &At<'_>) -> Option<OneOrMany<Tag>> {
    at.one_or_many(1..=limits::TAGS_PER_OPERATION, Tag::parse)
}

fn app_defined(at: &At<'_>) -> Option<BTreeMap<String, Value>> {
    at.object()?.into_map(0..=usize::MAX, |value| Some(value.json().to_value()))
}

#[cfg(test)]
mod tests;
