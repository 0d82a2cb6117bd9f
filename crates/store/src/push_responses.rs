//! The channels whose direct response to a push was counted, so that each counts once. One row each and no sets:
//! the responses of many channels to one push come at the same time, and in a batch none waits for another.

use model::ids::{AppId, Ordinal, PushId};

use crate::{Result, Tx};

const KNOWN: &str = "select ordinal from push_response where app = $1 and push = $2 and ordinal = $3";

/// Announces a call of [`is_counted`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) {
    tx.foresee(KNOWN, [[app.into(), push.into(), channel.into()]]);
}

pub fn is_counted(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) -> Result<bool> {
    let found: Option<Ordinal> = tx.query_opt(KNOWN, &[app.into(), push.into(), channel.into()], |row| row.get(0))?;
    Ok(found.is_some())
}

/// Those of the responses that are counted.
pub fn counted(tx: &mut Tx<'_>, app: AppId, responses: &[(PushId, Ordinal)]) -> Result<Vec<(PushId, Ordinal)>> {
    let sql = "select push, ordinal from push_response where app = $1 and push = $2 and ordinal = $3";
    let params = responses.iter().map(|(push, channel)| [app.into(), (*push).into(), (*channel).into()]);
    tx.query_many(sql, params, |row| Ok((row.next()?, row.next()?)))
}

/// Notes a response that is not counted yet.
pub fn add(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) -> Result<()> {
    let sql = "insert into push_response (app, push, ordinal) values ($1, $2, $3)";
    tx.write(sql, &[app.into(), push.into(), channel.into()])
}
