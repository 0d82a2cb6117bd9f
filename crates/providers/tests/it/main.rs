//! The providers against real listeners on loopback, and the requests they would get.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod amazon;
mod apple;
mod connections;
mod connections_of_threads;
mod credentials;
mod firebase;
mod fixture;
mod frames;
mod http_client;
mod open_batch;
mod open_platform;
mod peers;
mod receiver;
mod rendering;
#[path = "../../../model/tests/it/schema_check.rs"]
mod schema_check;
mod sizes;
mod web_push;
mod webhook_connections;
mod windows;
mod windows_service;
