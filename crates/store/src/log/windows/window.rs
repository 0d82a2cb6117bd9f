//! The window of one log: consecutive offsets, and the records of some kinds among them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use model::event::RecordKind;
use model::ids::{AppId, Offset};

use super::Wanted;
use crate::log::bounds::LogBounds;
use crate::log::{Record, visit_stored};
use crate::{Result, Tx};

const MOST_RECORDS: usize = 16_384;
/// Of the bodies.
const MOST_BYTES: usize = 4 << 20;
/// Records that are read at once, and about how many bytes of them.
const PORTION: u32 = 1_024;
const PORTION_BYTES: usize = 1 << 20;
/// A kind that nobody has asked for over this many offsets is no longer read.
const FORGOTTEN_AFTER: i64 = 65_536;

#[derive(Default)]
pub(super) struct Window {
    /// The kinds that are here, and up to which offset somebody has asked for each.
    kinds: BTreeMap<RecordKind, Offset>,
    /// The window begins after this offset and ends with the other.
    begin: Offset,
    end: Offset,
    records: VecDeque<Arc<Record>>,
    n_bytes: usize,
    server: i64,
    rewrites: i64,
}

/// Some records, and up to which offset they are all that there are.
pub(super) struct Portion {
    records: Vec<Record>,
    end: Offset,
}

impl Window {
    /// Whether the wanted records are in the window, or can be added to its end by a transaction that sees the log within these
    /// bounds.
    pub(super) fn admit(&mut self, bounds: &LogBounds, wanted: Wanted<'_>) -> bool {
        // A transaction that began before the records were changed may ask after one that began later: both read them again.
        if (self.server, self.rewrites) != (bounds.server, bounds.rewrites) {
            *self = Self { server: bounds.server, rewrites: bounds.rewrites, ..Self::default() };
        }
        for kind in wanted.kinds {
            let asked = self.kinds.insert(*kind, wanted.until);
            match asked {
                Some(asked) => drop(self.kinds.insert(*kind, asked.max(wanted.until))),
                // Those of this kind are missing so far.
                None => self.restart(self.end),
            }
        }
        // Records between the end and the oldest that is kept are gone.
        let first_kept = Offset(bounds.start.0 - 1);
        if self.end < first_kept {
            self.restart(first_kept);
        }
        if wanted.after > self.end {
            self.restart(wanted.after);
        }
        wanted.after >= self.begin
    }

    /// The wanted records, after [`Window::admit`]. What is missing is read and added.
    pub(super) fn take(
        &mut self,
        wanted: Wanted<'_>,
        mut read: impl FnMut(Offset, &BTreeSet<RecordKind>) -> Result<Portion>,
    ) -> Result<Vec<Arc<Record>>> {
        let (mut found, mut done) = (Vec::new(), wanted.after);
        loop {
            if done >= self.end {
                self.forget_unused_kinds();
                let kinds = self.kinds.keys().copied().collect();
                let portion = read(self.end, &kinds)?;
                self.append(portion);
            }
            let first = self.records.partition_point(|record| record.offset <= done);
            let new = self.records.range(first..).take_while(|record| record.offset <= wanted.until);
            let room = wanted.at_most as usize - found.len();
            found.extend(new.filter(|record| wanted.kinds.contains(&record.kind)).take(room).cloned());
            done = self.end;
            self.trim();
            if found.len() >= wanted.at_most as usize || done >= wanted.until {
                return Ok(found);
            }
        }
    }

    fn append(&mut self, portion: Portion) {
        self.end = self.end.max(portion.end);
        for record in portion.records {
            self.n_bytes += record.body.len();
            self.records.push_back(Arc::new(record));
        }
    }

    fn trim(&mut self) {
        while self.records.len() > MOST_RECORDS || self.n_bytes > MOST_BYTES {
            let Some(oldest) = self.records.pop_front() else { return };
            self.n_bytes -= oldest.body.len();
            self.begin = oldest.offset;
        }
    }

    /// Empties the window and lets it begin anew.
    fn restart(&mut self, at: Offset) {
        self.records = VecDeque::new();
        self.n_bytes = 0;
        (self.begin, self.end) = (at, at);
    }

    /// The records of other kinds stay complete.
    fn forget_unused_kinds(&mut self) {
        let end = self.end;
        self.kinds.retain(|_, asked| asked.0 + FORGOTTEN_AFTER >= end.0);
    }
}

/// The next records of some kinds after an offset and up to another.
pub(super) fn read(
    tx: &mut Tx<'_>,
    app: AppId,
    (after, until): (Offset, Offset),
    kinds: &BTreeSet<RecordKind>,
) -> Result<Portion> {
    let (mut records, mut n_found, mut n_bytes) = (Vec::<Record>::new(), 0, 0);
    visit_stored(tx, app, Wanted { after, until, kinds, at_most: PORTION }, &mut |row| {
        n_found += 1;
        // The rest of the portion is not even copied: some bodies are large.
        if n_bytes < PORTION_BYTES {
            n_bytes += row.body.len();
            records.push(row.into());
        }
        Ok(())
    })?;
    let is_cut = n_found >= PORTION as usize || records.len() < n_found;
    let end = records.last().filter(|_| is_cut).map_or(until, |last| last.offset);
    Ok(Portion { records, end })
}

#[cfg(test)]
mod tests {
    use model::event::EventOffset;
    use model::time::UtcMillis;

    use super::*;

    fn bounds(start: i64, head: i64, server: i64) -> LogBounds {
        LogBounds { start: Offset(start), head: Offset(head), lost: EventOffset::START, server, rewrites: 0 }
    }

    fn wanted(kinds: &BTreeSet<RecordKind>, after: i64, until: i64) -> Wanted<'_> {
        Wanted { after: Offset(after), until: Offset(until), kinds, at_most: 1_000 }
    }

    /// Every offset has a record of each reader's kind.
    fn portion(after: Offset, until: i64, kind: RecordKind) -> Portion {
        let record =
            |offset| Record { offset: Offset(offset), at: UtcMillis(0), kind, ordinal: None, body: Vec::new() };
        Portion { records: (after.0 + 1..=until).map(record).collect(), end: Offset(until) }
    }

    fn take(window: &mut Window, wanted: Wanted<'_>, kind: RecordKind) -> (usize, BTreeSet<RecordKind>) {
        let mut read = BTreeSet::new();
        let found = window.take(wanted, |after, kinds| {
            read = kinds.clone();
            Ok(portion(after, wanted.until.0, kind))
        });
        (found.unwrap_or_default().len(), read)
    }

    #[test]
    fn what_another_server_had_is_not_shown() {
        let (mut window, kinds) = (Window::default(), BTreeSet::from([RecordKind::Open]));
        assert!(window.admit(&bounds(1, 10, 1), wanted(&kinds, 0, 10)));
        assert_eq!(take(&mut window, wanted(&kinds, 0, 10), RecordKind::Open), (10, kinds.clone()));
        assert!(window.admit(&bounds(1, 10, 1), wanted(&kinds, 5, 10)));
        assert_eq!(take(&mut window, wanted(&kinds, 5, 10), RecordKind::Open), (5, BTreeSet::new()));
        assert!(window.admit(&bounds(1, 10, 2), wanted(&kinds, 5, 10)));
        assert_eq!(take(&mut window, wanted(&kinds, 5, 10), RecordKind::Open), (5, kinds), "read again");
    }

    #[test]
    fn a_window_does_not_reach_over_deleted_records() {
        let (mut window, kinds) = (Window::default(), BTreeSet::from([RecordKind::Open]));
        assert!(window.admit(&bounds(1, 10, 1), wanted(&kinds, 0, 10)));
        take(&mut window, wanted(&kinds, 0, 10), RecordKind::Open);
        // A transaction that began later sees that the records up to 50 are deleted.
        assert!(window.admit(&bounds(51, 60, 1), wanted(&kinds, 50, 60)));
        take(&mut window, wanted(&kinds, 50, 60), RecordKind::Open);
        assert!(!window.admit(&bounds(1, 55, 1), wanted(&kinds, 10, 55)), "an earlier one still has them");
    }

    #[test]
    fn kinds_that_nobody_reads_any_more_are_left_out() {
        let (mut window, all) = (Window::default(), BTreeSet::from([RecordKind::Open, RecordKind::Terms]));
        let one = BTreeSet::from([RecordKind::Terms]);
        assert!(window.admit(&bounds(1, 10, 1), wanted(&all, 0, 10)));
        assert_eq!(take(&mut window, wanted(&all, 0, 10), RecordKind::Terms).1, all);
        let later = 10 + FORGOTTEN_AFTER;
        assert!(window.admit(&bounds(1, later, 1), wanted(&one, later - 5, later)));
        assert_eq!(take(&mut window, wanted(&one, later - 5, later), RecordKind::Terms).1, all);
        assert!(window.admit(&bounds(1, later + 10, 1), wanted(&one, later, later + 10)));
        assert_eq!(take(&mut window, wanted(&one, later, later + 10), RecordKind::Terms).1, all);
        assert!(window.admit(&bounds(1, later + 20, 1), wanted(&one, later + 10, later + 20)));
        assert_eq!(take(&mut window, wanted(&one, later + 10, later + 20), RecordKind::Terms).1, one);
    }

    #[test]
    fn a_window_is_bounded() {
        let (mut window, kinds) = (Window::default(), BTreeSet::from([RecordKind::Open]));
        for until in (1_000..=40_000).step_by(1_000) {
            assert!(window.admit(&bounds(1, until, 1), wanted(&kinds, until - 1_000, until)));
            assert_eq!(take(&mut window, wanted(&kinds, until - 1_000, until), RecordKind::Open).0, 1_000);
        }
        assert_eq!((window.records.len(), window.begin), (MOST_RECORDS, Offset(40_000 - 16_384)));
        assert!(!window.admit(&bounds(1, 40_000, 1), wanted(&kinds, 20_000, 40_000)));
    }
}
