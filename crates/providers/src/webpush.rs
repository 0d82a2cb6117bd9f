//! Web Push: browsers, through whichever push service each of them uses, and Android devices by UnifiedPush.

mod body;
mod client;
mod credentials;
mod encryption;
mod hosts;
pub(crate) mod outcome;
mod point;
mod service;
mod unified_push;
mod vapid;

pub use body::WebPush;
pub use client::Client;
pub use credentials::{ONE_PAIR, WebPushContact, WebPushCredentials};
pub(crate) use encryption::MOST_MESSAGE_BYTES;
pub use hosts::{HostPattern, PushHosts};
pub(crate) use point::is_point;
