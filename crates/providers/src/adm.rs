//! Amazon Device Messaging: Amazon's tablets and TV sticks.

mod body;
mod client;
mod credentials;
pub(crate) mod outcome;

pub use body::AdmPush;
pub use client::Client;
pub use credentials::AdmCredentials;
