//! How a value is written so that it cannot be taken for markup of the text around it.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The kind of text that a template makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    #[default]
    Text,
    Html,
    /// A URL whose beginning is written out.
    Url,
    /// A whole URL, which may begin with a value: that is written as it is.
    WholeUrl,
}

impl Target {
    pub(crate) fn escaped(self, text: &str) -> Cow<'_, str> {
        match self {
            Target::Text => text.into(),
            Target::Html => html_escaped(text),
            Target::Url | Target::WholeUrl => percent_encoded(text),
        }
    }
}

pub fn html_escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped.into()
}

/// Everything escaped but letters, digits, `-`, `.`, `_` and `~`.
pub fn percent_encoded(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, ESCAPED).into()
}
