//! Notifications with buttons: built-in types, whose buttons are known, and types of the app's own.

mod built_in;

use std::collections::BTreeMap;

use schemars::json_schema;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::actions::{Actions, InlinePage};
use crate::json::At;
use crate::json::body::{Body, Read};

use built_in::is_background;
pub(super) use built_in::label;
pub use built_in::{BUILT_IN_TYPES, BuiltInType};

/// Buttons of a notification.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct Interactive {
    /// Which buttons are shown.
    #[body(rename = "type")]
    pub kind: InteractiveType,
    /// The actions of each button, by its id.
    #[body(read = |at| button_actions(at, kind.as_ref()))]
    pub button_actions: Option<BTreeMap<String, Actions>>,
}

/// A built-in type, or the name of a category that the app registered itself.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = {
    let built_in: Vec<_> = BUILT_IN_TYPES.iter().map(|built_in| built_in.name).collect();
    let own = json!({"type": "string", "minLength": 1, "pattern": "^(?!ua_)"});
    json_schema!({"anyOf": [{"type": "string", "enum": built_in}, own]})
})]
pub enum InteractiveType {
    BuiltIn(&'static BuiltInType),
    /// A category that the app registered itself; only the app knows its buttons.
    Custom(String),
}

impl Interactive {
    /// The actions of every button by their device-side names; see [`Actions::for_device`].
    pub fn actions_for_device(&self, page_url: impl Fn(&InlinePage) -> String) -> Map<String, Value> {
        let buttons = self.button_actions.iter().flatten();
        buttons.map(|(button, actions)| (button.clone(), Value::Object(actions.for_device(&page_url)))).collect()
    }
}

fn button_actions(at: &At<'_>, kind: Option<&InteractiveType>) -> Option<BTreeMap<String, Actions>> {
    let known = kind.and_then(InteractiveType::buttons);
    let entries = at.object()?.rest().into_iter().map(|(button, actions)| {
        if let Some(known) = known.filter(|known| !known.contains(&button)) {
            return actions.invalid(format!("This type has no such button; it has {}.", known.join(" and ")));
        }
        Some((button.to_owned(), Actions::parse(&actions)?))
    });
    entries.collect::<Vec<_>>().into_iter().collect()
}

impl InteractiveType {
    fn parse(at: &At<'_>) -> Option<Self> {
        let name = at.text(1..=usize::MAX)?;
        if !name.starts_with("ua_") {
            return Some(InteractiveType::Custom(name));
        }
        match BUILT_IN_TYPES.iter().find(|built_in| built_in.name == name) {
            Some(built_in) => Some(InteractiveType::BuiltIn(built_in)),
            None => at.invalid(format!(
                "'{name}' is not a built-in interactive type; names of other types must not begin with 'ua_'."
            )),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            InteractiveType::BuiltIn(built_in) => built_in.name,
            InteractiveType::Custom(name) => name,
        }
    }

    /// The ids of the buttons, if they can be known.
    pub fn buttons(&self) -> Option<&'static [&'static str]> {
        match self {
            InteractiveType::BuiltIn(built_in) => Some(built_in.buttons),
            InteractiveType::Custom(_) => None,
        }
    }

    /// Whether the app stays where it is when this button is clicked.
    pub(super) fn is_background(&self, button: &str) -> bool {
        match self {
            InteractiveType::BuiltIn(built_in) => is_background(built_in.name, button),
            InteractiveType::Custom(_) => false,
        }
    }
}

impl Serialize for InteractiveType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<Interactive, String> {
        parse(body.to_string().as_bytes(), Interactive::parse).map_err(|problems| problems.first().path.clone())
    }

    #[test]
    fn every_built_in_type_takes_its_buttons_and_no_others() {
        assert_eq!(BUILT_IN_TYPES.len(), 37);
        for built_in in BUILT_IN_TYPES {
            assert!(built_in.buttons.iter().all(|button| label(button).is_some()), "{}", built_in.name);
            let buttons: Map<_, _> =
                built_in.buttons.iter().map(|button| ((*button).to_owned(), json!({"add_tag": "x"}))).collect();
            let body = json!({"type": built_in.name, "button_actions": buttons});
            assert_eq!(json!(read(&body).unwrap()), body);
            let body = json!({"type": built_in.name, "button_actions": {"push_me": {"add_tag": "x"}}});
            assert_eq!(read(&body).unwrap_err(), "button_actions.push_me");
        }
    }

    #[test]
    fn some_buttons_stay_in_the_background() {
        let is_background = |kind: &str, button| read(&json!({"type": kind})).unwrap().kind.is_background(button);
        assert!(!is_background("ua_yes_no_foreground", "yes") && is_background("ua_yes_no_foreground", "no"));
        assert!(is_background("ua_yes_no_background", "yes") && is_background("ua_remind_share", "remind"));
        assert!(!is_background("ua_remind_share", "share") && !is_background("my_type", "no"));
    }

    #[test]
    fn good_and_bad() {
        for body in [
            json!({"type": "ua_yes_no_foreground"}),
            json!({"type": "ua_yes_no_foreground", "button_actions": {}}),
            json!({"type": "ua_yes_no_foreground", "button_actions": {"no": {"share": "x"}}}),
            json!({"type": "my_type", "button_actions": {"anything": {"share": "x"}}}),
        ] {
            assert_eq!(json!(read(&body).unwrap()), body);
        }
        for (body, path) in [
            (json!({}), "type"),
            (json!("ua_follow"), ""),
            (json!({"type": ""}), "type"),
            (json!({"type": 1}), "type"),
            (json!({"type": "ua_custom"}), "type"),
            (json!({"type": "ua_follow", "buttons": {}}), "buttons"),
            (json!({"type": "ua_follow", "button_actions": []}), "button_actions"),
            (json!({"type": "ua_follow", "button_actions": {"follow": null}}), "button_actions.follow"),
            (json!({"type": "ua_follow", "button_actions": {"follow": {}}}), "button_actions.follow"),
            (
                json!({"type": "ua_follow", "button_actions": {"follow": {"add_tag": []}}}),
                "button_actions.follow.add_tag",
            ),
            (json!({"type": "ua_follow", "button_actions": {"unfollow": {"share": "x"}}}), "button_actions.unfollow"),
        ] {
            assert_eq!(read(&body).unwrap_err(), path, "{body}");
        }
    }

    #[test]
    fn devices_get_the_actions_of_each_button() {
        let body =
            json!({"type": "ua_yes_no_background", "button_actions": {"yes": {"add_tag": "y"}, "no": {"share": "n"}}});
        let named = read(&body).unwrap().actions_for_device(|_| panic!("there is no inline page"));
        assert_eq!(Value::Object(named), json!({"yes": {"^+t": "y"}, "no": {"^s": "n"}}));
    }
}
