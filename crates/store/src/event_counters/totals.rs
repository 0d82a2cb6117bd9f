//! Sums of the counts of custom events, by name and by their relation to a push.

use std::ops::Range;

use model::ids::AppId;

use super::{Conversion, Sum, names};
use crate::counters::{Pushes, bounds, group_column};
use crate::{Result, Row, Tx, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct EventTotal {
    pub name: String,
    pub conversion: Conversion,
    pub sum: Sum,
}

/// The totals of a range of hours, in the order of names. Days that lie in it as a whole are not added up
/// again.
pub fn totals(tx: &mut Tx<'_>, app: AppId, hours: &Range<i64>) -> Result<Vec<EventTotal>> {
    let params: Vec<Value> = std::iter::once(app.into()).chain(bounds(hours).map(Value::from)).collect();
    tx.query(
        "select name, conversion, cast(sum(n) as bigint), sum(value) from (
           select name, conversion, n, value from event_counter_day where app = $1 and day >= $2 and day < $3
           union all
           select name, conversion, n, value from event_counter where app = $1 and hour >= $4 and hour < $5
           union all
           select name, conversion, n, value from event_counter where app = $1 and hour >= $6 and hour < $7
         ) as parts group by name, conversion order by name, conversion",
        &params,
        read,
    )
}

/// The totals attributed to pushes, over all time, in the order of names.
pub fn totals_of_pushes(tx: &mut Tx<'_>, app: AppId, pushes: Pushes) -> Result<Vec<EventTotal>> {
    match pushes {
        Pushes::One(push) => tx.query(
            "select name, conversion, cast(sum(n) as bigint), sum(value) from event_counter where app = $1 and push = $2
             group by name, conversion order by name, conversion",
            &[app.into(), push.into()],
            read,
        ),
        Pushes::Group(group) => tx.query(
            "select name, conversion, n, value from group_event where app = $1 and grp = $2 order by name, conversion",
            &[app.into(), group_column(group)],
            read,
        ),
    }
}

fn read(row: &Row<'_>) -> Result<EventTotal> {
    Ok(EventTotal {
        name: names::shown(row.next()?),
        conversion: Conversion::from_name(row.next()?)?,
        sum: Sum { n: row.next()?, millionths: row.next()? },
    })
}
