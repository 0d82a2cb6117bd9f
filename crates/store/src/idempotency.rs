//! Answers kept under the idempotency key of the request that caused them.

use model::ids::AppId;
use model::time::UtcMillis;

use crate::apps::OPERATOR;
use crate::{Part, Result, Tx, Value};

/// The first request with a key, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// A digest of the first request.
    pub request: Vec<u8>,
    pub answer: String,
}

pub fn find(tx: &mut Tx<'_>, app: AppId, key: &str) -> Result<Option<Kept>> {
    let sql = "select request, answer from idempotency where app = $1 and key = $2";
    tx.query_opt(sql, &[app.into(), key.into()], |row| Ok(Kept { request: row.next()?, answer: row.next()? }))
}

/// Fails with a conflict of the primary key when another node has kept an answer under the key meanwhile.
pub fn keep(tx: &mut Tx<'_>, app: AppId, key: &str, kept: &Kept, now: UtcMillis) -> Result<()> {
    let sql = "insert into idempotency (app, key, request, answer, created) values ($1, $2, $3, $4, $5)";
    let row = [app.into(), key.into(), kept.request.clone().into(), kept.answer.as_str().into(), now.into()];
    match app {
        // No row of the operator is locked that would keep other nodes from doing the same.
        OPERATOR => tx.execute(sql, &row).map(drop),
        _ => tx.write(sql, &row),
    }
}

pub fn forget(tx: &mut Tx<'_>, app: AppId, key: &str) -> Result<()> {
    tx.write("delete from idempotency where app = $1 and key = $2", &[app.into(), key.into()])?;
    Ok(())
}

/// Forgets up to `at_most` answers that were kept before an instant, and says how many those were.
pub fn forget_before(tx: &mut Tx<'_>, part: &Part, instant: UtcMillis, at_most: u32) -> Result<u64> {
    let mut params = vec![instant.into(), at_most.into()];
    let sql = "select app, key from idempotency where created < $1 order by created limit $2";
    let sql = part.narrow(sql, &mut params);
    let old: Vec<[Value; 2]> =
        tx.query(&sql, &params, |row| Ok([row.next::<AppId>()?.into(), row.next::<String>()?.into()]))?;
    // One by one: SQLite compares every row of these apps with a list of pairs.
    tx.execute_many("delete from idempotency where app = $1 and key = $2", old)
}

/// Up to `at_most` answers that were kept by an instant, after a key: their keys and what is kept.
pub fn page(tx: &mut Tx<'_>, app: AppId, after: &str, until: UtcMillis, at_most: u32) -> Result<Vec<(String, String)>> {
    let sql = "select key, answer from idempotency where app = $1 and key > $2 and created <= $3 order by key limit $4";
    tx.query(sql, &[app.into(), after.into(), until.into(), at_most.into()], |row| Ok((row.next()?, row.next()?)))
}

/// Keeps another answer under a key that is known.
pub fn replace(tx: &mut Tx<'_>, app: AppId, key: &str, answer: &str) -> Result<()> {
    let sql = "update idempotency set answer = $3 where app = $1 and key = $2";
    tx.execute(sql, &[app.into(), key.into(), answer.into()]).map(drop)
}
