//! How things of all kinds that are kept for devices are listed, looked up and deleted. They are shown as they were given, with
//! their ids, dates and versions.

use model::ids::AppId;
use remote_data::{CreatedItem, ItemKind, ItemView};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::Result;

/// The things of a kind, and the keys by which answers have them.
pub(in crate::routes) struct Items {
    pub(in crate::routes) kind: ItemKind,
    /// The key of the id of each.
    pub(in crate::routes) id_key: &'static str,
    /// The key of one alone.
    pub(in crate::routes) one: &'static str,
    /// The key of all of them.
    pub(in crate::routes) all: &'static str,
}

/// The version of a thing that was changed.
#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct ItemVersion {
    /// Counts the changes, from 1.
    version: u32,
}

impl Items {
    /// All that an app has; `keyed` puts them under their key.
    pub(in crate::routes) async fn list<Keyed: Serialize>(
        &self,
        edge: &Edge,
        app: AppId,
        keyed: impl FnOnce(Vec<Map<String, Value>>) -> Keyed,
    ) -> Result<Answer> {
        let views = edge.engine.remote_data().items(app, self.kind).await?;
        let records = views.into_iter().map(|view| self.record(view)).collect();
        Ok(Answer::ok(keyed(records))?.data_attribute(self.all))
    }

    /// One of them; `keyed` puts it under its key.
    pub(in crate::routes) async fn look_up<Keyed: Serialize>(
        &self,
        edge: &Edge,
        app: AppId,
        id: String,
        keyed: impl FnOnce(Map<String, Value>) -> Keyed,
    ) -> Result<Answer> {
        let view = edge.engine.remote_data().item(app, self.kind, id).await?;
        Ok(Answer::ok(keyed(self.record(view)))?.data_attribute(self.one))
    }

    pub(in crate::routes) async fn delete(&self, edge: &Edge, app: AppId, id: String) -> Result<Answer> {
        edge.engine.remote_data().delete(app, self.kind, id).await?;
        Answer::done()
    }

    fn record(&self, view: ItemView) -> Map<String, Value> {
        let ItemView { id, version, created, updated, body } = view;
        let mut record = Map::from_iter([(self.id_key.to_owned(), Value::from(id))]);
        record.extend(body);
        record.insert("version".to_owned(), version.into());
        record.insert("created".to_owned(), created.to_api().into());
        record.insert("last_updated".to_owned(), updated.to_api().into());
        record
    }
}

pub(in crate::routes) fn changed(item: &CreatedItem) -> Result<Answer> {
    Answer::changed(item.operation_id, ItemVersion { version: item.version })
}
