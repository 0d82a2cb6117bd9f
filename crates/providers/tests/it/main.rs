//! The providers against real listeners on loopback.

mod http_client;
mod open_platform;
mod receiver;
