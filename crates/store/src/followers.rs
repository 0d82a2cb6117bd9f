//! Followers: durable readers of the log, each with a position and a job of the same id. The job sleeps while
//! there is nothing to read.

use std::collections::BTreeMap;

use model::event::EventOffset;
use model::ids::AppId;
use model::time::UtcMillis;

use crate::jobs::{self, ClaimedJob, JobId, JobKey, NEVER};
use crate::{Part, Result, Row, Tx, log};

/// How far a follower is behind its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lag {
    pub app: AppId,
    /// The kind of its job.
    pub kind: String,
    /// The records that it is not done with.
    pub n_records: i64,
}

/// Lets a follower begin after an offset. One that is there already is moved.
pub fn start(tx: &mut Tx<'_>, app: AppId, follower: JobId, after: EventOffset) -> Result<()> {
    tx.write(
        "insert into follower (app, id, position, retry_at) values ($1, $2, $3, 0)
         on conflict (app, id) do update set position = excluded.position, retry_at = 0",
        &[app.into(), follower.into(), after.number().into()],
    )?;
    Ok(())
}

pub fn stop(tx: &mut Tx<'_>, app: AppId, follower: JobId) -> Result<()> {
    tx.write("delete from follower where app = $1 and id = $2", &[app.into(), follower.into()])?;
    Ok(())
}

/// The offset of the last event a follower is done with; `None` for one that has not started.
pub fn position(tx: &mut Tx<'_>, app: AppId, follower: JobId) -> Result<Option<EventOffset>> {
    let sql = "select position from follower where app = $1 and id = $2";
    tx.query_opt(sql, &[app.into(), follower.into()], |row| Ok(EventOffset::from_number(row.get(0)?)))
}

/// Moves a follower to the last event that it is done with.
pub fn advance(tx: &mut Tx<'_>, app: AppId, follower: JobId, done: EventOffset) -> Result<()> {
    let sql = "update follower set position = $3, retry_at = 0 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), follower.into(), done.number().into()])?;
    Ok(())
}

/// Releases a follower's job: due at once if there is more to read, else when the log grows.
pub fn rest(tx: &mut Tx<'_>, job: &ClaimedJob, now: UtcMillis) -> Result<()> {
    rest_at_most_until(tx, job, now, NEVER)
}

/// As [`rest`], but not beyond a time at which there is something else to do.
pub fn rest_at_most_until(tx: &mut Tx<'_>, job: &ClaimedJob, now: UtcMillis, latest: UtcMillis) -> Result<()> {
    let done = position(tx, job.app, job.id)?.map(EventOffset::records_done);
    let head = log::head(tx, job.app)?;
    let is_behind = done.is_some_and(|done| done < head);
    jobs::postpone(tx, job, if is_behind { now } else { latest })
}

/// Releases a follower's job until a time, however much the log grows.
pub fn rest_until(tx: &mut Tx<'_>, job: &ClaimedJob, retry_at: UtcMillis) -> Result<()> {
    jobs::postpone(tx, job, retry_at)?;
    let sql = "update follower set retry_at = $3 where app = $1 and id = $2";
    tx.write(sql, &[job.app.into(), job.id.into(), retry_at.into()])?;
    Ok(())
}

/// Ends a follower's rest, whatever it waits for. A running follower is left alone.
pub fn rouse(tx: &mut Tx<'_>, app: AppId, follower: JobId, now: UtcMillis) -> Result<()> {
    tx.write("update follower set retry_at = 0 where app = $1 and id = $2", &[app.into(), follower.into()])?;
    jobs::wake(tx, &[(app, follower)], now)
}

/// Ends rests that last beyond an instant, unless they last until they are ended. The jobs are woken apart from that.
pub fn end_rests_beyond(tx: &mut Tx<'_>, part: &Part, latest: UtcMillis) -> Result<()> {
    let mut params = vec![latest.into(), NEVER.into()];
    let sql = part.narrow("update follower set retry_at = 0 where retry_at > $1 and retry_at < $2", &mut params);
    tx.execute(&sql, &params)?;
    Ok(())
}

/// Followers that are behind their logs, the furthest first, and after them those that are not. Those that rest until they are told
/// otherwise, like webhooks that are disabled, are left out.
pub fn furthest_behind(tx: &mut Tx<'_>, part: &Part, at_most: u32) -> Result<Vec<Lag>> {
    let sql = "select follower.app, follower.id, n.log_head - follower.position / $1
               from follower cross join app_numbers n
               where n.app = follower.app and follower.retry_at < $2 order by 3 desc, 1, 2 limit $3";
    let mut params = vec![EventOffset::PER_RECORD.into(), NEVER.into(), at_most.into()];
    let sql = part.narrow_column("follower.app", sql, &mut params);
    let found: Vec<(AppId, JobId, i64)> = tx.query(&sql, &params, |row| Ok((row.next()?, row.next()?, row.next()?)))?;
    let sql = "select app, id, kind from job where app = $1 and id = $2";
    let keys = found.iter().map(|(app, id, _)| [(*app).into(), (*id).into()]);
    let kinds = tx.query_many(sql, keys, |row| Ok(((row.next()?, row.next()?), row.next()?)))?;
    let mut kinds: BTreeMap<JobKey, String> = kinds.into_iter().collect();
    let lags = found.into_iter().filter_map(|(app, id, n_records)| {
        let kind = kinds.remove(&(app, id))?;
        Some(Lag { app, kind, n_records })
    });
    Ok(lags.collect())
}

/// The sleeping followers whose log has grown.
pub fn behind(tx: &mut Tx<'_>, part: &Part, now: UtcMillis) -> Result<Vec<(AppId, JobId)>> {
    // Comparing positions in whole records is enough: a job that is in the middle of one does not sleep.
    // A cross join, so that SQLite begins with the followers, which are few. Their jobs are looked up one by one: in a join both
    // databases may prefer to read all jobs that wait.
    let sql = "select follower.app, follower.id from follower cross join app_numbers n
               where n.app = follower.app and follower.position < n.log_head * $2 and follower.retry_at <= $1";
    let mut params = vec![now.into(), EventOffset::PER_RECORD.into()];
    let sql = part.narrow_column("follower.app", sql, &mut params);
    let keys = |row: &Row<'_>| Ok((row.next()?, row.next()?));
    let grown: Vec<(AppId, JobId)> = tx.query(&sql, &params, keys)?;
    let sql = "select app, id from job where app = $1 and id = $2 and leased = 0 and due > $3";
    tx.query_many(sql, grown.iter().map(|(app, id)| [(*app).into(), (*id).into(), now.into()]), keys)
}
