//! What an app has beside channels, as lines of an import: named users, lists with their rows, segments, templates, schedules and
//! pipelines.

use std::sync::Arc;

use anyhow::Result;
use http::Method;
use providers::percent_encoded;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answers::patiently;
use super::documents::{DocumentKind, Documents, Object, PIPELINES, SCHEDULES, SEGMENTS, TEMPLATES, Taken};
use super::lists::Lists;
use super::source::Content;
use crate::client::Client;

/// One line that is neither a channel nor a named user.
pub(super) enum Item {
    List(Object),
    /// Rows of the list before it.
    Rows(RowsOfList),
    Document(&'static DocumentKind, Object),
}

/// A line has one of these keys.
#[derive(Deserialize)]
struct Keys {
    named_user: Option<Object>,
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

/// The lines of an import that are no channels.
pub(super) struct Items {
    lists: Lists,
    documents: Documents,
}

/// What a line is. One that cannot be read is taken for a channel, about which the server says what is wrong.
pub(super) fn content_of(line: Vec<u8>) -> Content {
    let Ok(keys) = serde_json::from_slice(&line) else { return Content::Channel(line) };
    let Keys { named_user, list, list_rows, segment, template, schedule, pipeline } = keys;
    let documents = [(&SEGMENTS, segment), (&TEMPLATES, template), (&SCHEDULES, schedule), (&PIPELINES, pipeline)];
    let document = documents.into_iter().find_map(|(kind, body)| Some(Item::Document(kind, body?)));
    let item = document.or(list.map(Item::List)).or(list_rows.map(Item::Rows)).map(Content::Item);
    item.or(named_user.map(Content::NamedUser)).unwrap_or(Content::Channel(line))
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

/// Sets what a named user holds itself.
pub(super) async fn set_named_user(client: &Client, user: &Object) -> Result<()> {
    let id = percent_encoded(user.get("named_user_id").and_then(Value::as_str).unwrap_or_default());
    let empty = |value: &&Value| value.as_object().is_none_or(|object| !object.is_empty());
    let mut update = Object::new();
    if let Some(tags) = user.get("tags").filter(empty) {
        update.insert("tags".to_owned(), json!({ "set": tags }));
    }
    if let Some(Value::Object(attributes)) = user.get("attributes").filter(empty) {
        let set = attributes.iter().map(|(key, value)| json!({"action": "set", "key": key, "value": value}));
        update.insert("attributes".to_owned(), set.collect());
    }
    if !update.is_empty() {
        let (path, update) = (format!("/api/named_users/{id}"), Value::Object(update));
        patiently(|| client.send(Method::POST, &path, &update)).await?;
    }
    let lists = user.get("subscription_lists").and_then(Value::as_array).into_iter().flatten();
    let scoped: Vec<Value> = lists
        .map(|scope| json!({"scope": scope["scope"], "subscription_lists": {"subscribe": scope["list_ids"]}}))
        .collect();
    if !scoped.is_empty() {
        let (path, update) = (format!("/api/named_users/scoped/{id}"), json!({ "scoped": scoped }));
        patiently(|| client.send(Method::POST, &path, &update)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_channels_are_told_apart() {
        let is = |line: &str| content_of(line.as_bytes().to_vec());
        assert!(matches!(is(r#"{"device_type":"ios","push_address":"A"}"#), Content::Channel(_)));
        assert!(matches!(is("nonsense"), Content::Channel(_)));
        assert!(matches!(is(r#"{"named_user":{"named_user_id":"kim"}}"#), Content::NamedUser(_)));
        assert!(matches!(is(r#"{"list_rows":{"list":"a","rows":["b"]}}"#), Content::Item(Item::Rows(_))));
        assert!(
            matches!(is(r#"{"segment":{"id":"a"}}"#), Content::Item(Item::Document(kind, _)) if kind.key == "segment")
        );
    }
}
