//! The index of one app: term → set of ordinals, kept current by the records of the app's log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use model::ids::{Offset, Ordinal, TermId};
use model::term::TermsRecord;

use crate::builder::Builder;
use crate::segment::Segment;

pub(crate) const UNPOISONED: &str = "no thread panics while it holds a lock of the index";

/// Which channels hold which terms.
///
/// Updates happen in place, under the lock of a segment of 2^20 ordinals. An audience looks at one channel at a time,
/// so that evaluating it segment by segment is exact for each channel: no answer ever shows half of a change.
#[derive(Default)]
pub struct Index {
    pub(crate) dictionary: RwLock<Dictionary>,
    pub(crate) segments: RwLock<Vec<Arc<RwLock<Segment>>>>,
    /// Held while a record is applied, so that records are applied one after the other.
    pub(crate) applied: Mutex<Offset>,
}

impl Index {
    /// An index of nobody, before the first record.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fast way to an index of channels that exist already.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Applies the record at an offset of the log. A record at or before [`Index::offset`] has been applied already
    /// and changes nothing.
    pub fn apply(&self, offset: Offset, record: &TermsRecord) {
        let mut applied = self.applied();
        if offset <= *applied {
            return;
        }
        if !record.new_terms.is_empty() {
            let mut dictionary = self.dictionary.write().expect(UNPOISONED);
            for (term, group, tag) in &record.new_terms {
                dictionary.name(*term, group, tag);
            }
        }
        for change in &record.changes {
            // Locked for one channel only, so that a large record lets evaluations through.
            self.segment(change.ordinal).write().expect(UNPOISONED).change(change);
        }
        *applied = offset;
    }

    /// Notes that the log has nothing more for the index up to an offset.
    pub fn advance(&self, offset: Offset) {
        let mut applied = self.applied();
        *applied = offset.max(*applied);
    }

    /// The last offset of the log that the answers of the index include.
    pub fn offset(&self) -> Offset {
        *self.applied()
    }

    /// The number of a term; `None` when no channel has ever held it.
    pub fn term(&self, group: &str, tag: &str) -> Option<TermId> {
        self.dictionary.read().expect(UNPOISONED).get(group, tag)
    }

    /// The group and tag of a numbered term.
    pub fn name(&self, term: TermId) -> Option<(String, String)> {
        let dictionary = self.dictionary.read().expect(UNPOISONED);
        let (group, tag) = dictionary.by_number.get(term.0 as usize)?.as_ref()?;
        Some((group.to_string(), tag.to_string()))
    }

    /// The tags of a group, in no order.
    pub fn tags(&self, group: &str) -> Vec<String> {
        let dictionary = self.dictionary.read().expect(UNPOISONED);
        let tags = dictionary.by_name.get(group).into_iter().flat_map(HashMap::keys);
        tags.map(|tag| tag.to_string()).collect()
    }

    pub(crate) fn segments(&self) -> Vec<Arc<RwLock<Segment>>> {
        self.segments.read().expect(UNPOISONED).clone()
    }

    fn segment(&self, ordinal: Ordinal) -> Arc<RwLock<Segment>> {
        let position = Segment::position(ordinal);
        if let Some(segment) = self.segments.read().expect(UNPOISONED).get(position) {
            return Arc::clone(segment);
        }
        let mut segments = self.segments.write().expect(UNPOISONED);
        if position >= segments.len() {
            segments.resize_with(position + 1, Arc::default);
        }
        Arc::clone(&segments[position])
    }

    fn applied(&self) -> MutexGuard<'_, Offset> {
        self.applied.lock().expect(UNPOISONED)
    }
}

/// The numbers of the terms and their names. A group and a tag are stored once, whichever way they are looked up.
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

    fn get(&self, group: &str, tag: &str) -> Option<TermId> {
        self.by_name.get(group)?.get(tag).copied()
    }
}
