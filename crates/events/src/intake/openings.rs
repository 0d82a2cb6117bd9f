//! The openings of one upload: the sessions they begin, and the hours, days and months in which the channel opens the app for the
//! first time. Reports of devices count these.

use std::collections::BTreeSet;

use base::Result;
use devices::ChangeContext;
use model::ids::{Ordinal, SessionId};
use model::report::Precision;
use model::term::DayKind;
use model::time::UtcMillis;
use store::Tx;
use store::counters::hour;
use store::sessions::{self, LastOpening};

#[derive(Default)]
pub(super) struct Openings {
    /// What the database knows.
    stored: Option<LastOpening>,
    newest: Option<UtcMillis>,
    /// The sessions that the channel is in, and when each began: one, unless an older one is told late.
    sessions: Vec<(SessionId, UtcMillis)>,
    /// The days on which the channel had not opened the app before this upload, as far as was known.
    new_days: BTreeSet<i32>,
    /// The buckets that this upload has openings in so far. Whether the first of them is the first of all is the same for all.
    looked_at: BTreeSet<(Precision, i64)>,
    n_old_months: usize,
}

/// Months before the last one whose days an upload has looked up. Libraries tell of a few days; more months count as told.
const MOST_OLD_MONTHS: usize = 2;

impl Openings {
    pub(super) fn load(
        tx: &mut Tx<'_>,
        context: &ChangeContext<'_>,
        ordinal: Ordinal,
        new_days: BTreeSet<i32>,
    ) -> Result<Self> {
        let stored = sessions::get(tx, context.app, ordinal)?;
        let sessions = stored.iter().filter_map(|last| Some((last.session?, last.at))).collect();
        Ok(Self { stored, newest: stored.map(|last| last.at), sessions, new_days, ..Self::default() })
    }

    /// Begins a session. Those that began earlier are over: a channel is in one at a time.
    pub(super) fn begin(&mut self, session: SessionId, at: UtcMillis) {
        self.sessions.retain(|(_, began)| *began > at);
        self.sessions.push((session, at));
        self.newest = self.newest.max(Some(at));
    }

    /// Ends a session that the channel is in, and tells when it began.
    pub(super) fn end(&mut self, session: SessionId) -> Option<UtcMillis> {
        let ended = self.sessions.iter().position(|(id, _)| *id == session)?;
        Some(self.sessions.swap_remove(ended).1)
    }

    /// The precisions in whose buckets an opening is the first of the channel.
    pub(super) fn firsts(
        &mut self,
        tx: &mut Tx<'_>,
        context: &ChangeContext<'_>,
        ordinal: Ordinal,
        at: UtcMillis,
    ) -> Result<Vec<Precision>> {
        let mut firsts = Vec::with_capacity(3);
        for (_, precision) in Precision::NAMED {
            let bucket = (precision, precision.bucket(hour(at)));
            if self.looked_at.insert(bucket) && self.is_first(tx, context, ordinal, at, precision)? {
                firsts.push(precision);
            }
        }
        Ok(firsts)
    }

    /// Whether nothing that was told before this upload is in the bucket of an opening. This is exact, but for the hour of an
    /// opening that is told after later ones: if the channel had opened the app on that day before, the hour counts as told, too.
    fn is_first(
        &mut self,
        tx: &mut Tx<'_>,
        context: &ChangeContext<'_>,
        ordinal: Ordinal,
        at: UtcMillis,
        precision: Precision,
    ) -> Result<bool> {
        let is_new_day = self.new_days.contains(&at.day());
        let bucket = |at: UtcMillis| precision.bucket(hour(at));
        let newest_before = self.stored.map(|last| bucket(last.at));
        let is_newest = newest_before.is_none_or(|before| before < bucket(at));
        Ok(match precision {
            Precision::Hourly => is_new_day || is_newest,
            Precision::Daily => is_new_day,
            Precision::Monthly if !is_new_day || newest_before == Some(bucket(at)) => false,
            Precision::Monthly if is_newest => true,
            // Of a month before the last one, only its days are known.
            Precision::Monthly if self.n_old_months == MOST_OLD_MONTHS => false,
            Precision::Monthly => {
                self.n_old_months += 1;
                let other_days = days_of(bucket(at)).filter(|day| !self.new_days.contains(day));
                !context.has_happened(tx, DayKind::Open, other_days, ordinal)?
            }
        })
    }

    pub(super) fn write(self, tx: &mut Tx<'_>, context: &ChangeContext<'_>, ordinal: Ordinal) -> Result<()> {
        let Some(at) = self.newest else { return Ok(()) };
        let session = self.sessions.iter().find(|(_, began)| *began == at).map(|(id, _)| *id);
        let last = LastOpening { at, session };
        if self.stored == Some(last) {
            return Ok(());
        }
        Ok(sessions::set(tx, context.app, ordinal, last)?)
    }
}

/// The days of the month that begins with an hour.
fn days_of(first_hour: i64) -> impl Iterator<Item = i32> {
    let first = UtcMillis::of_hour(first_hour).day();
    let is_within = move |day: &i32| Precision::Monthly.bucket(hour(UtcMillis::of_day(*day))) == first_hour;
    (first..first.saturating_add(31)).filter(is_within)
}
