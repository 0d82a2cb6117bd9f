//! Lifecycle lists: who opened the app, got a message or read one lately, as lists that nobody has to upload.

use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::lifecycle::{Lifecycle, lifecycle, lifecycle_names};
use model::static_list::ListDetails;
use model::term::{DayKind, DayTerm, Term};
use store::{Tx, apps};

use crate::Targeting;
use crate::lists::{ListStatus, ListView};
use crate::plan::Planner;

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
    pub fn any_day(&mut self, days: &[DayTerm]) -> Result<Plan> {
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

#[boxed]
impl Targeting {
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
        let (index, now) = (self.0.index.current(app).await?, self.0.clock.now());
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
}
