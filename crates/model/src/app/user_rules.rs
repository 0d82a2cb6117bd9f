//! What callers of an app may say about named users. Devices of anybody have the app secret, so an app decides for each thing that
//! can be said whether devices are believed, need a proof, or leave it to servers.

use super::Mode;
use crate::channel::Change;
use crate::json::body::{Body, Words};

/// Who may say a thing about named users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[words(name = "NamedUserRule")]
pub enum UserRule {
    /// Everybody with the app secret.
    Devices,
    /// Devices with a proof: a token of the user's contact, or one that a server of the app has signed for the user.
    Signed,
    /// Only servers, with the master secret.
    Servers,
}

/// A thing that is said about named users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserAspect {
    /// That a channel belongs to a user, or no longer does.
    Associate,
    Tags,
    Attributes,
    Subscriptions,
}

/// The rules that an operator has set; the mode of the app decides the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserRules {
    pub associate: Option<UserRule>,
    pub tags: Option<UserRule>,
    pub attributes: Option<UserRule>,
    pub subscriptions: Option<UserRule>,
}

/// A change of the rules about named users. Keys that are left out stay as they are; `null` returns to the rule of the mode.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed, name = "NamedUserRules")]
pub struct UserRulesChange {
    /// Who may say whose a channel is.
    pub associate: Change<UserRule>,
    /// Who may change the tags of named users.
    pub tags: Change<UserRule>,
    /// Who may change the attributes of named users.
    pub attributes: Change<UserRule>,
    /// Who may change the subscriptions of named users.
    pub subscriptions: Change<UserRule>,
}

impl UserRule {
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, rule)| *rule)
    }

    /// The rule of an app that says nothing else: an app in development is open, and one that real people use is not.
    pub const fn of_mode(mode: Mode) -> Self {
        match mode {
            Mode::Development => UserRule::Devices,
            Mode::Production => UserRule::Signed,
        }
    }
}

impl UserAspect {
    /// As operators write it.
    pub const fn name(self) -> &'static str {
        match self {
            UserAspect::Associate => "associate",
            UserAspect::Tags => "tags",
            UserAspect::Attributes => "attributes",
            UserAspect::Subscriptions => "subscriptions",
        }
    }
}

impl UserRules {
    /// The rule that holds in an app of a mode.
    pub fn rule(&self, aspect: UserAspect, mode: Mode) -> UserRule {
        let set = match aspect {
            UserAspect::Associate => self.associate,
            UserAspect::Tags => self.tags,
            UserAspect::Attributes => self.attributes,
            UserAspect::Subscriptions => self.subscriptions,
        };
        set.unwrap_or(UserRule::of_mode(mode))
    }
}

impl UserRulesChange {
    pub fn apply(&self, rules: &mut UserRules) {
        self.associate.update(&mut rules.associate);
        self.tags.update(&mut rules.tags);
        self.attributes.update(&mut rules.attributes);
        self.subscriptions.update(&mut rules.subscriptions);
    }
}
