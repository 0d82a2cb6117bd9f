//! The counts of groups of pushes, raised together with those of the pushes: a sum reads as many rows as
//! there are hours or days, however many pushes there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use uuid::Uuid;

use super::Metric;
use crate::{Result, Tx, Value, origins};

/// The groups that pushes belong to.
#[derive(Default)]
pub(crate) struct Groups(HashMap<(AppId, PushId), Uuid>);

/// Counts of pushes.
pub(super) type OfPushes = BTreeMap<(AppId, PushId, Metric, i64, DeviceType), i64>;

impl Groups {
    pub(super) fn find(tx: &mut Tx<'_>, pushes: impl Iterator<Item = (AppId, PushId)>) -> Result<Self> {
        let pushes: BTreeSet<(AppId, PushId)> = pushes.collect();
        if pushes.is_empty() {
            return Ok(Self::default());
        }
        let sql = "select app, push, kind, origin from push_origin where app = $1 and push = $2";
        let wanted = pushes.into_iter().map(|(app, push)| [app.into(), Value::from(push)]);
        let found = tx.query_many(sql, wanted, |row| {
            let push = (row.next()?, row.next()?);
            Ok((push, origins::read_joined(row)?.and_then(|origin| origin.group())))
        })?;
        Ok(Self(found.into_iter().filter_map(|(push, group)| Some((push, group?))).collect()))
    }

    pub(crate) fn of(&self, app: AppId, push: PushId) -> Option<Uuid> {
        self.0.get(&(app, push)).copied()
    }
}

pub(super) fn write(tx: &mut Tx<'_>, of_pushes: &OfPushes, groups: &Groups) -> Result<()> {
    let (mut in_hours, mut in_days) = (BTreeMap::new(), BTreeMap::new());
    for ((app, push, metric, hour, device_type), n) in of_pushes {
        let Some(group) = groups.of(*app, *push) else { continue };
        for (slots, slot) in [(&mut in_hours, *hour), (&mut in_days, hour.div_euclid(24))] {
            let sum: &mut i64 = slots.entry((*app, group, *metric, slot, device_type)).or_default();
            *sum = sum.saturating_add(*n);
        }
    }
    if in_hours.is_empty() {
        return Ok(());
    }
    for (table, slot, sums) in [("group_counter", "hour", in_hours), ("group_counter_day", "day", in_days)] {
        let sql = format!(
            "insert into {table} (app, grp, metric, {slot}, platform, n) values ($1, $2, $3, $4, $5, $6)
             on conflict (app, grp, metric, {slot}, platform) do update set n = {table}.n + excluded.n"
        );
        let rows = sums.into_iter().map(|((app, group, metric, slot, device_type), n)| {
            [app.into(), column(group), metric.name().into(), slot.into(), device_type.into(), Value::from(n)]
        });
        tx.write_many(&sql, rows)?;
    }
    Ok(())
}

/// Forgets up to `at_most` counts of a group, and returns how many.
pub fn forget_group(tx: &mut Tx<'_>, app: AppId, group: Uuid, at_most: u64) -> Result<u64> {
    let tables = [
        ("group_counter", "metric, hour, platform"),
        ("group_counter_day", "metric, day, platform"),
        ("group_event", "name, conversion"),
    ];
    // Counts of this transaction would otherwise be written afterwards.
    tx.write_pending()?;
    let mut left = at_most;
    for (table, key) in tables {
        let sql = format!(
            "delete from {table} where app = $1 and grp = $2 and ({key}) in
             (select {key} from {table} where app = $1 and grp = $2 order by {key} limit $3)"
        );
        let limit = i64::try_from(left).unwrap_or(i64::MAX);
        left = left.saturating_sub(tx.execute(&sql, &[app.into(), column(group), limit.into()])?);
    }
    Ok(at_most - left)
}

pub(crate) fn column(group: Uuid) -> Value {
    group.as_bytes().to_vec().into()
}
