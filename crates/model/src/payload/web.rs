//! The web override: keys that only browsers understand.

use super::actions::Actions;
use super::expiry::Expiry;
use super::extra::TextExtra;
use super::http_url::HttpUrl;
use super::interactive::{Interactive, label};
use super::template::TemplateReference;
use crate::json::At;
use crate::json::body::Body;
use crate::limits;

/// The texts that a template can fill in.
pub const WEB_TEXTS: [&str; 2] = ["alert", "title"];

/// Content and options for browsers.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct WebOverride {
    /// The text, in place of that for everybody.
    pub alert: Option<String>,
    /// Shown above the text.
    pub title: Option<String>,
    /// A small picture.
    pub icon: Option<WebImage>,
    /// A large picture.
    pub image: Option<WebImage>,
    /// Values for the web page, by name.
    pub extra: Option<TextExtra>,
    /// Whether it stays until the user closes it.
    pub require_interaction: Option<bool>,
    /// When push services should no longer deliver it. It goes before the expiry of the push.
    pub time_to_live: Option<Expiry>,
    /// At most two, each with its own id.
    #[body(length = 1..=limits::WEB_BUTTONS, read = buttons)]
    pub buttons: Option<Vec<WebButton>>,
    /// What a click does, in place of the actions for everybody.
    pub actions: Option<Actions>,
    /// A built-in type becomes `buttons` where there are none; of other types only apps know the buttons.
    pub interactive: Option<Interactive>,
    /// Where the texts come from instead.
    #[body(first, take = |fields| TemplateReference::take(fields, &WEB_TEXTS))]
    pub template: Option<TemplateReference>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct WebImage {
    /// Where browsers fetch it.
    pub url: HttpUrl,
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct WebButton {
    /// Told to the web page when the button is clicked.
    #[body(length = 1..=usize::MAX)]
    pub id: String,
    /// The text on the button.
    #[body(length = 1..=usize::MAX)]
    pub label: String,
    /// What a click on it does.
    pub actions: Option<Actions>,
    /// Whether a click opens no page, unless an action of the button does. Otherwise a button without such an action opens what a
    /// click on the notification does.
    pub background: Option<bool>,
}

impl WebOverride {
    /// Puts the buttons of a built-in interactive type where browsers look for them, unless the override has its own.
    pub(super) fn show_interactive(&mut self) {
        let Some(interactive) = self.interactive.as_ref().filter(|_| self.buttons.is_none()) else { return };
        let Some(ids) = interactive.kind.buttons() else { return };
        let actions = |id: &str| interactive.button_actions.as_ref()?.get(id).cloned();
        let button = |id: &&str| {
            let background = interactive.kind.is_background(id).then_some(true);
            Some(WebButton { id: (*id).to_owned(), label: label(id)?.to_owned(), actions: actions(id), background })
        };
        self.buttons = Some(ids.iter().filter_map(button).collect());
    }
}

fn buttons(at: &At<'_>) -> Option<Vec<WebButton>> {
    let buttons = at.array(1..=limits::WEB_BUTTONS, WebButton::parse)?;
    if let [first, second] = buttons.as_slice()
        && first.id == second.id
    {
        return at.invalid("Two buttons with the same id could not be told apart.");
    }
    Some(buttons)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<WebOverride, String> {
        parse(body.to_string().as_bytes(), WebOverride::parse).map_err(|problems| problems.first().path.clone())
    }

    #[test]
    fn good_and_bad() {
        let button = |id: &str| json!({"id": id, "label": "Go", "actions": {"open": {"type": "home"}}});
        for body in [
            json!({}),
            json!({"alert": "a", "title": "t", "icon": {"url": "https://example.com/i.png"},
                "image": {"url": "https://example.com/b.png"}, "extra": {"a": "b"}, "require_interaction": true}),
            json!({"time_to_live": 60, "buttons": [button("one"), {"id": "two", "label": "No", "background": true}]}),
            json!({"actions": {"open": {"type": "url", "content": "https://example.com"}}}),
            json!({"interactive": {"type": "ua_share"}}),
            json!({"template": {"fields": {"title": "x"}}}),
        ] {
            assert_eq!(json!(read(&body).unwrap()), body);
        }
        for (body, path) in [
            (json!(null), ""),
            (json!({"summary": "x"}), "summary"),
            (json!({"icon": "https://example.com/i.png"}), "icon"),
            (json!({"icon": {}}), "icon.url"),
            (json!({"icon": {"url": "i.png"}}), "icon.url"),
            (json!({"image": {"url": "https://example.com", "alt": "x"}}), "image.alt"),
            (json!({"extra": {"a": 1}}), "extra.a"),
            (json!({"require_interaction": "true"}), "require_interaction"),
            (json!({"time_to_live": false}), "time_to_live"),
            (json!({"buttons": []}), "buttons"),
            (json!({"buttons": [button("1"), button("2"), button("3")]}), "buttons"),
            (json!({"buttons": [button("1"), button("1")]}), "buttons"),
            (json!({"buttons": [{"id": "x"}]}), "buttons[0].label"),
            (json!({"buttons": [button("1"), {"id": "", "label": "x"}]}), "buttons[1].id"),
            (json!({"buttons": [{"id": "x", "label": "x", "actions": {}}]}), "buttons[0].actions"),
            (json!({"buttons": [{"id": "x", "label": "x", "background": 1}]}), "buttons[0].background"),
            (json!({"actions": {"open": {"type": "url"}}}), "actions.open.content"),
            (json!({"template": {"external_id": "x"}, "title": "x"}), "title"),
        ] {
            assert_eq!(read(&body).unwrap_err(), path, "{body}");
        }
    }
}
