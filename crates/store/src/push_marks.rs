//! Who responded to a push, and how: a row for each channel while responses count, and sets afterwards.

use model::ids::{AppId, Ordinal, PushId};
use model::time::UtcMillis;

use crate::{Result, Tx};

/// How a channel responded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResponseKind {
    /// It tapped the notification, or a button of it.
    Opened,
    /// It opened the app soon after the push was delivered.
    Influenced,
    /// It has told that it received the message.
    Received,
}

impl ResponseKind {
    pub const ALL: [ResponseKind; 3] = [ResponseKind::Opened, ResponseKind::Influenced, ResponseKind::Received];

    /// Stored: never change one.
    const fn name(self) -> &'static str {
        match self {
            ResponseKind::Opened => "opened",
            ResponseKind::Influenced => "influenced",
            ResponseKind::Received => "received",
        }
    }

    const fn table(self) -> &'static str {
        match self {
            ResponseKind::Opened => "push_response",
            ResponseKind::Influenced => "push_influence",
            ResponseKind::Received => "push_receipt",
        }
    }
}

/// Notes that a push influenced a channel, unless that is known.
pub fn influence(tx: &mut Tx<'_>, app: AppId, push: PushId, channel: Ordinal) -> Result<()> {
    let sql = "insert into push_influence (app, push, ordinal) values ($1, $2, $3)
               on conflict (app, push, ordinal) do nothing";
    tx.write(sql, &[app.into(), push.into(), channel.into()])
}

/// Visits the channels that have a row of their own.
pub fn visit(
    tx: &mut Tx<'_>,
    app: AppId,
    push: PushId,
    kind: ResponseKind,
    mut visit: impl FnMut(Ordinal),
) -> Result<()> {
    let sql = match kind {
        ResponseKind::Opened => "select ordinal from push_response where app = $1 and push = $2",
        ResponseKind::Influenced => "select ordinal from push_influence where app = $1 and push = $2",
        ResponseKind::Received => "select ordinal from push_receipt where app = $1 and push = $2",
    };
    tx.for_each(sql, &[app.into(), push.into()], |row| {
        visit(row.next()?);
        Ok(())
    })
}

/// Whether channels between two have a row of their own: those that do, in order.
pub fn between(
    tx: &mut Tx<'_>,
    app: AppId,
    push: PushId,
    kind: ResponseKind,
    first: Ordinal,
    last: Ordinal,
) -> Result<Vec<Ordinal>> {
    let sql = match kind {
        ResponseKind::Opened => {
            "select ordinal from push_response where app = $1 and push = $2 and ordinal >= $3 and ordinal <= $4
             order by ordinal"
        }
        ResponseKind::Influenced => {
            "select ordinal from push_influence where app = $1 and push = $2 and ordinal >= $3 and ordinal <= $4
             order by ordinal"
        }
        ResponseKind::Received => {
            "select ordinal from push_receipt where app = $1 and push = $2 and ordinal >= $3 and ordinal <= $4
             order by ordinal"
        }
    };
    tx.query(sql, &[app.into(), push.into(), first.into(), last.into()], |row| row.get(0))
}

/// The sets of a push, by block.
pub fn sets(tx: &mut Tx<'_>, app: AppId, push: PushId, kind: ResponseKind) -> Result<Vec<(u32, Vec<u8>)>> {
    let sql = "select block, members from push_mark where app = $1 and push = $2 and kind = $3 order by block";
    tx.query(sql, &[app.into(), push.into(), kind.name().into()], |row| Ok((row.next()?, row.next()?)))
}

/// The set of one block of a push, if there is one.
pub fn set(tx: &mut Tx<'_>, app: AppId, push: PushId, kind: ResponseKind, block: u32) -> Result<Option<Vec<u8>>> {
    let sql = "select members from push_mark where app = $1 and push = $2 and kind = $3 and block = $4";
    tx.query_opt(sql, &[app.into(), push.into(), kind.name().into(), block.into()], |row| row.get(0))
}

/// The sets of one kind for blocks of pushes, of those that have one.
pub fn sets_of_blocks(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: ResponseKind,
    blocks: impl IntoIterator<Item = (PushId, u32)>,
) -> Result<Vec<(PushId, u32, Vec<u8>)>> {
    let sql = "select push, block, members from push_mark where app = $1 and push = $2 and kind = $3 and block = $4";
    let params = blocks.into_iter().map(|(push, block)| [app.into(), push.into(), kind.name().into(), block.into()]);
    tx.query_many(sql, params, |row| Ok((row.next()?, row.next()?, row.next()?)))
}

pub fn put_set(
    tx: &mut Tx<'_>,
    app: AppId,
    push: PushId,
    kind: ResponseKind,
    block: u32,
    members: Vec<u8>,
) -> Result<()> {
    let sql = "insert into push_mark (app, push, kind, block, members) values ($1, $2, $3, $4, $5)
               on conflict (app, push, kind, block) do update set members = excluded.members";
    tx.write(sql, &[app.into(), push.into(), kind.name().into(), block.into(), members.into()])
}

/// Up to `at_most` rows of pushes that were accepted before an instant, in order. The id of a push can be older than the push,
/// because scheduling assigns it, but is never younger.
pub fn before(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: ResponseKind,
    first_kept: UtcMillis,
    at_most: u32,
) -> Result<Vec<(PushId, Ordinal)>> {
    let sql = match kind {
        ResponseKind::Opened => {
            "select r.push, r.ordinal from push_response r join push p on p.app = r.app and p.id = r.push
             where r.app = $1 and r.push < $2 and p.created < $3 order by r.push, r.ordinal limit $4"
        }
        ResponseKind::Influenced => {
            "select r.push, r.ordinal from push_influence r join push p on p.app = r.app and p.id = r.push
             where r.app = $1 and r.push < $2 and p.created < $3 order by r.push, r.ordinal limit $4"
        }
        ResponseKind::Received => {
            "select r.push, r.ordinal from push_receipt r join push p on p.app = r.app and p.id = r.push
             where r.app = $1 and r.push < $2 and p.created < $3 order by r.push, r.ordinal limit $4"
        }
    };
    let params = [app.into(), PushId::first_at(first_kept).into(), first_kept.into(), at_most.into()];
    tx.query(sql, &params, |row| Ok((row.next()?, row.next()?)))
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, kind: ResponseKind, rows: &[(PushId, Ordinal)]) -> Result<()> {
    let sql = format!("delete from {} where app = $1 and push = $2 and ordinal = $3", kind.table());
    tx.execute_many(&sql, rows.iter().map(|(push, ordinal)| [app.into(), (*push).into(), (*ordinal).into()]))?;
    Ok(())
}
