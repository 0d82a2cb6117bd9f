//! One message for a channel, as clients of every form get it.

use std::sync::Arc;

use model::ids::{ChannelId, Offset, PushId};
use model::time::UtcMillis;

/// A message of a push, shared by everybody who gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its position in the log of the app.
    pub at: Offset,
    pub(crate) occurred: UtcMillis,
    pub(crate) push: PushId,
    pub(crate) expires: Option<UtcMillis>,
    /// A JSON object.
    pub(crate) content: Arc<str>,
}

impl Message {
    /// The message as it is sent.
    pub(crate) fn json(&self) -> String {
        format!(r#"{{"type":"push","at":"{}","push":{}}}"#, self.at.0, self.content)
    }

    pub(crate) fn is_expired(&self, now: UtcMillis) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// How an inbox is after something has changed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxNews {
    /// The changes up to here are taken into account, and perhaps some after it.
    pub at: Offset,
    pub(crate) unread: usize,
}

/// What a device is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Push(Message),
    Inbox(InboxNews),
}

impl Told {
    pub fn at(&self) -> Offset {
        match self {
            Told::Push(message) => message.at,
            Told::Inbox(news) => news.at,
        }
    }

    /// The type of the message.
    pub const fn name(&self) -> &'static str {
        match self {
            Told::Push(_) => "push",
            Told::Inbox(_) => "inbox",
        }
    }

    /// The message as it is sent.
    pub fn json(&self) -> String {
        match self {
            Told::Push(message) => message.json(),
            Told::Inbox(news) => news.json(),
        }
    }
}

impl InboxNews {
    pub(crate) fn json(self) -> String {
        format!(r#"{{"type":"inbox","at":"{}","unread":{}}}"#, self.at.0, self.unread)
    }
}

/// How far a device has everything that is for it.
pub(crate) fn position(at: Offset) -> String {
    format!(r#"{{"type":"at","at":"{}"}}"#, at.0)
}

/// The answer to a device that says nothing.
pub(crate) const PONG: &str = r#"{"type":"pong"}"#;

/// The first message of a connection.
pub(crate) fn hello(channel: ChannelId, at: Offset, ping: u32, is_complete: bool) -> String {
    format!(r#"{{"type":"hello","channel":"{channel}","at":"{}","ping":{ping},"complete":{is_complete}}}"#, at.0)
}
