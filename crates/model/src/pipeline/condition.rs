//! Conditions on a channel at the moment a pipeline sends.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::json::body::{Body, Words};
use crate::json::{At, Json};
use crate::limits;
use crate::selector::{PastOutcome, PastPush, PastPushId, Selector};
use crate::subscription::SubscriptionListId;
use crate::tag::{Tag, TagGroup};

/// Facts of which all, or one, must be true.
#[derive(Clone, Debug, PartialEq)]
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

#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    Tag {
        group: TagGroup,
        tag: Tag,
    },
    Subscribed(SubscriptionListId),
    /// What became of an earlier push for it.
    Push(PastPush),
    /// It is the channel of a named user.
    HasNamedUser,
    /// It is in an audience.
    InAudience(Box<Selector>),
    /// The app was not opened since the channel set the pipeline off. Who opens it stops waiting, so it is true of everybody who
    /// is left.
    InactiveSinceTriggered,
}

/// The place of a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Pipeline,
    Trigger,
}

const NOT_IN_A_TRIGGER: &str =
    "Nothing has happened since the trigger while it is checked; give this in the 'condition' of the pipeline.";
const NOT_IN_OR: &str = "This cannot be one of several possibilities; give it with 'and'.";

impl Condition {
    /// All of them have to hold.
    pub(super) fn parse_all(at: &At<'_>, place: Place) -> Option<Vec<Self>> {
        let conditions = at.one_or_many(1..=limits::PIPELINE_CONDITIONS, |at| Self::parse(at, place))?.into_vec();
        let n_facts: usize = conditions.iter().map(|condition| condition.facts.len()).sum();
        if n_facts > limits::PIPELINE_CONDITIONS {
            let most = limits::PIPELINE_CONDITIONS;
            return at.invalid(format!("There may be at most {most} conditions; there are {n_facts}."));
        }
        Some(conditions)
    }

    fn parse(at: &At<'_>, place: Place) -> Option<Self> {
        let mut fields = at.object()?;
        let (junction, key) = match (fields.spelled("and"), fields.spelled("or")) {
            (Some(and), None) => (Junction::And, and),
            (None, Some(or)) => (Junction::Or, or),
            (Some(_), Some(_)) => return at.invalid("A condition has either 'and' or 'or'."),
            (None, None) => return at.missing("and"),
        };
        let allowed = |(fact, is_negated): (Fact, bool), at: &At<'_>| match (&fact, place, junction) {
            (Fact::InactiveSinceTriggered, Place::Trigger, _) => at.invalid_key("inactivity", NOT_IN_A_TRIGGER),
            (Fact::InactiveSinceTriggered, Place::Pipeline, Junction::Or) => at.invalid_key("inactivity", NOT_IN_OR),
            _ => Some((fact, is_negated)),
        };
        let facts = fields.required(key, |at| {
            at.array(1..=limits::PIPELINE_CONDITIONS, |at| parse_fact(at).and_then(|fact| allowed(fact, at)))
        });
        fields.finish();
        Some(Self { junction, facts: facts? })
    }

    /// The audiences that conditions ask about, each with its path in the given JSON of the conditions.
    pub(super) fn audiences<'c>(all: &'c [Self], json: Option<&Json>, path: &str) -> Vec<(String, &'c Selector)> {
        let mut found = Vec::new();
        for (n, condition) in all.iter().enumerate() {
            let (path, json) = nth(json, path, n);
            let junction = match json {
                Some(Json::Object(entries)) => entries.first().map_or("", |(key, _)| key.as_str()),
                Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) | None => "",
            };
            for (i, (fact, _)) in condition.facts.iter().enumerate() {
                if let Fact::InAudience(selector) = fact {
                    found.push((format!("{path}.{junction}[{i}].segmentation.audience"), &**selector));
                }
            }
        }
        found
    }
}

/// One of several items, or the only one, and its path.
pub(super) fn nth<'j>(json: Option<&'j Json>, path: &str, n: usize) -> (String, Option<&'j Json>) {
    match json {
        Some(Json::Array(items)) => (format!("{path}[{n}]"), items.get(n)),
        one => (path.to_owned(), one),
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
    let user = fields.optional("named_user", |at| UserFact::parse(at).map(|_| (Fact::HasNamedUser, false)));
    let audience = fields.optional("segmentation", |at| {
        AudienceFact::parse(at).map(|fact| (Fact::InAudience(Box::new(fact.audience)), false))
    });
    let inactivity =
        fields.optional("inactivity", |at| InactivityFact::parse(at).map(|_| (Fact::InactiveSinceTriggered, false)));
    let n_given = KEYS.iter().filter(|key| fields.has(key)).count();
    fields.finish();
    match n_given {
        0 => at.missing("tag"),
        1 => tag.or(subscription).or(push).or(user).or(audience).or(inactivity),
        _ => at.invalid(format!("This has one of {}.", KEYS.join(", "))),
    }
}

const KEYS: [&str; 6] = ["tag", "subscription", "push", "named_user", "segmentation", "inactivity"];

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

#[derive(Body)]
#[body(not_printed, name = "NamedUserCondition")]
struct UserFact {
    /// Whether the channel has a named user.
    #[body(rename = "state")]
    _state: UserState,
}

#[derive(Clone, Copy, Words)]
enum UserState {
    Associated,
}

#[derive(Body)]
#[body(not_printed, name = "AudienceCondition")]
struct AudienceFact {
    /// The channel has to be in it.
    audience: Selector,
}

#[derive(Body)]
#[body(not_printed, name = "InactivityCondition")]
struct InactivityFact {
    /// Since when the app must not have been opened.
    #[body(rename = "type")]
    _since: InactiveSince,
}

#[derive(Clone, Copy, Words)]
enum InactiveSince {
    SinceTriggered,
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
            "named_user": schemas.subschema_for::<UserFact>(),
            "segmentation": schemas.subschema_for::<AudienceFact>(),
            "inactivity": schemas.subschema_for::<InactivityFact>(),
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
