//! Apple's push service: iOS devices.

mod body;
mod credentials;

pub use body::ApnsPush;
pub use credentials::{ApnsAuth, ApnsCredentials, Environment};
