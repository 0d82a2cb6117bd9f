//! Explaining an audience for single channels, as they were when a push chose its recipients.

use std::collections::{BTreeSet, HashMap};

use audience::codec;
use audience::index::Index;
use audience::plan::Plan;
use base::{Result, UnreadableRecord};
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
use crate::plan::Planner;

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
    /// Now: what it was then is not recorded, cannot be read, or too long ago.
    Now,
}

/// The moment that is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The position of the index then, as far as it is known.
    pub position: Option<Offset>,
    pub at: UtcMillis,
}

#[boxed]
impl Targeting {
    /// The parts of an audience, and which of them each of some channels met; nothing for an audience that has no parts. The
    /// audience is planned once, for these channels alone, and the log is read once.
    pub async fn explain_for_some(
        &self,
        app: AppId,
        audience: Audience,
        open_types: Vec<DeviceType>,
        moment: Moment,
        channels: Vec<Ordinal>,
    ) -> Result<HashMap<Ordinal, ClauseOfOne>> {
        self.ready_atlas_to_plan(app, &audience).await?;
        let index = self.0.index.current(app).await?;
        let _turn = self.0.explaining.next().await?;
        let known = index.clone();
        let asked: RoaringBitmap = channels.iter().map(|ordinal| ordinal.0).collect();
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let then = TermsThen::read(tx, app, &channels, moment.position)?;
            let mut planner = Planner::new(tx, app, &known, moment.at, open_types).about(asked);
            Ok((then, plan(&mut planner, audience)?))
        };
        let (then, planned) = self.0.store.read(read).await?;
        let Planned::Selector { selector, plans, .. } = planned else { return Ok(HashMap::new()) };
        let TermsThen { held, is_complete, unreadable } = then;
        self.report_unreadable(app, unreadable).await;
        let explained = held.into_iter().map(|(ordinal, held)| {
            let mut one = One { index: &index, ordinal, held, is_complete, plans: plans.iter() };
            (ordinal, one.explain(&selector, "audience".to_owned()))
        });
        Ok(explained.collect())
    }
}

impl Targeting {
    /// Says which records were passed over. Each push that is asked about has the same ones read again.
    async fn report_unreadable(&self, app: AppId, unreadable: Vec<UnreadableRecord>) {
        let news = self.0.passed_over.news(app, unreadable);
        if !news.is_empty() {
            let key = self.0.tenancy.key_for_log(app).await;
            news.iter().for_each(|record| record.report(&key, "explanations"));
        }
    }
}

/// The terms of channels at an earlier position of the log, as far as they differ from now.
struct TermsThen {
    held: HashMap<Ordinal, HashMap<TermId, bool>>,
    /// Whether all changes since then were found.
    is_complete: bool,
    unreadable: Vec<UnreadableRecord>,
}

impl TermsThen {
    /// The first change of a term since then tells what it was before, unless it comes after a record that cannot be read, which
    /// may have changed any term.
    fn read(tx: &mut Tx<'_>, app: AppId, channels: &[Ordinal], position: Option<Offset>) -> Result<Self> {
        let held = channels.iter().map(|ordinal| (*ordinal, HashMap::new())).collect();
        let mut then = Self { held, is_complete: false, unreadable: Vec::new() };
        let Some(position) = position else { return Ok(then) };
        let (head, start) = (log::head(tx, app)?, log::start(tx, app)?);
        let mut n_records = 0;
        log::visit_kinds(tx, app, position, head, &BTreeSet::from([RecordKind::Terms]), MOST_RECORDS, |row| {
            n_records += 1;
            if then.unreadable.is_empty() && then.take(row.body).is_none() {
                then.unreadable.push(UnreadableRecord::of_form(row.offset, row.kind));
            }
            Ok(())
        })?;
        then.is_complete = position.0 >= start.0 - 1 && n_records < MOST_RECORDS && then.unreadable.is_empty();
        Ok(then)
    }

    /// `None` if it cannot be read. What stands before the part that is damaged counts.
    fn take(&mut self, body: &[u8]) -> Option<()> {
        let record: TermsRecord = postcard::from_bytes(body).ok()?;
        for change in &record.changes {
            let Some(held) = self.held.get_mut(&change.ordinal) else { continue };
            for (terms, was_held) in [(&change.added, false), (&change.removed, true)] {
                for term in terms {
                    held.entry(*term).or_insert(was_held);
                }
            }
        }
        for set in &record.sets {
            for (members, was_held) in [(&set.added, false), (&set.removed, true)] {
                if members.is_empty() {
                    continue;
                }
                let members = codec::decode(members).ok()?;
                for (_, held) in self.held.iter_mut().filter(|(ordinal, _)| members.contains(ordinal.0)) {
                    held.entry(set.term).or_insert(was_held);
                }
            }
        }
        Some(())
    }
}

struct One<'a> {
    index: &'a Index,
    ordinal: Ordinal,
    /// Its terms then, as far as they differ from now.
    held: HashMap<TermId, bool>,
    is_complete: bool,
    /// The plans of the atomic selectors that have not been met yet.
    plans: std::slice::Iter<'a, AtomPlan>,
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
                let (is_met, as_of) = (self.meets(plan), if is_of_now { AsOf::Now } else { self.as_of(plan) });
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
            Plan::Term(term) => self.held.get(term).copied().unwrap_or_else(|| self.has_now(*term)),
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
            Plan::Term(term) if self.is_complete || self.held.contains_key(term) => AsOf::Then,
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
