//! A person as the tables know them: their channels, their named user, and the texts that name them.

use model::ids::{ChannelId, NamedUserId, Offset, Ordinal};
use model::privacy::{Identifier, Redaction};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};

use super::plan::By;
use crate::lists::UploadNumber;
use crate::{Value, attributes};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub channels: Vec<PersonChannel>,
    pub named_user: Option<NamedUserId>,
    /// Inboxes that none but the channels of the person share.
    pub inbox_users: Vec<String>,
    /// Where channels that are no longer theirs were.
    pub stretches: Vec<Stretch>,
    pub identifiers: Vec<Identifier>,
    /// Uploads of lists that were coming in when they were looked up.
    #[serde(default)]
    pub uploads: Vec<PersonUpload>,
    /// When they were looked up, and how long the log was then: what comes later is about a person who starts afresh.
    pub asked: UtcMillis,
    pub head: Offset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonChannel {
    pub ordinal: Ordinal,
    pub id: ChannelId,
}

/// The records of a channel after an offset and up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    pub ordinal: Ordinal,
    pub after: Offset,
    pub until: Offset,
}

/// An upload of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonUpload {
    pub list: String,
    pub number: UploadNumber,
}

impl Person {
    pub fn redaction(&self) -> Redaction {
        Redaction::of(&self.identifiers)
    }

    /// Whether a record of the log about a channel is about the person.
    pub fn owns(&self, ordinal: Ordinal, offset: Offset) -> bool {
        self.channels.iter().any(|channel| channel.ordinal == ordinal)
            || self.stretches.iter().any(|part| part.ordinal == ordinal && part.after < offset && offset <= part.until)
    }

    /// The values by which rows of the person are found.
    pub(super) fn values(&self, by: By) -> Vec<Value> {
        match by {
            By::Ordinal => self.channels.iter().map(|channel| channel.ordinal.into()).collect(),
            By::Channel => self.channels.iter().map(|channel| channel.id.into()).collect(),
            By::AttributeOwner => {
                self.channels.iter().map(|channel| attributes::stored(channel.ordinal).into()).collect()
            }
            By::NamedUser => self.named_user.iter().map(Value::from).collect(),
            By::InboxUser => self.inbox_users.iter().map(Value::from).collect(),
        }
    }
}
