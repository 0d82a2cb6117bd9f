//! A position in a JSON document: the value, its path, and where to note problems.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use serde::Serialize;

use super::{Fields, Json, UnknownKeys};
use crate::problem::{Problem, ProblemKind};

/// More problems than this help nobody and could make the answer larger than the question.
const MOST_PROBLEMS: usize = 100;
/// Of a key that is longer, paths and sentences show the beginning.
const MOST_KEY_CHARS: usize = 128;

/// Collects the problems of one document.
#[derive(Default)]
pub(super) struct Sink {
    problems: RefCell<Vec<Problem>>,
    unknown_keys: UnknownKeys,
}

impl Sink {
    pub(super) fn new(unknown_keys: UnknownKeys) -> Self {
        Self { problems: RefCell::default(), unknown_keys }
    }

    fn note(&self, problem: Problem) {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < MOST_PROBLEMS {
            problems.push(problem);
        }
    }

    pub(super) fn take_problems(&self) -> Vec<Problem> {
        self.problems.take()
    }
}

/// What texts with a form of their own, such as URLs, are while they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// As they will be used.
    Final,
    /// With tags in whose places something is filled in later, when their form is judged again.
    Tagged,
    /// Accepted before, whatever has been done to them since: their form is not judged.
    Accepted,
}

/// A position in the document being read.
#[derive(Clone)]
pub struct At<'a> {
    json: &'a Json,
    /// `None` for the document itself.
    path: Option<Rc<PathNode<'a>>>,
    sink: &'a Sink,
    texts: Texts,
}

/// The way to a value. Neighbors share it, and it becomes text only when there is a problem to note: a hostile document has
/// long keys, deep nesting and many values all at once.
struct PathNode<'a> {
    parent: Option<Rc<PathNode<'a>>>,
    step: Step<'a>,
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    pub(super) fn root(json: &'a Json, sink: &'a Sink) -> Self {
        Self { json, path: None, sink, texts: Texts::Final }
    }

    /// The same position, at and below which texts are what is said here.
    pub(crate) fn with_texts(&self, texts: Texts) -> Self {
        Self { texts, ..self.clone() }
    }

    pub(crate) fn texts(&self) -> Texts {
        self.texts
    }

    pub fn json(&self) -> &'a Json {
        self.json
    }

    pub fn is_null(&self) -> bool {
        matches!(self.json, Json::Null)
    }

    pub(super) fn unknown_keys(&self) -> UnknownKeys {
        self.sink.unknown_keys
    }

    /// The position below this one under an object key.
    pub(super) fn key(&self, key: &'a str, json: &'a Json) -> At<'a> {
        self.below(Step::Key(key), json)
    }

    fn index(&self, index: usize, json: &'a Json) -> At<'a> {
        self.below(Step::Index(index), json)
    }

    fn below(&self, step: Step<'a>, json: &'a Json) -> At<'a> {
        let path = Some(Rc::new(PathNode { parent: self.path.clone(), step }));
        At { json, path, sink: self.sink, texts: self.texts }
    }

    pub(crate) fn path(&self) -> String {
        let nodes = std::iter::successors(self.path.as_deref(), |node| node.parent.as_deref());
        let mut steps: Vec<_> = nodes.map(|node| &node.step).collect();
        steps.reverse();
        steps.into_iter().fold(String::new(), |path, step| match step {
            Step::Key(key) => with_key(&path, key),
            Step::Index(index) => format!("{path}[{index}]"),
        })
    }

    fn child_path(&self, key: &str) -> String {
        with_key(&self.path(), key)
    }

    /// Notes a problem with this value. Returns `None`, so that a parse function can end with it.
    pub fn invalid<T>(&self, message: impl Into<String>) -> Option<T> {
        self.sink.note(Problem { path: self.path(), message: message.into(), kind: ProblemKind::Invalid });
        None
    }

    /// Notes a problem with a key of this object.
    pub fn invalid_key<T>(&self, key: &str, message: impl Into<String>) -> Option<T> {
        self.sink.note(Problem { path: self.child_path(key), message: message.into(), kind: ProblemKind::Invalid });
        None
    }

    /// Notes that a key of this object must be given.
    pub fn missing<T>(&self, key: &str) -> Option<T> {
        let message = format!("'{key}' must be set.");
        self.sink.note(Problem { path: self.child_path(key), message, kind: ProblemKind::Missing });
        None
    }

    /// As `read` reads it. What a device gets wrong here is passed over, so that only this is lost: see
    /// [`UnknownKeys::PassedOver`].
    pub fn or_passed_over<T>(&self, read: impl FnOnce(&Self) -> Option<T>) -> Option<T> {
        let n_problems = self.sink.problems.borrow().len();
        let value = read(self);
        match self.sink.unknown_keys {
            UnknownKeys::Refused => value,
            UnknownKeys::PassedOver => {
                let mut problems = self.sink.problems.borrow_mut();
                let is_good = problems.len() == n_problems;
                problems.truncate(n_problems);
                value.filter(|_| is_good)
            }
        }
    }

    /// Whether no problem was noted here or below so far: rules across several keys make sense only then.
    pub fn is_clean(&self) -> bool {
        let path = self.path();
        let is_here = |problem: &Problem| {
            let rest = problem.path.strip_prefix(&path);
            rest.is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
        };
        !self.sink.problems.borrow().iter().any(is_here)
    }

    fn wrong_type<T>(&self, wanted: &str) -> Option<T> {
        self.invalid(format!("This must be {wanted}, not {}.", self.json.kind()))
    }

    pub fn object(&self) -> Option<Fields<'a>> {
        match self.json {
            Json::Object(entries) => Some(Fields::new(self.clone(), entries)),
            _ => self.wrong_type("an object"),
        }
    }

    /// Refuses an object without keys; for objects that mean nothing then.
    pub fn refuse_empty(&self, message: &str) -> Option<()> {
        match self.json {
            Json::Object(entries) if entries.is_empty() => self.invalid(message),
            _ => Some(()),
        }
    }

    /// Applies a rule across keys to a value, if there is one.
    pub fn check<T>(&self, value: Option<T>, rule: impl FnOnce(T, &At<'a>) -> Option<T>) -> Option<T> {
        rule(value?, self)
    }

    pub fn string(&self) -> Option<&'a str> {
        match self.json {
            Json::String(text) => Some(text),
            _ => self.wrong_type("a string"),
        }
    }

    /// A string whose length in characters is within the limits.
    pub fn text(&self, length: RangeInclusive<usize>) -> Option<String> {
        let text = self.string()?;
        let n_chars = text.chars().count();
        if length.contains(&n_chars) {
            return Some(text.to_owned());
        }
        if n_chars < *length.start() {
            return match length.start() {
                1 => self.invalid("This must not be empty."),
                least => self.invalid(format!("This must have at least {least} characters; it has {n_chars}.")),
            };
        }
        self.invalid(format!("This must have at most {} characters; it has {n_chars}.", length.end()))
    }

    /// Any string, owned. Empty strings are fine.
    pub fn any_text(&self) -> Option<String> {
        self.string().map(str::to_owned)
    }

    pub fn boolean(&self) -> Option<bool> {
        match self.json {
            Json::Bool(value) => Some(*value),
            _ => self.wrong_type("true or false"),
        }
    }

    /// A number without a fraction, however it is written: some languages know only one kind of numbers, and write `3600.0`.
    pub fn integer(&self, range: RangeInclusive<i64>) -> Option<i64> {
        let Json::Number(number) = self.json else { return self.wrong_type("an integer") };
        match number.as_i64().or_else(|| whole(number.as_f64()?)) {
            Some(value) if range.contains(&value) => Some(value),
            None if number.is_f64() => self.invalid(format!("This must be an integer, not {number}.")),
            Some(_) | None => {
                self.invalid(format!("This must be between {} and {}, not {number}.", range.start(), range.end()))
            }
        }
    }

    pub fn number(&self, range: RangeInclusive<f64>) -> Option<f64> {
        let Json::Number(number) = self.json else { return self.wrong_type("a number") };
        match number.as_f64() {
            Some(value) if range.contains(&value) => Some(value),
            _ => self.invalid(format!("This must be between {} and {}, not {number}.", range.start(), range.end())),
        }
    }

    /// One of a closed set of words, spelled exactly.
    pub fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let text = self.string()?;
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Some(*value),
            None => {
                let known: Vec<_> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
                self.invalid(format!("'{text}' is not known here; use one of {}.", known.join(", ")))
            }
        }
    }

    /// The positions of an array's items.
    pub fn items(&self, length: RangeInclusive<usize>) -> Option<Vec<At<'a>>> {
        let Json::Array(items) = self.json else { return self.wrong_type("an array") };
        if !length.contains(&items.len()) {
            let wanted = match (length.start(), length.end()) {
                (1, _) if items.is_empty() => "This array must not be empty.".to_owned(),
                (least, most) if least == most => {
                    format!("This array must have exactly {least} items; it has {}.", items.len())
                }
                (least, most) => {
                    format!("This array must have {least} to {most} items; it has {}.", items.len())
                }
            };
            return self.invalid(wanted);
        }
        Some(items.iter().enumerate().map(|(i, item)| self.index(i, item)).collect())
    }

    /// An array, every item of which is read even when an earlier one is bad.
    pub fn array<T>(
        &self,
        length: RangeInclusive<usize>,
        mut read: impl FnMut(&At<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.items(length)?;
        let read: Vec<Option<T>> = items.iter().map(&mut read).collect();
        read.into_iter().collect()
    }

    /// A single value or an array of them. Of a device, those that cannot be read are passed over: see
    /// [`At::or_passed_over`].
    pub fn each_or_passed_over<T>(
        &self,
        length: RangeInclusive<usize>,
        mut read: impl FnMut(&At<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = match self.json {
            Json::Array(_) => self.items(length)?,
            _ => vec![self.clone()],
        };
        let read: Vec<Option<T>> = items.iter().map(|at| at.or_passed_over(&mut read)).collect();
        match self.sink.unknown_keys {
            UnknownKeys::Refused => read.into_iter().collect(),
            UnknownKeys::PassedOver => Some(read.into_iter().flatten().collect()),
        }
    }

    /// As [`At::each_or_passed_over`]. What a device sends beyond the most is passed over, too.
    pub fn most_or_passed_over<T>(&self, most: usize, read: impl FnMut(&At<'a>) -> Option<T>) -> Option<Vec<T>> {
        let length = match self.sink.unknown_keys {
            UnknownKeys::Refused => 0..=most,
            UnknownKeys::PassedOver => 0..=usize::MAX,
        };
        let mut values = self.each_or_passed_over(length, read)?;
        values.truncate(most);
        Some(values)
    }

    /// A single value or an array of them; the form is remembered for printing.
    pub fn one_or_many<T>(
        &self,
        length: RangeInclusive<usize>,
        mut read: impl FnMut(&At<'a>) -> Option<T>,
    ) -> Option<OneOrMany<T>> {
        match self.json {
            Json::Array(_) => self.array(length, read).map(OneOrMany::Many),
            _ => read(self).map(OneOrMany::One),
        }
    }
}

/// The integer that a float is equal to, if any. Floats beyond these limits stand for several integers.
fn whole(float: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| format!("{float:.0}").parse().ok()).flatten()
}

/// A path one key longer.
fn with_key(path: &str, key: &str) -> String {
    let separator = if path.is_empty() { "" } else { "." };
    format!("{path}{separator}{}", shown(key))
}

/// Of a long key the beginning is enough to find it.
pub(super) fn shown(key: &str) -> Cow<'_, str> {
    match key.char_indices().nth(MOST_KEY_CHARS) {
        None => key.into(),
        Some((end, _)) => format!("{}…", &key[..end]).into(),
    }
}

/// A scalar and an array of one mean the same to the API but are printed back as they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(item) => std::slice::from_ref(item),
            OneOrMany::Many(items) => items,
        }
    }

    pub fn into_vec(self) -> Vec<T> {
        match self {
            OneOrMany::One(item) => vec![item],
            OneOrMany::Many(items) => items,
        }
    }
}
