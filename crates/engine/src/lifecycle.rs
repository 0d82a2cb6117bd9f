//! What happens to channels day by day, and the lifecycle lists that are made of it.
//!
//! The days are kept as sets of channels, apart from the channels, because they pass: a set is forgotten as a whole. When a
//! channel first opened the app needs no set, because ordinals are given out in that order.

use audience::block::blocks;
use audience::codec;
use audience::plan::Plan;
use model::ids::{AppId, TermId};
use model::lifecycle::{LONGEST_LOOK_BACK_DAYS, Lifecycle, OPEN_DAYS_KEPT, lifecycle, lifecycle_names};
use model::selector::{Asked, Openings};
use model::static_list::ListDetails;
use model::term::{DAY_GROUP, DayKind, DayTerm, Term};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, apps, channels, term_sets};

use crate::desk::Desk;
use crate::lists::{ListStatus, ListView};
use crate::plan::Planner;
use crate::{Engine, Error, Result};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

impl Desk<'_> {
    /// Notes that something happened to channels today.
    pub(crate) fn happened(&mut self, tx: &mut Tx<'_>, kind: DayKind, channels: &RoaringBitmap) -> Result<()> {
        self.happened_on(tx, kind, self.journal.now().day(), channels)
    }

    /// Notes that something happened to channels on a day, unless nobody looks back so far.
    pub(crate) fn happened_on(
        &mut self,
        tx: &mut Tx<'_>,
        kind: DayKind,
        day: i32,
        channels: &RoaringBitmap,
    ) -> Result<()> {
        if day < self.journal.now().day() - days_kept(kind) {
            return Ok(());
        }
        self.join(tx, &Term::Day(DayTerm { kind, day }), channels)
    }

    /// Adds channels to a set that is kept apart.
    pub(crate) fn join(&mut self, tx: &mut Tx<'_>, term: &Term, channels: &RoaringBitmap) -> Result<()> {
        let term = self.number(tx, term)?;
        let mut added = RoaringBitmap::new();
        for (block, channels) in blocks(channels) {
            let before = term_sets::get(tx, self.app, term, block.0)?;
            let before = before.map_or_else(|| Ok(RoaringBitmap::new()), |bytes| codec::decode(&bytes));
            let before = before.map_err(Error::internal)?;
            let new = channels - &before;
            if !new.is_empty() {
                term_sets::put(tx, self.app, term, block.0, codec::encode(&(before | &new)))?;
                added |= new;
            }
        }
        if !added.is_empty() {
            self.journal.change_set(term, &added, &RoaringBitmap::new());
        }
        Ok(())
    }
}

impl Desk<'_> {
    /// Takes everybody out of a set that is kept apart.
    pub(crate) fn forget_set(&mut self, tx: &mut Tx<'_>, term: TermId) -> Result<()> {
        let mut members = RoaringBitmap::new();
        for part in term_sets::parts(tx, self.app, term)? {
            members |= codec::decode(&part).map_err(Error::internal)?;
        }
        self.journal.change_set(term, &RoaringBitmap::new(), &members);
        term_sets::delete(tx, self.app, term)?;
        Ok(())
    }
}

impl Planner<'_, '_> {
    /// Who is in a lifecycle list; `None` when there is none of this name.
    pub(crate) fn lifecycle(&mut self, name: &str) -> Result<Option<Plan>> {
        Ok(match lifecycle(name, self.now.day()) {
            None => None,
            Some(Lifecycle::AnyOf(days)) => Some(self.any_day(&days)?),
            Some(Lifecycle::NoneOf(days)) => Some(Plan::Not(Box::new(self.any_day(&days)?))),
            Some(Lifecycle::Nobody) => Some(Plan::Nobody),
        })
    }

    /// The channels to which something happened on one of these days.
    pub(crate) fn any_day(&mut self, days: &[DayTerm]) -> Result<Plan> {
        let mut parts: Vec<Plan> = days.iter().map(|day| self.term(&Term::Day(*day))).collect();
        // The first open is an open.
        let is_first = |day: &&DayTerm| matches!(day.kind, DayKind::FirstOpen | DayKind::Open);
        let earliest = days.iter().filter(is_first).map(|day| day.day).min();
        if let Some(earliest) = earliest {
            parts.push(self.first_opened_since(earliest)?);
        }
        Ok(Plan::Or(parts))
    }

    fn first_opened_since(&mut self, day: i32) -> Result<Plan> {
        let midnight = UtcMillis(i64::from(day) * DAY_MILLIS);
        let mut channels = RoaringBitmap::new();
        // Not without an end: a set of all ordinals that could ever be is large.
        if let Some(first) = channels::first_since(self.tx, self.app, midnight)?
            && let Some(last) = channels::last(self.tx, self.app)?
        {
            channels.insert_range(first.0..=last.0);
        }
        Ok(Plan::Set(channels))
    }
}

impl Planner<'_, '_> {
    /// Who opened the app as a selector by activity wants it.
    pub(crate) fn openings(&mut self, openings: &Openings<'_>) -> Result<Plan> {
        let (first, last) = openings.days(self.now);
        Ok(match openings.asked {
            Asked::Some => self.opened(first, last)?,
            Asked::None => Plan::Not(Box::new(self.opened(first, last)?)),
            Asked::First => self.first_opened(first, last)?,
            Asked::Last => {
                let later = self.opened(Some(last.saturating_add(1)), self.now.day())?;
                Plan::And(vec![self.opened(first, last)?, Plan::Not(Box::new(later))])
            }
            Asked::Always(true) => Plan::Not(Box::new(Plan::Nobody)),
            Asked::Always(false) => Plan::Nobody,
        })
    }

    /// The channels that opened the app on some day of a period. Every channel opened it on the day it was made.
    fn opened(&mut self, first: Option<i32>, last: i32) -> Result<Plan> {
        let came = self.first_opened(first, last)?;
        let Some(first) = first else { return Ok(came) };
        let days = (first..=last).map(|day| self.term(&Term::Day(DayTerm { kind: DayKind::Open, day })));
        Ok(Plan::Or(days.chain([came]).collect()))
    }

    fn first_opened(&mut self, first: Option<i32>, last: i32) -> Result<Plan> {
        let since = self.first_opened_since(first.unwrap_or(0))?;
        let later = self.first_opened_since(last.saturating_add(1))?;
        Ok(Plan::And(vec![since, Plan::Not(Box::new(later))]))
    }
}

impl Engine {
    /// All lifecycle lists.
    pub async fn lifecycle_lists(&self, app: AppId) -> Result<Vec<ListView>> {
        self.lifecycle_views(app, lifecycle_names().map(str::to_owned).collect()).await
    }

    /// `None` when there is no lifecycle list of this name.
    pub(crate) async fn lifecycle_list(&self, app: AppId, name: &str) -> Result<Option<ListView>> {
        Ok(self.lifecycle_views(app, vec![name.to_owned()]).await?.pop())
    }

    /// Those of some lists that are lifecycle lists, which are as old as the app.
    async fn lifecycle_views(&self, app: AppId, names: Vec<String>) -> Result<Vec<ListView>> {
        let (index, now) = (self.current_index(app).await?, self.clock().now());
        let read = move |tx: &mut Tx<'_>| {
            let (row, _) = apps::by_id(tx, app)?.ok_or(Error::AppGone)?;
            let mut planner = Planner::new(tx, app, &index, now, Vec::new());
            let mut views = Vec::with_capacity(names.len());
            for name in names {
                let Some(channels) = planner.lifecycle(&name)? else { continue };
                views.push(ListView {
                    name,
                    details: ListDetails::default(),
                    created: row.created,
                    updated: now,
                    status: ListStatus::Ready,
                    channel_count: index.count(&channels.normalize()),
                    n_bad_rows: 0,
                });
            }
            Ok(views)
        };
        self.0.store.read(read).await
    }

    /// Forgets the days that neither lifecycle lists nor pipelines look back to.
    pub(crate) async fn forget_old_days(&self, app: AppId) -> Result<()> {
        let now = self.clock().now();
        // An index is not loaded for nothing.
        if self.0.store.read(move |tx| old_days(tx, app, now)).await?.is_empty() {
            return Ok(());
        }
        let index = self.index(app).await?;
        self.0
            .store
            .write(app, move |tx| {
                let mut desk = Desk::new(app, &index, now);
                for term in old_days(tx, app, now)? {
                    desk.forget_set(tx, term)?;
                }
                desk.journal.write(tx, app)?;
                Ok(())
            })
            .await
    }
}

fn old_days(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<Vec<TermId>> {
    let mut old = Vec::new();
    for (id, name) in term_sets::terms_of(tx, app, DAY_GROUP)? {
        let Some(Term::Day(DayTerm { kind, day })) = Term::from_key(DAY_GROUP, &name) else { continue };
        if day < now.day() - days_kept(kind) {
            old.push(id);
        }
    }
    Ok(old)
}

const fn days_kept(kind: DayKind) -> i32 {
    match kind {
        DayKind::Open => OPEN_DAYS_KEPT,
        DayKind::FirstOpen | DayKind::Sent | DayKind::DirectOpen | DayKind::MessageSent | DayKind::MessageView => {
            LONGEST_LOOK_BACK_DAYS
        }
    }
}
