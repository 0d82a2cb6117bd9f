//! Amazon Device Messaging: Amazon's tablets and TV sticks.

mod body;
mod credentials;

pub use body::AdmPush;
pub use credentials::AdmCredentials;
