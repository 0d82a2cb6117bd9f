//! Sums of counts, each with one statement: of an app over hours or days, and of pushes.

use std::ops::Range;

use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use uuid::Uuid;

use super::{Metric, group_column};
use crate::{Result, Row, Tx, Value};

/// By what counts are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    Hour,
    Day,
}

/// The sum of a metric on one platform within one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    pub metric: Metric,
    /// Hours or days since 1970, by the grain.
    pub slot: i64,
    pub device_type: DeviceType,
    pub n: i64,
}

/// The sum of a metric on one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    pub metric: Metric,
    pub device_type: DeviceType,
    pub n: i64,
}

/// A total of one of several pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushTotal {
    pub push: PushId,
    pub total: Total,
}

/// Pushes that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushes {
    One(PushId),
    /// All that one thing has sent over time.
    Group(Uuid),
}

/// The sums of an app over a range of hours. Days that lie in it as a whole are not added up again.
pub fn sums(tx: &mut Tx<'_>, app: AppId, metrics: &[Metric], hours: &Range<i64>, grain: Grain) -> Result<Vec<Sum>> {
    sums_from(tx, app, &Source { hours: "counter", days: "counter_day", group: None }, metrics, hours, grain)
}

/// Where counts are kept by the hour and by the day.
struct Source {
    hours: &'static str,
    days: &'static str,
    /// Of the pushes of a group; otherwise of the app.
    group: Option<Uuid>,
}

fn sums_from(
    tx: &mut Tx<'_>,
    app: AppId,
    source: &Source,
    metrics: &[Metric],
    hours: &Range<i64>,
    grain: Grain,
) -> Result<Vec<Sum>> {
    let Source { hours: in_hours, days: in_days, group } = source;
    let mut params: Vec<Value> = vec![app.into()];
    let mut owned = format!("app = $1 and metric in ({})", names(metrics));
    if let Some(group) = group {
        params.push(group_column(*group));
        owned += " and grp = $2";
    }
    let within = |slot: &str, first: usize| format!("{slot} >= ${first} and {slot} < ${}", first + 1);
    let first = params.len() + 1;
    match grain {
        Grain::Hour => {
            params.extend([hours.start, hours.end].map(Value::from));
            let within = within("hour", first);
            let sql = format!("select metric, hour, platform, n from {in_hours} where {owned} and {within}");
            tx.query(&sql, &params, sum)
        }
        Grain::Day => {
            params.extend(bounds(hours).map(Value::from));
            let (whole, before, after) = (within("day", first), within("hour", first + 2), within("hour", first + 4));
            let sql = format!(
                "select metric, day, platform, cast(sum(n) as bigint) from (
                   select metric, day, platform, n from {in_days} where {owned} and {whole}
                   union all
                   select metric, hour / 24, platform, n from {in_hours} where {owned} and {before}
                   union all
                   select metric, hour / 24, platform, n from {in_hours} where {owned} and {after}
                 ) as parts group by metric, day, platform"
            );
            tx.query(&sql, &params, sum)
        }
    }
}

/// The counts of an app until the end of a day.
pub fn totals_until(tx: &mut Tx<'_>, app: AppId, metrics: &[Metric], day: i64) -> Result<Vec<Total>> {
    let sql = format!(
        "select metric, platform, cast(sum(n) as bigint) from counter_day
         where app = $1 and metric in ({}) and day <= $2 group by metric, platform",
        names(metrics)
    );
    tx.query(&sql, &[app.into(), day.into()], total)
}

/// The sums of pushes over a range of hours.
pub fn sums_of_pushes(
    tx: &mut Tx<'_>,
    app: AppId,
    pushes: Pushes,
    metrics: &[Metric],
    hours: &Range<i64>,
    grain: Grain,
) -> Result<Vec<Sum>> {
    let push = match pushes {
        Pushes::One(push) => push,
        Pushes::Group(group) => {
            let source = Source { hours: "group_counter", days: "group_counter_day", group: Some(group) };
            return sums_from(tx, app, &source, metrics, hours, grain);
        }
    };
    let slot = match grain {
        Grain::Hour => "hour",
        Grain::Day => "hour / 24",
    };
    let sql = format!(
        "select metric, {slot}, platform, cast(sum(n) as bigint) from push_counter where app = $1 and push = $2
         and metric in ({}) and hour >= $3 and hour < $4 group by metric, {slot}, platform",
        names(metrics)
    );
    tx.query(&sql, &[app.into(), push.into(), hours.start.into(), hours.end.into()], sum)
}

/// The totals of pushes over all time.
pub fn totals_of_pushes(tx: &mut Tx<'_>, app: AppId, pushes: Pushes, metrics: &[Metric]) -> Result<Vec<Total>> {
    let (counts, of) = match pushes {
        Pushes::One(push) => ("push_counter where app = $1 and push = $2", push.into()),
        Pushes::Group(group) => ("group_counter_day where app = $1 and grp = $2", group_column(group)),
    };
    let sql = format!(
        "select metric, platform, cast(sum(n) as bigint) from {counts} and metric in ({}) group by metric, platform",
        names(metrics)
    );
    tx.query(&sql, &[app.into(), of], total)
}

/// The totals of each of several pushes over all time, asked for in one go.
pub fn totals_of_each(tx: &mut Tx<'_>, app: AppId, pushes: &[PushId], metrics: &[Metric]) -> Result<Vec<PushTotal>> {
    let sql = format!(
        "select push, metric, platform, cast(sum(n) as bigint) from push_counter
         where app = $1 and push = $2 and metric in ({}) group by push, metric, platform",
        names(metrics)
    );
    let wanted = pushes.iter().map(|push| [app.into(), Value::from(*push)]);
    tx.query_many(&sql, wanted, |row| Ok(PushTotal { push: row.next()?, total: total(row)? }))
}

/// A range of hours taken apart: the first whole day in it and the one after the last, the hours before them,
/// and the hours after them. Each is a pair of bounds, of which the second is not included.
pub(crate) fn bounds(hours: &Range<i64>) -> [i64; 6] {
    let first = hours.start.div_euclid(24) + i64::from(hours.start.rem_euclid(24) > 0);
    let end = hours.end.div_euclid(24);
    // Hours of a single day that is not whole are all before it.
    if end < first {
        return [first, first, hours.start, hours.end, hours.end, hours.end];
    }
    [first, end, hours.start, first * 24, end * 24, hours.end]
}

/// Metrics as a list of values in SQL.
fn names(metrics: &[Metric]) -> String {
    let quoted: Vec<String> = metrics.iter().map(|metric| format!("'{}'", metric.name())).collect();
    quoted.join(", ")
}

fn sum(row: &Row<'_>) -> Result<Sum> {
    Ok(Sum { metric: Metric::from_name(row.next()?)?, slot: row.next()?, device_type: row.next()?, n: row.next()? })
}

fn total(row: &Row<'_>) -> Result<Total> {
    Ok(Total { metric: Metric::from_name(row.next()?)?, device_type: row.next()?, n: row.next()? })
}
