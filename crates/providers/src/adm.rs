//! Amazon Device Messaging: Amazon's tablets and TV sticks.

mod body;

pub use body::AdmPush;
