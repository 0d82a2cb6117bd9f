//! What the place of a text in a push says of it: whether it is HTML, so that values put into it must not be taken for markup, and
//! whether its name is the caller's own.

use crate::json::Json;

/// The facts about the texts of an object that follow from its place.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings {
    /// Whether a `body` without a type of its own is HTML: that of a Message Center message, wherever it is written.
    bodies_are_html: bool,
    /// Whether names are the caller's own, so that they mean nothing here.
    is_free_form: bool,
}

/// The keys below these have a meaning for the caller alone.
const FREE_FORM: [&str; 8] =
    ["app_defined", "extra", "global_attributes", "defaults", "params", "content_state", "attributes", "options"];

impl Surroundings {
    pub(crate) const OUTSIDE: Self = Self { bodies_are_html: false, is_free_form: false };
    /// Of a body all of whose names are the caller's own.
    pub(crate) const OF_OWN_NAMES: Self = Self { bodies_are_html: false, is_free_form: true };

    /// The surroundings inside an object under `key`. The content type is examined after its own variables are filled in.
    pub(crate) fn inside(self, key: &str, content_type: Option<&str>) -> Self {
        let bodies_are_html = match (content_type, key) {
            (Some(content_type), _) => is_html(content_type),
            (None, "message") => true,
            (None, "template" | "fields") => self.bodies_are_html,
            (None, _) => false,
        };
        Self { bodies_are_html, is_free_form: self.is_free_form || FREE_FORM.contains(&key) }
    }

    /// Whether names mean nothing here.
    pub(crate) fn is_free_form(self) -> bool {
        self.is_free_form
    }

    pub(crate) fn is_html(self, key: &str) -> bool {
        !self.is_free_form && (key == "html_body" || (key == "body" && self.bodies_are_html))
    }
}

/// The content type of an object that has one, in either spelling.
pub(crate) fn content_type(entries: &[(String, Json)]) -> Option<&str> {
    entries.iter().find_map(|(key, value)| match (key.as_str(), value) {
        ("content_type" | "content-type", Json::String(text)) => Some(text.as_str()),
        _ => None,
    })
}

fn is_html(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html))
}
