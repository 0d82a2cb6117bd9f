//! The dictionary of the index: the numbers of the terms and their names.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use model::ids::TermId;
use model::term;

/// A group and a tag are stored once, whichever way they are looked up.
#[derive(Default)]
pub(crate) struct Dictionary {
    by_name: HashMap<Arc<str>, HashMap<Arc<str>, TermId>>,
    by_number: Vec<Option<(Arc<str>, Arc<str>)>>,
    apart: HashSet<TermId>,
}

impl Dictionary {
    /// Gives a term its name, or another one than it had: a tag that is deleted leaves its name to a new term.
    pub(crate) fn set_name(&mut self, term: TermId, group: &str, tag: &str) {
        let index = term.0 as usize;
        if index >= self.by_number.len() {
            self.by_number.resize(index + 1, None);
        }
        if let Some((group, tag)) = self.by_number[index].take()
            && self.number_of(&group, &tag) == Some(term)
            && let Some(tags) = self.by_name.get_mut(&group)
        {
            tags.remove(&tag);
        }
        if term::is_kept_apart(group) {
            self.apart.insert(term);
        }
        let group = match self.by_name.get_key_value(group) {
            Some((group, _)) => Arc::clone(group),
            None => Arc::from(group),
        };
        let tag: Arc<str> = Arc::from(tag);
        self.by_number[index] = Some((Arc::clone(&group), Arc::clone(&tag)));
        self.by_name.entry(group).or_default().insert(tag, term);
    }

    pub(crate) fn number_of(&self, group: &str, tag: &str) -> Option<TermId> {
        self.by_name.get(group)?.get(tag).copied()
    }

    pub(crate) fn name_of(&self, term: TermId) -> Option<(&str, &str)> {
        let (group, tag) = self.by_number.get(term.0 as usize)?.as_ref()?;
        Some((group, tag))
    }

    /// Whether the term is kept apart: a channel may hold it without being part of everyone.
    pub(crate) fn is_apart(&self, term: TermId) -> bool {
        self.apart.contains(&term)
    }

    pub(crate) fn tags(&self, group: &str) -> impl Iterator<Item = &str> {
        self.by_name.get(group).into_iter().flat_map(HashMap::keys).map(|tag| &**tag)
    }

    /// The tags of a group with their numbers, in no order.
    pub(crate) fn terms(&self, group: &str) -> impl Iterator<Item = (&Arc<str>, TermId)> {
        self.by_name.get(group).into_iter().flatten().map(|(tag, term)| (tag, *term))
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(|group| &**group)
    }

    /// The numbers that terms may have so far.
    pub(crate) fn numbers(&self) -> Range<u32> {
        0..u32::try_from(self.by_number.len()).unwrap_or(u32::MAX)
    }
}
