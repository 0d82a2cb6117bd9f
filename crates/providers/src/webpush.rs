//! Web Push: browsers, through whichever push service each of them uses.

mod body;
mod credentials;
mod encryption;

pub use body::WebPush;
pub use credentials::WebPushCredentials;
