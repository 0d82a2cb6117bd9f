//! The names that operators give to apps and webhooks, for people to read.

use crate::json::At;
use crate::limits;

pub fn parse(at: &At<'_>) -> Option<String> {
    let name = at.text(1..=limits::DISPLAY_NAME_CHARS)?;
    if name.contains(char::is_control) {
        return at.invalid("A name must not contain control characters.");
    }
    Some(name)
}
