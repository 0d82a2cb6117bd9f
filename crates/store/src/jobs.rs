//! Durable work with a due time. Claiming a job moves its due time to the end of the lease, so a job whose
//! worker died is simply due again; the attempt number, which every claim raises, keeps the dead worker from
//! settling it afterwards. A worker that changes a job which it no longer holds gets
//! [`Constraint::LeaseLost`], and its transaction is rolled back.

mod stranded;

use std::collections::BTreeSet;

use model::ids::{AppId, Id, PushId};
use model::time::UtcMillis;

use crate::nodes::Node;
use crate::{Constraint, Part, Result, Row, Signal, Tx, Value};

pub use stranded::{due_after, wake};

pub enum JobIdKind {}
pub type JobId = Id<JobIdKind>;

/// Identifies a job.
pub type JobKey = (AppId, JobId);

/// A job to enqueue. Only the room of a job knows what `kind` and `payload` mean.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub id: JobId,
    pub kind: &'static str,
    /// Jobs of one app and lane can be kept from being claimed together.
    pub lane: String,
    pub due: UtcMillis,
    /// Within a lane, jobs with a lower turn may go before older ones.
    pub turn: u32,
    /// The push that it is part of, to wake all jobs of the push together.
    pub push: Option<PushId>,
    pub payload: Vec<u8>,
}

/// The due time of a job that waits to be woken. Waking a lane does not wake it.
pub const NEVER: UtcMillis = UtcMillis(i64::MAX);

/// What ends the wait of a parked job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParkUntil {
    /// Waking its push.
    PushWoken,
    /// Waking its lane or its push.
    LaneOrPushWoken,
    /// The time, or waking its lane or its push before then.
    Time(UtcMillis),
}

impl ParkUntil {
    const fn due(self) -> UtcMillis {
        match self {
            ParkUntil::PushWoken => NEVER,
            ParkUntil::LaneOrPushWoken => UtcMillis(NEVER.0 - 1),
            ParkUntil::Time(due) => due,
        }
    }
}

/// A resource that jobs compete for, such as one platform of one app.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    pub app: AppId,
    pub name: String,
}

/// A job that can be claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueJob {
    pub app: AppId,
    pub id: JobId,
    pub kind: String,
    pub lane: Lane,
    pub turn: u32,
    pub due: UtcMillis,
}

/// Jobs that could be claimed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The longest due first; then, unless these are all, the first of every lane and turn.
    pub jobs: Vec<DueJob>,
    pub are_all: bool,
}

/// A job that this process holds until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedJob {
    pub app: AppId,
    pub id: JobId,
    pub kind: String,
    pub attempt: i64,
    /// How often it has failed in a row.
    pub failures: u32,
    pub payload: Vec<u8>,
    /// The other node that held it until its lease ran out, without giving it back.
    pub previous_holder: Option<Node>,
}

/// An existing job with the same id stays as it is, so that a job that must exist once can have a fixed id.
pub fn enqueue(tx: &mut Tx<'_>, app: AppId, job: NewJob) -> Result<()> {
    tx.write(
        "insert into job (app, id, kind, lane, due, turn, leased, attempt, failures, push, payload)
         values ($1, $2, $3, $4, $5, $6, 0, 0, 0, $7, $8)
         on conflict (app, id) do nothing",
        &[
            app.into(),
            job.id.into(),
            job.kind.into(),
            job.lane.into(),
            job.due.into(),
            job.turn.into(),
            job.push.into(),
            job.payload.into(),
        ],
    )?;
    tx.signal(Signal::Jobs);
    Ok(())
}

/// The `at_most` jobs that have been due the longest. If more are due, also the first of every lane and turn,
/// so that no lane is hidden by the backlog of another. Finding those costs a few steps for every lane that
/// has jobs, however many jobs wait in it.
pub fn due(tx: &mut Tx<'_>, part: &Part, now: UtcMillis, at_most: u32) -> Result<Due> {
    let mut params = vec![now.into(), at_most.into()];
    let sql = "select app, id, kind, lane, turn, due from job where due <= $1 order by due, app, id limit $2";
    let sql = part.narrow(sql, &mut params);
    let mut jobs = tx.query(&sql, &params, read_due)?;
    let are_all = jobs.len() < at_most as usize;
    if !are_all {
        let known: BTreeSet<JobKey> = jobs.iter().map(|job| (job.app, job.id)).collect();
        let mut others = first_of_each_lane(tx, part, now)?;
        others.retain(|key| !known.contains(key));
        let sql = "select app, id, kind, lane, turn, due from job where app = $1 and id = $2";
        jobs.extend(tx.query_many(sql, others.iter().map(|(app, id)| [(*app).into(), (*id).into()]), read_due)?);
    }
    Ok(Due { jobs, are_all })
}

/// Steps along the index from one app, lane and turn to the next. Both databases answer these scalar
/// subqueries from the index, whatever they believe about the size of the table.
fn first_of_each_lane(tx: &mut Tx<'_>, part: &Part, now: UtcMillis) -> Result<Vec<JobKey>> {
    if let Some(apps) = part.apps() {
        let found = apps.iter().map(|app| first_of_lanes(tx, *app, now)).collect::<Result<Vec<_>>>()?;
        return Ok(found.concat());
    }
    let sql = "
        select app, id from (with recursive
        apps (app) as (
            select min(app) from job
            union all
            select (select min(job.app) from job where job.app > apps.app) from apps where apps.app is not null),
        lanes (app, lane) as (
            select apps.app, (select min(job.lane) from job where job.app = apps.app)
            from apps where apps.app is not null
            union all
            select lanes.app, (select min(job.lane) from job where job.app = lanes.app and job.lane > lanes.lane)
            from lanes where lanes.lane is not null),
        turns (app, lane, turn) as (
            select lanes.app, lanes.lane,
                (select min(job.turn) from job where job.app = lanes.app and job.lane = lanes.lane)
            from lanes where lanes.lane is not null
            union all
            select turns.app, turns.lane,
                (select min(job.turn) from job
                 where job.app = turns.app and job.lane = turns.lane and job.turn > turns.turn)
            from turns where turns.turn is not null),
        firsts (app, id) as (
            select turns.app,
                (select job.id from job
                 where job.app = turns.app and job.lane = turns.lane and job.turn = turns.turn and job.due <= $1
                 order by job.due, job.id limit 1)
            from turns where turns.turn is not null)
        select app, id from firsts) as found";
    let found = tx.query(sql, &[now.into()], |row| Ok((row.next()?, row.next::<Option<JobId>>()?)))?;
    Ok(found.into_iter().filter_map(|(app, id)| Some((app, id?))).collect())
}

/// As [`first_of_each_lane`], of one app.
fn first_of_lanes(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<Vec<JobKey>> {
    let sql = "
        select id from (with recursive
        lanes (lane) as (
            select min(lane) from job where app = $1
            union all
            select (select min(job.lane) from job where job.app = $1 and job.lane > lanes.lane)
            from lanes where lanes.lane is not null),
        turns (lane, turn) as (
            select lanes.lane, (select min(job.turn) from job where job.app = $1 and job.lane = lanes.lane)
            from lanes where lanes.lane is not null
            union all
            select turns.lane,
                (select min(job.turn) from job where job.app = $1 and job.lane = turns.lane and job.turn > turns.turn)
            from turns where turns.turn is not null)
        select (select job.id from job
                where job.app = $1 and job.lane = turns.lane and job.turn = turns.turn and job.due <= $2
                order by job.due, job.id limit 1) as id
        from turns where turns.turn is not null) as found where id is not null";
    tx.query(sql, &[app.into(), now.into()], |row| Ok((app, row.next()?)))
}

/// Claims for a node those of the jobs that are still due and that no other node is claiming at this moment.
pub fn claim(
    tx: &mut Tx<'_>,
    node: Node,
    wanted: &[JobKey],
    now: UtcMillis,
    lease_until: UtcMillis,
) -> Result<Vec<ClaimedJob>> {
    let sql = format!(
        "select app, id, kind, attempt + 1, failures, payload, leased from job where app = $1 and id = $2 and due <= $3{}",
        tx.claim_suffix()
    );
    let keys = wanted.iter().map(|(app, id)| [(*app).into(), (*id).into(), now.into()]);
    let claimed = tx.query_many(&sql, keys, |row| read_job(row, node))?;
    if !claimed.is_empty() {
        tx.write_many(
            "update job set due = $3, leased = $4, attempt = $5 where app = $1 and id = $2",
            claimed
                .iter()
                .map(|job| [job.app.into(), job.id.into(), lease_until.into(), node.0.into(), job.attempt.into()]),
        )?;
    }
    Ok(claimed)
}

/// Extends the lease.
pub fn renew(tx: &mut Tx<'_>, job: &ClaimedJob, lease_until: UtcMillis) -> Result<()> {
    let sql = "update job set due = $4 where app = $1 and id = $2 and attempt = $3 and leased > 0";
    change_held(tx, sql, &[job.app.into(), job.id.into(), job.attempt.into(), lease_until.into()])
}

/// The job is done.
pub fn settle(tx: &mut Tx<'_>, job: &ClaimedJob) -> Result<()> {
    let sql = "delete from job where app = $1 and id = $2 and attempt = $3 and leased > 0";
    change_held(tx, sql, &[job.app.into(), job.id.into(), job.attempt.into()])
}

/// Gives back a job that has not failed, to be claimed again at `due`.
pub fn postpone(tx: &mut Tx<'_>, job: &ClaimedJob, due: UtcMillis) -> Result<()> {
    give_back(tx, job, due, 0)
}

/// As [`postpone`], for a job that failed once more.
pub fn postpone_failed(tx: &mut Tx<'_>, job: &ClaimedJob, due: UtcMillis) -> Result<()> {
    give_back(tx, job, due, job.failures.saturating_add(1))
}

fn give_back(tx: &mut Tx<'_>, job: &ClaimedJob, due: UtcMillis, failures: u32) -> Result<()> {
    let sql = "update job set due = $4, leased = 0, failures = $5
               where app = $1 and id = $2 and attempt = $3 and leased > 0";
    let row = [job.app.into(), job.id.into(), job.attempt.into(), due.into(), failures.into()];
    change_held(tx, sql, &row)?;
    tx.signal(Signal::Jobs);
    Ok(())
}

/// Gives back a job that is part of a push, to wait.
pub fn park(tx: &mut Tx<'_>, job: &ClaimedJob, push: PushId, until: ParkUntil) -> Result<()> {
    let sql = "update job set due = $4, leased = 0, failures = 0, push = $5
               where app = $1 and id = $2 and attempt = $3 and leased > 0";
    let row = [job.app.into(), job.id.into(), job.attempt.into(), until.due().into(), push.into()];
    change_held(tx, sql, &row)
}

/// Runs a statement that changes a job if its worker still holds it. The parameters begin with the app, the job and the attempt.
fn change_held(tx: &mut Tx<'_>, sql: &str, params: &[Value]) -> Result<()> {
    let held = "select id from job where app = $1 and id = $2 and attempt = $3 and leased > 0";
    if tx.change_found(held, 3, sql, params)? { Ok(()) } else { tx.refuse(Constraint::LeaseLost) }
}

/// Makes all waiting jobs of a push due.
pub fn wake_push(tx: &mut Tx<'_>, app: AppId, push: PushId, now: UtcMillis) -> Result<u64> {
    let sql = "update job set due = $3 where app = $1 and push = $2 and leased = 0 and due > $3";
    let n_woken = tx.execute(sql, &[app.into(), push.into(), now.into()])?;
    tx.signal(Signal::Jobs);
    Ok(n_woken)
}

/// Makes all waiting jobs of a lane due, except those at [`NEVER`].
pub fn wake_lane(tx: &mut Tx<'_>, lane: &Lane, now: UtcMillis) -> Result<u64> {
    let sql = "update job set due = $3 where app = $1 and lane = $2 and leased = 0 and due > $3 and due < $4";
    let n_woken = tx.execute(sql, &[lane.app.into(), lane.name.as_str().into(), now.into(), NEVER.into()])?;
    tx.signal(Signal::Jobs);
    Ok(n_woken)
}

/// Whether a job is there that runs or is due, and has not failed.
pub fn is_on_time(tx: &mut Tx<'_>, app: AppId, job: JobId, now: UtcMillis) -> Result<bool> {
    let sql = "select 1 from job where app = $1 and id = $2 and failures = 0 and (leased > 0 or due <= $3)";
    let found: Option<i64> = tx.query_opt(sql, &[app.into(), job.into(), now.into()], |row| row.get(0))?;
    Ok(found.is_some())
}

/// Removes a job, even while it runs; its worker has lost its lease then.
pub fn cancel(tx: &mut Tx<'_>, app: AppId, job: JobId) -> Result<()> {
    tx.write("delete from job where app = $1 and id = $2", &[app.into(), job.into()])?;
    Ok(())
}

/// As [`cancel`], for many.
pub fn cancel_many(tx: &mut Tx<'_>, app: AppId, jobs: impl IntoIterator<Item = JobId>) -> Result<()> {
    let rows = jobs.into_iter().map(|job| [app.into(), job.into()]);
    tx.write_many("delete from job where app = $1 and id = $2", rows)?;
    Ok(())
}

/// Removes up to `at_most` jobs of a lane, as [`cancel`] does, and returns how many.
pub fn cancel_some(tx: &mut Tx<'_>, lane: &Lane, at_most: u32) -> Result<u64> {
    let sql = "delete from job where app = $1 and id in (select id from job where app = $1 and lane = $2 limit $3)";
    tx.execute(sql, &[lane.app.into(), lane.name.as_str().into(), at_most.into()])
}

/// Makes every leased job due. Only right when no other process can hold a lease: at the start on SQLite.
pub fn release_all(tx: &mut Tx<'_>, now: UtcMillis) -> Result<u64> {
    tx.execute("update job set due = $1, leased = 0 where leased > 0", &[now.into()])
}

/// Makes the jobs of a node that has died due.
pub fn release_of(tx: &mut Tx<'_>, part: &Part, node: Node, now: UtcMillis) -> Result<u64> {
    let mut params = vec![node.0.into(), now.into()];
    let sql = part.narrow("update job set due = $2, leased = 0 where leased = $1", &mut params);
    let n_released = tx.execute(&sql, &params)?;
    tx.signal(Signal::Jobs);
    Ok(n_released)
}

/// When the next job is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<UtcMillis>> {
    tx.query_one("select min(due) from job", &[], |row| row.get(0))
}

/// When the next job that is not due yet will be.
pub fn next_due_after(tx: &mut Tx<'_>, part: &Part, now: UtcMillis) -> Result<Option<UtcMillis>> {
    let mut params = vec![now.into()];
    let sql = part.narrow("select min(due) from job where due > $1", &mut params);
    tx.query_one(&sql, &params, |row| row.get(0))
}

/// The jobs waiting for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Due and not running. Jobs of a worker that died count once their lease has run out.
    pub n_overdue: i64,
    /// When the first of them was due.
    pub longest_due: Option<UtcMillis>,
}

/// Counts up to `at_most`, using the index that claiming uses.
pub fn backlog(tx: &mut Tx<'_>, part: &Part, now: UtcMillis, at_most: u32) -> Result<Backlog> {
    let mut params = vec![now.into(), at_most.into()];
    let sql = "select count(*), min(due) from (select due from job where due <= $1 order by due limit $2) as overdue";
    let sql = part.narrow(sql, &mut params);
    tx.query_one(&sql, &params, |row| Ok(Backlog { n_overdue: row.next()?, longest_due: row.next()? }))
}

fn read_due(row: &Row<'_>) -> Result<DueJob> {
    let app = row.next()?;
    Ok(DueJob {
        app,
        id: row.next()?,
        kind: row.next()?,
        lane: Lane { app, name: row.next()? },
        turn: row.next()?,
        due: row.next()?,
    })
}

fn read_job(row: &Row<'_>, claimed_by: Node) -> Result<ClaimedJob> {
    Ok(ClaimedJob {
        app: row.next()?,
        id: row.next()?,
        kind: row.next()?,
        attempt: row.next()?,
        failures: row.next()?,
        payload: row.next()?,
        previous_holder: Some(Node(row.next()?)).filter(|holder| holder.0 > 0 && *holder != claimed_by),
    })
}
