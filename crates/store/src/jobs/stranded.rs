//! Jobs that wait longer than any back-off: a wrong clock has put them off.

use model::time::UtcMillis;

use super::{JobKey, ParkUntil};
use crate::{Part, Result, Signal, Tx};

/// Up to `at_most` waiting jobs of some kinds that are due after an instant, but those that wait to be woken.
pub fn due_after(
    tx: &mut Tx<'_>,
    part: &Part,
    kinds: &[&'static str],
    latest: UtcMillis,
    at_most: u32,
) -> Result<Vec<JobKey>> {
    let mut params = vec![latest.into(), ParkUntil::LaneOrPushWoken.due().into(), at_most.into()];
    let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{kind}'")).collect();
    let sql = format!(
        "select app, id from job where due > $1 and due < $2 and kind in ({}) and leased = 0 order by due limit $3",
        kinds.join(", ")
    );
    let sql = part.narrow(&sql, &mut params);
    tx.query(&sql, &params, |row| Ok((row.next()?, row.next()?)))
}

/// Makes waiting jobs due.
pub fn wake(tx: &mut Tx<'_>, wanted: &[JobKey], now: UtcMillis) -> Result<()> {
    let sql = "update job set due = $3 where app = $1 and id = $2 and leased = 0 and due > $3";
    tx.write_many(sql, wanted.iter().map(|(app, id)| [(*app).into(), (*id).into(), now.into()]))?;
    tx.signal(Signal::Jobs);
    Ok(())
}
