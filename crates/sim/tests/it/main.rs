//! The simulator from outside, by a client that has nothing in common with it but the protocols.

mod apns;
mod client;
mod faults;
mod fcm;
mod signing;
mod tokens;
mod webhooks;
mod webpush;
