//! Pages of the audit log, the newest rows first.
//!
//! Rows lie by app, because an index over the time of all of them would make every row dearer that is written. The rows of several
//! apps are merged: the newest row of each app is looked up, and more of an app when its turn has come.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use model::ids::AppId;
use model::time::UtcMillis;

use crate::apps::{self, OPERATOR};
use crate::{Part, Result, Row, Tx};

/// Rows of one app that are read at once: few at first, because there may be many apps, and then twice as many each time.
const FIRST_PORTION: u32 = 8;
const LARGEST_PORTION: u32 = 512;
/// Rows that are looked at for one page: rows that are looked for may be rare among many.
const MOST_ROWS: usize = 10_000;

/// Where a row is in the log of all apps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub at: UtcMillis,
    pub app: AppId,
    pub number: i64,
}

/// One change, or changes of one minute that share a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    pub position: Position,
    pub last_at: UtcMillis,
    pub n: u64,
    pub credential: String,
    pub address: Option<String>,
    pub action: String,
    /// JSON.
    pub object: String,
    /// JSON.
    pub detail: Option<String>,
    pub request_id: Option<String>,
}

/// Which rows are looked for.
#[derive(Clone, Debug)]
pub struct Filter {
    pub at: Range<UtcMillis>,
    /// Of one app; else of all, and of the installation.
    pub app: Option<AppId>,
    /// A credential, or the kind of one, which is how it begins.
    pub credential: Option<String>,
    pub action: Option<String>,
}

impl Filter {
    fn takes(&self, row: &AuditRow) -> bool {
        let is_of_kind = |wanted: &String| {
            row.credential.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        self.credential.as_ref().is_none_or(is_of_kind)
            && self.action.as_ref().is_none_or(|action| *action == row.action)
    }
}

/// Up to `at_most` rows, the newest first, from a position on; and where to go on if not all rows were looked at. A page can be
/// short, or empty, although there are more.
pub fn newest(
    tx: &mut Tx<'_>,
    part: &Part,
    filter: &Filter,
    start: Option<Position>,
    at_most: u32,
) -> Result<(Vec<AuditRow>, Option<Position>)> {
    let last = Position { at: UtcMillis(filter.at.end.0.saturating_sub(1)), app: AppId(i64::MAX), number: i64::MAX };
    let mut merge = Merge::begin(tx, part, filter, start.map_or(last, |start| start.min(last)))?;
    let mut found = Vec::new();
    for _ in 0..MOST_ROWS {
        let Some(row) = merge.next(tx)? else { return Ok((found, None)) };
        if !filter.takes(&row) {
            continue;
        }
        if found.len() >= at_most as usize {
            return Ok((found, Some(row.position)));
        }
        found.push(row);
    }
    Ok((found, merge.position()))
}

/// The rows of several apps as one sequence.
struct Merge {
    since: UtcMillis,
    by_app: Vec<OfApp>,
    /// The next row of each app that has one, and whose it is.
    heads: BinaryHeap<(Position, usize)>,
}

/// The rows of one app that are read and not yet taken.
struct OfApp {
    app: AppId,
    rows: VecDeque<AuditRow>,
    portion: u32,
}

impl Merge {
    fn begin(tx: &mut Tx<'_>, part: &Part, filter: &Filter, from: Position) -> Result<Self> {
        let since = filter.at.start;
        let apps = match (filter.app, part.apps()) {
            (Some(app), _) => vec![app],
            (None, Some(apps)) => apps.to_vec(),
            // A deleted app has its rows until they are erased.
            (None, None) => (OPERATOR.0..=apps::n_made(tx)?).map(AppId).collect(),
        };
        let firsts = apps.iter().map(|app| {
            let (at, number) = within_app(*app, from);
            [(*app).into(), since.into(), at.into(), number.into(), 1_u32.into()]
        });
        let mut firsts = tx.query_many(NEWEST, firsts, read)?.into_iter().peekable();
        let mut merge = Self { since, by_app: Vec::new(), heads: BinaryHeap::new() };
        for app in apps {
            let rows: VecDeque<AuditRow> = firsts.next_if(|row| row.position.app == app).into_iter().collect();
            merge.by_app.push(OfApp { app, rows, portion: FIRST_PORTION });
            merge.note_head(merge.by_app.len() - 1);
        }
        Ok(merge)
    }

    /// The next row, if there is one.
    fn next(&mut self, tx: &mut Tx<'_>) -> Result<Option<AuditRow>> {
        let Some((_, n)) = self.heads.pop() else { return Ok(None) };
        let of_app = &mut self.by_app[n];
        let Some(row) = of_app.rows.pop_front() else { return Ok(None) };
        if of_app.rows.is_empty() {
            let Position { at, number, .. } = row.position;
            let params = [of_app.app.into(), self.since.into(), at.into(), (number - 1).into(), of_app.portion.into()];
            of_app.rows = tx.query(NEWEST, &params, read)?.into();
            of_app.portion = (of_app.portion * 2).min(LARGEST_PORTION);
        }
        self.note_head(n);
        Ok(Some(row))
    }

    /// Where the next row is.
    fn position(&self) -> Option<Position> {
        self.heads.peek().map(|(position, _)| *position)
    }

    fn note_head(&mut self, n: usize) {
        if let Some(row) = self.by_app[n].rows.front() {
            self.heads.push((row.position, n));
        }
    }
}

/// The time and number from which on rows of an app come at or after a position: of one time, the apps follow each other.
fn within_app(app: AppId, from: Position) -> (UtcMillis, i64) {
    match app.cmp(&from.app) {
        Ordering::Less => (from.at, i64::MAX),
        Ordering::Equal => (from.at, from.number),
        Ordering::Greater => (UtcMillis(from.at.0.saturating_sub(1)), i64::MAX),
    }
}

const NEWEST: &str = "select app, at, id, last_at, n, credential, address, action, object, detail, request from audit
                      where app = $1 and at >= $2 and at <= $3 and (at < $3 or id <= $4)
                      order by at desc, id desc limit $5";

fn read(row: &Row<'_>) -> Result<AuditRow> {
    let position = Position { app: row.next()?, at: row.next()?, number: row.next()? };
    Ok(AuditRow {
        position,
        last_at: row.next()?,
        n: row.next()?,
        credential: row.next()?,
        address: row.next()?,
        action: row.next()?,
        object: row.next()?,
        detail: row.next()?,
        request_id: row.next()?,
    })
}
