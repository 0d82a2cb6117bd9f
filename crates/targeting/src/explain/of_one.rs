//! Explaining an audience for one channel, as it was when a push chose its recipients.

use std::collections::{BTreeSet, HashMap};

use audience::codec;
use audience::index::Index;
use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use model::device_type::DeviceType;
use model::event::RecordKind;
use model::ids::{AppId, Offset, Ordinal, TermId};
use model::selector::{Atomic, Audience, Selector};
use model::term::TermsRecord;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::log;

use super::{AtomPlan, Planned, plan};
use crate::Targeting;

/// Records of changes that are looked through. Of a channel that lies further back only the present is known.
const MOST_RECORDS: u32 = 20_000;

/// One selector, and whether a channel meets it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClauseOfOne {
    pub path: String,
    /// The selector, unless it is made of others.
    pub selector: Option<Atomic>,
    pub is_met: bool,
    pub as_of: AsOf,
    pub clauses: Vec<ClauseOfOne>,
}

/// What an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AsOf {
    /// The moment in which the recipients were chosen.
    Then,
    /// Now: what it was then is not recorded, or too long ago.
    Now,
}

/// The channel, and the moment that is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub ordinal: Ordinal,
    /// The position of the index then, as far as it is known.
    pub position: Option<Offset>,
    pub at: UtcMillis,
}

#[boxed]
impl Targeting {
    /// The parts of an audience, and which of them a channel met; `None` for an audience that has no parts.
    pub async fn explain_for_one(
        &self,
        app: AppId,
        audience: Audience,
        open_types: Vec<DeviceType>,
        moment: Moment,
    ) -> Result<Option<ClauseOfOne>> {
        self.ready_atlas_to_plan(app, &audience).await?;
        let index = self.0.index.current(app).await?;
        let known = index.clone();
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let before = match moment.position {
                Some(position) => TermsThen::read(tx, app, moment.ordinal, position)?,
                None => TermsThen::default(),
            };
            Ok((before, plan(tx, app, &known, moment.at, open_types, audience)?))
        };
        let (then, planned) = self.0.store.read(read).await?;
        Ok(match planned {
            Planned::Everyone | Planned::Recipients(_) => None,
            Planned::Selector { selector, plans, .. } => {
                let mut one = One { index: &index, ordinal: moment.ordinal, then, plans: plans.into_iter() };
                Some(one.explain(&selector, "audience".to_owned()))
            }
        })
    }
}

/// The terms of a channel at an earlier position of the log, as far as they differ from now.
#[derive(Default)]
struct TermsThen {
    held: HashMap<TermId, bool>,
    /// Whether all changes since then were found.
    is_complete: bool,
}

impl TermsThen {
    /// The first change of a term since then tells what it was before.
    fn read(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, position: Offset) -> Result<Self> {
        let (head, start) = (log::head(tx, app)?, log::start(tx, app)?);
        let mut then = Self { held: HashMap::new(), is_complete: position.0 >= start.0 - 1 };
        let (mut n_records, mut broken) = (0, None);
        log::visit_kinds(tx, app, position, head, &BTreeSet::from([RecordKind::Terms]), MOST_RECORDS, |row| {
            n_records += 1;
            if let Err(error) = then.take(ordinal, row.body) {
                broken.get_or_insert(error);
            }
            Ok(())
        })?;
        then.is_complete &= n_records < MOST_RECORDS;
        broken.map_or(Ok(then), Err)
    }

    fn take(&mut self, ordinal: Ordinal, body: &[u8]) -> Result<()> {
        let record: TermsRecord = postcard::from_bytes(body).map_err(Error::internal)?;
        for change in record.changes.iter().filter(|change| change.ordinal == ordinal) {
            for (terms, was_held) in [(&change.added, false), (&change.removed, true)] {
                for term in terms {
                    self.held.entry(*term).or_insert(was_held);
                }
            }
        }
        for set in &record.sets {
            for (members, was_held) in [(&set.added, false), (&set.removed, true)] {
                if !members.is_empty() && codec::decode(members).map_err(Error::internal)?.contains(ordinal.0) {
                    self.held.entry(set.term).or_insert(was_held);
                }
            }
        }
        Ok(())
    }
}

struct One<'a> {
    index: &'a Index,
    ordinal: Ordinal,
    then: TermsThen,
    /// The plans of the atomic selectors that have not been met yet.
    plans: std::vec::IntoIter<AtomPlan>,
}

impl One<'_> {
    fn explain(&mut self, selector: &Selector, path: String) -> ClauseOfOne {
        match selector {
            Selector::And { spelling, members } => {
                let clauses = self.members(members, &format!("{path}.{}", spelling.as_str()));
                let is_met = clauses.iter().all(|clause| clause.is_met);
                joined(path, clauses, is_met)
            }
            Selector::Or { spelling, members } => {
                let clauses = self.members(members, &format!("{path}.{}", spelling.as_str()));
                let is_met = clauses.iter().any(|clause| clause.is_met);
                joined(path, clauses, is_met)
            }
            Selector::Not { spelling, member, in_array } => {
                let index = if *in_array { "[0]" } else { "" };
                let clause = self.explain(member, format!("{path}.{}{index}", spelling.as_str()));
                let is_met = !clause.is_met;
                joined(path, vec![clause], is_met)
            }
            Selector::Atomic(atomic) => {
                let AtomPlan { plan, .. } = self.plans.next().expect("every atomic selector was planned");
                // The criteria of a segment are those of now.
                let is_of_now = matches!(atomic, Atomic::Segment(_));
                let (is_met, as_of) = (self.meets(&plan), if is_of_now { AsOf::Now } else { self.as_of(&plan) });
                ClauseOfOne { path, selector: Some(atomic.clone()), is_met, as_of, clauses: Vec::new() }
            }
        }
    }

    fn members(&mut self, members: &[Selector], path: &str) -> Vec<ClauseOfOne> {
        members.iter().enumerate().map(|(i, member)| self.explain(member, format!("{path}[{i}]"))).collect()
    }

    fn meets(&self, plan: &Plan) -> bool {
        match plan {
            Plan::Everyone => true,
            Plan::Nobody => false,
            Plan::Term(term) => self.then.held.get(term).copied().unwrap_or_else(|| self.has_now(*term)),
            Plan::Set(channels) => channels.contains(self.ordinal.0),
            Plan::And(parts) => parts.iter().all(|part| self.meets(part)),
            Plan::Or(parts) => parts.iter().any(|part| self.meets(part)),
            Plan::Not(part) => !self.meets(part),
        }
    }

    fn has_now(&self, term: TermId) -> bool {
        let alone = Plan::Set(RoaringBitmap::from([self.ordinal.0]));
        !self.index.resolve(&Plan::And(vec![alone, Plan::Term(term)])).is_empty()
    }

    /// Changes of terms are in the log. Everything else is looked up when it is asked for.
    fn as_of(&self, plan: &Plan) -> AsOf {
        match plan {
            Plan::Everyone => AsOf::Then,
            Plan::Term(_) if self.then.is_complete => AsOf::Then,
            // What nobody has now, as a tag that was deleted, somebody may have had.
            Plan::Nobody | Plan::Term(_) | Plan::Set(_) => AsOf::Now,
            Plan::And(parts) | Plan::Or(parts) => parts.iter().map(|part| self.as_of(part)).max().unwrap_or(AsOf::Then),
            Plan::Not(part) => self.as_of(part),
        }
    }
}

fn joined(path: String, clauses: Vec<ClauseOfOne>, is_met: bool) -> ClauseOfOne {
    let as_of = clauses.iter().map(|clause| clause.as_of).max().unwrap_or(AsOf::Then);
    ClauseOfOne { path, selector: None, is_met, as_of, clauses }
}
