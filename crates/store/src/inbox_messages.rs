//! In whose inboxes a message is that few hold, as a row for each: a listing reads what the inbox has,
//! however many messages others were sent.

use model::ids::{AppId, MessageNumber, Ordinal};

use crate::{Result, Tx};

/// Puts a message, which has to be the newest, into inboxes. Inboxes with more than `at_most` messages lose
/// their oldest.
pub fn insert(
    tx: &mut Tx<'_>,
    app: AppId,
    number: MessageNumber,
    holders: impl IntoIterator<Item = Ordinal> + Clone,
    at_most: u32,
) -> Result<()> {
    let sql = "insert into inbox_message (app, ordinal, number) values ($1, $2, $3)";
    let rows = holders.clone().into_iter().map(|holder| [app.into(), holder.into(), number.into()]);
    tx.write_many(sql, rows)?;
    let make_room = "delete from inbox_message where app = $1 and ordinal = $2 and number <=
                     (select number from inbox_message where app = $1 and ordinal = $2
                      order by number desc limit 1 offset $3)";
    let rows = holders.into_iter().map(|holder| [app.into(), holder.into(), at_most.into()]);
    tx.write_many(make_room, rows)?;
    Ok(())
}

/// The messages that channels hold, channel by channel and in the order of the messages.
pub fn held_by(
    tx: &mut Tx<'_>,
    app: AppId,
    channels: impl IntoIterator<Item = Ordinal>,
) -> Result<Vec<(MessageNumber, Ordinal)>> {
    let sql = "select number, ordinal from inbox_message where app = $1 and ordinal = $2 order by number";
    let rows = channels.into_iter().map(|channel| [app.into(), channel.into()]);
    tx.query_many(sql, rows, |row| Ok((row.next()?, row.next()?)))
}

/// The channels that hold a message, out of those given.
pub fn holders_among(
    tx: &mut Tx<'_>,
    app: AppId,
    number: MessageNumber,
    channels: impl IntoIterator<Item = Ordinal>,
) -> Result<Vec<Ordinal>> {
    let sql = "select ordinal from inbox_message where app = $1 and ordinal = $2 and number = $3";
    let rows = channels.into_iter().map(|channel| [app.into(), channel.into(), number.into()]);
    tx.query_many(sql, rows, |row| row.get(0))
}

/// All holders of a message that are stored this way, in no order.
pub fn holders(tx: &mut Tx<'_>, app: AppId, number: MessageNumber) -> Result<Vec<Ordinal>> {
    let sql = "select ordinal from inbox_message where app = $1 and number = $2";
    tx.query(sql, &[app.into(), number.into()], |row| row.get(0))
}

/// Removes a message from all inboxes.
pub(crate) fn forget(tx: &mut Tx<'_>, app: AppId, number: MessageNumber) -> Result<u64> {
    tx.execute("delete from inbox_message where app = $1 and number = $2", &[app.into(), number.into()])
}
