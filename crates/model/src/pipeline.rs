//! Pipelines: messages that are sent automatically, when something happens to a channel.

mod condition;
mod dayparts;
mod event_selector;
mod rate;
#[cfg(test)]
mod tests;
mod trigger;

pub use condition::{Condition, Fact, Junction};
pub use dayparts::{ByClock, Dayparts, Miss};
pub use event_selector::{EventSelector, Subject};
pub use rate::{Rate, RateWindow, parse_global_rates};
pub use trigger::{Happening, Inactivity, Trigger};

use std::time::Duration;

use schemars::{Schema, json_schema};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use crate::channel::name_text;
use crate::json::body::{Body, Read};
use crate::json::{self, At, Fields, Json, OneOrMany};
use crate::limits;
use crate::payload::Push;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::selector::{Audience, Purpose, Selector};
use crate::time::{self, UtcMillis};

/// Pushes that are sent to a channel when something happens to it.
// Printed as it was sent, but outcomes always with their push under a key of its own.
#[derive(Clone, Debug, PartialEq, Read)]
#[body(schema = PipelineBody::json_schema(schemas))]
pub struct Pipeline {
    /// Without the keys that only the service sets.
    source: Json,
    pub name: Option<String>,
    pub enabled: bool,
    /// Everything that is sent, all of it at the same time; at least one.
    pub outcomes: Vec<Push>,
    /// How long after the trigger the outcomes are sent; zero for at once.
    pub delay: Duration,
    /// When the outcomes may be sent, if not always.
    pub dayparts: Option<Dayparts>,
    /// Any of them triggers the pipeline.
    pub immediate: Vec<Trigger>,
    /// Inactivity for long enough triggers it as well.
    pub historical: Vec<Inactivity>,
    /// Any of them removes a channel from the waiting ones.
    pub cancellation: Vec<Trigger>,
    /// All of them have to hold when the outcomes are sent.
    pub conditions: Vec<Condition>,
    /// All of them have to allow one more push.
    pub rates: Vec<Rate>,
    pub active: Period,
}

/// When a pipeline or trigger is active; unbounded on a side that is not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    pub from: Option<UtcMillis>,
    pub until: Option<UtcMillis>,
}

/// The status of a pipeline. The names are shown to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PipelineStatus {
    /// Its period has not begun.
    Pending,
    Live,
    /// Its period is over.
    Completed,
    Disabled,
}

/// Keys of answers that callers may send back.
const READ_ONLY: [&str; 5] = ["uid", "url", "status", "creation_time", "last_modified_time"];

impl Pipeline {
    pub fn parse_one_or_many(at: &At<'_>) -> Option<OneOrMany<Self>> {
        at.one_or_many(1..=limits::PIPELINES_PER_REQUEST, Self::parse)
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, Purpose::Pipeline)
    }

    /// Reads a stored pipeline.
    pub fn parse_stored(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, Purpose::Stored)
    }

    fn parse_with(at: &At<'_>, purpose: Purpose) -> Option<Self> {
        let body = PipelineBody::parse(at, purpose)?;
        let delay = one_delay(at, &body.outcome)?.or(body.timing.delay);
        let pipeline = Self {
            source: without_read_only(at.json()),
            name: body.name,
            enabled: body.enabled,
            outcomes: body.outcome.into_iter().map(|outcome| outcome.push).collect(),
            delay: delay.unwrap_or_default(),
            dayparts: body.timing.dayparts,
            immediate: body.immediate_trigger,
            historical: body.historical_trigger,
            cancellation: body.cancellation_trigger,
            conditions: body.condition,
            rates: body.constraint,
            active: Period { from: body.activation_time, until: body.deactivation_time },
        };
        if at.is_clean() && purpose != Purpose::Stored {
            pipeline.check(at)?;
        }
        Some(pipeline)
    }

    /// Checks the rules across parts that are valid by themselves.
    fn check(&self, at: &At<'_>) -> Option<()> {
        if self.immediate.is_empty() && self.historical.is_empty() {
            return at.missing("immediate_trigger");
        }
        if !self.active.is_sound() {
            return at.invalid_key("deactivation_time", "The deactivation must come after the activation.");
        }
        if !self.cancellation.is_empty() && self.is_sent_at_once() {
            let message = "There is nothing to cancel without a delay; set 'timing.delay.seconds' as well.";
            return at.invalid_key("cancellation_trigger", message);
        }
        if !self.historical.is_empty() && !self.is_sent_at_once() {
            return at.invalid_key("historical_trigger", "This cannot be combined with a delay or other timing.");
        }
        Some(())
    }

    /// Whether the outcomes were given as an array, which shows in the paths of their problems.
    pub fn has_many_outcomes(&self) -> bool {
        self.source.get("outcome").is_some_and(|outcome| matches!(outcome, Json::Array(_)))
    }

    /// Whether the push of an outcome was given without a key of its own.
    pub fn has_flat_outcome(&self, number: usize) -> bool {
        let outcome = match self.source.get("outcome") {
            Some(Json::Array(items)) => items.get(number),
            one => one,
        };
        outcome.is_some_and(|outcome| outcome.get("push").is_none())
    }

    /// Prints the outcomes as they are now, and no longer as they were sent; the paths of their problems stay.
    pub fn reprint_outcomes(&mut self) -> Result<(), Problems> {
        self.print_outcomes(|outcome| outcome.get("push").is_none())
    }

    fn print_outcomes(&mut self, is_flat: impl Fn(&Json) -> bool) -> Result<(), Problems> {
        let Json::Object(entries) = &mut self.source else { return Ok(()) };
        let given = match entries.iter_mut().rfind(|(key, _)| key == "outcome") {
            Some((_, Json::Array(items))) => items.as_mut_slice(),
            Some((_, one)) => std::slice::from_mut(one),
            None => &mut [],
        };
        for (given, push) in given.iter_mut().zip(&self.outcomes) {
            let delay = given.get("delay").map(|delay| ("delay".to_owned(), delay.clone()));
            let printed = match push.reprinted()? {
                Json::Object(entries) if is_flat(given) => entries,
                printed => vec![("push".to_owned(), printed)],
            };
            *given = Json::Object(printed.into_iter().chain(delay).collect());
        }
        Ok(())
    }

    /// Whether a channel that opens the app stops waiting.
    pub fn ends_with_activity(&self) -> bool {
        let facts = self.conditions.iter().flat_map(|condition| &condition.facts);
        let is_asked = facts.into_iter().any(|(fact, _)| matches!(fact, Fact::InactiveSinceTriggered));
        is_asked && !self.is_sent_at_once()
    }

    /// Whether waiting channels can stop waiting before their time comes.
    pub fn can_cancel(&self) -> bool {
        !self.cancellation.is_empty() || self.ends_with_activity()
    }

    fn is_sent_at_once(&self) -> bool {
        self.delay.is_zero() && self.dayparts.is_none()
    }

    /// The audiences that conditions ask about, each with its path in the pipeline.
    pub fn asked_audiences(&self) -> Vec<(String, &Selector)> {
        let mut found = Condition::audiences(&self.conditions, self.source.get("condition"), "condition");
        for (key, triggers) in [("immediate_trigger", &self.immediate), ("cancellation_trigger", &self.cancellation)] {
            for (n, trigger) in triggers.iter().enumerate() {
                let (path, json) = condition::nth(self.source.get(key), key, n);
                let json = json.and_then(|trigger| trigger.get("condition"));
                found.extend(Condition::audiences(&trigger.conditions, json, &format!("{path}.condition")));
            }
        }
        found
    }

    pub fn status(&self, now: UtcMillis) -> PipelineStatus {
        if !self.enabled {
            return PipelineStatus::Disabled;
        }
        match self.active {
            Period { until: Some(until), .. } if until <= now => PipelineStatus::Completed,
            Period { from: Some(from), .. } if from > now => PipelineStatus::Pending,
            Period { .. } => PipelineStatus::Live,
        }
    }
}

impl Serialize for Pipeline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !(0..self.outcomes.len()).any(|number| self.has_flat_outcome(number)) {
            return self.source.serialize(serializer);
        }
        let mut usual = self.clone();
        usual.print_outcomes(|_| false).map_err(S::Error::custom)?;
        usual.source.serialize(serializer)
    }
}

impl Period {
    pub fn contains(&self, instant: UtcMillis) -> bool {
        self.from.is_none_or(|from| from <= instant) && self.until.is_none_or(|until| instant < until)
    }

    fn is_sound(&self) -> bool {
        self.from.zip(self.until).is_none_or(|(from, until)| from < until)
    }
}

/// Pushes that are sent to a channel when something happens to it.
#[derive(Body)]
#[body(not_printed, name = "Pipeline", given(purpose: Purpose), ignored = READ_ONLY)]
struct PipelineBody {
    #[body(
        length = 1..=limits::PIPELINE_NAME_CHARS,
        read = |at| name_text(at, limits::PIPELINE_NAME_CHARS),
        nullable
    )]
    name: Option<String>,
    enabled: bool,
    /// Everything that is sent, all of it at the same time.
    #[body(read = |at| outcomes(at, purpose), like = OneOrMany<Outcome>)]
    outcome: Vec<Outcome>,
    /// Any of them triggers the pipeline. This or `historical_trigger` is given.
    #[body(take = immediate_triggers, default, schema = trigger::schema)]
    immediate_trigger: Vec<Trigger>,
    /// Inactivity for long enough triggers it as well.
    #[body(read = Inactivity::parse_all, nullable, default, schema = trigger::inactivity_schema)]
    historical_trigger: Vec<Inactivity>,
    /// Any of them removes a channel from the waiting ones.
    #[body(
        read = |at| Trigger::parse_all(at, trigger::Role::Cancellation),
        nullable,
        default,
        schema = trigger::schema
    )]
    cancellation_trigger: Vec<Trigger>,
    /// All of them have to hold when the outcomes are sent.
    #[body(
        read = |at| Condition::parse_all(at, condition::Place::Pipeline),
        nullable,
        default,
        schema = condition::schema
    )]
    condition: Vec<Condition>,
    /// All of them have to allow one more push.
    #[body(
        read = Rate::parse_all,
        nullable,
        default,
        like = OneOrMany<Rate>
    )]
    constraint: Vec<Rate>,
    #[body(nullable, default)]
    timing: Timing,
    /// Without it, the pipeline is active at once. A date-time in UTC.
    #[body(read = instant, nullable, schema = time::schema)]
    activation_time: Option<UtcMillis>,
    /// Without it, the pipeline stays active. A date-time in UTC.
    #[body(read = instant, nullable, schema = time::schema)]
    deactivation_time: Option<UtcMillis>,
}

/// One push of a pipeline.
#[derive(Body)]
#[body(not_printed, name = "PipelineOutcome", given(purpose: Purpose))]
struct Outcome {
    #[body(read = |at| triggered_push(at, purpose))]
    push: Push,
    /// Seconds; the same in all outcomes.
    #[body(read = |at| seconds(at, 0), nullable, schema = |_| seconds_schema(0))]
    delay: Option<Duration>,
}

fn outcomes(at: &At<'_>, purpose: Purpose) -> Option<Vec<Outcome>> {
    let outcome = |at: &At<'_>| {
        let is_flat = at.json().get("push").is_none() && at.json().get("device_types").is_some();
        if is_flat { Outcome::parse_flat(at, purpose) } else { Outcome::parse(at, purpose) }
    };
    Some(at.one_or_many(1..=limits::PIPELINE_OUTCOMES, outcome)?.into_vec())
}

impl Outcome {
    /// Reads an outcome whose push is not under a key of its own, as in one of the examples of the API. It may leave out the
    /// audience, of which there is one only.
    fn parse_flat(at: &At<'_>, purpose: Purpose) -> Option<Self> {
        let mut fields = at.object()?;
        let delay = fields.nullable("delay", |at| seconds(at, 0));
        let mut push: Vec<_> = fields.rest().into_iter().map(|(key, at)| (key.to_owned(), at.json().clone())).collect();
        if !push.iter().any(|(key, _)| key == "audience") {
            push.push(("audience".to_owned(), Json::String("triggered".to_owned())));
        }
        match json::read_tree(&Json::Object(push), |at| triggered_push(at, purpose)) {
            Ok(push) => Some(Self { push, delay }),
            Err(problems) => {
                for Problem { path, message, kind } in problems.iter() {
                    match kind {
                        ProblemKind::Missing => at.missing::<()>(path),
                        ProblemKind::Invalid => at.invalid_key::<()>(path, message.clone()),
                    };
                }
                None
            }
        }
    }
}

fn triggered_push(at: &At<'_>, purpose: Purpose) -> Option<Push> {
    let push = Push::parse_with(at, purpose)?;
    match push.audience {
        Audience::Triggered(_) => Some(push),
        Audience::All(_) | Audience::CreateAndSend(_) | Audience::Uploaded(_) | Audience::Selector(_) => at
            .invalid_key(
                "audience",
                "The audience must be \"triggered\": a pipeline sends to the channels that set it off.",
            ),
    }
}

fn immediate_triggers(fields: &mut Fields<'_>) -> Option<Vec<Trigger>> {
    if !["immediate_trigger", "historical_trigger"].iter().any(|key| fields.has(key)) {
        fields.at().missing::<()>("immediate_trigger");
    }
    fields.nullable("immediate_trigger", |at| Trigger::parse_all(at, trigger::Role::Immediate))
}

/// The delay of all outcomes.
fn one_delay(at: &At<'_>, outcomes: &[Outcome]) -> Option<Option<Duration>> {
    let delay = outcomes.first().and_then(|outcome| outcome.delay);
    if outcomes.iter().any(|outcome| outcome.delay != delay) {
        return at.invalid_key("outcome", "All outcomes are sent together, so 'delay' must be the same in each.");
    }
    Some(delay)
}

/// When the outcomes are sent.
#[derive(Default, Body)]
#[body(not_printed, name = "PipelineTiming")]
struct Timing {
    #[body(read = |at| Delay::parse(at).map(|delay| delay.0), nullable, like = Delay)]
    delay: Option<Duration>,
    #[body(rename = "schedule", nullable)]
    dayparts: Option<Dayparts>,
}

/// How long after the trigger the outcomes are sent.
#[derive(Body)]
#[body(not_printed, name = "PipelineDelay")]
struct Delay(#[body(rename = "seconds", read = |at| seconds(at, 1), schema = |_| seconds_schema(1))] Duration);

fn seconds_schema(least: i64) -> Schema {
    json_schema!({"type": "integer", "minimum": least, "maximum": limits::PIPELINE_DELAY_SECONDS})
}

fn seconds(at: &At<'_>, least: i64) -> Option<Duration> {
    let seconds = at.integer(least..=limits::PIPELINE_DELAY_SECONDS)?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

fn instant(at: &At<'_>) -> Option<UtcMillis> {
    let text = at.string()?;
    UtcMillis::parse_api(text).or_else(|| at.invalid(UtcMillis::refusal(text, "without an offset")))
}

fn without_read_only(json: &Json) -> Json {
    match json {
        Json::Object(entries) => {
            let kept = entries.iter().filter(|(key, _)| !READ_ONLY.contains(&key.as_str()));
            Json::Object(kept.cloned().collect())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => json.clone(),
    }
}
