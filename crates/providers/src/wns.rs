//! Windows Push Notification Services.

mod body;
mod xml;

pub use body::WnsPush;
