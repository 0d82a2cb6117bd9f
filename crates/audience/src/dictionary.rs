//! The dictionary of the index: the numbers of the terms and their names.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use model::ids::TermId;

/// A group and a tag are stored once, whichever way they are looked up.
#[derive(Default)]
pub(crate) struct Dictionary {
    by_name: HashMap<Arc<str>, HashMap<Arc<str>, TermId>>,
    by_number: Vec<Option<(Arc<str>, Arc<str>)>>,
}

impl Dictionary {
    pub(crate) fn name(&mut self, term: TermId, group: &str, tag: &str) {
        let group = match self.by_name.get_key_value(group) {
            Some((group, _)) => Arc::clone(group),
            None => Arc::from(group),
        };
        let tag: Arc<str> = Arc::from(tag);
        let position = term.0 as usize;
        if position >= self.by_number.len() {
            self.by_number.resize(position + 1, None);
        }
        self.by_number[position] = Some((Arc::clone(&group), Arc::clone(&tag)));
        self.by_name.entry(group).or_default().insert(tag, term);
    }

    pub(crate) fn get(&self, group: &str, tag: &str) -> Option<TermId> {
        self.by_name.get(group)?.get(tag).copied()
    }

    pub(crate) fn key(&self, term: TermId) -> Option<(&str, &str)> {
        let (group, tag) = self.by_number.get(term.0 as usize)?.as_ref()?;
        Some((group, tag))
    }

    pub(crate) fn tags(&self, group: &str) -> impl Iterator<Item = &str> {
        self.by_name.get(group).into_iter().flat_map(HashMap::keys).map(|tag| &**tag)
    }

    /// The numbers that terms may have so far.
    pub(crate) fn numbers(&self) -> Range<u32> {
        0..u32::try_from(self.by_number.len()).unwrap_or(u32::MAX)
    }
}
