//! The outside world: the HTTP client, and for every provider the request that carries a push to one device.
//! Knows HTTP and keys, not the store.

pub mod http;
pub mod outcome;
pub mod secret;
