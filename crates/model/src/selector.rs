//! Audiences: who a push is for. The grammar, its types, reading and printing.
//!
//! ```text
//! audience  = "all" | "triggered" | selector      any letter case; "triggered" only where something triggers the push
//!           | {"create_and_send": [...]}         only where the push brings its recipients along
//!           | {"bulk_id": UUID}                  only there, too
//! selector  = compound | atomic
//! compound  = {AND: [selector, ...]} | {OR: [selector, ...]}     operators in any letter case
//!           | {NOT: selector} | {NOT: [selector]}
//! atomic    = {"tag": TAG.., "group"?: GROUP, "tag_class"?: STRING}
//!           | {"segment": UUID..} | {"named_user": ID..} | {"alias": STRING..}
//!           | {"static_list": NAME..} | {"subscription_list": ID..} | {"subscription_lists": ID..}
//!           | {"channel": UUID..} | {"ios_channel": UUID..} | {"android_channel": UUID..}
//!           | {"amazon_channel": UUID..} | {"web_channel": UUID..} | {"open_channel": UUID or address..}
//!           | {"device_token": 64 hexadecimal digits..} | {"apid": STRING..} | {"wns": STRING..}
//!           | {"mpns": STRING..} | {"device_pin": STRING..}
//!           | {"sms_id": {"msisdn": DIGITS, "sender": DIGITS}..} | {"sms_sender": STRING..}
//!           | {"attribute": NAME, ...} | {"activity": NAME, ...} | {"location": {...}}
//!           | {"push": {"id": UUID, "outcome": WORD}} | {"live": true}
//! X..       = X | [X, ...]                        one value, or up to 100 of which one has to match
//! ```
//!
//! The companions of `attribute`, `activity` and `location` are described with their types. An object has exactly one
//! operator or one atomic selector. A selector is printed as it was sent: letter case of operators, scalar or array.

mod activity;
mod activity_question;
mod atomic;
mod attribute;
mod comparison;
mod cutoff;
mod days;
mod location;
mod openings;
mod past_push;
mod schema;
#[cfg(test)]
mod tests;

pub use activity::{Activity, Metric, Threshold, ThresholdOperator, Window, WindowUnit};
pub use activity_question::ActivityQuestion;
pub use atomic::{Atomic, DeviceToken, SmsId};
pub use attribute::{Attribute, AttributeTest, CompareAs, Property};
pub(crate) use comparison::instant;
pub use comparison::{CalendarPart, Comparison, Direction, Moment, MomentUnit, Ordering, Scalar, Side};
pub use cutoff::recent_cutoffs;
pub use location::{Location, Period, Place, RecentForm, Resolution};
pub use openings::{Asked, Openings};
pub use past_push::{PastOutcome, PastPush, PastPushId, PastPushKind};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::bulk::Uploaded;
use crate::create_and_send::Recipients;
use crate::json::near::{hint, is_near};
use crate::json::{At, Json};
use crate::limits;

/// The audience of a push.
#[derive(Clone, Debug, PartialEq)]
pub enum Audience {
    /// Every device.
    All(Spelling),
    /// The device that triggered a pipeline.
    Triggered(Spelling),
    /// The recipients that the push brings along.
    CreateAndSend(Recipients),
    /// Everybody in a file that was uploaded before.
    Uploaded(Uploaded),
    Selector(Selector),
}

/// A word of the API that may come in any letter case, as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Spelling(String);

/// The purpose of reading a push, which decides its possible audiences besides a selector, and the rules for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A request wants it to be sent, now or later.
    Send,
    /// A pipeline is to send it, to the channels that set the pipeline off.
    Pipeline,
    /// A request wants it to be sent and may bring recipients along.
    CreateAndSend,
    /// It was accepted before, for whichever purpose, and comes from the database. Rules that have become stricter since then do
    /// not concern it.
    Stored,
}

/// A set of devices.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector {
    And { spelling: Spelling, members: Vec<Selector> },
    Or { spelling: Spelling, members: Vec<Selector> },
    Not { spelling: Spelling, member: Box<Selector>, in_array: bool },
    Atomic(Atomic),
}

impl Audience {
    pub fn parse(at: &At<'_>, purpose: Purpose) -> Option<Self> {
        let Json::String(word) = at.json() else {
            return if Recipients::are_meant(at.json()) {
                Recipients::parse(at, purpose).map(Audience::CreateAndSend)
            } else if Uploaded::is_meant(at.json()) {
                Uploaded::parse(at, purpose).map(Audience::Uploaded)
            } else {
                Selector::parse(at).map(Audience::Selector)
            };
        };
        let spelling = Spelling(word.clone());
        if word.eq_ignore_ascii_case("all") {
            return Some(Audience::All(spelling));
        }
        if !word.eq_ignore_ascii_case("triggered") {
            return at.invalid(format!(
                "'{word}' is not an audience; use \"all\" or an object such as {{\"tag\": \"news\"}}."
            ));
        }
        match purpose {
            Purpose::Pipeline | Purpose::Stored => Some(Audience::Triggered(spelling)),
            Purpose::Send | Purpose::CreateAndSend => {
                at.invalid("The audience 'triggered' is for pipelines only, because nothing triggers this push.")
            }
        }
    }
}

impl Selector {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        Reader { n_atomic: 0 }.selector(at, 0)
    }

    /// Every atomic selector, in the order of the text.
    pub fn atoms(&self) -> impl Iterator<Item = &Atomic> {
        let mut pending = vec![self];
        std::iter::from_fn(move || {
            loop {
                match pending.pop()? {
                    Selector::And { members, .. } | Selector::Or { members, .. } => {
                        pending.extend(members.iter().rev());
                    }
                    Selector::Not { member, .. } => pending.push(member),
                    Selector::Atomic(atomic) => return Some(atomic),
                }
            }
        })
    }
}

impl Selector {
    /// Every atomic selector with its path, when this selector is at `path`.
    pub fn atoms_with_paths(&self, path: &str) -> Vec<(String, &Atomic)> {
        match self {
            Selector::Atomic(atomic) => vec![(path.to_owned(), atomic)],
            Selector::And { spelling, members } | Selector::Or { spelling, members } => {
                let each = members.iter().enumerate();
                each.flat_map(|(i, member)| member.atoms_with_paths(&format!("{path}.{}[{i}]", spelling.as_str())))
                    .collect()
            }
            Selector::Not { spelling, member, in_array } => {
                let index = if *in_array { "[0]" } else { "" };
                member.atoms_with_paths(&format!("{path}.{}{index}", spelling.as_str()))
            }
        }
    }
}

impl Spelling {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn of(word: &str) -> Self {
        Self(word.to_owned())
    }
}

/// Reads one audience, counting its atomic selectors.
struct Reader {
    n_atomic: usize,
}

impl Reader {
    fn selector(&mut self, at: &At<'_>, depth: usize) -> Option<Selector> {
        let Json::Object(entries) = at.json() else { return refuse_non_object(at) };
        let mut heads: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        heads.retain(|key| is_operator(key) || Atomic::reader(key).is_some());
        heads.dedup(); // a key given twice is noted by `object`
        let mut fields = at.object()?;
        let head = match heads.as_slice() {
            [head] => *head,
            [] => return refuse_headless(at, entries),
            [first, second, ..] => {
                return at.invalid_key(
                    second,
                    format!(
                        "A selector has exactly one of '{first}' and '{second}'; combine selectors with AND or OR."
                    ),
                );
            }
        };
        let value = fields.take(head)?;
        let selector = match Atomic::reader(head) {
            Some(read) => {
                self.count(at)?;
                read(&value, &mut fields).map(Selector::Atomic)
            }
            None => self.compound(head, &value, depth + 1),
        };
        fields.finish();
        selector
    }

    /// Only atomic selectors count: AND, OR and NOT ask nothing of a device, and there are no more of them than the depth allows.
    fn count(&mut self, at: &At<'_>) -> Option<()> {
        self.n_atomic += 1;
        match self.n_atomic.checked_sub(limits::SELECTORS_PER_AUDIENCE) {
            None | Some(0) => Some(()),
            // Noted once, for the first selector too many.
            Some(1) => at.invalid(format!(
                "An audience has at most {} selectors; AND, OR and NOT do not count.",
                limits::SELECTORS_PER_AUDIENCE
            )),
            Some(_) => None,
        }
    }

    fn compound(&mut self, operator: &str, at: &At<'_>, depth: usize) -> Option<Selector> {
        if depth > limits::SELECTOR_DEPTH {
            return at.invalid(format!("AND, OR and NOT may be nested {} deep at most.", limits::SELECTOR_DEPTH));
        }
        let spelling = Spelling(operator.to_owned());
        if operator.eq_ignore_ascii_case("not") {
            let in_array = matches!(at.json(), Json::Array(_));
            let member = if in_array {
                at.array(1..=1, |item| self.selector(item, depth))?.pop()?
            } else {
                self.selector(at, depth)?
            };
            return Some(Selector::Not { spelling, member: Box::new(member), in_array });
        }
        let members = at.array(1..=limits::SELECTORS_PER_AUDIENCE, |item| self.selector(item, depth))?;
        if operator.eq_ignore_ascii_case("and") {
            Some(Selector::And { spelling, members })
        } else {
            Some(Selector::Or { spelling, members })
        }
    }
}

const OPERATORS: [&str; 3] = ["and", "or", "not"];

fn is_operator(key: &str) -> bool {
    OPERATORS.iter().any(|operator| key.eq_ignore_ascii_case(operator))
}

fn refuse_non_object<T>(at: &At<'_>) -> Option<T> {
    match at.json() {
        Json::String(word) if word.eq_ignore_ascii_case("all") || word.eq_ignore_ascii_case("triggered") => {
            at.invalid(format!("'{word}' stands alone and cannot be part of a selector."))
        }
        other => {
            at.invalid(format!("A selector must be an object such as {{\"tag\": \"news\"}}, not {}.", other.kind()))
        }
    }
}

/// Refuses an object that has neither an operator nor an atomic selector.
fn refuse_headless<T>(at: &At<'_>, entries: &[(String, Json)]) -> Option<T> {
    for (key, _) in entries {
        let meant = Atomic::keys().chain(OPERATORS).find(|known| is_near(key, known));
        let end = meant.map_or_else(|| "; use and, or, not, or a selector such as tag.".to_owned(), hint);
        at.invalid_key::<()>(key, format!("The key '{key}' does not begin a selector{end}"));
    }
    if entries.is_empty() {
        at.invalid::<()>("This selector is empty; name what it selects, such as {\"tag\": \"news\"}.");
    }
    None
}

impl Serialize for Audience {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Audience::All(spelling) | Audience::Triggered(spelling) => spelling.serialize(serializer),
            Audience::CreateAndSend(recipients) => recipients.serialize(serializer),
            Audience::Uploaded(uploaded) => uploaded.serialize(serializer),
            Audience::Selector(selector) => selector.serialize(serializer),
        }
    }
}

impl Serialize for Selector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (spelling, members) = match self {
            Selector::Atomic(atomic) => return atomic.serialize(serializer),
            Selector::And { spelling, members } | Selector::Or { spelling, members } => (spelling, members.as_slice()),
            Selector::Not { spelling, member, in_array: true } => (spelling, std::slice::from_ref(&**member)),
            Selector::Not { spelling, member, in_array: false } => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(spelling.as_str(), member)?;
                return map.end();
            }
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(spelling.as_str(), members)?;
        map.end()
    }
}
