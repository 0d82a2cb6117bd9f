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
mod large_pushes;
mod legacy_tags;
mod list_audiences;
mod lists;
mod local_schedules;
mod location;
mod location_audiences;
mod logs;
mod memory;
mod named_users;
mod odd_names;
mod open_channels;
mod operation_ids;
mod operator;
mod pages;
mod platform_credentials;
mod protocol;
mod push;
mod sandbox;
mod schedules;
mod segments;
mod stopping;
mod subscriptions;
mod tags;
mod templates;
