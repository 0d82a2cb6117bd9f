//! What an app has beside channels and users, as lines of an import: lists with their rows, segments, templates, schedules and
//! pipelines.

use std::sync::Arc;

use anyhow::Result;
use serde::Deserialize;

use super::documents::{DocumentKind, Documents, Object, PIPELINES, SCHEDULES, SEGMENTS, TEMPLATES, Taken};
use super::lists::Lists;
use super::source::Content;
use crate::client::Client;

/// One line that is not for the bulk call.
pub(super) enum Item {
    List(Object),
    /// Rows of the list before it.
    Rows(RowsOfList),
    Document(&'static DocumentKind, Object),
}

/// A line has one of these keys.
#[derive(Deserialize)]
struct Keys {
    list: Option<Object>,
    list_rows: Option<RowsOfList>,
    segment: Option<Object>,
    template: Option<Object>,
    schedule: Option<Object>,
    pipeline: Option<Object>,
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
}

/// What a line is. One that cannot be read is for the bulk call, which says what is wrong.
pub(super) fn content_of(line: Vec<u8>) -> Content {
    let Ok(keys) = serde_json::from_slice(&line) else { return Content::Line(line) };
    let Keys { list, list_rows, segment, template, schedule, pipeline } = keys;
    let documents = [(&SEGMENTS, segment), (&TEMPLATES, template), (&SCHEDULES, schedule), (&PIPELINES, pipeline)];
    let document = documents.into_iter().find_map(|(kind, body)| Some(Item::Document(kind, body?)));
    let item = document.or(list.map(Item::List)).or(list_rows.map(Item::Rows));
    item.map_or(Content::Line(line), Content::Item)
}

impl Items {
    /// `active`: what sends by itself does so here, too.
    pub(super) fn new(client: Arc<Client>, active: bool) -> Self {
        Self { lists: Lists::new(client.clone()), documents: Documents::new(client, active) }
    }

    /// The list whose rows have come, if the next thing is not more of them.
    pub(super) fn complete_list(&self, next: Option<&Item>) -> Option<String> {
        let list = self.lists.open_name()?;
        let goes_on = matches!(next, Some(Item::Rows(rows)) if rows.list == list);
        (!goes_on).then(|| list.to_owned())
    }

    /// Takes one thing. A list that is complete has been uploaded before.
    pub(super) async fn take(&mut self, item: Item) -> Result<Taken> {
        match item {
            Item::List(list) => self.lists.put(list).await?,
            Item::Rows(RowsOfList { list, rows }) => self.lists.add_rows(list, &rows)?,
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
        assert!(matches!(is(r#"{"list_rows":{"list":"a","rows":["b"]}}"#), Content::Item(Item::Rows(_))));
        assert!(
            matches!(is(r#"{"segment":{"id":"a"}}"#), Content::Item(Item::Document(kind, _)) if kind.key == "segment")
        );
    }
}
