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
    pub fn json(&self) -> String {
        format!(r#"{{"type":"push","at":"{}","push":{}}}"#, self.at.0, self.content)
    }

    pub(crate) fn is_expired(&self, now: UtcMillis) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// The first message of a connection.
pub(crate) fn hello(channel: ChannelId, at: Offset, ping: u32, is_complete: bool) -> String {
    format!(r#"{{"type":"hello","channel":"{channel}","at":"{}","ping":{ping},"complete":{is_complete}}}"#, at.0)
}
