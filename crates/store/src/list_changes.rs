//! The rows of tag lists and attribute lists that are not applied yet. The rows of every upload are apart, so that one that breaks
//! off leaves nothing behind but rows of its own.

use model::ids::{AppId, ChannelId, NamedUserId};

use crate::lists::Upload;
use crate::{Error, Result, Tx, Value, named_users};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListChange {
    /// The line that it begins on, by which it is told from others of its upload.
    pub line: i64,
    pub owner: ChangeOwner,
    /// The other cells, as a JSON array of texts.
    pub cells: String,
}

/// Whom a row is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChangeOwner {
    Channel(ChannelId),
    NamedUser(NamedUserId),
}

/// Adds rows.
pub fn add(tx: &mut Tx<'_>, app: AppId, upload: Upload<'_>, rows: &[ListChange]) -> Result<()> {
    tx.write_many(
        "insert into list_change (app, list, generation, line, channel, named_user, cells)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (app, list, generation, line) do nothing",
        rows.iter().map(|row| {
            let [app, list, number, line] = key(app, upload, row.line);
            let (channel, user) = match &row.owner {
                ChangeOwner::Channel(id) => (Some(*id), None),
                ChangeOwner::NamedUser(id) => (None, Some(id)),
            };
            [app, list, number, line, channel.into(), user.into(), row.cells.as_str().into()]
        }),
    )?;
    Ok(())
}

/// Up to `at_most` rows of an upload, in the order of their lines.
pub fn first(tx: &mut Tx<'_>, app: AppId, upload: Upload<'_>, at_most: u32) -> Result<Vec<ListChange>> {
    tx.query(
        "select line, channel, named_user, cells from list_change
         where app = $1 and list = $2 and generation = $3 order by line limit $4",
        &[app.into(), upload.list.into(), upload.number.0.into(), at_most.into()],
        |row| {
            let line = row.next()?;
            let (channel, user): (Option<ChannelId>, Option<&str>) = (row.next()?, row.next()?);
            let owner = match (channel, user) {
                (Some(id), None) => ChangeOwner::Channel(id),
                (None, Some(user)) => ChangeOwner::NamedUser(named_users::read_id(user)?),
                (Some(_), Some(_)) | (None, None) => return Err(Error::corrupt("a row of a list is about nobody")),
            };
            Ok(ListChange { line, owner, cells: row.next()? })
        },
    )
}

/// Deletes rows, by their whole keys.
pub fn delete(tx: &mut Tx<'_>, app: AppId, upload: Upload<'_>, rows: &[ListChange]) -> Result<()> {
    tx.write_many(
        "delete from list_change where app = $1 and list = $2 and generation = $3 and line = $4",
        rows.iter().map(|row| key(app, upload, row.line)),
    )?;
    Ok(())
}

fn key(app: AppId, upload: Upload<'_>, line: i64) -> [Value; 4] {
    [app.into(), upload.list.into(), upload.number.0.into(), line.into()]
}
