//! Shared code of the tests of several crates and the measurements: databases that come and go, an app on a real socket with its
//! clients, receivers, and lists of bodies that are refused.

pub mod app;
pub mod bad_channels;
pub mod bad_pushes;
pub mod balanced;
pub mod browser;
pub mod bulk;
pub mod cable;
pub mod client;
pub mod conformance;
pub mod event_receiver;
pub mod firefox;
pub mod live;
pub mod postgres;
pub mod receiver;
pub mod rows;
pub mod site;
pub mod store;
pub mod tls;
pub mod watched;
