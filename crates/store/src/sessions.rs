//! When channels last opened the app, and the session that this began, until it ends. A channel has one row from its first opening
//! on: reports count devices once in an hour or month, and know by this whether it is the first time.

use model::ids::{AppId, Id, Ordinal, SessionId};
use model::time::UtcMillis;
use uuid::Uuid;

use crate::{Result, Row, Tx};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOpening {
    /// When it was: no opening is known that was later.
    pub at: UtcMillis,
    /// The session that it began, if that has not ended.
    pub session: Option<SessionId>,
}

/// What is stored in place of a session that has ended.
const ENDED: SessionId = Id::from_uuid(Uuid::nil());

const OF_CHANNEL: &str = "select id, opened from session where app = $1 and ordinal = $2";

/// Announces a call of [`get`].
pub fn foresee(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) {
    tx.foresee(OF_CHANNEL, [[app.into(), ordinal.into()]]);
}

pub fn get(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Option<LastOpening>> {
    tx.query_opt(OF_CHANNEL, &[app.into(), ordinal.into()], |row: &Row<'_>| {
        let id: SessionId = row.next()?;
        Ok(LastOpening { session: (id != ENDED).then_some(id), at: row.next()? })
    })
}

pub fn set(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, LastOpening { at, session }: LastOpening) -> Result<()> {
    tx.write(
        "insert into session (app, ordinal, id, opened) values ($1, $2, $3, $4)
         on conflict (app, ordinal) do update set id = excluded.id, opened = excluded.opened",
        &[app.into(), ordinal.into(), session.unwrap_or(ENDED).into(), at.into()],
    )
}

/// For a channel that is uninstalled.
pub fn forget(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<()> {
    tx.write("delete from session where app = $1 and ordinal = $2", &[app.into(), ordinal.into()])
}
