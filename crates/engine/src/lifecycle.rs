//! Daily activity of channels, and the lifecycle lists made of it.
//!
//! The days are kept as sets of channels, apart from the channels, because they pass: a set is forgotten as a whole.

mod openings;
mod sets;

use audience::plan::Plan;
use model::ids::{AppId, TermId};
use model::lifecycle::{LONGEST_LOOK_BACK_DAYS, Lifecycle, OPEN_DAYS_KEPT, lifecycle, lifecycle_names};
use model::static_list::ListDetails;
use model::term::{DAY_GROUP, DayKind, DayTerm, Term};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, apps, term_sets};

use crate::change_context::ChangeContext;
use crate::lists::{ListStatus, ListView};
use crate::plan::Planner;
use crate::{Engine, Error, Result};

impl ChangeContext<'_> {
    /// Notes that something happened to channels today.
    pub(crate) fn happened(&mut self, tx: &mut Tx<'_>, kind: DayKind, channels: &RoaringBitmap) -> Result<()> {
        self.happened_on(tx, kind, self.journal.now().day(), channels)
    }

    /// Notes that something happened to channels on a day, unless the day is too old for any list.
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
}

impl Planner<'_, '_> {
    /// The members of a lifecycle list; `None` when there is none of this name.
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
        let is_open = |day: &&DayTerm| matches!(day.kind, DayKind::FirstOpen | DayKind::Open);
        let earliest = days.iter().filter(is_open).map(|day| day.day).min();
        if let Some(earliest) = earliest {
            parts.push(self.first_opened_since(earliest)?);
        }
        Ok(Plan::Or(parts))
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

    /// The lifecycle lists of these names, which are as old as the app. Other names are skipped.
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
        DayKind::FirstOpen | DayKind::Sent | DayKind::DirectOpen | DayKind::MessageSent | DayKind::MessageView => {
            LONGEST_LOOK_BACK_DAYS
        }
    }
}
