//! Apple's push service: iOS devices.

mod body;

pub use body::ApnsPush;
