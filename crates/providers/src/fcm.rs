//! Firebase Cloud Messaging: Android devices.

mod body;

pub use body::FcmPush;
