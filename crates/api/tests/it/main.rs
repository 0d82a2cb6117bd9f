//! The API over real sockets, on both databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod access;
mod attribute_selectors;
mod attributes;
mod bad_bodies;
mod channels;
mod cors;
mod crowd;
mod deleted_apps;
mod idempotency;
mod isolation;
mod legacy_tags;
mod list_audiences;
mod lists;
mod logs;
mod memory;
mod named_users;
mod odd_names;
mod open_channels;
mod operation_ids;
mod operator;
mod pages;
mod protocol;
mod push;
mod platform_credentials;
mod sandbox;
mod segments;
mod stopping;
mod subscriptions;
mod tags;
mod local_schedules;
mod schedules;
mod templates;
