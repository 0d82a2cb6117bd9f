//! Windows Push Notification Services.

mod body;
mod client;
mod credentials;
pub(crate) mod outcome;
mod xml;

pub use body::WnsPush;
pub(crate) use client::CHANNEL_HOSTS;
pub use client::Client;
pub use credentials::{WnsAuth, WnsCredentials};
pub(crate) use xml::escape as xml_escaped;
