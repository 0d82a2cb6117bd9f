//! Apple's push service: iOS devices.

mod body;
mod client;
mod credentials;
pub(crate) mod outcome;
mod token;

pub use body::ApnsPush;
pub use client::Client;
pub use credentials::{ApnsAuth, ApnsCredentials, Environment};
