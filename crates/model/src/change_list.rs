//! Tag lists and attribute lists: files of channels or named users, and what changes about each of them.

mod csv;
#[cfg(test)]
mod tests;

pub(crate) use csv::short;
pub use csv::{ChangeCsv, ChangeFault, ChangeRow, FileFault};

use std::collections::BTreeMap;

use schemars::json_schema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::attribute::{AttributeAction, AttributeKey, AttributeOperation, AttributeValue};
use crate::channel::{TagOperation, TagSets};
use crate::ids::{ChannelId, NamedUserId};
use crate::json::body::{Body, Read};
use crate::json::{At, Fields, OneOrMany};
use crate::limits;
use crate::static_list::{ListDetails, ListName, extra};
use crate::tag::Tag;

/// What the rows of a list change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Tags,
    Attributes,
}

/// Whom a row is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChangeTarget {
    Channel(ChannelId),
    NamedUser(NamedUserId),
}

/// What an empty cell of an attribute list means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyCells {
    Stay,
    Remove,
}

/// A tag list to create. Its tags are changed for everybody in a file that is uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct NewTagList {
    pub name: ListName,
    #[body(length = 0..=limits::TAG_LIST_DESCRIPTION_CHARS, nullable)]
    pub description: Option<String>,
    #[body(length = 0..=limits::LIST_EXTRA_PAIRS, read = extra, nullable)]
    pub extra: Option<BTreeMap<String, String>>,
    #[body(flatten, take = TagChanges::read)]
    pub tags: TagChanges,
}

/// An attribute list to create. Its file names the attributes in its first line.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct NewAttributeList {
    pub name: ListName,
    #[body(flatten)]
    pub details: ListDetails,
}

/// The tags that a tag list changes, by group: `set` first, then the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Read)]
#[body(schema = {
    let tags = schemas.subschema_for::<OneOrMany<Tag>>();
    let sets = json!({"type": "object", "additionalProperties": tags});
    json_schema!({"type": "object", "properties": {"add": sets, "remove": sets, "set": sets}, "additionalProperties": false})
})]
pub struct TagChanges {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add: Option<TagSets>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove: Option<TagSets>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<TagSets>,
}

impl ChangeKind {
    /// As in the paths of the API.
    pub const fn path(self) -> &'static str {
        match self {
            ChangeKind::Tags => "tag-lists",
            ChangeKind::Attributes => "attribute-lists",
        }
    }
}

impl TagChanges {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let changes = Self::read(&mut fields);
        fields.finish();
        changes
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let [add, remove, set] = TagOperation::read_sets(fields)?;
        Some(Self { add, remove, set })
    }

    /// In the order in which they are carried out; none if nothing is to change.
    pub fn operations(&self) -> Vec<TagOperation> {
        let edits = self.add.is_some() || self.remove.is_some();
        let of = |sets: &Option<TagSets>| sets.clone().unwrap_or_default();
        let set = self.set.clone().map(TagOperation::Set);
        set.into_iter()
            .chain(edits.then(|| TagOperation::Edit { add: of(&self.add), remove: of(&self.remove) }))
            .collect()
    }
}

impl EmptyCells {
    /// The beginning of a list's name tells.
    pub fn of(list: &ListName) -> Self {
        match list.as_str().starts_with("ua_attributes_snapshot_") {
            true => EmptyCells::Remove,
            false => EmptyCells::Stay,
        }
    }
}

/// The change of an attribute by a cell. Its type follows from the text: a number, a date with a time, or text.
pub fn attribute_change(column: &str, cell: &str, empty: EmptyCells) -> Result<Option<AttributeOperation>, String> {
    let key = AttributeKey::new(column)?;
    let action = match cell {
        "" => match empty {
            EmptyCells::Remove => AttributeAction::Remove,
            EmptyCells::Stay => return Ok(None),
        },
        cell if cell.chars().count() > limits::ATTRIBUTE_TEXT_CHARS => {
            let most = limits::ATTRIBUTE_TEXT_CHARS;
            return Err(format!("The value of '{column}' is longer than {most} characters."));
        }
        cell => AttributeAction::Set(AttributeValue::from_cell(cell)),
    };
    Ok(Some(AttributeOperation { key, action, timestamp: None }))
}
