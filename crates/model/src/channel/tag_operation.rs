//! A change of tags in groups. The target is given beside it and differs from endpoint to endpoint.

use std::collections::{BTreeMap, BTreeSet};

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::channel::ChannelRef;
use crate::json::body::{Body, Read};
use crate::json::{At, Fields, OneOrMany};
use crate::limits;
use crate::tag::{Tag, TagGroup};

/// Tags by group. A group without tags may be left out.
pub type TagSets = BTreeMap<TagGroup, BTreeSet<Tag>>;

/// A change of tags, by group: `add` and `remove` change the named tags only, `set` replaces all tags of the
/// named groups. No tag is added and removed at once.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = {
    let tags = schemas.subschema_for::<OneOrMany<Tag>>();
    let sets = json!({"type": "object", "additionalProperties": tags});
    json_schema!({
        "type": "object",
        "properties": {"add": sets, "remove": sets, "set": sets},
        "minProperties": 1,
        "additionalProperties": false,
    })
})]
pub enum TagOperation {
    /// Changes the named tags only. No tag is on both sides.
    Edit { add: TagSets, remove: TagSets },
    /// Replaces all the tags of the named groups.
    Set(TagSets),
}

impl TagOperation {
    pub(crate) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let operation = Self::read(&mut fields);
        fields.finish();
        operation
    }

    /// Takes `add`, `remove` and `set` from an object that may have other keys. One bad tag makes all of it bad, whoever sends it.
    pub fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let [add, remove, set] = Self::read_each(fields);
        match [fields.has("add") || fields.has("remove"), fields.has("set")] {
            [false, false] => fields.at().invalid("One of 'add', 'remove' and 'set' must be given."),
            [true, true] => fields.at().invalid_key("set", "'set' cannot be combined with 'add' or 'remove'."),
            [false, true] => set.map(TagOperation::Set),
            [true, false] => {
                let (add, remove) = (add.unwrap_or_default(), remove.unwrap_or_default());
                refuse_contradictions(fields.at(), &add, &remove)?;
                Some(TagOperation::Edit { add, remove })
            }
        }
    }

    /// The tags to add, to remove and to set, where all three may be given together, or none. One bad tag makes all of it bad.
    pub(crate) fn read_sets(fields: &mut Fields<'_>) -> Option<[Option<TagSets>; 3]> {
        let sets = Self::read_each(fields);
        let none = TagSets::new();
        let [add, remove, _] = sets.each_ref().map(|set| set.as_ref().unwrap_or(&none));
        refuse_contradictions(fields.at(), add, remove)?;
        Some(sets)
    }

    fn read_each(fields: &mut Fields<'_>) -> [Option<TagSets>; 3] {
        ["add", "remove", "set"].map(|key| fields.optional(key, |at| parse_sets(at, Forgiven::Nothing)))
    }

    /// As [`TagOperation::read`], where all three keys may be given together, or none: `set` comes first. Of what a device adds and
    /// removes, tags that cannot be used are passed over. A group that it sets is passed over as a whole then: what is left of the
    /// list is not what the device wanted, and would take away the tags there are.
    pub(crate) fn read_several(fields: &mut Fields<'_>) -> Option<Vec<Self>> {
        let add = fields.optional("add", |at| parse_sets(at, Forgiven::Tags));
        let remove = fields.optional("remove", |at| parse_sets(at, Forgiven::Tags));
        let set = fields.optional("set", |at| parse_sets(at, Forgiven::Groups));
        let (add, remove) = (add.unwrap_or_default(), remove.unwrap_or_default());
        refuse_contradictions(fields.at(), &add, &remove)?;
        Some(set.map(TagOperation::Set).into_iter().chain([TagOperation::Edit { add, remove }]).collect())
    }

    /// The groups named here that follow from device properties. Callers must refuse the operation if there are any.
    pub fn read_only_groups(&self) -> BTreeSet<&TagGroup> {
        match self {
            TagOperation::Edit { add, remove } => {
                add.keys().chain(remove.keys()).filter(|g| g.is_read_only()).collect()
            }
            TagOperation::Set(sets) => sets.keys().filter(|g| g.is_read_only()).collect(),
        }
    }

    /// Whether the tags of a group may change.
    pub fn names(&self, group: &str) -> bool {
        let is_in = |sets: &TagSets| sets.keys().any(|named| named.as_str() == group);
        match self {
            TagOperation::Edit { add, remove } => is_in(add) || is_in(remove),
            TagOperation::Set(sets) => is_in(sets),
        }
    }

    /// Groups that end up without tags are dropped.
    pub fn apply(&self, tags: &mut TagSets) {
        match self {
            TagOperation::Edit { add, remove } => {
                for (group, gone) in remove {
                    if let Some(current) = tags.get_mut(group) {
                        current.retain(|tag| !gone.contains(tag));
                    }
                }
                for (group, new) in add {
                    tags.entry(group.clone()).or_default().extend(new.iter().cloned());
                }
            }
            TagOperation::Set(sets) => tags.extend(sets.clone()),
        }
        tags.retain(|_, tags| !tags.is_empty());
    }
}

/// Which of some tags a channel has, as old device libraries ask.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed, lenient)]
pub struct ChannelTagsLookup {
    #[body(flatten, take = ChannelRef::read)]
    pub channel: ChannelRef,
    #[body(read = |at| parse_sets(at, Forgiven::Tags), schema = sets_schema)]
    pub tag_groups: TagSets,
}

fn sets_schema(schemas: &mut SchemaGenerator) -> Schema {
    let tags = schemas.subschema_for::<OneOrMany<Tag>>();
    json_schema!({"type": "object", "additionalProperties": tags})
}

/// What a device may get wrong without losing the rest.
#[derive(Clone, Copy)]
enum Forgiven {
    Nothing,
    Groups,
    /// Groups, and single tags in them.
    Tags,
}

fn parse_sets(at: &At<'_>, forgiven: Forgiven) -> Option<TagSets> {
    let mut fields = at.object()?;
    let groups = fields.rest().into_iter().map(|(name, at)| match forgiven {
        Forgiven::Nothing => parse_group(name, &at, all_tags),
        Forgiven::Groups => at.or_passed_over(|at| parse_group(name, at, all_tags)),
        Forgiven::Tags => at.or_passed_over(|at| parse_group(name, at, usable_tags)),
    });
    // A group that could not be read has been noted as a problem, or passed over.
    Some(groups.collect::<Vec<_>>().into_iter().flatten().collect())
}

/// All the tags that one channel has, by group. One bad tag makes all of it bad.
pub(super) fn held_tags(at: &At<'_>) -> Option<TagSets> {
    let all = |at: &At<'_>| at.one_or_many(0..=limits::TAGS_PER_CHANNEL, Tag::parse).map(OneOrMany::into_vec);
    let groups = at.object()?.rest().into_iter().map(|(name, at)| {
        let (group, tags) = parse_group(name, &at, all)?;
        match group.is_read_only() {
            true => at
                .invalid(format!("The tags of the group '{group}' follow from what the device reports; leave it out.")),
            false => Some((group, tags)),
        }
    });
    groups.collect::<Vec<_>>().into_iter().collect()
}

fn parse_group(
    name: &str,
    at: &At<'_>,
    read_tags: impl FnOnce(&At<'_>) -> Option<Vec<Tag>>,
) -> Option<(TagGroup, BTreeSet<Tag>)> {
    let group = TagGroup::new(name).or_else(|message| at.invalid(message).ok_or(())).ok();
    let tags = read_tags(at);
    Some((group?, tags?.into_iter().collect()))
}

fn all_tags(at: &At<'_>) -> Option<Vec<Tag>> {
    at.one_or_many(0..=limits::TAGS_PER_OPERATION, Tag::parse).map(OneOrMany::into_vec)
}

fn usable_tags(at: &At<'_>) -> Option<Vec<Tag>> {
    at.most_or_passed_over(limits::TAGS_PER_OPERATION, Tag::parse)
}

fn refuse_contradictions(at: &At<'_>, add: &TagSets, remove: &TagSets) -> Option<()> {
    let mut is_sound = true;
    for (group, gone) in remove {
        if let Some(tag) = add.get(group).and_then(|new| new.intersection(gone).next()) {
            is_sound = false;
            at.invalid_key::<()>(
                &format!("remove.{group}"),
                format!("The tag '{tag}' cannot be added to and removed from the group '{group}' at once."),
            );
        }
    }
    is_sound.then_some(())
}
