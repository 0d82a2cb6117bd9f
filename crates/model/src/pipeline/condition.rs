//! Conditions on a channel at the moment a pipeline sends.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::json::body::Body;
use crate::json::{At, Json};
use crate::limits;
use crate::selector::{PastOutcome, PastPush, PastPushId};
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
    Tag {
        group: TagGroup,
        tag: Tag,
    },
    Subscribed(SubscriptionListId),
    /// What became of an earlier push for it.
    Push(PastPush),
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
    let push = fields.optional("push", parse_push);
    let n_given = ["tag", "subscription", "push"].iter().filter(|key| fields.has(key)).count();
    fields.finish();
    match n_given {
        0 => at.missing("tag"),
        1 => tag.or(subscription).or(push),
        _ => at.invalid("This has one of 'tag', 'subscription' and 'push'."),
    }
}

#[derive(Body)]
#[body(not_printed, name = "TagCondition")]
struct TagFact {
    tag_name: Tag,
    /// The flat tags of the channel when not given.
    #[body(nullable)]
    group: Option<TagGroup>,
    /// Whether the channel must not have the tag.
    #[body(nullable, default)]
    negated: bool,
}

#[derive(Body)]
#[body(not_printed, name = "SubscriptionCondition")]
struct SubscriptionFact {
    list_name: SubscriptionListId,
    /// Whether the channel must not be subscribed.
    #[body(nullable, default)]
    negated: bool,
}

#[derive(Body)]
#[body(not_printed, name = "PushCondition")]
struct PushFact {
    /// The id of a push, or of a schedule, an experiment or a pipeline.
    id: PastPushId,
    /// What became of it for the channel.
    outcome: PastOutcome,
    /// Whether that must not be so.
    #[body(nullable, default)]
    negated: bool,
}

fn parse_push(at: &At<'_>) -> Option<(Fact, bool)> {
    let PushFact { id, outcome, negated } = PushFact::parse(at)?;
    Some((Fact::Push(PastPush { id, outcome }), negated))
}

fn parse_tag(at: &At<'_>) -> Option<(Fact, bool)> {
    if let Json::String(_) = at.json() {
        return Some((Fact::Tag { group: TagGroup::device(), tag: Tag::parse(at)? }, false));
    }
    let TagFact { tag_name, group, negated } = TagFact::parse(at)?;
    Some((Fact::Tag { group: group.unwrap_or_else(TagGroup::device), tag: tag_name }, negated))
}

fn parse_subscription(at: &At<'_>) -> Option<(Fact, bool)> {
    SubscriptionFact::parse(at).map(|fact| (Fact::Subscribed(fact.list_name), fact.negated))
}

/// One condition, or several that all have to hold.
pub(super) fn schema(schemas: &mut SchemaGenerator) -> Schema {
    let (tag, named) = (schemas.subschema_for::<Tag>(), schemas.subschema_for::<TagFact>());
    let fact = json!({
        "type": "object",
        "properties": {
            "tag": {"anyOf": [tag, named]},
            "subscription": schemas.subschema_for::<SubscriptionFact>(),
            "push": schemas.subschema_for::<PushFact>(),
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
