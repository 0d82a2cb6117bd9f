//! The origins of pushes. Pushes sent through the API have no row.

use model::ids::{AppId, PushId};
use model::origin::{Origin, Provenance};
use uuid::Uuid;

use crate::{Error, Result, Row, Tx};

pub fn insert(tx: &mut Tx<'_>, app: AppId, push: PushId, provenance: &Provenance) -> Result<()> {
    let Some(origin) = provenance.origin.id() else { return Ok(()) };
    let part = serde_json::to_string(&provenance.part).map_err(|_| Error::corrupt("part of an audience"))?;
    tx.write(
        "insert into push_origin (app, push, kind, origin, run, part) values ($1, $2, $3, $4, $5, $6)",
        &[
            app.into(),
            push.into(),
            provenance.origin.name().into(),
            origin.as_bytes().to_vec().into(),
            provenance.run.clone().into(),
            part.into(),
        ],
    )?;
    Ok(())
}

const OF_PUSH: &str = "select kind, origin, run, part from push_origin where app = $1 and push = $2";

/// Announces a call of [`of`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, push: PushId) {
    tx.foresee(OF_PUSH, [[app.into(), push.into()]]);
}

pub fn of(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Provenance> {
    let found = tx.query_opt(OF_PUSH, &[app.into(), push.into()], read)?;
    Ok(found.unwrap_or(Provenance::of(Origin::Api)))
}

/// The last pushes of an origin, in the order of their ids.
pub fn last_pushes(tx: &mut Tx<'_>, app: AppId, origin: Origin, at_most: u32) -> Result<Vec<PushId>> {
    let Some(origin) = origin.id() else { return Ok(Vec::new()) };
    let sql = "select push from push_origin where app = $1 and origin = $2 order by push desc limit $3";
    let params = [app.into(), origin.as_bytes().to_vec().into(), at_most.into()];
    let mut pushes = tx.query(sql, &params, |row| row.get(0))?;
    pushes.reverse();
    Ok(pushes)
}

/// The first pushes of an origin, in the order of their ids.
pub fn first_pushes(tx: &mut Tx<'_>, app: AppId, origin: Origin, at_most: u32) -> Result<Vec<PushId>> {
    let Some(origin) = origin.id() else { return Ok(Vec::new()) };
    let sql = "select push from push_origin where app = $1 and origin = $2 order by push limit $3";
    tx.query(sql, &[app.into(), origin.as_bytes().to_vec().into(), at_most.into()], |row| row.get(0))
}

/// All pushes of an origin, in the order of their ids.
pub fn all_of(tx: &mut Tx<'_>, app: AppId, origin: Origin) -> Result<Vec<(PushId, Provenance)>> {
    let Some(id) = origin.id() else { return Ok(Vec::new()) };
    let sql = "select push, kind, origin, run, part from push_origin where app = $1 and origin = $2 order by push";
    tx.query(sql, &[app.into(), id.as_bytes().to_vec().into()], |row| Ok((row.next()?, read(row)?)))
}

/// The pushes of an origin that belong to one run of it, in the order of their ids.
pub fn pushes_of_run(tx: &mut Tx<'_>, app: AppId, origin: Origin, run: &str) -> Result<Vec<PushId>> {
    let Some(origin) = origin.id() else { return Ok(Vec::new()) };
    let sql = "select push from push_origin where app = $1 and origin = $2 and run = $3";
    let mut pushes: Vec<PushId> =
        tx.query(sql, &[app.into(), origin.as_bytes().to_vec().into(), run.into()], |row| row.get(0))?;
    // Not by the statement: SQLite would go through the pushes of all runs for the order.
    pushes.sort_unstable();
    Ok(pushes)
}

/// The first push of a group and what sends its pushes; `None` when the id is not that of a group.
pub fn first_of_group(tx: &mut Tx<'_>, app: AppId, group: Uuid) -> Result<Option<(PushId, Origin)>> {
    let sql = "select push, kind, origin from push_origin where app = $1 and origin = $2 order by push limit 1";
    let first = tx.query_opt(sql, &[app.into(), group.as_bytes().to_vec().into()], |row| {
        Ok((row.next()?, read_origin(row.next()?, row.next()?)?))
    })?;
    Ok(first.filter(|(_, origin)| origin.group() == Some(group)))
}

/// The origin of a push from the next two columns, which are null for a push sent through the API.
pub(crate) fn read_joined(row: &Row<'_>) -> Result<Option<Origin>> {
    match (row.next::<Option<&str>>()?, row.next::<Option<&[u8]>>()?) {
        (Some(kind), Some(id)) => read_origin(kind, id).map(Some),
        (None, _) | (_, None) => Ok(None),
    }
}

fn read_origin(kind: &str, id: &[u8]) -> Result<Origin> {
    let origin = Uuid::from_slice(id).ok().and_then(|id| Origin::from_parts(kind, id));
    origin.ok_or_else(|| Error::corrupt(format!("origin {kind:?}")))
}

fn read(row: &Row<'_>) -> Result<Provenance> {
    Ok(Provenance {
        origin: read_origin(row.next()?, row.next()?)?,
        run: row.next()?,
        part: serde_json::from_str(row.next()?).map_err(|_| Error::corrupt("part of an audience"))?,
    })
}
