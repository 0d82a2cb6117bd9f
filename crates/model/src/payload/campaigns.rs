//! `campaigns` of a push: names under which its results are added up.

use crate::json::OneOrMany;
use crate::json::body::Body;
use crate::limits;

/// Names under which the results of pushes are added up.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Campaigns {
    /// The names.
    #[body(length = 1..=limits::CAMPAIGN_CATEGORIES, each = 1..=limits::CAMPAIGN_CATEGORY_CHARS)]
    pub categories: OneOrMany<String>,
}
