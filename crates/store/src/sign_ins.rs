//! Who is logged in to the console. The secret of the cookie is kept only as a hash.

use model::ids::{AccountId, SignInId};
use model::time::UtcMillis;

use crate::{Result, Row, Tx};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    pub hash: [u8; 32],
    pub id: SignInId,
    pub account: AccountId,
    pub created: UtcMillis,
    /// The last time that it was used, to a few minutes.
    pub used: UtcMillis,
    /// From when on it does not count any more.
    pub ends: UtcMillis,
    pub agent: Option<String>,
    pub address: Option<String>,
}

const COLUMNS: &str = "hash, id, account, created, used, ends, agent, address";

pub fn insert(tx: &mut Tx<'_>, new: &SignIn) -> Result<()> {
    tx.write(
        "insert into sign_in (hash, id, account, created, used, ends, agent, address)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            new.hash.to_vec().into(),
            new.id.into(),
            new.account.into(),
            new.created.into(),
            new.used.into(),
            new.ends.into(),
            new.agent.clone().into(),
            new.address.clone().into(),
        ],
    )
}

pub fn by_hash(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<SignIn>> {
    let sql = format!("select {COLUMNS} from sign_in where hash = $1");
    tx.query_opt(&sql, &[hash.to_vec().into()], read)
}

/// Those of an account, the newest first.
pub fn of_account(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<SignIn>> {
    let sql = format!("select {COLUMNS} from sign_in where account = $1 order by created desc, id desc");
    tx.query(&sql, &[account.into()], read)
}

/// It was used, and counts for longer.
pub fn extend(tx: &mut Tx<'_>, hash: &[u8; 32], used: UtcMillis, ends: UtcMillis) -> Result<()> {
    let sql = "update sign_in set used = $2, ends = $3 where hash = $1";
    tx.write(sql, &[hash.to_vec().into(), used.into(), ends.into()])
}

/// The person has logged out. Whether it was there.
pub fn delete(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<bool> {
    Ok(tx.execute("delete from sign_in where hash = $1", &[hash.to_vec().into()])? > 0)
}

/// Ends one of an account. Whether it was there.
pub fn end(tx: &mut Tx<'_>, account: AccountId, id: SignInId) -> Result<bool> {
    Ok(tx.execute("delete from sign_in where account = $1 and id = $2", &[account.into(), id.into()])? > 0)
}

/// Ends all of an account, but for one.
pub fn end_others(tx: &mut Tx<'_>, account: AccountId, kept: Option<&[u8; 32]>) -> Result<u64> {
    let kept = kept.map_or_else(Vec::new, |hash| hash.to_vec());
    tx.execute("delete from sign_in where account = $1 and hash <> $2", &[account.into(), kept.into()])
}

/// Deletes up to `at_most` that do not count any more, and says how many those were.
pub fn delete_ended(tx: &mut Tx<'_>, now: UtcMillis, at_most: u32) -> Result<u64> {
    let sql =
        "delete from sign_in where hash in (select hash from sign_in where ends < $1 order by ends, hash limit $2)";
    tx.execute(sql, &[now.into(), at_most.into()])
}

fn read(row: &Row<'_>) -> Result<SignIn> {
    Ok(SignIn {
        hash: crate::apps::read_hash(row.next()?)?,
        id: row.next()?,
        account: row.next()?,
        created: row.next()?,
        used: row.next()?,
        ends: row.next()?,
        agent: row.next()?,
        address: row.next()?,
    })
}
