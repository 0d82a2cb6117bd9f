//! `campaigns` of a push: names under which its results are added up.

use serde::Serialize;

use crate::json::{At, OneOrMany};
use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Campaigns {
    pub categories: OneOrMany<String>,
}

impl Campaigns {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let categories = fields.required("categories", |at| {
            at.one_or_many(1..=limits::CAMPAIGN_CATEGORIES, |item| item.text(1..=limits::CAMPAIGN_CATEGORY_CHARS))
        });
        fields.finish();
        Some(Self { categories: categories? })
    }
}
