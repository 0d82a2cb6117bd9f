//! Followers: durable readers of the log, each with a position and a job of the same id. The job sleeps while
//! there is nothing to read.

use model::event::EventOffset;
use model::ids::AppId;
use model::time::UtcMillis;

use crate::jobs::{self, ClaimedJob, JobId, NEVER};
use crate::{Part, Result, Row, Tx, log};

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

/// The records that the follower has not read which is furthest behind its log. Those that rest until they are told otherwise,
/// like webhooks that are disabled, are left out.
pub fn most_behind(tx: &mut Tx<'_>, part: &Part) -> Result<i64> {
    let sql = "select coalesce(max(n.log_head - follower.position / $1), 0) from follower cross join app_numbers n
               where n.app = follower.app and follower.retry_at < $2";
    let mut params = vec![EventOffset::PER_RECORD.into(), NEVER.into()];
    let sql = part.narrow_column("follower.app", sql, &mut params);
    Ok(tx.query_opt(&sql, &params, |row| row.get(0))?.unwrap_or(0))
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
