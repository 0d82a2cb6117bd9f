//! Message Center messages: each is stored once, and beside it the sets of its holders, which are serialized
//! bitmaps, opaque to the store. Holders without a set are in `inbox_messages`.

use model::event::SharedPush;
use model::ids::{AppId, MessageNumber, PushId};
use model::inbox::{MessageDetails, TextChoice};
use model::time::UtcMillis;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{Error, Result, Row, Tx, apps, inbox_messages};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub number: MessageNumber,
    pub push: PushId,
    pub sent: UtcMillis,
    /// The expiry that devices see.
    pub expires: Option<UtcMillis>,
    /// From then on it is in no inbox.
    pub ends: UtcMillis,
    /// The part that its events say about the push.
    pub shared_push: SharedPush,
    pub texts: TextChoice,
    /// The slices that have a set of holders.
    pub slices: Vec<u8>,
}

/// One text of a message without its body.
#[derive(Clone, Debug, PartialEq)]
pub struct TextHead {
    pub title: String,
    pub content_type: String,
    pub details: MessageDetails,
    /// Bytes of the body.
    pub size: u32,
}

/// Gives out the number of a message.
pub fn take_number(tx: &mut Tx<'_>, app: AppId) -> Result<MessageNumber> {
    let sql = "update app_numbers set next_message = next_message + 1 where app = $1 returning next_message - 1";
    tx.query_opt(sql, &[app.into()], |row| row.get(0))?.ok_or_else(apps::gone)
}

pub fn insert(tx: &mut Tx<'_>, app: AppId, message: &Message) -> Result<()> {
    let sql = "insert into message (app, number, push, sent, expires, ends, told, texts, slices, grp)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let params = [
        app.into(),
        message.number.into(),
        message.push.into(),
        message.sent.into(),
        message.expires.into(),
        message.ends.into(),
        json(&message.shared_push)?.into(),
        json(&message.texts)?.into(),
        message.slices.clone().into(),
        message.shared_push.group_id.map(|group| group.as_bytes().to_vec()).into(),
    ];
    tx.write(sql, &params)?;
    Ok(())
}

pub fn insert_text(
    tx: &mut Tx<'_>,
    app: AppId,
    number: MessageNumber,
    text: u32,
    head: &TextHead,
    body: &[u8],
) -> Result<()> {
    tx.write(
        "insert into message_text (app, number, text, title, content_type, details, size, body)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            app.into(),
            number.into(),
            text.into(),
            head.title.as_str().into(),
            head.content_type.as_str().into(),
            json(&head.details)?.into(),
            head.size.into(),
            body.into(),
        ],
    )?;
    Ok(())
}

/// Says who holds the message, slice by slice.
pub fn insert_holders(
    tx: &mut Tx<'_>,
    app: AppId,
    number: MessageNumber,
    slices: impl IntoIterator<Item = (u32, Vec<u8>)>,
) -> Result<()> {
    let rows = slices.into_iter().map(|(slice, holders)| [app.into(), slice.into(), number.into(), holders.into()]);
    let sql = "insert into message_holders (app, slice, number, holders) values ($1, $2, $3, $4)";
    tx.write_many(sql, rows)?;
    Ok(())
}

pub fn by_push(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Option<Message>> {
    let sql = "select number, push, sent, expires, ends, told, texts, slices from message where app = $1 and push = $2";
    tx.query_opt(sql, &[app.into(), push.into()], read_message)
}

/// Up to `at_most` messages of a group after a number, with their pushes, if these were accepted by an
/// instant; also messages that have ended.
pub fn of_group(
    tx: &mut Tx<'_>,
    app: AppId,
    group: Uuid,
    until: UtcMillis,
    after: Option<MessageNumber>,
    at_most: u32,
) -> Result<Vec<(MessageNumber, PushId)>> {
    // Numbers are not negative. The pushes are looked up for the messages, of which there are fewer.
    let sql = "select m.number, m.push from message m left join push p on p.app = m.app and p.id = m.push
               where m.app = $1 and m.grp = $2 and m.number > $3 and p.created <= $4 order by m.number limit $5";
    let after = after.map_or(-1, |number| i64::from(number.0));
    let params = [app.into(), group.as_bytes().to_vec().into(), after.into(), until.into(), at_most.into()];
    tx.query(sql, &params, |row| Ok((row.next()?, row.next()?)))
}

/// The messages of these numbers that are still known.
pub fn by_numbers(
    tx: &mut Tx<'_>,
    app: AppId,
    numbers: impl IntoIterator<Item = MessageNumber>,
) -> Result<Vec<Message>> {
    let sql =
        "select number, push, sent, expires, ends, told, texts, slices from message where app = $1 and number = $2";
    tx.query_many(sql, numbers.into_iter().map(|number| [app.into(), number.into()]), read_message)
}

/// The holders of each message within a slice, in the order of the messages.
pub fn held_within(tx: &mut Tx<'_>, app: AppId, slice: u32) -> Result<Vec<(MessageNumber, Vec<u8>)>> {
    let sql = "select number, holders from message_holders where app = $1 and slice = $2 order by number";
    tx.query(sql, &[app.into(), slice.into()], |row| Ok((row.next()?, row.next()?)))
}

/// The holders of a message within slices.
pub fn holders(
    tx: &mut Tx<'_>,
    app: AppId,
    number: MessageNumber,
    slices: impl IntoIterator<Item = u32>,
) -> Result<Vec<Vec<u8>>> {
    let sql = "select holders from message_holders where app = $1 and slice = $2 and number = $3";
    tx.query_many(sql, slices.into_iter().map(|slice| [app.into(), slice.into(), number.into()]), |row| row.get(0))
}

/// The heads of texts, each with its message and number, without those that are gone.
pub fn heads(
    tx: &mut Tx<'_>,
    app: AppId,
    texts: impl IntoIterator<Item = (MessageNumber, u32)>,
) -> Result<Vec<((MessageNumber, u32), TextHead)>> {
    let sql = "select number, text, title, content_type, details, size from message_text
               where app = $1 and number = $2 and text = $3";
    let rows = texts.into_iter().map(|(number, text)| [app.into(), number.into(), text.into()]);
    tx.query_many(sql, rows, |row| {
        let text = (row.next()?, row.next()?);
        let head =
            TextHead { title: row.next()?, content_type: row.next()?, details: parse(row.next()?)?, size: row.next()? };
        Ok((text, head))
    })
}

pub fn body(tx: &mut Tx<'_>, app: AppId, number: MessageNumber, text: u32) -> Result<Option<Vec<u8>>> {
    let sql = "select body from message_text where app = $1 and number = $2 and text = $3";
    tx.query_opt(sql, &[app.into(), number.into(), text.into()], |row| row.get(0))
}

/// The message and the number of a text of it.
pub type TextOf = (MessageNumber, u32);

/// The bodies of texts, as [`heads`].
pub fn bodies(tx: &mut Tx<'_>, app: AppId, texts: impl IntoIterator<Item = TextOf>) -> Result<Vec<(TextOf, Vec<u8>)>> {
    let sql = "select number, text, body from message_text where app = $1 and number = $2 and text = $3";
    let rows = texts.into_iter().map(|(number, text)| [app.into(), number.into(), text.into()]);
    tx.query_many(sql, rows, |row| Ok(((row.next()?, row.next()?), row.next()?)))
}

/// Takes a message out of all inboxes, unless it is not in any now, and forgets its texts.
pub fn end(tx: &mut Tx<'_>, app: AppId, number: MessageNumber, at: UtcMillis) -> Result<()> {
    let row = [app.into(), number.into(), at.into()];
    tx.write("update message set ends = $3 where app = $1 and number = $2 and ends > $3", &row)?;
    forget_texts(tx, app, number)
}

/// Some messages that ended before an instant, the longest gone first.
pub fn ended_before(tx: &mut Tx<'_>, app: AppId, instant: UtcMillis, at_most: u32) -> Result<Vec<Message>> {
    let sql = "select number, push, sent, expires, ends, told, texts, slices from message
               where app = $1 and ends < $2 order by ends, number limit $3";
    tx.query(sql, &[app.into(), instant.into(), at_most.into()], read_message)
}

/// Forgets a message and who held it, and answers in how many rows that was. When it ended is kept with the
/// app: see [`forgotten`].
pub fn forget(tx: &mut Tx<'_>, app: AppId, message: &Message, slices: impl IntoIterator<Item = u32>) -> Result<u64> {
    let number = message.number;
    let rows = slices.into_iter().map(|slice| [app.into(), slice.into(), number.into()]);
    let sets = tx.execute_many("delete from message_holders where app = $1 and slice = $2 and number = $3", rows)?;
    let few = inbox_messages::forget(tx, app, number)?;
    forget_texts(tx, app, number)?;
    tx.write("delete from message where app = $1 and number = $2", &[app.into(), number.into()])?;
    let raise = "update app_numbers set messages_forgotten = $2 where app = $1 and messages_forgotten < $2";
    tx.write(raise, &[app.into(), message.ends.into()])?;
    Ok(sets + few)
}

/// When the last of the forgotten messages ended.
pub fn forgotten(tx: &mut Tx<'_>, app: AppId) -> Result<UtcMillis> {
    let found =
        tx.query_opt("select messages_forgotten from app_numbers where app = $1", &[app.into()], |row| row.get(0))?;
    Ok(found.unwrap_or_default())
}

/// The oldest message that is known.
pub fn oldest(tx: &mut Tx<'_>, app: AppId) -> Result<Option<MessageNumber>> {
    tx.query_one("select min(number) from message where app = $1", &[app.into()], |row| row.get(0))
}

fn forget_texts(tx: &mut Tx<'_>, app: AppId, number: MessageNumber) -> Result<()> {
    tx.write("delete from message_text where app = $1 and number = $2", &[app.into(), number.into()])?;
    Ok(())
}

fn read_message(row: &Row<'_>) -> Result<Message> {
    Ok(Message {
        number: row.next()?,
        push: row.next()?,
        sent: row.next()?,
        expires: row.next()?,
        ends: row.next()?,
        shared_push: parse(row.next()?)?,
        texts: parse(row.next()?)?,
        slices: row.next()?,
    })
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|_| Error::corrupt("a part of a message"))
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|_| Error::corrupt("a part of a message"))
}
