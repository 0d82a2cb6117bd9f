//! The expanded form of an Android or Amazon notification.

use crate::json::body::Body;
use crate::limits;

/// The expanded form of the notification.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Style {
    #[body(flatten)]
    pub content: StyleContent,
    /// Shown above the expanded text.
    pub title: Option<String>,
    /// Shown below it.
    pub summary: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(tag = "type")]
pub enum StyleContent {
    BigText {
        /// The long text.
        big_text: String,
    },
    BigPicture {
        /// The URL of a picture.
        #[body(length = 1..=usize::MAX)]
        big_picture: String,
    },
    Inbox {
        /// The lines, one below the other.
        #[body(length = 1..=limits::STYLE_LINES)]
        lines: Vec<String>,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<Style, String> {
        parse(body.to_string().as_bytes(), Style::parse).map_err(|problems| problems.first().path.clone())
    }

    #[test]
    fn good_and_bad() {
        for body in [
            json!({"type": "big_text", "big_text": "long", "title": "t", "summary": "s"}),
            json!({"type": "big_picture", "big_picture": "https://example.com/a.png"}),
            json!({"type": "inbox", "lines": ["one", ""]}),
        ] {
            assert_eq!(json!(read(&body).unwrap()), body);
        }
        for (body, path) in [
            (json!({}), "type"),
            (json!("big_text"), ""),
            (json!({"type": "small_text"}), "type"),
            (json!({"type": "big_text"}), "big_text"),
            (json!({"type": "big_text", "big_picture": "x"}), "big_text"),
            (json!({"type": "big_text", "big_text": "x", "lines": []}), "lines"),
            (json!({"type": "big_picture", "big_picture": ""}), "big_picture"),
            (json!({"type": "inbox", "lines": []}), "lines"),
            (json!({"type": "inbox", "lines": vec!["x"; 101]}), "lines"),
            (json!({"type": "inbox", "lines": ["x", 1]}), "lines[1]"),
            (json!({"type": "inbox", "lines": ["x"], "title": 1}), "title"),
        ] {
            assert_eq!(read(&body).unwrap_err(), path, "{body}");
        }
    }
}
