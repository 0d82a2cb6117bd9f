//! Pushes that are old: finding them, and forgetting them with everything that is kept of them alone.

use model::ids::{AppId, PushId};
use model::origin::Origin;
use model::time::UtcMillis;

use super::PushState;
use crate::{Result, Tx, event_counters, origins};

/// The tables whose rows belong to one push.
const OF_PUSH: [&str; 10] = [
    "push_counter",
    "push_tally",
    "push_block",
    "push_outcome",
    "push_response",
    "push_influence",
    "push_receipt",
    "push_mark",
    "push_audience",
    "push_origin",
];

/// A push that has reached its age, and what may still need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aged {
    pub id: PushId,
    pub created: UtcMillis,
    pub state: PushState,
    /// Where it comes from, if not from the API.
    pub origin: Option<Origin>,
    /// When its message ends, as long as the message is known.
    pub message_ends: Option<UtcMillis>,
    /// Whether another push has its payload from it.
    pub lends_payload: bool,
}

/// Up to `at_most` pushes that have aged since before an instant, the oldest first.
pub fn aged(tx: &mut Tx<'_>, app: AppId, before: UtcMillis, at_most: u32) -> Result<Vec<Aged>> {
    let sql = "select p.id, p.created, p.state, o.kind, o.origin, m.ends,
                 cast(case when exists (select 1 from push other where other.app = $1 and other.payload_of = p.id)
                   then 1 else 0 end as bigint)
               from push p
               left join push_origin o on o.app = p.app and o.push = p.id
               left join message m on m.app = p.app and m.push = p.id
               where p.app = $1 and p.aging_since < $2 order by p.aging_since, p.id limit $3";
    tx.query(sql, &[app.into(), before.into(), at_most.into()], |row| {
        Ok(Aged {
            id: row.next()?,
            created: row.next()?,
            state: PushState::from_name(row.next()?)?,
            origin: origins::read_joined(row)?,
            message_ends: row.next()?,
            lends_payload: row.next()?,
        })
    })
}

/// Lets the age of a push count from an instant on.
pub fn age_from(tx: &mut Tx<'_>, app: AppId, push: PushId, aging_since: UtcMillis) -> Result<()> {
    let sql = "update push set aging_since = $3 where app = $1 and id = $2";
    tx.write(sql, &[app.into(), push.into(), aging_since.into()])?;
    Ok(())
}

/// Forgets a push, and returns how many rows it had. Its causes stay as long as the log has its sends.
pub fn forget(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<u64> {
    // Counts of this transaction would otherwise be written after the push is gone.
    tx.write_pending()?;
    let of_push = [app.into(), push.into()];
    let mut n_rows = event_counters::detach(tx, app, push)?;
    for table in OF_PUSH {
        n_rows += tx.execute(&format!("delete from {table} where app = $1 and push = $2"), &of_push)?;
    }
    Ok(n_rows + tx.execute("delete from push where app = $1 and id = $2", &of_push)?)
}
