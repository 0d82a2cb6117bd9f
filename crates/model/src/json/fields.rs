//! The keys of one object: each is taken by name, and any key that is not taken is unknown.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;

use super::cursor::shown;
use super::near::{hint, is_near};
use super::{At, Json, UnknownKeys};

/// In objects with up to this many keys, comparing each with those before it is quicker than a set of them,
/// and hardly any object is larger. The set keeps hostile ones from costing the square of their size.
const FEW: usize = 16;

pub struct Fields<'a> {
    at: At<'a>,
    entries: &'a [(String, Json)],
    taken: Vec<bool>,
    /// Known keys that are not given, a line each, among which is the one that somebody has meant who wrote an unknown key. Nearly
    /// all objects have none, so that nothing is compared before the end.
    missed: String,
    /// A problem with the object as a whole, which is noted after those with its keys.
    problem: Option<WholeProblem>,
}

#[derive(Clone, Copy)]
enum WholeProblem {
    Invalid(&'static str),
    /// The key that is most likely meant.
    Missing(&'static str),
}

impl<'a> Fields<'a> {
    pub(super) fn new(at: At<'a>, entries: &'a [(String, Json)]) -> Self {
        let mut seen = HashSet::new();
        for (i, (key, _)) in entries.iter().enumerate() {
            let is_new = match entries.len() > FEW {
                true => seen.insert(key.as_str()),
                false => entries[..i].iter().all(|(earlier, _)| earlier != key),
            };
            if !is_new {
                at.invalid_key::<()>(key, format!("The key '{}' is given more than once.", shown(key)));
            }
        }
        Self { at, entries, taken: vec![false; entries.len()], missed: String::new(), problem: None }
    }

    /// The object itself, for problems that concern more than one key.
    pub fn at(&self) -> &At<'a> {
        &self.at
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(k, _)| k == key)
    }

    pub fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    /// The key that is this word in any letter case, as it was written.
    pub fn spelled(&self, word: &str) -> Option<&'a str> {
        self.entries.iter().map(|(key, _)| key.as_str()).find(|key| key.eq_ignore_ascii_case(word))
    }

    /// The position under a key, if it is given.
    pub fn take(&mut self, key: &str) -> Option<At<'a>> {
        let mut last = None;
        for (taken, (name, json)) in self.taken.iter_mut().zip(self.entries) {
            if name == key {
                *taken = true;
                last = Some((name, json));
            }
        }
        match last {
            Some((name, json)) => Some(self.at.key(name, json)),
            None => {
                self.note_missed(key);
                None
            }
        }
    }

    fn note_missed(&mut self, key: &str) {
        if self.at.unknown_keys() == UnknownKeys::Refused {
            self.missed.push_str(key);
            self.missed.push('\n');
        }
    }

    pub fn required<T>(&mut self, key: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Option<T> {
        match self.take(key) {
            Some(at) => read(&at),
            None => self.at.missing(key),
        }
    }

    pub fn optional<T>(&mut self, key: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Option<T> {
        read(&self.take(key)?)
    }

    /// As `optional`, for keys where clients send `null` for "not set".
    pub fn nullable<T>(&mut self, key: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Option<T> {
        read(&self.take(key).filter(|at| !at.is_null())?)
    }

    /// Reads several keys at once.
    pub fn with<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        read(self)
    }

    /// Looks at which keys are given.
    pub fn inspect(&self, look: impl FnOnce(&Self)) {
        look(self);
    }

    /// Accepts keys that mean nothing here: callers send back what they were told.
    pub fn ignore(&mut self, keys: &[&str]) {
        for key in keys {
            self.take(key);
        }
    }

    /// Refuses the object, once its keys are read, unless exactly one of these is given. `missing` is what to
    /// ask for if none is.
    pub fn exactly_one(&mut self, keys: &[&str], message: &'static str, missing: Option<&'static str>) {
        self.problem = match (keys.iter().filter(|key| self.has(key)).count(), missing) {
            (1, _) => None,
            (0, Some(key)) => Some(WholeProblem::Missing(key)),
            _ => Some(WholeProblem::Invalid(message)),
        };
    }

    /// Counts all other keys as known, and reads nothing: for objects of which it is unknown what they are.
    pub fn pass_over_rest<T>(&mut self) -> Option<T> {
        self.taken.fill(true);
        None
    }

    /// Every key that was not taken yet, in order; they count as known from here on.
    pub fn rest(&mut self) -> Vec<(&'a str, At<'a>)> {
        let mut rest = Vec::new();
        for (taken, (key, json)) in self.taken.iter_mut().zip(self.entries) {
            if !*taken {
                *taken = true;
                rest.push((key.as_str(), self.at.key(key, json)));
            }
        }
        rest
    }

    /// The whole object as a map whose keys are the caller's own.
    pub fn into_map<T>(
        mut self,
        size: RangeInclusive<usize>,
        mut read: impl FnMut(&At<'a>) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let rest = self.rest();
        if !size.contains(&rest.len()) {
            let (least, most) = (size.start(), size.end());
            return self.at.invalid(format!("This object must have {least} to {most} keys; it has {}.", rest.len()));
        }
        let read: Vec<_> = rest.into_iter().map(|(key, at)| Some((key.to_owned(), read(&at)?))).collect();
        read.into_iter().collect()
    }

    /// Refuses, by name, every key that was not taken, unless unknown keys are to be skipped.
    pub fn finish(mut self) {
        if self.at.unknown_keys() == UnknownKeys::Refused {
            for (key, at) in self.rest() {
                let meant = self.missed.lines().find(|known| is_near(key, known));
                let end = meant.map_or_else(|| ".".to_owned(), hint);
                at.invalid::<()>(format!("The key '{}' is not allowed in this context{end}", shown(key)));
            }
        }
        match self.problem {
            None => {}
            Some(WholeProblem::Invalid(message)) => drop(self.at.invalid::<()>(message)),
            Some(WholeProblem::Missing(key)) => drop(self.at.missing::<()>(key)),
        }
    }
}
