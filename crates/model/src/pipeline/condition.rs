//! Conditions on a channel at the moment a pipeline sends.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::json::{At, Json};
use crate::limits;
use crate::subscription::SubscriptionListId;
use crate::tag::{Tag, TagGroup};

/// Facts of which all, or one, must be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub junction: Junction,
    /// Each with whether it must be false instead.
    pub facts: Vec<(Fact, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Junction {
    And,
    Or,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    Tag { group: TagGroup, tag: Tag },
    Subscribed(SubscriptionListId),
}

impl Condition {
    /// All of them have to hold.
    pub(super) fn parse_all(at: &At<'_>) -> Option<Vec<Self>> {
        let conditions = at.one_or_many(1..=limits::PIPELINE_CONDITIONS, Self::parse)?.into_vec();
        let n_facts: usize = conditions.iter().map(|condition| condition.facts.len()).sum();
        if n_facts > limits::PIPELINE_CONDITIONS {
            let most = limits::PIPELINE_CONDITIONS;
            return at.invalid(format!("There may be at most {most} conditions; there are {n_facts}."));
        }
        Some(conditions)
    }

    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let (junction, key) = match (fields.spelled("and"), fields.spelled("or")) {
            (Some(and), None) => (Junction::And, and),
            (None, Some(or)) => (Junction::Or, or),
            (Some(_), Some(_)) => return at.invalid("A condition has either 'and' or 'or'."),
            (None, None) => return at.missing("and"),
        };
        let facts = fields.required(key, |at| at.array(1..=limits::PIPELINE_CONDITIONS, parse_fact));
        fields.finish();
        Some(Self { junction, facts: facts? })
    }
}

fn parse_fact(at: &At<'_>) -> Option<(Fact, bool)> {
    let mut fields = at.object()?;
    if ["and", "or"].iter().any(|key| fields.spelled(key).is_some()) {
        return at.invalid("Conditions cannot be nested; an array of conditions means all of them.");
    }
    let tag = fields.optional("tag", parse_tag);
    let subscription = fields.optional("subscription", parse_subscription);
    let n_given = ["tag", "subscription"].iter().filter(|key| fields.has(key)).count();
    fields.finish();
    match n_given {
        0 => at.missing("tag"),
        1 => tag.or(subscription),
        _ => at.invalid("This has either 'tag' or 'subscription'."),
    }
}

fn parse_tag(at: &At<'_>) -> Option<(Fact, bool)> {
    if let Json::String(_) = at.json() {
        return Some((Fact::Tag { group: TagGroup::device(), tag: Tag::parse(at)? }, false));
    }
    let mut fields = at.object()?;
    let tag = fields.required("tag_name", Tag::parse);
    let group = fields.nullable("group", TagGroup::parse);
    let negated = fields.nullable("negated", At::boolean);
    fields.finish();
    let group = group.unwrap_or_else(TagGroup::device);
    Some((Fact::Tag { group, tag: tag? }, negated.unwrap_or(false)))
}

fn parse_subscription(at: &At<'_>) -> Option<(Fact, bool)> {
    let mut fields = at.object()?;
    let list = fields.required("list_name", SubscriptionListId::parse);
    let negated = fields.nullable("negated", At::boolean);
    fields.finish();
    Some((Fact::Subscribed(list?), negated.unwrap_or(false)))
}

/// One condition, or several that all have to hold.
pub(super) fn schema(schemas: &mut SchemaGenerator) -> Schema {
    let (tag, group) = (schemas.subschema_for::<Tag>(), schemas.subschema_for::<Option<TagGroup>>());
    let negated = json!({"type": ["boolean", "null"]});
    let named = json!({"tag_name": tag, "group": group, "negated": negated});
    let list = json!({"list_name": schemas.subschema_for::<SubscriptionListId>(), "negated": negated});
    let fact = json!({
        "type": "object",
        "properties": {
            "tag": {"anyOf": [tag, {"type": "object", "properties": named, "required": ["tag_name"]}]},
            "subscription": {"type": "object", "properties": list, "required": ["list_name"]},
        },
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
    });
    let facts = json!({"type": "array", "minItems": 1, "maxItems": limits::PIPELINE_CONDITIONS, "items": fact});
    let condition = json!({
        "type": "object",
        "patternProperties": {"^([aA][nN][dD]|[oO][rR])$": facts},
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
    });
    json_schema!({"anyOf": [{"type": "null"}, condition, {"type": "array", "minItems": 1, "items": condition}]})
}
