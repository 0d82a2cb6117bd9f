//! Changing attributes, and selecting by them.

mod operations;
mod selection;

use super::*;
use crate::json;

fn accepted<T>(body: &str, read: impl FnOnce(&At<'_>) -> Option<T>) -> T {
    json::parse(body.as_bytes(), read).unwrap_or_else(|problems| panic!("{body}: {problems}"))
}
