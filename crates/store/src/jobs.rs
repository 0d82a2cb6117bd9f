//! Durable work with a due time. Claiming a job moves its due time to the end of the lease, so a job whose worker died is
//! simply due again; the attempt number, which every claim raises, keeps the dead worker from settling it afterwards.

use model::ids::{AppId, Id, PushId};
use model::time::UtcMillis;

use crate::{Result, Row, Signal, Tx};

pub enum JobKind {}
pub type JobId = Id<JobKind>;

/// What tells a job from all others.
pub type JobKey = (AppId, JobId);

/// A job to enqueue. What `kind` and `payload` mean is the engine's business.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub id: JobId,
    pub kind: &'static str,
    /// Jobs of one app and lane can be kept from being claimed together.
    pub lane: String,
    pub due: UtcMillis,
    /// What it is part of, so that it can be woken together with the rest.
    pub push: Option<PushId>,
    pub payload: Vec<u8>,
}

/// The due time of a job that waits to be woken.
pub const NEVER: UtcMillis = UtcMillis(i64::MAX);

/// The due time of a job that waits for its lane to be woken, which leaves those alone that are due never.
pub const WITH_LANE: UtcMillis = UtcMillis(i64::MAX - 1);

/// What jobs compete for: one platform of one app, and the like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    pub app: AppId,
    pub name: String,
}

/// A job that somebody could claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueJob {
    pub app: AppId,
    pub id: JobId,
    pub kind: String,
    pub lane: Lane,
}

/// A job that this process holds until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedJob {
    pub app: AppId,
    pub id: JobId,
    pub kind: String,
    pub attempt: i64,
    /// How often it has failed since it last went well.
    pub failures: u32,
    pub payload: Vec<u8>,
}

/// A job whose id is there already stays as it is, so that a job that must exist once can be given a fixed id.
pub fn enqueue(tx: &mut Tx<'_>, app: AppId, job: &NewJob) -> Result<()> {
    tx.execute(
        "insert into job (app, id, kind, lane, due, leased, attempt, push, payload)
         values ($1, $2, $3, $4, $5, 0, 0, $6, $7)
         on conflict (app, id) do nothing",
        &[
            app.into(),
            job.id.into(),
            job.kind.into(),
            job.lane.as_str().into(),
            job.due.into(),
            job.push.into(),
            job.payload.clone().into(),
        ],
    )?;
    tx.signal(Signal::Jobs);
    Ok(())
}

/// Jobs that are not to be claimed for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Full {
    Lane(Lane),
    /// All jobs of one kind that an app has.
    App(AppId, &'static str),
    /// All jobs of one kind.
    Kind(&'static str),
    /// All jobs but those of one kind.
    AllBut(&'static str),
}

/// Up to `at_most` jobs that are due, the longest due first, none of them among those that are `full`. To be read apart from
/// claiming them: where a lane is full, all that waits in it is walked past, and nobody should have to wait for that.
pub fn due(tx: &mut Tx<'_>, now: UtcMillis, at_most: u32, full: &[Full]) -> Result<Vec<DueJob>> {
    let mut params = vec![now.into(), at_most.into()];
    let mut others = String::new();
    for full in full {
        let (first, second) = (params.len() + 1, params.len() + 2);
        match full {
            Full::Lane(lane) => {
                others += &format!(" and not (app = ${first} and lane = ${second})");
                params.extend([lane.app.into(), lane.name.as_str().into()]);
            }
            Full::App(app, kind) => {
                others += &format!(" and not (app = ${first} and kind = ${second})");
                params.extend([(*app).into(), (*kind).into()]);
            }
            Full::Kind(kind) => {
                others += &format!(" and kind <> ${first}");
                params.push((*kind).into());
            }
            Full::AllBut(kind) => {
                others += &format!(" and kind = ${first}");
                params.push((*kind).into());
            }
        }
    }
    let sql = format!("select app, id, kind, lane from job where due <= $1{others} order by due, app, id limit $2");
    tx.query(&sql, &params, |row| {
        let app = row.get(0)?;
        Ok(DueJob { app, id: row.get(1)?, kind: row.get(2)?, lane: Lane { app, name: row.get(3)? } })
    })
}

/// Claims those of some jobs that are still due. Those that another node is claiming at this moment are left to it.
pub fn claim(tx: &mut Tx<'_>, wanted: &[JobKey], now: UtcMillis, lease_until: UtcMillis) -> Result<Vec<ClaimedJob>> {
    let sql = format!(
        "select app, id, kind, attempt + 1, failures, payload from job where app = $1 and id = $2 and due <= $3{}",
        tx.claim_suffix()
    );
    let keys = wanted.iter().map(|(app, id)| [(*app).into(), (*id).into(), now.into()]);
    let claimed = tx.query_many(&sql, keys, read_job)?;
    if !claimed.is_empty() {
        tx.execute_many(
            "update job set due = $3, leased = 1, attempt = $4 where app = $1 and id = $2",
            claimed.iter().map(|job| [job.app.into(), job.id.into(), lease_until.into(), job.attempt.into()]),
        )?;
    }
    Ok(claimed)
}

/// Extends the lease. `false` means that the job is no longer ours: it was given back or settled, or another worker has
/// claimed it.
pub fn renew(tx: &mut Tx<'_>, job: &ClaimedJob, lease_until: UtcMillis) -> Result<bool> {
    let sql = "update job set due = $4 where app = $1 and id = $2 and attempt = $3 and leased = 1";
    Ok(tx.execute(sql, &[job.app.into(), job.id.into(), job.attempt.into(), lease_until.into()])? > 0)
}

/// The job is done. `false` as in [`renew`].
pub fn settle(tx: &mut Tx<'_>, job: &ClaimedJob) -> Result<bool> {
    let sql = "delete from job where app = $1 and id = $2 and attempt = $3 and leased = 1";
    Ok(tx.execute(sql, &[job.app.into(), job.id.into(), job.attempt.into()])? > 0)
}

/// Gives the job back, to be claimed again at `due`: so far it went well. `false` as in [`renew`].
pub fn postpone(tx: &mut Tx<'_>, job: &ClaimedJob, due: UtcMillis) -> Result<bool> {
    give_back(tx, job, due, 0)
}

/// As [`postpone`], for a job that failed once more.
pub fn postpone_failed(tx: &mut Tx<'_>, job: &ClaimedJob, due: UtcMillis) -> Result<bool> {
    give_back(tx, job, due, job.failures.saturating_add(1))
}

fn give_back(tx: &mut Tx<'_>, job: &ClaimedJob, due: UtcMillis, failures: u32) -> Result<bool> {
    let sql = "update job set due = $4, leased = 0, failures = $5
               where app = $1 and id = $2 and attempt = $3 and leased = 1";
    let row = [job.app.into(), job.id.into(), job.attempt.into(), due.into(), failures.into()];
    let n_given_back = tx.execute(sql, &row)?;
    tx.signal(Signal::Jobs);
    Ok(n_given_back > 0)
}

/// Gives the job back until `due`, or until the push that it is part of is woken, or its lane if `due` is [`WITH_LANE`].
/// `false` as in [`renew`].
pub fn park(tx: &mut Tx<'_>, job: &ClaimedJob, push: PushId, due: UtcMillis) -> Result<bool> {
    let sql = "update job set due = $4, leased = 0, failures = 0, push = $5
               where app = $1 and id = $2 and attempt = $3 and leased = 1";
    let row = [job.app.into(), job.id.into(), job.attempt.into(), due.into(), push.into()];
    Ok(tx.execute(sql, &row)? > 0)
}

/// Makes every job of a push due that waits.
pub fn wake_push(tx: &mut Tx<'_>, app: AppId, push: PushId, now: UtcMillis) -> Result<u64> {
    let sql = "update job set due = $3 where app = $1 and push = $2 and leased = 0 and due > $3";
    let n_woken = tx.execute(sql, &[app.into(), push.into(), now.into()])?;
    tx.signal(Signal::Jobs);
    Ok(n_woken)
}

/// Makes every job of a lane due that waits.
pub fn wake_lane(tx: &mut Tx<'_>, lane: &Lane, now: UtcMillis) -> Result<u64> {
    let sql = "update job set due = $3 where app = $1 and lane = $2 and leased = 0 and due > $3 and due < $4";
    let n_woken = tx.execute(sql, &[lane.app.into(), lane.name.as_str().into(), now.into(), NEVER.into()])?;
    tx.signal(Signal::Jobs);
    Ok(n_woken)
}

/// Removes a job, also one that somebody is running, who will not be able to settle it.
pub fn cancel(tx: &mut Tx<'_>, app: AppId, job: JobId) -> Result<()> {
    tx.execute("delete from job where app = $1 and id = $2", &[app.into(), job.into()])?;
    Ok(())
}

/// Removes up to `at_most` jobs of a lane, as [`cancel`] does, and says how many there were.
pub fn cancel_some(tx: &mut Tx<'_>, lane: &Lane, at_most: u32) -> Result<u64> {
    let sql = "delete from job where app = $1 and id in (select id from job where app = $1 and lane = $2 limit $3)";
    tx.execute(sql, &[lane.app.into(), lane.name.as_str().into(), at_most.into()])
}

/// Makes every leased job due. Only right when no other process can hold a lease: at the start on SQLite.
pub fn release_all(tx: &mut Tx<'_>, now: UtcMillis) -> Result<u64> {
    tx.execute("update job set due = $1, leased = 0 where leased = 1", &[now.into()])
}

/// When the next job is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<UtcMillis>> {
    tx.query_one("select min(due) from job", &[], |row| row.get(0))
}

/// When the first of those jobs is due that are not due yet.
pub fn next_due_after(tx: &mut Tx<'_>, now: UtcMillis) -> Result<Option<UtcMillis>> {
    tx.query_one("select min(due) from job where due > $1", &[now.into()], |row| row.get(0))
}

/// The jobs that wait for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Due, and not being worked on: those of a worker that died are among them once its lease has run out.
    pub n_overdue: i64,
    /// When the first of them was due.
    pub longest_due: Option<UtcMillis>,
}

/// Counts up to `at_most`, by the index that jobs are claimed by.
pub fn backlog(tx: &mut Tx<'_>, now: UtcMillis, at_most: u32) -> Result<Backlog> {
    let sql = "select count(*), min(due) from (select due from job where due <= $1 order by due limit $2) as overdue";
    tx.query_one(sql, &[now.into(), at_most.into()], |row| {
        Ok(Backlog { n_overdue: row.get(0)?, longest_due: row.get(1)? })
    })
}

fn read_job(row: &Row<'_>) -> Result<ClaimedJob> {
    let failures: i64 = row.get(4)?;
    Ok(ClaimedJob {
        app: row.get(0)?,
        id: row.get(1)?,
        kind: row.get(2)?,
        attempt: row.get(3)?,
        failures: u32::try_from(failures).unwrap_or(u32::MAX),
        payload: row.get(5)?,
    })
}
