//! Pushes as a listing shows them, the newest first.

use std::ops::Range;

use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::origin::Origin;
use model::payload::push_type::PushType;
use model::time::UtcMillis;
use uuid::Uuid;

use super::{PushState, PushTexts, by_id, read_type};
use crate::{Result, Row, Tx, Value, origins};

/// A push in the listing of an app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushEntry {
    pub id: PushId,
    pub created: UtcMillis,
    pub push_type: PushType,
    pub state: PushState,
    /// Never set when nothing is left to pause.
    pub paused: bool,
    /// The origin, if not the API.
    pub origin: Option<Origin>,
    pub texts: PushTexts,
    /// By whose credential it was asked for.
    pub author: Option<String>,
    /// Whether it has recipients of the device type that was asked about.
    pub is_for_type: bool,
}

/// Up to `at_most` pushes that were accepted within a time, the newest first, beginning with the one named by `start`, and whether
/// each is for a device type. Pushes of a version that kept no texts come without.
pub fn entries(
    tx: &mut Tx<'_>,
    app: AppId,
    accepted: &Range<UtcMillis>,
    device_type: Option<&DeviceType>,
    start: Option<PushId>,
    at_most: u32,
) -> Result<Vec<PushEntry>> {
    let (created, id) = match start {
        None => (UtcMillis(accepted.end.0.saturating_sub(1)), PushId::from_uuid(Uuid::max())),
        Some(id) => match by_id(tx, app, id)? {
            Some(push) if push.created < accepted.end => (push.created, id),
            Some(_) | None => return Ok(Vec::new()),
        },
    };
    let sql =
        "select p.id, p.created, p.push_type, p.state, p.paused, p.redact, p.author, coalesce(p.name, other.name),
                 coalesce(p.title, other.title), coalesce(p.alert, other.alert),
                 (select count(*) from push_tally t where t.app = p.app and t.push = p.id and t.platform = $6),
                 o.kind, o.origin
               from push p
               left join push other on other.app = p.app and other.id = p.payload_of
               left join push_origin o on o.app = p.app and o.push = p.id
               where p.app = $1 and p.created >= $2 and p.created <= $3 and (p.created < $3 or p.id <= $4)
               order by p.created desc, p.id desc limit $5";
    // No device type is called so.
    let device_type = device_type.map(DeviceType::to_string).unwrap_or_default();
    let (since, until) = (accepted.start, created);
    tx.query(sql, &[app.into(), since.into(), until.into(), id.into(), at_most.into(), device_type.into()], read)
}

fn read(row: &Row<'_>) -> Result<PushEntry> {
    let (id, created, push_type) = (row.next()?, row.next()?, read_type(row.next()?)?);
    let (state, paused): (_, bool) = (PushState::from_name(row.next()?)?, row.next()?);
    let (redact, author): (bool, _) = (row.next()?, row.next()?);
    let texts = PushTexts { name: row.next()?, title: row.next()?, alert: row.next()? };
    // A node of the version before, which knows no texts, leaves them when it ends a push.
    let texts = if redact && state.is_final() { PushTexts::default() } else { texts };
    let is_for_type = row.next::<i64>()? > 0;
    let origin = origins::read_joined(row)?;
    let paused = paused && !state.is_final();
    Ok(PushEntry { id, created, push_type, state, paused, origin, texts, author, is_for_type })
}

/// The name of a push, if it has one.
pub fn name(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<String>> {
    Ok(names(tx, app, &[push])?.pop().map(|(_, name)| name))
}

/// The names of pushes that have one.
pub fn names(tx: &mut Tx<'_>, app: AppId, pushes: &[PushId]) -> Result<Vec<(PushId, String)>> {
    let sql = "select p.id, coalesce(p.name, other.name) from push p
               left join push other on other.app = p.app and other.id = p.payload_of
               where p.app = $1 and p.id = $2";
    texts(tx, app, sql, pushes)
}

/// The payloads of pushes that have one.
pub fn payloads(tx: &mut Tx<'_>, app: AppId, pushes: &[PushId]) -> Result<Vec<(PushId, String)>> {
    let sql = "select p.id, coalesce(p.payload, other.payload) from push p
               left join push other on other.app = p.app and other.id = p.payload_of
               where p.app = $1 and p.id = $2";
    texts(tx, app, sql, pushes)
}

/// Why pushes went to nobody, of those that did.
pub fn reasons(tx: &mut Tx<'_>, app: AppId, pushes: &[PushId]) -> Result<Vec<(PushId, String)>> {
    texts(tx, app, "select id, reason from push where app = $1 and id = $2", pushes)
}

/// A column of pushes, where it is not null.
fn texts(tx: &mut Tx<'_>, app: AppId, sql: &str, pushes: &[PushId]) -> Result<Vec<(PushId, String)>> {
    let wanted = pushes.iter().map(|push| [app.into(), Value::from(*push)]);
    let found = tx.query_many(sql, wanted, |row| Ok((row.next()?, row.next::<Option<String>>()?)))?;
    Ok(found.into_iter().filter_map(|(push, text)| Some((push, text?))).collect())
}
