//! Counts of custom events per hour, by name and by their relation to a push.

mod names;
mod totals;

use std::collections::BTreeMap;

use model::ids::{AppId, PushId};
use model::time::UtcMillis;

pub use names::MOST_NAMES;
pub use totals::{EventTotal, totals, totals_of_pushes};

use crate::counters::{Groups, group_column, hour};
use crate::{Error, Result, Tx, Value};

/// The relation of an event to a push. The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Conversion {
    /// It happened after the notification was tapped.
    Direct,
    /// It happened within twelve hours of a push.
    Indirect,
    Unattributed,
}

impl Conversion {
    pub const ALL: [Conversion; 3] = [Conversion::Direct, Conversion::Indirect, Conversion::Unattributed];

    pub const fn name(self) -> &'static str {
        match self {
            Conversion::Direct => "direct",
            Conversion::Indirect => "indirect",
            Conversion::Unattributed => "unattributed",
        }
    }

    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|conversion| conversion.name() == name);
        found.ok_or_else(|| Error::corrupt(format!("conversion {name:?}")))
    }
}

/// The key of a count. An event that is attributed to a push is not [`Conversion::Unattributed`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counted {
    /// Hours since 1970 in UTC.
    pub hour: i64,
    pub name: String,
    pub conversion: Conversion,
    pub push: Option<PushId>,
}

impl Counted {
    pub fn at(instant: UtcMillis, name: &str, conversion: Conversion, push: Option<PushId>) -> Self {
        Self { hour: hour(instant), name: name.to_owned(), conversion, push }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    pub n: u64,
    /// The sum of the values, in millionths. Sums of whole numbers, so exact in any order as long as they are
    /// below 2^53.
    pub millionths: f64,
}

impl Sum {
    pub fn add(&mut self, other: Sum) {
        self.n += other.n;
        self.millionths += other.millionths;
    }
}

/// Raises the counts of custom events, at the end of the transaction.
pub fn add(tx: &mut Tx<'_>, app: AppId, counted: Counted, sum: Sum) -> Result<()> {
    tx.pending_counts()?.add_event(app, counted, sum);
    Ok(())
}

/// Events whose names exceed [`MOST_NAMES`] of their day are counted under one common name.
pub(crate) fn write(tx: &mut Tx<'_>, sums: &BTreeMap<(AppId, Counted), Sum>, groups: &Groups) -> Result<()> {
    if sums.is_empty() {
        return Ok(());
    }
    let sums = names::bounded(tx, sums)?;
    let mut of_days: BTreeMap<_, Sum> = BTreeMap::new();
    let mut of_groups: BTreeMap<_, Sum> = BTreeMap::new();
    for ((app, counted), sum) in &sums {
        let day = counted.hour.div_euclid(24);
        let (name, conversion) = (counted.name.as_str(), counted.conversion.name());
        of_days.entry((*app, day, name, conversion)).or_default().add(*sum);
        if let Some(group) = counted.push.and_then(|push| groups.of(*app, push)) {
            of_groups.entry((*app, group, name, conversion)).or_default().add(*sum);
        }
    }
    let in_hours = sums.iter().map(|((app, counted), sum)| {
        [
            (*app).into(),
            counted.hour.into(),
            counted.name.as_str().into(),
            counted.conversion.name().into(),
            push_column(counted.push).into(),
            i64::try_from(sum.n).unwrap_or(i64::MAX).into(),
            Value::from(sum.millionths),
        ]
    });
    tx.write_many(
        "insert into event_counter (app, hour, name, conversion, push, n, value) values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (app, hour, name, conversion, push) do update set
           n = event_counter.n + excluded.n, value = event_counter.value + excluded.value",
        in_hours,
    )?;
    tx.write_many(
        "insert into event_counter_day (app, day, name, conversion, n, value) values ($1, $2, $3, $4, $5, $6)
         on conflict (app, day, name, conversion) do update set
           n = event_counter_day.n + excluded.n, value = event_counter_day.value + excluded.value",
        of_days.into_iter().map(|((app, day, name, conversion), sum)| {
            let n = i64::try_from(sum.n).unwrap_or(i64::MAX);
            [app.into(), day.into(), name.into(), conversion.into(), n.into(), Value::from(sum.millionths)]
        }),
    )?;
    tx.write_many(
        "insert into group_event (app, grp, name, conversion, n, value) values ($1, $2, $3, $4, $5, $6)
         on conflict (app, grp, name, conversion) do update set
           n = group_event.n + excluded.n, value = group_event.value + excluded.value",
        of_groups.into_iter().map(|((app, group, name, conversion), sum)| {
            let n = i64::try_from(sum.n).unwrap_or(i64::MAX);
            [app.into(), group_column(group), name.into(), conversion.into(), n.into(), Value::from(sum.millionths)]
        }),
    )?;
    Ok(())
}

/// Detaches the counts of a push from it, so that the push can be forgotten and the sums of the app stay.
/// Returns how many rows there were.
pub(crate) fn detach(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<u64> {
    let of_push = [app.into(), push.into()];
    tx.write(
        "insert into event_counter (app, hour, name, conversion, push, n, value)
         select app, hour, name, conversion, cast('' as blob), n, value from event_counter where app = $1 and push = $2
         on conflict (app, hour, name, conversion, push) do update set
           n = event_counter.n + excluded.n, value = event_counter.value + excluded.value",
        &of_push,
    )?;
    tx.execute("delete from event_counter where app = $1 and push = $2", &of_push)
}

fn push_column(push: Option<PushId>) -> Vec<u8> {
    push.map_or_else(Vec::new, |push| push.as_bytes().to_vec())
}
