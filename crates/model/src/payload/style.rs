//! The expanded form of an Android or Amazon notification.

use serde::Serialize;

use crate::json::At;
use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Style {
    #[serde(flatten)]
    pub content: StyleContent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StyleContent {
    BigText {
        big_text: String,
    },
    /// The URL of a picture.
    BigPicture {
        big_picture: String,
    },
    Inbox {
        lines: Vec<String>,
    },
}

#[derive(Clone, Copy)]
enum Kind {
    BigText,
    BigPicture,
    Inbox,
}

impl Style {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let kinds = [("big_text", Kind::BigText), ("big_picture", Kind::BigPicture), ("inbox", Kind::Inbox)];
        let content = match fields.required("type", |kind| kind.choice(&kinds))? {
            Kind::BigText => {
                fields.required("big_text", At::any_text).map(|big_text| StyleContent::BigText { big_text })
            }
            Kind::BigPicture => fields
                .required("big_picture", |url| url.text(1..=usize::MAX))
                .map(|big_picture| StyleContent::BigPicture { big_picture }),
            Kind::Inbox => fields
                .required("lines", |lines| lines.array(1..=limits::STYLE_LINES, At::any_text))
                .map(|lines| StyleContent::Inbox { lines }),
        };
        let title = fields.optional("title", At::any_text);
        let summary = fields.optional("summary", At::any_text);
        fields.finish();
        Some(Self { content: content?, title, summary })
    }
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
