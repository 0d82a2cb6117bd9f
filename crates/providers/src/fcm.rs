//! Firebase Cloud Messaging: Android devices.

mod body;
mod client;
mod credentials;
pub(crate) mod outcome;
mod token;

pub use body::FcmPush;
pub(crate) use body::data;
pub use client::Client;
pub use credentials::FcmCredentials;
