//! What an app has beside channels, as lines of an import: named users, lists with their rows, segments, templates, schedules and
//! pipelines. What is there already, by its name or with the same content, is changed and not made again.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{Method, StatusCode};
use providers::percent_encoded;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answers::patiently;
use super::source::Content;
use crate::client::{Client, Refused};
use crate::commands::listing::each;

type Object = Map<String, Value>;

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

/// A kind of thing that is made with a `POST` and listed under the same path.
pub(in crate::commands) struct DocumentKind {
    /// The key of its line.
    pub(in crate::commands) key: &'static str,
    pub(in crate::commands) path: &'static str,
    /// The array of a listing.
    pub(in crate::commands) items: &'static str,
    /// Where it has its id.
    pub(in crate::commands) id: &'static str,
    /// Where it has its name, by which it is found again.
    name: &'static str,
    /// The id, or ids, in the answer to a creation.
    made: &'static str,
    update: Method,
    /// Keys of listings that cannot be set.
    pub(in crate::commands) shown_only: &'static [&'static str],
}

pub(in crate::commands) static SEGMENTS: DocumentKind = DocumentKind {
    key: "segment",
    path: "/api/segments",
    items: "segments",
    id: "id",
    name: "display_name",
    made: "segment_id",
    update: Method::PUT,
    shown_only: &["creation_date", "modification_date"],
};
pub(in crate::commands) static TEMPLATES: DocumentKind = DocumentKind {
    key: "template",
    path: "/api/templates",
    items: "templates",
    id: "template_id",
    name: "name",
    made: "template_id",
    update: Method::POST,
    shown_only: &["id", "created_at", "modified_at", "last_used"],
};
pub(in crate::commands) static SCHEDULES: DocumentKind = DocumentKind {
    key: "schedule",
    path: "/api/schedules",
    items: "schedules",
    id: "url",
    name: "name",
    made: "schedule_ids",
    update: Method::PUT,
    shown_only: &["push_ids"],
};
pub(in crate::commands) static PIPELINES: DocumentKind = DocumentKind {
    key: "pipeline",
    path: "/api/pipelines",
    items: "pipelines",
    id: "uid",
    name: "name",
    made: "pipeline_ids",
    update: Method::PUT,
    shown_only: &["url", "status", "creation_time", "last_modified_time"],
};

/// Things that an app has, until an import has found each of them.
type Present = Vec<Object>;

/// The lines of an import that are no channels.
pub(super) struct Items {
    client: Arc<Client>,
    /// What the app has, by the kind; listed when the first of a kind comes.
    present: BTreeMap<&'static str, Present>,
    /// Ids in the source, and those that they have here.
    new_ids: HashMap<String, String>,
    /// The list whose rows come, packed.
    open_list: Option<(String, GzEncoder<Vec<u8>>)>,
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
    pub(super) fn new(client: Arc<Client>) -> Self {
        Self { client, present: BTreeMap::new(), new_ids: HashMap::new(), open_list: None }
    }

    /// The list whose rows have come, if the next thing is not more of them.
    pub(super) fn complete_list(&self, next: Option<&Item>) -> Option<String> {
        let (list, _) = self.open_list.as_ref()?;
        let goes_on = matches!(next, Some(Item::Rows(rows)) if rows.list == *list);
        (!goes_on).then(|| list.clone())
    }

    /// Takes one thing. A list that is complete has been uploaded before.
    pub(super) async fn take(&mut self, item: Item) -> Result<()> {
        match item {
            Item::List(list) => self.put_list(list).await,
            Item::Rows(RowsOfList { list, rows }) => {
                let (_, packed) =
                    self.open_list.get_or_insert_with(|| (list, GzEncoder::new(Vec::new(), Compression::fast())));
                rows.iter().try_for_each(|row| writeln!(packed, "{row}")).context("The rows of a list cannot be packed")
            }
            Item::Document(kind, body) => self.put(kind, body).await,
        }
    }

    /// Uploads the rows of a list, which replace those that it has.
    pub(super) async fn upload_list(&mut self) -> Result<()> {
        let Some((list, packed)) = self.open_list.take() else { return Ok(()) };
        let packed = Bytes::from(packed.finish().context("The rows of a list cannot be packed")?);
        let path = format!("/api/lists/{}/csv", percent_encoded(&list));
        patiently(|| self.client.upload(&path, "text/csv", packed.clone())).await.map(drop)
    }

    async fn put_list(&self, list: Object) -> Result<()> {
        let name = list.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let list = Value::Object(list);
        match self.client.send(Method::POST, "/api/lists", &list).await {
            Err(error) if is_conflict(&error) => {
                let path = format!("/api/lists/{}", percent_encoded(&name));
                self.client.send(Method::PUT, &path, &list).await.map(drop)
            }
            made => made.map(drop),
        }
    }

    async fn put(&mut self, kind: &'static DocumentKind, mut body: Object) -> Result<()> {
        let old_id = body.remove(kind.id).map(|id| kind.id_in(&id));
        for value in body.values_mut() {
            replace(value, &self.new_ids);
        }
        if !self.present.contains_key(kind.key) {
            let listed = all(&self.client, kind).await?;
            self.present.insert(kind.key, listed);
        }
        let present = self.present.entry(kind.key).or_default();
        let found = present.iter().position(|known| kind.is_same(known, &body));
        let found = found.or_else(|| present.iter().position(|known| kind.is_namesake(known, &body)));
        let known = found.map(|place| present.remove(place));
        let id = match known {
            Some(known) => {
                let id = known.get(kind.id).map(|id| kind.id_in(id)).unwrap_or_default();
                if !kind.is_same(&known, &body) {
                    let path = format!("{}/{}", kind.path, percent_encoded(&id));
                    self.client.send(kind.update.clone(), &path, &Value::Object(body)).await?;
                }
                id
            }
            None => {
                let made: Value = self.client.send(Method::POST, kind.path, &Value::Object(body)).await?.read()?;
                let id = made[kind.made].as_str().or_else(|| made[kind.made][0].as_str());
                id.unwrap_or_default().to_owned()
            }
        };
        if let Some(old_id) = old_id {
            self.new_ids.insert(old_id, id);
        }
        Ok(())
    }
}

impl DocumentKind {
    /// The id, which may be the end of a URL.
    pub(in crate::commands) fn id_in(&self, id: &Value) -> String {
        let text = id.as_str().unwrap_or_default();
        text.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// One of a listing as it is made anew, with its id.
    pub(in crate::commands) fn content(&self, mut shown: Object) -> Object {
        for key in self.shown_only {
            shown.remove(*key);
        }
        if let Some(id) = shown.get_mut(self.id) {
            *id = json!(self.id_in(id));
        }
        shown.retain(|_, value| !value.is_null());
        shown
    }

    fn is_same(&self, known: &Object, body: &Object) -> bool {
        known.iter().filter(|(key, _)| *key != self.id).eq(body.iter())
    }

    fn is_namesake(&self, known: &Object, body: &Object) -> bool {
        body.get(self.name).is_some_and(|name| known.get(self.name) == Some(name))
    }
}

/// Everything of a kind that an app has, as it is made.
async fn all(client: &Client, kind: &DocumentKind) -> Result<Present> {
    let mut found = Vec::new();
    each(client, kind.path, kind.items, async |item| {
        found.push(kind.content(item));
        Ok(())
    })
    .await?;
    Ok(found)
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

fn is_conflict(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == StatusCode::CONFLICT)
}

/// Puts the ids that things have here in place of those that they had.
fn replace(value: &mut Value, new_ids: &HashMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(new) = new_ids.get(text) {
                text.clone_from(new);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, new_ids)),
        Value::Object(object) => object.values_mut().for_each(|item| replace(item, new_ids)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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

    #[test]
    fn ids_are_replaced_wherever_they_stand() {
        let mut body = json!({"criteria": {"or": [{"segment": "old"}, {"tag": "older"}]}});
        replace(&mut body, &HashMap::from([("old".to_owned(), "new".to_owned())]));
        assert_eq!(body, json!({"criteria": {"or": [{"segment": "new"}, {"tag": "older"}]}}));
    }
}
