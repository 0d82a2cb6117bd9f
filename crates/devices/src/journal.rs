//! The log records of one transaction, collected while it changes things and written at its end.

mod erasing;
mod new_events;

pub use erasing::{empty_body, is_about_only, push_to_one_of, redact_many};
pub use new_events::ManyEvent;
pub use new_events::NewEvent;

use std::collections::BTreeMap;

use audience::codec;
use base::{Error, Result};
use model::channel::TagSets;
use model::event::{Event, Face, Many, RecordKind, SharedPush, TagChange};
use model::ids::{AppId, EventId, NamedUserId, Offset, Ordinal, TermId};
use model::term::{Term, TermChange, TermSet, TermsRecord};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::log::{self, NewRecord};
use store::{Tx, faces};

use crate::change_context::TermDifference;

pub struct Journal {
    now: UtcMillis,
    terms: TermsRecord,
    records: Vec<NewRecord>,
    /// What changed channels looked like before the transaction.
    faces: BTreeMap<Ordinal, EndedFace>,
}

struct EndedFace {
    body: Vec<u8>,
    /// The channel is uninstalled: also the events of this transaction show what was known of it.
    is_last: bool,
    /// Whose the channel was, and by this transaction no longer is.
    left_user: Option<NamedUserId>,
}

impl Journal {
    pub fn new(now: UtcMillis) -> Self {
        Self { now, terms: TermsRecord::default(), records: Vec::new(), faces: BTreeMap::new() }
    }

    pub const fn now(&self) -> UtcMillis {
        self.now
    }

    /// Notes that a term got its number in this transaction.
    pub(crate) fn new_term(&mut self, id: TermId, term: &Term) {
        let (group, tag) = term.key();
        self.terms.new_terms.push((id, group.to_owned(), tag.into_owned()));
    }

    /// Notes which terms a channel gains and loses.
    pub(crate) fn change_terms(&mut self, ordinal: Ordinal, difference: TermDifference) {
        if !difference.is_empty() {
            let TermDifference { added, removed } = difference;
            self.terms.changes.push(TermChange { ordinal, added, removed });
        }
    }

    /// Notes that one term comes to many channels and goes from others.
    pub(crate) fn change_set(&mut self, term: TermId, added: &RoaringBitmap, removed: &RoaringBitmap) {
        let bytes = |channels: &RoaringBitmap| if channels.is_empty() { Vec::new() } else { codec::encode(channels) };
        self.terms.sets.push(TermSet { term, added: bytes(added), removed: bytes(removed) });
    }

    /// Keeps what a channel looked like for the events that were recorded before this transaction, and if the channel is
    /// uninstalled (`is_last`), also for those of this one. `user` is whose the channel is from now on.
    ///
    /// Returns how many bytes are kept.
    pub(crate) fn end_face(
        &mut self,
        ordinal: Ordinal,
        face: &Face,
        user: Option<&NamedUserId>,
        is_last: bool,
    ) -> Result<usize> {
        let left_user = face.named_user.as_ref().filter(|before| Some(*before) != user).cloned();
        if let Some(ended) = self.faces.get_mut(&ordinal) {
            ended.is_last |= is_last;
            ended.left_user = ended.left_user.take().or(left_user);
            return Ok(0);
        }
        let body = serde_json::to_vec(face).map_err(Error::internal)?;
        let n_bytes = body.len();
        self.faces.insert(ordinal, EndedFace { body, is_last, left_user });
        Ok(n_bytes)
    }

    /// Writes a TAG_CHANGE event, if there is a change.
    pub(crate) fn change_tags(&mut self, ordinal: Ordinal, before: &TagSets, after: &TagSets) -> Result<()> {
        let (add, remove) = (difference(after, before), difference(before, after));
        if add.is_empty() && remove.is_empty() {
            return Ok(());
        }
        let mut current = TagSets::new();
        for group in add.keys().chain(remove.keys()) {
            current.insert(group.clone(), after.get(group).cloned().unwrap_or_default());
        }
        self.event(Some(ordinal), NewEvent::TagChange(TagChange { add, remove, current }))
    }

    pub fn event(&mut self, ordinal: Option<Ordinal>, body: NewEvent<'_>) -> Result<()> {
        self.event_from_outside(ordinal, &Event { id: EventId::at(self.now), occurred: self.now, body })
    }

    /// An event that came with its own id and time.
    pub fn event_from_outside(&mut self, ordinal: Option<Ordinal>, event: &Event<NewEvent<'_>>) -> Result<()> {
        self.record(event.body.kind(), ordinal, serde_json::to_vec(event).map_err(Error::internal)?);
        Ok(())
    }

    /// One record of a push for many channels.
    pub fn many(&mut self, event: ManyEvent<'_>, push: &SharedPush, channels: &RoaringBitmap) -> Result<()> {
        let (alerting, ordinals) = (event.is_alerting(), codec::encode(channels));
        let many = Many { push: push.clone(), occurred: self.now, alerting, ordinals };
        let mut body = postcard::to_stdvec(&many).map_err(Error::internal)?;
        match event {
            ManyEvent::RichDelivery { extra } if !extra.is_empty() => {
                body.extend(postcard::to_stdvec(extra).map_err(Error::internal)?);
            }
            ManyEvent::SendRejected(rejection) => {
                body.extend(postcard::to_stdvec(rejection).map_err(Error::internal)?);
            }
            ManyEvent::Live(content) => body.extend(postcard::to_stdvec(content).map_err(Error::internal)?),
            ManyEvent::Send { .. } | ManyEvent::Control | ManyEvent::RichDelivery { .. } => {}
        }
        self.record(event.kind(), None, body);
        Ok(())
    }

    /// Drops the events so far: what a transaction changes is not news to those who read them. Terms and faces stay.
    pub(crate) fn forget_events(&mut self) {
        self.records.clear();
    }

    /// The size of the events so far.
    pub fn n_bytes(&self) -> usize {
        self.records.iter().map(|record| record.body.len()).sum()
    }

    fn record(&mut self, kind: RecordKind, ordinal: Option<Ordinal>, body: Vec<u8>) {
        self.records.push(NewRecord { kind, ordinal, body });
    }

    /// Appends everything to the app's log, the terms first, and returns the log's new end.
    pub fn write(mut self, tx: &mut Tx<'_>, app: AppId) -> Result<Offset> {
        let faces = std::mem::take(&mut self.faces);
        // A face ends where no other face of the channel does: there is a record after it.
        if self.terms != TermsRecord::default() || (self.records.is_empty() && !faces.is_empty()) {
            let record = terms_record(&self.terms)?;
            self.records.insert(0, record);
        }
        if faces.values().any(|face| face.is_last) {
            self.records.push(terms_record(&TermsRecord::default())?);
        }
        let n_records = i64::try_from(self.records.len()).unwrap_or(i64::MAX);
        let end = log::append(tx, app, self.now, self.records)?;
        if !faces.is_empty() {
            let ended = |(ordinal, EndedFace { body, is_last, left_user })| {
                let until = if is_last { Offset(end.0 - 1) } else { Offset(end.0 - n_records) };
                faces::EndingFace { face: faces::EndedFace { ordinal, until, body }, left_user }
            };
            faces::insert(tx, app, faces.into_iter().map(ended).collect())?;
        }
        Ok(end)
    }
}

fn terms_record(terms: &TermsRecord) -> Result<NewRecord> {
    let body = postcard::to_stdvec(terms).map_err(Error::internal)?;
    Ok(NewRecord { kind: RecordKind::Terms, ordinal: None, body })
}

/// The tags of `left` that are not in `right`. There are few groups, and inserting few is cheaper than collecting them.
fn difference(left: &TagSets, right: &TagSets) -> TagSets {
    let mut missing = TagSets::new();
    for (group, tags) in left {
        let tags = match right.get(group) {
            Some(others) => tags - others,
            None => tags.clone(),
        };
        if !tags.is_empty() {
            missing.insert(group.clone(), tags);
        }
    }
    missing
}
