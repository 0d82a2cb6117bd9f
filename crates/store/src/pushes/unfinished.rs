//! Pushes of all apps, for the operator: those that are unfinished, and whose any other is.

use model::app::AppKey;
use model::ids::{AppId, PushId};
use model::payload::push_type::PushType;
use model::time::UtcMillis;
use uuid::Uuid;

use super::{PushState, read_type};
use crate::apps::read_key;
use crate::{Part, Result, Tx, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub app: AppId,
    pub key: AppKey,
    pub id: PushId,
    pub created: UtcMillis,
    pub expires: Option<UtcMillis>,
    pub push_type: PushType,
    pub state: PushState,
    pub paused: bool,
}

/// Which of them. Paused pushes are neither of the other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    Accepted,
    Sending,
    Paused,
}

/// Up to `at_most` of them in the order of their ids, beginning with `start`. They are found by the jobs that
/// send them, so that it costs nothing how many pushes there have been.
pub fn unfinished(
    tx: &mut Tx<'_>,
    part: &Part,
    which: Which,
    start: Option<PushId>,
    at_most: u32,
) -> Result<Vec<Unfinished>> {
    let Some(keys) = part.keys(tx)? else { return unfinished_of(tx, None, which, start, at_most) };
    // Where apps are spread over servers, the keys are on another one than the pushes.
    let mut found = Vec::new();
    for app in &keys {
        found.extend(unfinished_of(tx, Some(app), which, start, at_most)?);
    }
    Ok(found)
}

fn unfinished_of(
    tx: &mut Tx<'_>,
    app: Option<&(AppId, AppKey)>,
    which: Which,
    start: Option<PushId>,
    at_most: u32,
) -> Result<Vec<Unfinished>> {
    let wanted = match which {
        Which::All => "p.state in ('accepted', 'sending')",
        Which::Accepted => "p.state = 'accepted' and p.paused = 0",
        Which::Sending => "p.state = 'sending' and p.paused = 0",
        Which::Paused => "p.state in ('accepted', 'sending') and p.paused = 1",
    };
    let (key, of_app, join) = match app {
        None => ("app.key", "", "join app on app.id = p.app"),
        Some(_) => ("''", " and app = $3", "and p.app = $3"),
    };
    let sql = format!(
        "select p.app, {key}, p.id, p.created, p.expires, p.push_type, p.state, p.paused
         from (select app, push as id from job where push is not null{of_app}
               union select app, id from push where state = 'accepted'{of_app}) as candidate
         join push p on p.app = candidate.app and p.id = candidate.id
         {join}
         where {wanted} and p.id >= $1 order by p.id, p.app limit $2"
    );
    let start = start.unwrap_or_else(|| PushId::from_uuid(Uuid::nil()));
    let mut params = vec![start.into(), at_most.into()];
    params.extend(app.map(|(app, _)| Value::from(*app)));
    tx.query(&sql, &params, |row| {
        let (id, key) = (row.next()?, row.next()?);
        Ok(Unfinished {
            app: id,
            key: app.map_or_else(|| read_key(key), |(_, key)| Ok(key.clone()))?,
            id: row.next()?,
            created: row.next()?,
            expires: row.next()?,
            push_type: read_type(row.next()?)?,
            state: PushState::from_name(row.next()?)?,
            paused: row.next()?,
        })
    })
}

/// The app of a push. Ids of pushes are made by the service, so that no two apps have the same.
pub fn app_of(tx: &mut Tx<'_>, part: &Part, push: PushId) -> Result<Option<(AppId, AppKey)>> {
    if let Some(mut keys) = part.keys(tx)? {
        let mut params = vec![push.into()];
        let sql = part.narrow("select app from push where id = $1", &mut params);
        let found: Vec<AppId> = tx.query(&sql, &params, |row| row.get(0))?;
        keys.retain(|(app, _)| found.contains(app));
        return Ok(keys.pop());
    }
    // By way of the apps, so that the index of pushes serves for each of them; without the cross join SQLite
    // reads all pushes.
    let sql = "select app.id, app.key from app cross join push where push.app = app.id and push.id = $1 order by app.id limit 1";
    tx.query_opt(sql, &[push.into()], |row| Ok((row.next()?, read_key(row.next()?)?)))
}
