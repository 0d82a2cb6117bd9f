//! What the tests of several crates share: databases that come and go.

pub mod app;
pub mod bad_channels;
pub mod bad_pushes;
pub mod bulk;
pub mod client;
pub mod event_receiver;
pub mod postgres;
pub mod receiver;
pub mod rows;
pub mod store;
