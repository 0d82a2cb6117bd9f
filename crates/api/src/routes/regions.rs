//! Regions that devices enter and leave. The service takes their events and keeps no catalogue of them, so that the list is empty.

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::page_size::PageSize;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(super) struct Regions {
    count: usize,
    #[schemars(with = "Vec<String>")]
    regions: [&'static str; 0],
}

pub(super) async fn list(mut params: Params) -> Result<Answer> {
    params.number("start", 0..=u32::MAX);
    params.limit(PageSize::REGIONS);
    params.finish()?;
    Ok(Answer::ok(Regions { count: 0, regions: [] })?.data_attribute("regions"))
}

pub(super) async fn look_up() -> Error {
    let text = "There is no such region: the service has no catalogue of regions. Their ids are in REGION events.";
    Error::NotFound(text.to_owned())
}
