//! Tests of the domain language as a whole: whatever is written in it prints back, and mistakes are found where they are.

#[path = "../../../testkit/src/bad_pushes.rs"]
pub mod bad_pushes;
mod random_json;
mod random_notification;
mod random_push;
mod random_selector;
mod refusals;
mod round_trip;
mod schema_check;
mod schemas;
