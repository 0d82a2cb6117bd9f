//! Accounts of the people who use the console, and what each of them may do in which app.

use std::fmt;

use schemars::json_schema;

use crate::json::At;
use crate::json::body::{Body, Read, Words};
use crate::{limits, name};

/// What somebody may do in an app. Each role may do all that the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Words)]
pub enum Role {
    /// Sees reports, messages and counts, but nobody's data.
    Viewer,
    /// Sees people, their timelines, the sandbox and events.
    Support,
    /// Writes drafts, segments and templates, and sends tests.
    Editor,
    /// Sends, schedules, automates and cancels, and approves drafts.
    Sender,
    /// Manages platforms, webhooks, secrets and the team of the app, and erases people.
    Admin,
}

impl Role {
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, role)| *role)
    }
}

/// The address by which somebody logs in. Nothing is sent to it. In lower case, so that nobody has two accounts by accident.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Read)]
#[body(schema = json_schema!({"type": "string", "format": "email", "minLength": 3, "maxLength": limits::EMAIL_CHARS}))]
pub struct Email(String);

/// Why an address cannot be used.
pub const EMAIL_SHAPE: &str = "This must be an e-mail address, such as kim@example.com.";

impl Email {
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let (user, host) = text.split_once('@')?;
        let is_plain = !text.contains(|c: char| c.is_whitespace() || c.is_control());
        let is_short = text.chars().count() <= limits::EMAIL_CHARS;
        (is_plain && is_short && !user.is_empty() && !host.is_empty() && !host.contains('@')).then_some(Self(text))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|| at.invalid(EMAIL_SHAPE))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A password that somebody has chosen: of a sensible length, and nothing else is asked of it.
// `Debug` never prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

/// Why a password cannot be used.
pub const PASSWORD_SHAPE: &str =
    "A password must have 12 to 256 characters; a few words that only you think of are best.";

impl Password {
    pub fn new(text: &str) -> Option<Self> {
        limits::PASSWORD_CHARS.contains(&text.chars().count()).then(|| Self(text.to_owned()))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Somebody who is to get an account.
#[derive(Clone, Debug, Body)]
#[body(not_printed)]
pub struct NewAccount {
    /// By which the person logs in. No mail is sent to it.
    pub email: Email,
    /// Whether the person owns the installation, and may do everything.
    #[body(default = false)]
    pub owner: bool,
}

/// A change of an account. Keys that are left out stay as they are.
#[derive(Clone, Debug, Default, Body)]
#[body(not_printed)]
pub struct AccountChange {
    /// For people. No control characters.
    #[body(read = name::parse, length = 1..=limits::DISPLAY_NAME_CHARS)]
    pub name: Option<String>,
    /// Whether the person owns the installation.
    pub owner: Option<bool>,
    /// Whether the person is locked out.
    pub disabled: Option<bool>,
}

/// The place of somebody in the team of an app.
#[derive(Clone, Copy, Debug, Body)]
#[body(not_printed)]
pub struct Membership {
    pub role: Role,
}

/// Somebody who is to join the team of an app.
#[derive(Clone, Debug, Body)]
#[body(not_printed)]
pub struct NewMember {
    /// Who has no account yet gets one.
    pub email: Email,
    pub role: Role,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_in_lower_case() {
        assert_eq!(Email::new(" Kim@Example.COM ").unwrap().as_str(), "kim@example.com");
        for wrong in ["", "kim", "@example.com", "kim@", "k im@example.com", "a@b@c", "a@b\n"] {
            assert_eq!(Email::new(wrong), (wrong == "a@b\n").then(|| Email("a@b".to_owned())), "{wrong:?}");
        }
        assert!(Email::new(&format!("{}@b", "x".repeat(limits::EMAIL_CHARS))).is_none());
    }

    #[test]
    fn passwords_are_long_enough_and_never_printed() {
        assert!(Password::new("short").is_none());
        let password = Password::new("correct horse battery").unwrap();
        assert!(!format!("{password:?}").contains("horse"));
    }

    #[test]
    fn roles_are_in_order() {
        assert!(Role::Viewer < Role::Support && Role::Sender < Role::Admin);
        assert!(Role::WORDS.iter().all(|(word, role)| Role::from_word(word) == Some(*role)));
    }
}
