//! The rows of uploaded lists. The rows of every upload are apart, so that an upload that fails touches
//! nothing and one that succeeds can be compared with the one it replaces.

use model::ids::AppId;
use serde::{Deserialize, Serialize};

use crate::{Result, Row, Tx, Value};

/// The number of an upload among those of its list, which begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UploadNumber(pub i64);

/// One upload of one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upload<'a> {
    pub list: &'a str,
    pub number: UploadNumber,
}

/// One row. Only its caller knows what `kind` means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    pub kind: String,
    pub identifier: String,
}

/// Adds rows. Existing ones stay as they are.
pub fn add(tx: &mut Tx<'_>, app: AppId, upload: Upload<'_>, members: &[Member]) -> Result<()> {
    tx.write_many(
        "insert into list_member (app, list, generation, kind, identifier) values ($1, $2, $3, $4, $5)
         on conflict (app, list, generation, kind, identifier) do nothing",
        members.iter().map(|member| key(app, upload, member)),
    )?;
    Ok(())
}

/// Up to `at_most` rows after one of them, in the order of their kinds and identifiers.
pub fn after(
    tx: &mut Tx<'_>,
    app: AppId,
    upload: Upload<'_>,
    last: Option<&Member>,
    at_most: u32,
) -> Result<Vec<Member>> {
    // No kind is empty, so this comes before all.
    let first = Member { kind: String::new(), identifier: String::new() };
    let [app, list, number, kind, identifier] = key(app, upload, last.unwrap_or(&first));
    tx.query(
        "select kind, identifier from list_member
         where app = $1 and list = $2 and generation = $3 and (kind, identifier) > ($4, $5)
         order by kind, identifier limit $6",
        &[app, list, number, kind, identifier, at_most.into()],
        read_member,
    )
}

/// The rows that an upload has, out of those given.
pub fn among(tx: &mut Tx<'_>, app: AppId, upload: Upload<'_>, members: &[Member]) -> Result<Vec<Member>> {
    let sql = "select kind, identifier from list_member
               where app = $1 and list = $2 and generation = $3 and kind = $4 and identifier = $5";
    tx.query_many(sql, members.iter().map(|member| key(app, upload, member)), read_member)
}

/// Deletes rows. By their whole keys and not up to the last of them: PostgreSQL takes a comparison of pairs
/// for one of kinds, of which there are few, expects to find most of the table and reads all of it.
pub fn delete(tx: &mut Tx<'_>, app: AppId, upload: Upload<'_>, members: &[Member]) -> Result<()> {
    tx.write_many(
        "delete from list_member where app = $1 and list = $2 and generation = $3 and kind = $4 and identifier = $5",
        members.iter().map(|member| key(app, upload, member)),
    )?;
    Ok(())
}

fn key(app: AppId, upload: Upload<'_>, member: &Member) -> [Value; 5] {
    [
        app.into(),
        upload.list.into(),
        upload.number.0.into(),
        member.kind.as_str().into(),
        member.identifier.as_str().into(),
    ]
}

fn read_member(row: &Row<'_>) -> Result<Member> {
    Ok(Member { kind: row.next()?, identifier: row.next()? })
}
