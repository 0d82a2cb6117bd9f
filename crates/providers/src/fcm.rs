//! Firebase Cloud Messaging: Android devices.

mod body;
mod client;
mod credentials;
pub(crate) mod outcome;
mod token;

pub use body::FcmPush;
pub use client::Client;
pub use credentials::FcmCredentials;
