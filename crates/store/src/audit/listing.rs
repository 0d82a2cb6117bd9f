//! Pages of the audit log, the newest rows first.

use std::ops::Range;

use model::ids::AppId;
use model::time::UtcMillis;

use crate::{Part, Result, Row, Tx};

/// Rows that are read at once, and how often: rows that are looked for may be rare among many.
const PORTION: u32 = 1000;
const PORTIONS: usize = 10;

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
    let mut next = Some(start.map_or(last, |start| start.min(last)));
    let mut found = Vec::new();
    for _ in 0..PORTIONS {
        let Some(from) = next.take() else { break };
        let mut rows = portion(tx, part, filter, from)?;
        if rows.len() > PORTION as usize {
            next = rows.pop().map(|row| row.position);
        }
        for row in rows.into_iter().filter(|row| filter.takes(row)) {
            if found.len() >= at_most as usize {
                return Ok((found, Some(row.position)));
            }
            found.push(row);
        }
    }
    Ok((found, next))
}

/// The next rows, and one more if there are more.
fn portion(tx: &mut Tx<'_>, part: &Part, filter: &Filter, from: Position) -> Result<Vec<AuditRow>> {
    let Position { at, app, number } = from;
    let (since, limit) = (filter.at.start, PORTION + 1);
    let read = |row: &Row<'_>| {
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
    };
    let Some(of_app) = filter.app else {
        let mut params = vec![since.into(), at.into(), app.into(), number.into(), limit.into()];
        let sql = "select app, at, id, last_at, n, credential, address, action, object, detail, request from audit
                   where at >= $1 and at <= $2 and (at < $2 or app < $3 or (app = $3 and id <= $4))
                   order by at desc, app desc, id desc limit $5";
        return tx.query(&part.narrow(sql, &mut params), &params, read);
    };
    let sql = "select app, at, id, last_at, n, credential, address, action, object, detail, request from audit
               where app = $1 and at >= $2 and at <= $3 and (at < $3 or id <= $4)
               order by at desc, id desc limit $5";
    tx.query(sql, &[of_app.into(), since.into(), at.into(), number.into(), limit.into()], read)
}
