//! How many different names of custom events are counted apart. Devices make names up, so without a limit
//! they could make the database grow as they like.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use model::ids::AppId;

use super::{Counted, Sum};
use crate::{Result, Tx, Value};

/// Of one app in one day. Events with other names are counted together.
pub const MOST_NAMES: u32 = 1_000;
/// The name of all other events in reports. No event is stored under this name: the others are stored under
/// the empty name, which no event has, so that an event that is really called this stays apart.
pub(super) const OTHER_SHOWN: &str = "(other)";
pub(super) const OTHER: &str = "";

/// A name on a day of an app.
type Key<'n> = (AppId, i64, &'n str);

/// Replaces names beyond the limit by the common one.
pub(super) fn bounded(
    tx: &mut Tx<'_>,
    sums: &BTreeMap<(AppId, Counted), Sum>,
) -> Result<BTreeMap<(AppId, Counted), Sum>> {
    let wanted: BTreeSet<Key<'_>> = sums.keys().map(|(app, counted)| (*app, day(counted), &*counted.name)).collect();
    let known = known(tx, &wanted)?;
    let mut others: HashSet<Key<'_>> = HashSet::new();
    let mut room: BTreeMap<(AppId, i64), u32> = BTreeMap::new();
    for key in wanted {
        let (app, day, name) = key;
        if known.contains(&(app, day, name.to_owned())) {
            continue;
        }
        let left = match room.get(&(app, day)) {
            Some(left) => *left,
            None => room_left(tx, app, day)?,
        };
        room.insert((app, day), left.saturating_sub(1));
        if left == 0 {
            others.insert(key);
        }
    }
    let mut bounded: BTreeMap<(AppId, Counted), Sum> = BTreeMap::new();
    for ((app, counted), sum) in sums {
        let is_other = others.contains(&(*app, day(counted), &*counted.name));
        let name = if is_other { OTHER.to_owned() } else { counted.name.clone() };
        bounded.entry((*app, Counted { name, ..counted.clone() })).or_default().add(*sum);
    }
    Ok(bounded)
}

/// The name that a report shows for a stored name.
pub(super) fn shown(stored: String) -> String {
    if stored == OTHER { OTHER_SHOWN.to_owned() } else { stored }
}

fn known(tx: &mut Tx<'_>, names: &BTreeSet<Key<'_>>) -> Result<HashSet<(AppId, i64, String)>> {
    let sql = "select distinct app, day, name from event_counter_day where app = $1 and day = $2 and name = $3";
    let keys = names.iter().map(|(app, day, name)| [(*app).into(), (*day).into(), Value::from(*name)]);
    Ok(tx.query_many(sql, keys, |row| Ok((row.next()?, row.next()?, row.next()?)))?.into_iter().collect())
}

/// How many more names of a day may be counted. Names are added up only until the first one finds no room:
/// from then on there is a row for all others, and a look at that is enough.
fn room_left(tx: &mut Tx<'_>, app: AppId, day: i64) -> Result<u32> {
    if !known(tx, &BTreeSet::from([(app, day, OTHER)]))?.is_empty() {
        return Ok(0);
    }
    let sql = "select count(distinct name) from event_counter_day where app = $1 and day = $2";
    let n_names: i64 = tx.query_one(sql, &[app.into(), day.into()], |row| row.get(0))?;
    Ok(MOST_NAMES.saturating_sub(u32::try_from(n_names).unwrap_or(u32::MAX)))
}

fn day(counted: &Counted) -> i64 {
    counted.hour.div_euclid(24)
}
