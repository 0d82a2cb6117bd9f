//! Live connections of devices; so far, the frames of WebSockets and their handshake.

pub mod frame;
#[cfg(test)]
mod frame_tests;
mod handshake;

pub use handshake::accept_key;
