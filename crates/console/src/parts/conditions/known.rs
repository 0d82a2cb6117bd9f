//! What the fields of conditions can be chosen from and completed with: the tags, attributes, segments, lists and messages that
//! there are, by their names.

use std::collections::HashMap;

use model::time::UtcMillis;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Conditions, Kind, Row};
use crate::form::{encode, query};
use crate::parts::devices::short;
use crate::parts::json::brief;
use crate::parts::numbers::count;
use crate::visit::Visit;

/// Of earlier messages; older ones are found by their id.
const RECENT: &str = "50";

/// Lists to choose from.
#[derive(Default)]
pub(crate) struct Known(Vec<(List, Vec<Choice>)>);

/// What a list holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Groups,
    /// The tags of a group.
    Tags(String),
    Attributes,
    /// Frequent values of an attribute.
    Values(String),
    Segments,
    Uploaded,
    Subscriptions,
    Messages,
}

/// Something to choose: what the API calls it, and what people do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) words: String,
    /// When a message was sent, or a segment was made whose name others have, too.
    pub(crate) at: Option<UtcMillis>,
    /// Whether an attribute is a number.
    pub(crate) is_number: bool,
}

#[derive(Deserialize)]
struct Segments {
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    id: String,
    display_name: String,
    /// In milliseconds.
    creation_date: i64,
}

#[derive(Deserialize)]
struct Named {
    display_name: String,
}

#[derive(Deserialize)]
struct Groups {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    group: String,
}

#[derive(Deserialize)]
struct Tags {
    terms: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    tag: String,
    channels: u64,
}

#[derive(Deserialize)]
struct Lists {
    lists: Vec<Uploaded>,
}

#[derive(Deserialize)]
struct Uploaded {
    name: String,
    channel_count: u64,
}

#[derive(Deserialize)]
struct Attributes {
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct Attribute {
    name: String,
    types: Vec<String>,
    values: Vec<Frequent>,
}

#[derive(Deserialize)]
struct Frequent {
    value: Value,
}

#[derive(Deserialize)]
struct Subscriptions {
    subscription_lists: Vec<Subscription>,
}

#[derive(Deserialize)]
struct Subscription {
    list_id: String,
}

#[derive(Deserialize)]
struct Pushes {
    pushes: Vec<Push>,
}

#[derive(Deserialize)]
struct Push {
    push_id: String,
    created: String,
    name: Option<String>,
    title: Option<String>,
    alert: Option<String>,
}

#[derive(Deserialize)]
struct One {
    push: Sent,
}

#[derive(Deserialize)]
struct Sent {
    created: String,
    name: Option<String>,
}

impl Known {
    /// What there is to choose from, for the rows of a form. A list that cannot be had is not worth the form: fields take what is
    /// typed all the same.
    pub(crate) async fn of(visit: &Visit, conditions: &Conditions) -> Self {
        let rows = conditions.leaves();
        let mut known = Self::default();
        for row in &rows {
            for list in lists_of(row) {
                known.learn(visit, list).await;
            }
        }
        known.name_the_rest(visit, &rows).await;
        known
    }

    /// As [`Known::of`], for a list that a form has besides its rows.
    pub(crate) async fn learn(&mut self, visit: &Visit, list: List) {
        if self.list(&list).is_some() {
            return;
        }
        let choices = choices(visit, &list).await;
        self.0.push((list, choices));
    }

    pub(super) fn list(&self, list: &List) -> Option<&[Choice]> {
        self.0.iter().find(|(known, _)| known == list).map(|(_, choices)| choices.as_slice())
    }

    pub(super) fn lists(&self) -> impl Iterator<Item = (usize, &[Choice])> {
        let typed = self.0.iter().enumerate().filter(|(_, (list, _))| !list.is_chosen());
        typed.map(|(n, (_, choices))| (n, choices.as_slice()))
    }

    /// The id of the element that completes a field.
    pub(super) fn id(&self, list: &List) -> Option<String> {
        self.0.iter().position(|(known, _)| known == list).map(|n| format!("known-{n}"))
    }

    /// The choice with a value.
    pub(super) fn find(&self, list: &List, value: &str) -> Option<&Choice> {
        self.list(list)?.iter().find(|choice| choice.value == value.trim())
    }

    /// Segments and messages that rows name and the lists are too short for.
    async fn name_the_rest(&mut self, visit: &Visit, rows: &[Row]) {
        for row in rows {
            let (list, value) = match row.kind {
                Kind::Segment => (List::Segments, row.value.trim()),
                Kind::PastPush => (List::Messages, row.value.trim()),
                _ => continue,
            };
            if value.is_empty() || self.find(&list, value).is_some() {
                continue;
            }
            let found = if list == List::Segments { segment(visit, value).await } else { message(visit, value).await };
            let choices = self.0.iter_mut().find(|(known, _)| *known == list);
            if let Some(((_, choices), found)) = choices.zip(found) {
                choices.push(found);
            }
        }
    }
}

impl List {
    /// Whether a field offers nothing else.
    fn is_chosen(&self) -> bool {
        match self {
            List::Groups | List::Segments | List::Uploaded | List::Subscriptions | List::Messages => true,
            List::Tags(_) | List::Attributes | List::Values(_) => false,
        }
    }
}

fn lists_of(row: &Row) -> Vec<List> {
    match row.kind {
        Kind::Tag => vec![List::Groups, List::Tags(row.of.trim().to_owned())],
        Kind::Attribute if row.of.trim().is_empty() => vec![List::Attributes],
        Kind::Attribute => vec![List::Attributes, List::Values(row.of.trim().to_owned())],
        Kind::Segment => vec![List::Segments],
        Kind::List => vec![List::Uploaded],
        Kind::Subscription => vec![List::Subscriptions],
        Kind::PastPush => vec![List::Messages],
        Kind::Place | Kind::NamedUser | Kind::Channel | Kind::Json => Vec::new(),
    }
}

async fn choices(visit: &Visit, list: &List) -> Vec<Choice> {
    let devices = |n| count(n, "device", "devices");
    let choice = |value: String, words: String| Choice { value, words, ..Choice::default() };
    match list {
        List::Groups => {
            let found = load(visit, "/api/audience/groups").await.map(|Groups { groups }| groups);
            found.unwrap_or_default().into_iter().map(|Group { group }| choice(group.clone(), group)).collect()
        }
        List::Tags(group) => {
            let path = format!("/api/audience/terms{}", query([("group", group.as_str())]));
            let found = load(visit, &path).await.map(|Tags { terms }| terms);
            found.unwrap_or_default().into_iter().map(|Tag { tag, channels }| choice(tag, devices(channels))).collect()
        }
        List::Attributes => attributes(visit, "").await.into_iter().map(named).collect(),
        List::Values(name) => {
            let found = attributes(visit, name).await.into_iter().find(|attribute| attribute.name == *name);
            let values = found.map(|attribute| attribute.values).unwrap_or_default();
            values.into_iter().map(|known| choice(brief(&known.value), String::new())).collect()
        }
        List::Segments => {
            let found = load(visit, "/api/segments?order=desc").await.map(|Segments { segments }| segments);
            told_apart(&found.unwrap_or_default())
        }
        List::Uploaded => {
            let found = load(visit, "/api/lists").await.map(|Lists { lists }| lists).unwrap_or_default();
            let words = |list: &Uploaded| format!("{} · {}", list.name, devices(list.channel_count));
            found.into_iter().map(|list| choice(list.name.clone(), words(&list))).collect()
        }
        List::Subscriptions => {
            let found = load(visit, "/api/subscription_lists").await;
            let lists = found.map(|Subscriptions { subscription_lists }| subscription_lists).unwrap_or_default();
            lists.into_iter().map(|list| choice(list.list_id.clone(), list.list_id)).collect()
        }
        List::Messages => {
            let found = load(visit, &format!("/api/pushes?limit={RECENT}")).await.map(|Pushes { pushes }| pushes);
            found.unwrap_or_default().into_iter().map(Choice::from).collect()
        }
    }
}

/// Nothing keeps segments from having the same name: these have the end of their id and the time they were made at, too.
fn told_apart(segments: &[Segment]) -> Vec<Choice> {
    let mut n_called: HashMap<&str, usize> = HashMap::new();
    for segment in segments {
        *n_called.entry(segment.display_name.as_str()).or_default() += 1;
    }
    let choice = |Segment { id, display_name, creation_date }: &Segment| match n_called[display_name.as_str()] {
        1 => Choice { value: id.clone(), words: display_name.clone(), ..Choice::default() },
        _ => {
            let words = format!("{display_name} (…{})", short(id));
            Choice { value: id.clone(), words, at: Some(UtcMillis(*creation_date)), is_number: false }
        }
    };
    segments.iter().map(choice).collect()
}

async fn attributes(visit: &Visit, prefix: &str) -> Vec<Attribute> {
    let path = format!("/api/attributes{}", query([("prefix", prefix), ("limit", "100")]));
    load(visit, &path).await.map(|Attributes { attributes }| attributes).unwrap_or_default()
}

fn named(attribute: Attribute) -> Choice {
    let is_number = attribute.types == ["number"];
    Choice { value: attribute.name, words: attribute.types.join(", "), at: None, is_number }
}

async fn segment(visit: &Visit, id: &str) -> Option<Choice> {
    let Named { display_name } = load(visit, &format!("/api/segments/{}", encode(id))).await?;
    Some(Choice { value: id.to_owned(), words: display_name, ..Choice::default() })
}

async fn message(visit: &Visit, id: &str) -> Option<Choice> {
    let One { push } = load(visit, &format!("/api/push/{}", encode(id))).await?;
    let (words, at) = (push.name.unwrap_or_else(|| id.to_owned()), UtcMillis::parse_api(&push.created));
    Some(Choice { value: id.to_owned(), words, at, is_number: false })
}

async fn load<T: DeserializeOwned>(visit: &Visit, path: &str) -> Option<T> {
    visit.get(path).await.ok()
}

impl From<Push> for Choice {
    fn from(push: Push) -> Self {
        let words = push.name.or(push.title).or(push.alert).unwrap_or_else(|| "without a text".to_owned());
        let words = words.chars().take(60).collect();
        Self { value: push.push_id, words, at: UtcMillis::parse_api(&push.created), is_number: false }
    }
}
