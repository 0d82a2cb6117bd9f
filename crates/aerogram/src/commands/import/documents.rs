//! Segments, templates, schedules, pipelines and experiments of an import. What is there already, by its name or with the same
//! content, is changed and not made again. Unless somebody says that what sends by itself is to send, it does not, because after a
//! move both installations would send the same; and what sends here already stays as it is.

mod kinds;
mod rates;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::Result;
use http::Method;
use providers::percent_encoded;
use serde_json::{Map, Value, json};

pub(in crate::commands) use kinds::{ALL, SEGMENTS};
pub(in crate::commands) use rates::pipeline_rates;

use super::answers::patiently;
use crate::client::{Client, new_key};
use crate::commands::listing::each;

pub(super) type Object = Map<String, Value>;

/// A kind of thing that is made with a `POST`.
pub(in crate::commands) struct DocumentKind {
    /// The key of its line.
    pub(in crate::commands) key: &'static str,
    pub(in crate::commands) path: &'static str,
    pub(in crate::commands) listing: &'static str,
    /// The array of a listing.
    pub(in crate::commands) items: &'static str,
    /// Where it has its id.
    pub(in crate::commands) id: &'static str,
    /// Where it has its name, if it is found again by that and its type, if it has one: schedules may share a name.
    name: Option<&'static str>,
    /// The id, or ids, in the answer to a creation.
    made: &'static str,
    update: Method,
    /// Keys of listings that cannot be set.
    pub(in crate::commands) shown_only: &'static [&'static str],
    /// How it is kept from sending by itself, if it does.
    switch: Option<Switch>,
}

#[derive(Clone, Copy)]
enum Switch {
    /// `enabled`
    Enabled,
    /// `schedule.recurring.paused`; a schedule that does not recur sends in any case.
    Paused,
    /// There is none, and it sends.
    None,
}

/// What became of a line.
pub(super) enum Taken {
    AsItIs,
    /// It would send by itself, and came paused or disabled.
    Inactive,
    /// It would send by itself, and cannot be paused, so it was not made.
    Withheld,
    /// It is otherwise here, where it sends, and was not changed.
    Kept,
    /// It is about the app itself, which is not to be changed.
    PassedOver,
}

/// Something of a kind that the app has, until the import has found it.
struct Known {
    id: String,
    /// Whether it sends by itself.
    is_on: bool,
    /// Its content as it is when it does not.
    off: Object,
}

pub(super) struct Documents {
    client: Arc<Client>,
    /// Whether what sends by itself in the source does so here, too, and what sends here may change.
    active: bool,
    /// What the app has, by the kind; listed when the first of a kind comes.
    present: BTreeMap<&'static str, Vec<Known>>,
    /// Ids in the source, and those that they have here.
    new_ids: HashMap<String, String>,
}

impl Documents {
    pub(super) fn new(client: Arc<Client>, active: bool) -> Self {
        Self { client, active, present: BTreeMap::new(), new_ids: HashMap::new() }
    }

    pub(super) async fn put(&mut self, kind: &'static DocumentKind, mut body: Object) -> Result<Taken> {
        let old_id = body.remove(kind.id).map(|id| kind.id_in(&id));
        for value in body.values_mut() {
            replace(value, &self.new_ids);
        }
        if !self.present.contains_key(kind.key) {
            let listed = all(&self.client, kind).await?;
            self.present.insert(kind.key, listed);
        }
        let present = self.present.entry(kind.key).or_default();
        let off = kind.turned_off(body.clone());
        let found = present.iter().position(|known| known.off == off);
        let found = found.or_else(|| present.iter().position(|known| kind.is_namesake(&known.off, &body)));
        let would_send = kind.is_on(&body);
        if let Some(place) = found
            && present[place].is_on
            && !self.active
        {
            let here = present.remove(place);
            if let Some(old_id) = old_id {
                self.new_ids.insert(old_id, here.id);
            }
            return Ok(if would_send && here.off == off { Taken::AsItIs } else { Taken::Kept });
        }
        let is_on = would_send && self.active;
        let taken = if is_on == would_send { Taken::AsItIs } else { Taken::Inactive };
        if !is_on {
            body.clone_from(&off);
        }
        if kind.is_on(&body) != is_on {
            return Ok(Taken::Withheld);
        }
        let id = match found.map(|place| present.remove(place)) {
            Some(known) => {
                if known.off != off || known.is_on != is_on {
                    let path = format!("{}/{}", kind.path, percent_encoded(&known.id));
                    let body = Value::Object(body);
                    patiently(|| self.client.send(kind.update.clone(), &path, &body)).await?;
                }
                known.id
            }
            None => {
                let (body, key) = (Value::Object(body), new_key());
                let made = patiently(|| self.client.post_with_key(kind.path, &key, &body)).await?;
                let made: Value = made.read()?;
                let id = made[kind.made].as_str().or_else(|| made[kind.made][0].as_str());
                id.unwrap_or_default().to_owned()
            }
        };
        if let Some(old_id) = old_id {
            self.new_ids.insert(old_id, id);
        }
        Ok(taken)
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

    fn known(&self, shown: Object) -> Known {
        let mut content = self.content(shown);
        let id = content.remove(self.id).map(|id| self.id_in(&id)).unwrap_or_default();
        Known { id, is_on: self.is_on(&content), off: self.turned_off(content) }
    }

    fn is_namesake(&self, known: &Object, body: &Object) -> bool {
        let is_named_so = |key| body.get(key).is_some_and(|name| known.get(key) == Some(name));
        self.name.is_some_and(is_named_so) && known.get("type") == body.get("type")
    }

    /// Whether something with this content sends by itself.
    fn is_on(&self, body: &Object) -> bool {
        match self.switch {
            None => false,
            Some(Switch::None) => true,
            Some(Switch::Enabled) => body.get("enabled") == Some(&json!(true)),
            Some(Switch::Paused) => {
                body.get("schedule").is_none_or(|schedule| schedule["recurring"]["paused"] != json!(true))
            }
        }
    }

    /// The content with which it does not, if there is one.
    fn turned_off(&self, mut body: Object) -> Object {
        match self.switch {
            None | Some(Switch::None) => {}
            Some(Switch::Enabled) => drop(body.insert("enabled".to_owned(), json!(false))),
            Some(Switch::Paused) => {
                let schedule = body.get_mut("schedule").and_then(Value::as_object_mut);
                let recurring = schedule.and_then(|schedule| schedule.get_mut("recurring")?.as_object_mut());
                if let Some(recurring) = recurring {
                    recurring.insert("paused".to_owned(), json!(true));
                }
            }
        }
        body
    }
}

/// Everything of a kind that an app has.
async fn all(client: &Client, kind: &DocumentKind) -> Result<Vec<Known>> {
    let mut found = Vec::new();
    each(client, kind.listing, kind.items, async |item| {
        found.push(kind.known(item));
        Ok(())
    })
    .await?;
    Ok(found)
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
    use super::kinds::{PIPELINES, SCHEDULES};
    use super::*;

    #[test]
    fn ids_are_replaced_wherever_they_stand() {
        let mut body = json!({"criteria": {"or": [{"segment": "old"}, {"tag": "older"}]}});
        replace(&mut body, &HashMap::from([("old".to_owned(), "new".to_owned())]));
        assert_eq!(body, json!({"criteria": {"or": [{"segment": "new"}, {"tag": "older"}]}}));
    }

    #[test]
    fn what_sends_by_itself_can_be_turned_off_except_a_schedule_that_sends_once() {
        let time = "2099-01-01T00:00:00";
        for (kind, body, is_on, can_be_off) in [
            (&PIPELINES, json!({"enabled": true}), true, true),
            (&PIPELINES, json!({"enabled": false}), false, true),
            (&SCHEDULES, json!({"schedule": {"scheduled_time": time, "recurring": {"cadence": {}}}}), true, true),
            (&SCHEDULES, json!({"schedule": {"scheduled_time": time, "recurring": {"paused": true}}}), false, true),
            (&SCHEDULES, json!({"schedule": {"scheduled_time": time}}), true, false),
            (&SEGMENTS, json!({"display_name": "News"}), false, true),
        ] {
            let body = body.as_object().unwrap().clone();
            assert_eq!(
                (kind.is_on(&body), !kind.is_on(&kind.turned_off(body.clone()))),
                (is_on, can_be_off),
                "{body:?}"
            );
        }
    }
}
