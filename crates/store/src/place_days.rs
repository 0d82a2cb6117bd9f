//! The channels that were in a place on a day: a set for each place and day, cut into the blocks of their
//! ordinals, so that one more channel rewrites little. There are far too many of these sets to be kept in
//! memory; audiences by place read the few they need.

use std::ops::RangeInclusive;

use model::ids::AppId;
use model::place::PlaceId;

use crate::{Result, Tx};

/// The part of a set that is within a block.
pub fn get(tx: &mut Tx<'_>, app: AppId, place: PlaceId, day: i32, block: u16) -> Result<Option<Vec<u8>>> {
    let sql = "select members from place_day where app = $1 and place = $2 and day = $3 and block = $4";
    tx.query_opt(sql, &[app.into(), place.to_string().into(), day.into(), u32::from(block).into()], |row| row.get(0))
}

pub fn put(tx: &mut Tx<'_>, app: AppId, place: PlaceId, day: i32, block: u16, members: Vec<u8>) -> Result<()> {
    tx.write(
        "insert into place_day (app, place, day, block, members) values ($1, $2, $3, $4, $5)
         on conflict (app, place, day, block) do update set members = excluded.members",
        &[app.into(), place.to_string().into(), day.into(), u32::from(block).into(), members.into()],
    )?;
    Ok(())
}

/// Visits all parts of the sets of a place on some days, without collecting them.
pub fn visit(
    tx: &mut Tx<'_>,
    app: AppId,
    place: PlaceId,
    days: RangeInclusive<i32>,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let sql = "select members from place_day where app = $1 and place = $2 and day between $3 and $4";
    let (first, last) = days.into_inner();
    let params = [app.into(), place.to_string().into(), first.into(), last.into()];
    tx.for_each(sql, &params, |row| visit(row.get(0)?))
}

/// Forgets up to `at_most` parts of sets of days before one. Returns whether any may be left.
pub fn forget_before(tx: &mut Tx<'_>, app: AppId, day: i32, at_most: u32) -> Result<bool> {
    let sql = "delete from place_day where app = $1 and (place, day, block) in
               (select place, day, block from place_day where app = $1 and day < $2 order by day limit $3)";
    Ok(tx.execute(sql, &[app.into(), day.into(), at_most.into()])? == u64::from(at_most))
}
