//! Web Push: browsers, through whichever push service each of them uses.

mod body;

pub use body::WebPush;
