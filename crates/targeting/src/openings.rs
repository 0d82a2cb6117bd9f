//! Selectors by activity: openings of the app, as plans over the days.

use audience::plan::Plan;
use base::Result;
use model::selector::{Asked, Openings};
use model::term::{DayKind, DayTerm, Term};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::channels;

use crate::plan::Planner;

impl Planner<'_, '_> {
    /// The channels that opened the app as a selector by activity requires.
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

    /// The channels that first opened the app on a day or later. They need no set, because ordinals are given out in that order.
    pub(crate) fn first_opened_since(&mut self, day: i32) -> Result<Plan> {
        let mut channels = RoaringBitmap::new();
        // Not without an end: a set of all ordinals that could ever be is large.
        if let Some(first) = channels::first_since(self.tx, self.app, UtcMillis::of_day(day))?
            && let Some(last) = channels::last(self.tx, self.app)?
        {
            channels.insert_range(first.0..=last.0);
        }
        Ok(Plan::Set(channels))
    }
}
