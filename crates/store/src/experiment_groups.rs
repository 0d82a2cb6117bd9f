//! The channels in each group of an experiment, block by block, and which of them have opened the app since.
//! The sets are opaque to the store.

use model::ids::{AppId, ExperimentId, PushId};
use model::time::UtcMillis;

use crate::{Result, Tx};

/// One block of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey {
    pub experiment: ExperimentId,
    /// The push that the group was sent; the control group has an id chosen by the caller.
    pub push: PushId,
    pub block: u32,
}

/// Channels, and how many they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    pub set: Vec<u8>,
    pub n: u64,
}

/// A block of a newly formed group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGroup {
    pub key: GroupKey,
    /// `None` for the control group.
    pub variant: Option<u32>,
    pub since: UtcMillis,
    pub members: Channels,
    /// The empty set, in the form of the other sets.
    pub opened: Channels,
}

/// How many there are in a group as a whole, and how many of them have opened the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTotal {
    pub variant: Option<u32>,
    pub n_members: u64,
    pub n_opened: u64,
}

pub fn insert(tx: &mut Tx<'_>, app: AppId, group: &NewGroup) -> Result<()> {
    let NewGroup { key, variant, since, members, opened } = group;
    tx.write(
        "insert into experiment_group
           (app, experiment, push, block, variant, since, members, n_members, opened, n_opened)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            app.into(),
            key.experiment.into(),
            key.push.into(),
            key.block.into(),
            variant.map(i64::from).into(),
            (*since).into(),
            members.set.clone().into(),
            whole(members.n).into(),
            opened.set.clone().into(),
            whole(opened.n).into(),
        ],
    )?;
    Ok(())
}

/// The blocks of all groups that were formed at an instant or later, and when.
pub fn made_since(tx: &mut Tx<'_>, app: AppId, since: UtcMillis) -> Result<Vec<(GroupKey, UtcMillis)>> {
    let sql = "select experiment, push, block, since from experiment_group where app = $1 and since >= $2
               order by experiment, push, block";
    tx.query(sql, &[app.into(), since.into()], |row| {
        Ok((GroupKey { experiment: row.next()?, push: row.next()?, block: row.next()? }, row.next()?))
    })
}

/// The members of a block of a group, and those of them that have opened the app.
pub fn get(tx: &mut Tx<'_>, app: AppId, key: &GroupKey) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let sql = "select members, opened from experiment_group
               where app = $1 and experiment = $2 and push = $3 and block = $4";
    let params = [app.into(), key.experiment.into(), key.push.into(), key.block.into()];
    tx.query_opt(sql, &params, |row| Ok((row.next()?, row.next()?)))
}

pub fn set_opened(tx: &mut Tx<'_>, app: AppId, key: &GroupKey, opened: &Channels) -> Result<()> {
    tx.write(
        "update experiment_group set opened = $5, n_opened = $6
         where app = $1 and experiment = $2 and push = $3 and block = $4",
        &[
            app.into(),
            key.experiment.into(),
            key.push.into(),
            key.block.into(),
            opened.set.clone().into(),
            whole(opened.n).into(),
        ],
    )?;
    Ok(())
}

/// The control group of an experiment, block by block.
pub fn control_members(tx: &mut Tx<'_>, app: AppId, experiment: ExperimentId) -> Result<Vec<Vec<u8>>> {
    let sql = "select members from experiment_group where app = $1 and experiment = $2 and variant is null";
    tx.query(sql, &[app.into(), experiment.into()], |row| row.get(0))
}

/// Adds up the blocks of up to `at_most` groups that were formed before an instant, and replaces their
/// members by `nobody`. Returns how many groups there were. From then on they count as formed at the
/// beginning of time.
pub fn sum_up(tx: &mut Tx<'_>, app: AppId, before: UtcMillis, nobody: &[u8], at_most: u32) -> Result<u64> {
    let sql = "select experiment, push, variant, cast(sum(n_members) as bigint), cast(sum(n_opened) as bigint)
               from experiment_group where app = $1 and since > 0 and since < $2
               group by experiment, push, variant order by experiment, push limit $3";
    let groups: Vec<(ExperimentId, PushId, Option<i64>, i64, i64)> =
        tx.query(sql, &[app.into(), before.into(), at_most.into()], |row| {
            Ok((row.next()?, row.next()?, row.next()?, row.next()?, row.next()?))
        })?;
    for (experiment, push, variant, n_members, n_opened) in &groups {
        let delete = "delete from experiment_group where app = $1 and experiment = $2 and push = $3";
        tx.write(delete, &[app.into(), (*experiment).into(), (*push).into()])?;
        tx.write(
            "insert into experiment_group
               (app, experiment, push, block, variant, since, members, n_members, opened, n_opened)
             values ($1, $2, $3, 0, $4, 0, $5, $6, $5, $7)",
            &[
                app.into(),
                (*experiment).into(),
                (*push).into(),
                (*variant).into(),
                nobody.to_vec().into(),
                (*n_members).into(),
                (*n_opened).into(),
            ],
        )?;
    }
    Ok(groups.len() as u64)
}

/// The groups of an experiment.
pub fn totals(tx: &mut Tx<'_>, app: AppId, experiment: ExperimentId) -> Result<Vec<GroupTotal>> {
    let sql = "select variant, cast(sum(n_members) as bigint), cast(sum(n_opened) as bigint) from experiment_group
               where app = $1 and experiment = $2 group by variant order by variant";
    tx.query(sql, &[app.into(), experiment.into()], |row| {
        Ok(GroupTotal { variant: row.next()?, n_members: row.next()?, n_opened: row.next()? })
    })
}

fn whole(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
