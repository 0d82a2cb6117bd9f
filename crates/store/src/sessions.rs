//! Sessions that channels have begun and not ended yet, at most one per channel.

use model::ids::{AppId, Ordinal, SessionId};
use model::time::UtcMillis;

use crate::{Result, Tx};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub opened: UtcMillis,
}

const OF_CHANNEL: &str = "select id, opened from session where app = $1 and ordinal = $2";

/// Announces a call of [`get`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) {
    tx.foresee(OF_CHANNEL, [[app.into(), ordinal.into()]]);
}

pub fn get(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Option<Session>> {
    tx.query_opt(OF_CHANNEL, &[app.into(), ordinal.into()], |row| Ok(Session { id: row.next()?, opened: row.next()? }))
}

/// Notes the session that a channel is in; `None` when it has ended.
pub fn set(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, session: Option<Session>) -> Result<()> {
    match session {
        Some(Session { id, opened }) => tx.write(
            "insert into session (app, ordinal, id, opened) values ($1, $2, $3, $4)
             on conflict (app, ordinal) do update set id = excluded.id, opened = excluded.opened",
            &[app.into(), ordinal.into(), id.into(), opened.into()],
        ),
        None => tx.write("delete from session where app = $1 and ordinal = $2", &[app.into(), ordinal.into()]),
    }
}
