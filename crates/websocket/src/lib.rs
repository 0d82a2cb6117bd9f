//! WebSockets (RFC 6455) as a server speaks them, without a socket: frames, and the proof in the handshake. Live connections and
//! the simulator of a push service share it.

pub mod frame;
#[cfg(test)]
mod frame_tests;
mod handshake;

pub use handshake::accept_key;
