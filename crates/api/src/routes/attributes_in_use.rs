//! The attributes that channels and named users have: names, types and frequent values.

use axum::extract::State;
use devices::{AttributeInUse, AttributeType, ValueCount};
use model::attribute::AttributeValue;
use providers::percent_encoded;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::query::{Params, plain_text};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AttributesInUse")]
pub(super) struct Page {
    /// In order of their names.
    attributes: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AttributeInUse")]
pub(super) struct Record {
    /// For objects with their instance: `orders#1`.
    name: String,
    /// Some of `text`, `number`, `date` and `json`.
    types: Vec<&'static str>,
    /// The ten most frequent values, the most frequent first; none of objects and of long texts.
    values: Vec<ValueRecord>,
    /// How many values were looked at: those of the channels that registered first, and of the first named users by id.
    sampled: usize,
    /// Whether these are all. Then all counts are exact.
    complete: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AttributeValueInUse")]
pub(super) struct ValueRecord {
    #[schemars(with = "serde_json::Value")]
    value: AttributeValue,
    /// How many of the channels and named users have it whose values were looked at.
    count: usize,
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let prefix = params.parsed("prefix", plain_text);
    let start = params.parsed("start", plain_text);
    let limit = params.limit(PageSize::ATTRIBUTES);
    let query = params.repeated(&["prefix"]);
    params.finish()?;
    let (found, next) =
        edge.engine.devices().attributes_in_use(app.id, prefix.unwrap_or_default(), start, limit).await?;
    let next_page = next.map(|next| {
        let start = percent_encoded(&next);
        links.to(&format!("/api/attributes?start={start}&limit={limit}{query}"))
    });
    let attributes = found.into_iter().map(Record::from).collect();
    let answer = Answer::ok(Page { attributes, next_page: next_page.clone() })?.data_attribute("attributes");
    Ok(answer.next_page(next_page.as_deref()))
}

impl From<AttributeInUse> for Record {
    fn from(attribute: AttributeInUse) -> Self {
        let AttributeInUse { name, types, values, n_looked_at, is_complete } = attribute;
        let value = |ValueCount { value, n_owners }: ValueCount| ValueRecord { value, count: n_owners };
        Self {
            name,
            types: types.into_iter().map(AttributeType::name).collect(),
            values: values.into_iter().map(value).collect(),
            sampled: n_looked_at,
            complete: is_complete,
        }
    }
}
