//! How things that are kept for devices are shown: as they were given, with their ids, dates and versions.

use remote_data::{CreatedItem, ItemView};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::error::Result;

/// The version of a thing that was changed.
#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct ItemVersion {
    /// Counts the changes, from 1.
    version: u32,
}

/// A thing with its id under the key that it has here.
pub(in crate::routes) fn record(view: ItemView, id_key: &str) -> Map<String, Value> {
    let ItemView { id, version, created, updated, body } = view;
    let mut record = Map::from_iter([(id_key.to_owned(), Value::from(id))]);
    record.extend(body);
    record.insert("version".to_owned(), version.into());
    record.insert("created".to_owned(), created.to_api().into());
    record.insert("last_updated".to_owned(), updated.to_api().into());
    record
}

pub(in crate::routes) fn changed(item: &CreatedItem) -> Result<Answer> {
    Answer::changed(item.operation_id, ItemVersion { version: item.version })
}
