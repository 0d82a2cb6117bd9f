//! Requests about everything that is stored about one person, and the words that take the place of identifiers when a person is
//! erased.

mod redaction;

pub use redaction::{ERASED, Identifier, Redaction, is_hexadecimal};

use serde::{Deserialize, Serialize};

use crate::ids::{ChannelId, NamedUserId};
use crate::json::body::Body;
use crate::limits;

/// The person that a request is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[serde(rename_all = "snake_case")]
#[body(
    not_printed,
    name = "Person",
    one_of = "Say who is meant: give exactly one of 'named_user_id', 'channel_id' and 'address'.",
    missing = "named_user_id"
)]
pub enum Subject {
    /// A named user, with all of its channels.
    NamedUserId(NamedUserId),
    /// One channel. Its named user stays.
    ChannelId(ChannelId),
    /// All channels with an address: a device token, a registration id, an address on an open platform, or the endpoint of a web
    /// push subscription.
    #[body(length = 1..=limits::PUSH_ADDRESS_CHARS)]
    Address(String),
}
