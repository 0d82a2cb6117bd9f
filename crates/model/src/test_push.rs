//! Tests: pushes to the few people of an app who look at messages before others get them.

use crate::json::body::Body;
use crate::payload::Push;
use crate::selector::Selector;

/// A push to try out.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct TestPush {
    /// As it would be sent. Its audience is replaced by the test group.
    pub push: Push,
}

/// Who gets tests.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct TestGroup {
    /// A selector; `null` for nobody.
    #[body(nullable, always)]
    pub audience: Option<Selector>,
}
