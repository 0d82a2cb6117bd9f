//! Daily activity of channels, of which lifecycle lists and selectors by activity are made.
//!
//! The days are kept as sets of channels, apart from the channels, because they pass: a set is forgotten as a whole.

mod sets;

use audience::plan::Plan;
use base::Result;
use boxed::boxed;
use index::term_plan;
use model::ids::{AppId, Ordinal, TermId};
use model::lifecycle::{LONGEST_LOOK_BACK_DAYS, OPEN_DAYS_KEPT};
use model::term::{DAY_GROUP, DayKind, DayTerm, Term};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, term_sets, terms};

use crate::Devices;
use crate::change_context::ChangeContext;

impl ChangeContext<'_> {
    /// Notes that something happened to channels today.
    pub fn happened(&mut self, tx: &mut Tx<'_>, kind: DayKind, channels: &RoaringBitmap) -> Result<()> {
        self.happened_on(tx, kind, self.journal.now().day(), channels).map(drop)
    }

    /// Notes that something happened to channels on a day, unless the day is too old for any list. Says whether it is the first
    /// time on that day, for one of them at least.
    pub fn happened_on(&mut self, tx: &mut Tx<'_>, kind: DayKind, day: i32, channels: &RoaringBitmap) -> Result<bool> {
        if day < self.journal.now().day() - days_kept(kind) {
            return Ok(false);
        }
        self.join(tx, &Term::Day(DayTerm { kind, day }), channels)
    }

    /// Whether something happened to a channel on one of some days, as far as these are kept.
    pub fn has_happened(
        &self,
        tx: &mut Tx<'_>,
        kind: DayKind,
        days: impl IntoIterator<Item = i32>,
        ordinal: Ordinal,
    ) -> Result<bool> {
        for day in days {
            if let Some(term) = terms::find(tx, self.app, &Term::Day(DayTerm { kind, day }))?
                && self.holds(tx, term, ordinal)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The last day on which something happened to a channel, as the index knows it.
    pub(crate) fn last_day(&self, kind: DayKind, ordinal: Ordinal) -> Option<i32> {
        let today = self.journal.now().day();
        let alone = Plan::Set(RoaringBitmap::from([ordinal.0]));
        (today - days_kept(kind)..=today).rev().find(|day| {
            let holders = term_plan(self.index, &Term::Day(DayTerm { kind, day: *day }));
            self.index.count(&Plan::And(vec![alone.clone(), holders]).normalize()) > 0
        })
    }
}

#[boxed]
impl Devices {
    /// Forgets the days that neither lifecycle lists nor pipelines look back to.
    pub async fn forget_old_days(&self, app: AppId) -> Result<()> {
        let now = self.0.clock.now();
        // An index is not loaded for nothing.
        if self.0.store.read(move |tx| old_days(tx, app, now)).await?.is_empty() {
            return Ok(());
        }
        self.change_audience(app, move |tx, context| {
            for term in old_days(tx, app, now)? {
                context.forget_set(tx, term)?;
            }
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
        DayKind::FirstOpen
        | DayKind::Sent
        | DayKind::DirectOpen
        | DayKind::MessageSent
        | DayKind::MessageView
        | DayKind::Live => LONGEST_LOOK_BACK_DAYS,
    }
}
