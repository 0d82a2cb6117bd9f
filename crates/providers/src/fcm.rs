//! Firebase Cloud Messaging: Android devices.

mod body;
mod credentials;

pub use body::FcmPush;
pub use credentials::FcmCredentials;
