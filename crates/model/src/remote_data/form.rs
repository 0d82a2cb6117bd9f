//! Preference forms: pages of an app where people subscribe and unsubscribe.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::DataPlatform;
use crate::channel::name_text;
use crate::json::body::{Body, Words};
use crate::json::{At, Json};
use crate::limits;
use crate::subscription::{Scope, SubscriptionListId};

/// A form to be kept for the devices of an app.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct SavedForm {
    pub preference_form: PreferenceForm,
}

/// A page where people choose what they get.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(ignored = ["form_id", "created", "last_updated", "version"])]
pub struct PreferenceForm {
    pub form: Form,
    /// The platforms whose devices get it; all, if not given.
    #[body(length = 1..=4)]
    pub platforms: Option<Vec<DataPlatform>>,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(name = "PreferenceFormContent", check = Form::check)]
pub struct Form {
    /// By which the app opens it.
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS, read = |at| name_text(at, limits::REMOTE_DATA_NAME_CHARS))]
    pub id: String,
    pub display: Option<FormDisplay>,
    pub options: Option<FormOptions>,
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS)]
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct FormDisplay {
    #[body(length = 0..=limits::IN_APP_TEXT_CHARS)]
    pub name: Option<String>,
    #[body(length = 0..=limits::IN_APP_TEXT_CHARS)]
    pub description: Option<String>,
    /// The address of a picture, for alerts.
    #[body(length = 0..=limits::IN_APP_TEXT_CHARS)]
    pub icon: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct FormOptions {
    pub merge_channel_data_to_contact: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(tag = "type")]
pub enum Section {
    Section {
        #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
        id: String,
        display: Option<FormDisplay>,
        #[body(length = 0..=limits::REMOTE_DATA_ITEMS, read = items)]
        items: Vec<Item>,
        #[body(length = 0..=limits::REMOTE_DATA_ITEMS, read = conditions)]
        conditions: Option<Vec<FormCondition>>,
    },
    /// A heading between sections.
    LabeledSectionBreak {
        #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
        id: String,
        display: Option<FormDisplay>,
        #[body(length = 0..=limits::REMOTE_DATA_ITEMS, read = conditions)]
        conditions: Option<Vec<FormCondition>>,
    },
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(name = "PreferenceFormItem")]
pub struct Item {
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub id: String,
    #[body(flatten)]
    pub content: ItemContent,
    pub display: Option<FormDisplay>,
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS, read = conditions)]
    pub conditions: Option<Vec<FormCondition>>,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(tag = "type")]
pub enum ItemContent {
    /// A switch for the subscription of the device.
    ChannelSubscription { subscription_id: SubscriptionListId },
    /// A switch for the subscription of the contact.
    ContactSubscription {
        subscription_id: SubscriptionListId,
        #[body(length = 1..=4)]
        scopes: Vec<Scope>,
    },
    /// Several switches, for kinds of channels of the contact.
    ContactSubscriptionGroup {
        subscription_id: SubscriptionListId,
        #[body(length = 1..=limits::REMOTE_DATA_ITEMS)]
        components: Vec<GroupComponent>,
    },
    /// A text, with a button if wanted.
    Alert { button: Option<AlertButton> },
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct GroupComponent {
    #[body(length = 1..=4)]
    pub scopes: Vec<Scope>,
    pub display: Option<FormDisplay>,
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct AlertButton {
    #[body(length = 1..=limits::IN_APP_TEXT_CHARS)]
    pub text: String,
    /// Actions of the library by their names.
    pub actions: Map<String, Value>,
    #[body(length = 0..=limits::IN_APP_TEXT_CHARS)]
    pub content_description: Option<String>,
}

/// When something of the form is shown. Libraries for iOS know no other conditions and refuse forms that have them.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(tag = "type")]
pub enum FormCondition {
    NotificationOptIn { when_status: OptInStatus },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum OptInStatus {
    OptIn,
    OptOut,
}

/// The item that lets people enter addresses.
const OF_ADDRESSES: &str = "contact_management";
/// Conditions about addresses.
const ABOUT_ADDRESSES: [&str; 2] = ["email_opt_in", "sms_opt_in"];

fn items(at: &At<'_>) -> Option<Vec<Item>> {
    at.array(0..=limits::REMOTE_DATA_ITEMS, |at| {
        if type_of(at) == Some(OF_ADDRESSES) {
            let text = "There are no email and SMS channels here, so that nobody can enter addresses for them; leave this item out.";
            return at.invalid_key("type", text);
        }
        Item::parse(at)
    })
}

fn conditions(at: &At<'_>) -> Option<Vec<FormCondition>> {
    at.array(0..=limits::REMOTE_DATA_ITEMS, |at| {
        if type_of(at).is_some_and(|kind| ABOUT_ADDRESSES.contains(&kind)) {
            let text = "There are no email and SMS channels here, so that nobody opts in there, and libraries for iOS refuse forms \
                        with this condition; leave it out.";
            return at.invalid_key("type", text);
        }
        FormCondition::parse(at)
    })
}

fn type_of<'a>(at: &At<'a>) -> Option<&'a str> {
    match at.json().get("type")? {
        Json::String(kind) => Some(kind.as_str()),
        _ => None,
    }
}

impl Form {
    /// Devices keep what somebody has chosen by the ids of items.
    fn check(self, at: &At<'_>) -> Option<Self> {
        let mut ids = BTreeSet::new();
        for section in &self.sections {
            let items = match section {
                Section::Section { items, .. } => items.as_slice(),
                Section::LabeledSectionBreak { .. } => &[],
            };
            let (Section::Section { id, .. } | Section::LabeledSectionBreak { id, .. }) = section;
            for id in std::iter::once(id).chain(items.iter().map(|item| &item.id)) {
                if !ids.insert(id.as_str()) {
                    return at.invalid_key("sections", format!("Two sections or items have the id '{id}'."));
                }
            }
        }
        Some(self)
    }
}
