//! Actions as devices know them: under short names, with the values their registries expect.

use serde_json::{Map, Value, json};

use super::{
    Actions, AttributeChange, CustomEvent, InlinePage, LandingPage, OpenAction, Subject, SubscriptionChange, TagChange,
};

/// One action: its key in the API and every name devices have for it, the first being the one that is sent.
struct Names {
    key: &'static str,
    device: &'static [&'static str],
}

const ADD_TAG: Names = Names { key: "add_tag", device: &["^+t", "add_tags_action"] };
const REMOVE_TAG: Names = Names { key: "remove_tag", device: &["^-t", "remove_tags_action"] };
const SHARE: Names = Names { key: "share", device: &["^s", "share_action"] };
const OPEN_URL: Names = Names { key: "open", device: &["^u", "open_external_url_action"] };
const OPEN_DEEP_LINK: Names = Names { key: "open", device: &["^d", "deep_link_action"] };
const OPEN_LANDING_PAGE: Names = Names { key: "open", device: &["^p", "landing_page_action"] };
/// Devices have no name for these, and nothing is sent: a tap opens the app or the website anyway, and scenes are refused.
const OPEN_UNNAMED: Names = Names { key: "open", device: &[] };
/// The long name comes first because the short one differs between platforms.
const ADD_CUSTOM_EVENT: Names = Names { key: "add_custom_event", device: &["add_custom_event_action", "^+ce", "^+e"] };
const ATTRIBUTES: Names =
    Names { key: "attributes", device: &["^a", "set_attributes_action", "modify_attributes_action"] };
const TAGS: Names = Names { key: "tags", device: &["^t", "tag_action"] };
const SUBSCRIPTION_LIST: Names = Names {
    key: "subscription_list",
    device: &["^sl", "^sla", "subscription_list_action", "edit_subscription_list_action"],
};

impl Actions {
    /// The actions by their device-side names. `page_url` says where an inline landing page is hosted.
    pub fn for_device(&self, page_url: impl Fn(&InlinePage) -> String) -> Map<String, Value> {
        let mut named = Map::new();
        let mut name = |names: &Names, value: Option<Value>| {
            if let (Some(sent), Some(value)) = (names.device.first(), value) {
                named.insert((*sent).to_owned(), value);
            }
        };
        name(&ADD_TAG, self.add_tag.as_ref().map(|tags| json!(tags)));
        name(&REMOVE_TAG, self.remove_tag.as_ref().map(|tags| json!(tags)));
        name(&SHARE, self.share.as_ref().map(|text| json!(text)));
        if let Some(open) = &self.open {
            name(open_names(open), open_value(open, page_url));
        }
        name(&ADD_CUSTOM_EVENT, self.add_custom_event.as_ref().map(event_value));
        name(&ATTRIBUTES, self.attributes.as_deref().map(attributes_value));
        name(&TAGS, self.tags.as_deref().map(tags_value));
        name(&SUBSCRIPTION_LIST, self.subscription_list.as_deref().map(subscriptions_value));
        named.extend(self.app_defined.iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
        named
    }

    /// As [`Actions::for_device`], for browsers. They cannot follow a link into an app, so they open the fallback of an action
    /// where there is one.
    pub fn for_browser(&self, page_url: impl Fn(&InlinePage) -> String) -> Map<String, Value> {
        match &self.open {
            Some(
                OpenAction::DeepLink { fallback_url: Some(url), .. }
                | OpenAction::LandingPage { fallback_url: Some(url), .. },
            ) => {
                let open = Some(OpenAction::Url { content: url.as_str().to_owned() });
                Self { open, ..self.clone() }.for_device(page_url)
            }
            Some(_) | None => self.for_device(page_url),
        }
    }

    /// The API key of the given action that has this name, in the API or on devices.
    pub(super) fn action_called(&self, name: &str) -> Option<&'static str> {
        self.given().into_iter().find(|names| names.key == name || names.device.contains(&name)).map(|names| names.key)
    }

    /// Whether a device would find this name among the actions, given or app-defined.
    pub fn uses_device_name(&self, name: &str) -> bool {
        self.given().into_iter().any(|names| names.device.contains(&name))
            || self.app_defined.as_ref().is_some_and(|own| own.contains_key(name))
    }

    fn given(&self) -> Vec<&'static Names> {
        let given = [
            self.add_tag.is_some().then_some(&ADD_TAG),
            self.remove_tag.is_some().then_some(&REMOVE_TAG),
            self.share.is_some().then_some(&SHARE),
            self.open.as_ref().map(open_names),
            self.add_custom_event.is_some().then_some(&ADD_CUSTOM_EVENT),
            self.attributes.is_some().then_some(&ATTRIBUTES),
            self.tags.is_some().then_some(&TAGS),
            self.subscription_list.is_some().then_some(&SUBSCRIPTION_LIST),
        ];
        given.into_iter().flatten().collect()
    }
}

fn open_names(open: &OpenAction) -> &'static Names {
    match open {
        OpenAction::Url { .. } => &OPEN_URL,
        OpenAction::DeepLink { .. } => &OPEN_DEEP_LINK,
        OpenAction::LandingPage { .. } => &OPEN_LANDING_PAGE,
        OpenAction::Scene { .. } | OpenAction::Home => &OPEN_UNNAMED,
    }
}

fn open_value(open: &OpenAction, page_url: impl Fn(&InlinePage) -> String) -> Option<Value> {
    match open {
        OpenAction::Url { content } | OpenAction::DeepLink { content, .. } => Some(json!(content)),
        OpenAction::LandingPage { content: LandingPage::Hosted { url }, .. } => Some(json!({"url": url})),
        OpenAction::LandingPage { content: LandingPage::Inline(page), .. } => Some(json!({"url": page_url(page)})),
        OpenAction::Scene { .. } | OpenAction::Home => None,
    }
}

/// Older devices only know the longer keys; newer ones know both.
fn event_value(event: &CustomEvent) -> Value {
    let mut value = Map::from_iter([("event_name".to_owned(), json!(event.name))]);
    if let Some(number) = &event.value {
        value.insert("event_value".to_owned(), json!(number));
    }
    if let Some(properties) = &event.properties {
        value.insert("properties".to_owned(), json!(properties));
    }
    Value::Object(value)
}

/// Devices group the changes by subject, and call a contact a named user.
fn attributes_value(changes: &[AttributeChange]) -> Value {
    let mut by_subject = json!({});
    for change in changes {
        let (AttributeChange::Set { subject, .. } | AttributeChange::Remove { subject, .. }) = change;
        let subject = match subject {
            Subject::Channel => "channel",
            Subject::Contact => "named_user",
        };
        match change {
            AttributeChange::Set { name, value, .. } => by_subject[subject]["set"][name] = value.clone(),
            AttributeChange::Remove { name, .. } => match &mut by_subject[subject]["remove"] {
                Value::Array(names) => names.push(json!(name)),
                not_yet => *not_yet = json!([name]),
            },
        }
    }
    by_subject
}

/// Devices want an array even for one tag.
fn tags_value(changes: &[TagChange]) -> Value {
    let for_device = |change: &TagChange| {
        let mut value = json!(change);
        value["tags"] = json!(change.tags.as_slice());
        value
    };
    changes.iter().map(for_device).collect()
}

/// Devices say `list` where the API says `list_id`.
fn subscriptions_value(changes: &[SubscriptionChange]) -> Value {
    let for_device = |change: &SubscriptionChange| {
        let mut value = json!({"type": change.subject, "action": change.operation, "list": change.list_id});
        if let Some(scope) = &change.scope {
            value["scope"] = json!(scope);
        }
        value
    };
    changes.iter().map(for_device).collect()
}
