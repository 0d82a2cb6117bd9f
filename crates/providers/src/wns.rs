//! Windows Push Notification Services.

mod body;
mod credentials;
mod xml;

pub use body::WnsPush;
pub use credentials::{WnsAuth, WnsCredentials};
