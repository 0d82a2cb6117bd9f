//! Sums of counts, each with one statement: of an app over hours or days, and of pushes.

use std::ops::Range;

use model::ids::{AppId, PushId};
use uuid::Uuid;

use super::Metric;
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
    pub platform: String,
    pub n: i64,
}

/// The sum of a metric on one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    pub metric: Metric,
    pub platform: String,
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
    let names = names(metrics);
    match grain {
        Grain::Hour => {
            let sql = format!(
                "select metric, hour, platform, n from counter
                 where app = $1 and metric in ({names}) and hour >= $2 and hour < $3"
            );
            tx.query(&sql, &[app.into(), hours.start.into(), hours.end.into()], sum)
        }
        Grain::Day => {
            let sql = format!(
                "select metric, day, platform, cast(sum(n) as bigint) from (
                   select metric, day, platform, n from counter_day
                   where app = $1 and metric in ({names}) and day >= $2 and day < $3
                   union all
                   select metric, hour / 24, platform, n from counter
                   where app = $1 and metric in ({names}) and hour >= $4 and hour < $5
                   union all
                   select metric, hour / 24, platform, n from counter
                   where app = $1 and metric in ({names}) and hour >= $6 and hour < $7
                 ) as parts group by metric, day, platform"
            );
            let params: Vec<Value> = std::iter::once(app.into()).chain(bounds(hours).map(Value::from)).collect();
            tx.query(&sql, &params, sum)
        }
    }
}

/// What an app has counted until the end of a day.
pub fn totals_until(tx: &mut Tx<'_>, app: AppId, metrics: &[Metric], day: i64) -> Result<Vec<Total>> {
    let sql = format!(
        "select metric, platform, cast(sum(n) as bigint) from counter_day
         where app = $1 and metric in ({}) and day <= $2 group by metric, platform",
        names(metrics)
    );
    tx.query(&sql, &[app.into(), day.into()], |row| total(row, 0))
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
    let (tables, of) = pushes.source("push_counter");
    let slot = match grain {
        Grain::Hour => "c.hour",
        Grain::Day => "c.hour / 24",
    };
    let sql = format!(
        "select c.metric, {slot}, c.platform, cast(sum(c.n) as bigint) from {tables}
         and c.metric in ({}) and c.hour >= $3 and c.hour < $4 group by c.metric, {slot}, c.platform",
        names(metrics)
    );
    tx.query(&sql, &[app.into(), of, hours.start.into(), hours.end.into()], sum)
}

/// The totals of pushes over all time.
pub fn totals_of_pushes(tx: &mut Tx<'_>, app: AppId, pushes: Pushes, metrics: &[Metric]) -> Result<Vec<Total>> {
    let (tables, of) = pushes.source("push_counter");
    let sql = format!(
        "select c.metric, c.platform, cast(sum(c.n) as bigint) from {tables}
         and c.metric in ({}) group by c.metric, c.platform",
        names(metrics)
    );
    tx.query(&sql, &[app.into(), of], |row| total(row, 0))
}

/// The totals of each of several pushes over all time, asked for in one go.
pub fn totals_of_each(tx: &mut Tx<'_>, app: AppId, pushes: &[PushId], metrics: &[Metric]) -> Result<Vec<PushTotal>> {
    let sql = format!(
        "select push, metric, platform, cast(sum(n) as bigint) from push_counter
         where app = $1 and push = $2 and metric in ({}) group by push, metric, platform",
        names(metrics)
    );
    let wanted = pushes.iter().map(|push| [app.into(), Value::from(*push)]);
    tx.query_many(&sql, wanted, |row| Ok(PushTotal { push: row.get(0)?, total: total(row, 1)? }))
}

impl Pushes {
    /// A table of counts of pushes, with a condition to which others are added, and its second parameter.
    pub(crate) fn source(self, table: &str) -> (String, Value) {
        match self {
            Pushes::One(push) => (format!("{table} c where c.app = $1 and c.push = $2"), push.into()),
            Pushes::Group(group) => (
                format!(
                    "push_origin o join {table} c on c.app = o.app and c.push = o.push where o.app = $1 and o.origin = $2"
                ),
                group.as_bytes().to_vec().into(),
            ),
        }
    }
}

/// A range of hours taken apart: the first whole day in it and the one after the last, the hours before them, and the hours after them. Each
/// is a pair of bounds, of which the second is not included.
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
    Ok(Sum { metric: Metric::from_name(row.get(0)?)?, slot: row.get(1)?, platform: row.get(2)?, n: row.get(3)? })
}

fn total(row: &Row<'_>, first: usize) -> Result<Total> {
    Ok(Total { metric: Metric::from_name(row.get(first)?)?, platform: row.get(first + 1)?, n: row.get(first + 2)? })
}
