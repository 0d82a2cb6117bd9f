//! The channels that have entered journeys and not left them. The column `journey` has the id of the entrance.

use model::ids::{AppId, EntranceId, Ordinal};
use model::time::UtcMillis;

use crate::{Result, Tx, Value};

/// Notes that channels have entered a journey by an entrance. For one that is there already, the last time counts.
pub fn enter(tx: &mut Tx<'_>, app: AppId, entrance: EntranceId, channels: &[Ordinal], now: UtcMillis) -> Result<()> {
    tx.write_many(
        "insert into journey_entrance (app, journey, ordinal, entered) values ($1, $2, $3, $4)
         on conflict (app, journey, ordinal) do update set entered = excluded.entered",
        channels.iter().map(|ordinal| [app.into(), entrance.into(), (*ordinal).into(), now.into()]),
    )?;
    Ok(())
}

/// Up to `at_most` of the channels in a journey by an entrance, in order.
pub fn entered(tx: &mut Tx<'_>, app: AppId, entrance: EntranceId, at_most: u32) -> Result<Vec<Ordinal>> {
    let sql = "select ordinal from journey_entrance where app = $1 and journey = $2 order by ordinal limit $3";
    tx.query(sql, &[app.into(), entrance.into(), at_most.into()], |row| row.get(0))
}

/// Notes that channels leave a journey that they entered by an entrance, and returns those of them that were still in it.
pub fn leave(tx: &mut Tx<'_>, app: AppId, entrance: EntranceId, channels: &[Ordinal]) -> Result<Vec<Ordinal>> {
    let key = |ordinal: &Ordinal| [Value::from(app), entrance.into(), (*ordinal).into()];
    let sql = "select ordinal from journey_entrance where app = $1 and journey = $2 and ordinal = $3";
    let there: Vec<Ordinal> = tx.query_many(sql, channels.iter().map(key), |row| row.get(0))?;
    let sql = "delete from journey_entrance where app = $1 and journey = $2 and ordinal = $3";
    tx.write_many(sql, there.iter().map(key))?;
    Ok(there)
}

/// Forgets up to `at_most` entrances before a time, and returns how many.
pub fn forget_before(tx: &mut Tx<'_>, app: AppId, before: UtcMillis, at_most: u32) -> Result<u64> {
    tx.execute(
        "delete from journey_entrance where app = $1 and (journey, ordinal) in
         (select journey, ordinal from journey_entrance where app = $1 and entered < $2 order by entered limit $3)",
        &[app.into(), before.into(), at_most.into()],
    )
}
