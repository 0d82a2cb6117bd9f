//! The outside world: the HTTP client, and for every provider the request that carries a push to one device.
//! Knows HTTP and keys, not the store.

pub mod credential;
pub mod http;
pub mod open;
pub mod outcome;
mod recipient;
mod request;
mod template;

pub use recipient::Recipient;
pub use request::PreparedRequest;
