//! What an app has beside channels and users, as lines of an import: what it is itself, lists with their rows, segments, templates,
//! schedules, pipelines with the rates of all of them, and experiments.

use std::sync::Arc;

use anyhow::Result;
use serde::Deserialize;
use serde_json::Value;

use super::app::{Changes, OfApp};
use super::documents::{ALL as DOCUMENTS, DocumentKind, Documents, Object, Taken};
use super::lists::Lists;
use super::source::Content;
use crate::client::Client;

/// One line that is not for the bulk call.
pub(super) enum Item {
    /// Its name, its mode and its rules.
    App(Object),
    List(Object),
    /// Rows of the list before it.
    Rows(RowsOfList),
    /// How often all pipelines together may send.
    PipelineRates(Value),
    Document(&'static DocumentKind, Object),
}

/// A line has one of these keys.
#[derive(Deserialize)]
struct Keys {
    app: Option<Object>,
    list: Option<Object>,
    list_rows: Option<RowsOfList>,
    pipeline_constraints: Option<Value>,
    segment: Option<Object>,
    content_template: Option<Object>,
    template: Option<Object>,
    schedule: Option<Object>,
    pipeline: Option<Object>,
    experiment: Option<Object>,
}

#[derive(Deserialize)]
pub(super) struct RowsOfList {
    list: String,
    rows: Vec<String>,
}

/// The lines of an import that are not for the bulk call.
pub(super) struct Items {
    lists: Lists,
    documents: Documents,
    /// With which the app itself is set.
    operator: Option<OfApp>,
}

/// What a line is. One that cannot be read is for the bulk call, which says what is wrong.
pub(super) fn content_of(line: Vec<u8>) -> Content {
    let Ok(keys) = serde_json::from_slice(&line) else { return Content::Line(line) };
    let Keys {
        app,
        list,
        list_rows,
        pipeline_constraints: rates,
        segment,
        content_template,
        template,
        schedule,
        pipeline,
        experiment,
    } = keys;
    // In the order of all kinds.
    let documents = [segment, content_template, template, schedule, pipeline, experiment];
    let mut documents = DOCUMENTS.into_iter().zip(documents);
    let document = documents.find_map(|(kind, body)| Some(Item::Document(kind, body?)));
    let item = document.or(app.map(Item::App)).or(list.map(Item::List)).or(list_rows.map(Item::Rows));
    let item = item.or(rates.map(Item::PipelineRates));
    item.map_or(Content::Line(line), Content::Item)
}

impl Items {
    /// `active`: what sends by itself does so here, too.
    pub(super) fn new(client: Arc<Client>, active: bool, operator: Option<OfApp>) -> Self {
        Self { lists: Lists::new(client.clone()), documents: Documents::new(client, active), operator }
    }

    /// The list whose rows have come, if the next thing is not more of them.
    pub(super) fn complete_list(&self, next: Option<&Item>) -> Option<String> {
        let list = self.lists.open_name()?;
        let goes_on = matches!(next, Some(Item::Rows(rows)) if rows.list == list);
        (!goes_on).then(|| list.to_owned())
    }

    /// What a line about the app would change, or `None` if it is passed over.
    pub(super) async fn changes_of_app(&self, app: &Object) -> Result<Option<Changes>> {
        match &self.operator {
            Some(operator) => operator.changes(app).await.map(Some),
            None => Ok(None),
        }
    }

    /// Takes one thing. A list that is complete has been uploaded before.
    pub(super) async fn take(&mut self, item: Item) -> Result<Taken> {
        match item {
            Item::App(app) => {
                let Some(operator) = &self.operator else { return Ok(Taken::PassedOver) };
                operator.set(app).await?;
            }
            Item::List(list) => self.lists.put(list).await?,
            Item::Rows(RowsOfList { list, rows }) => self.lists.add_rows(list, &rows)?,
            Item::PipelineRates(rates) => return self.documents.put_rates(&rates).await,
            Item::Document(kind, body) => return self.documents.put(kind, body).await,
        }
        Ok(Taken::AsItIs)
    }

    /// Uploads the rows of the complete list.
    pub(super) async fn upload_list(&mut self) -> Result<()> {
        self.lists.upload().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_for_the_bulk_call_are_told_apart() {
        let is = |line: &str| content_of(line.as_bytes().to_vec());
        assert!(matches!(is(r#"{"device_type":"ios","push_address":"A"}"#), Content::Line(_)));
        assert!(matches!(is("nonsense"), Content::Line(_)));
        assert!(matches!(is(r#"{"named_user":{"named_user_id":"kim"}}"#), Content::Line(_)));
        assert!(matches!(is(r#"{"app":{"name":"Shop"}}"#), Content::Item(Item::App(_))));
        let rates = r#"{"pipeline_constraints":[{"rate":{"pushes":2,"days":1}}]}"#;
        assert!(matches!(is(rates), Content::Item(Item::PipelineRates(_))));
        assert!(matches!(is(r#"{"list_rows":{"list":"a","rows":["b"]}}"#), Content::Item(Item::Rows(_))));
        for kind in DOCUMENTS {
            let found = is(&format!(r#"{{"{}":{{"id":"a"}}}}"#, kind.key));
            assert!(matches!(found, Content::Item(Item::Document(found, _)) if found.key == kind.key), "{}", kind.key);
        }
    }
}
