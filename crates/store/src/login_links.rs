//! Links that let somebody in to the console once: to make the first account, to accept an invitation, to choose a new password.
//! The secret of a link is kept only as a hash.

use model::ids::AccountId;
use model::time::UtcMillis;

use crate::{Error, Result, Row, Tx};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginLink {
    pub hash: [u8; 32],
    pub purpose: LinkPurpose,
    pub ends: UtcMillis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPurpose {
    /// Whoever has it makes an account, and owns the installation.
    NewOwner,
    /// The person of this account chooses a password, the first or another one.
    Password(AccountId),
}

const NEW_OWNER: &str = "owner";
const PASSWORD: &str = "password";

pub fn insert(tx: &mut Tx<'_>, new: &LoginLink) -> Result<()> {
    let (purpose, account) = match new.purpose {
        LinkPurpose::NewOwner => (NEW_OWNER, None),
        LinkPurpose::Password(account) => (PASSWORD, Some(account)),
    };
    tx.write(
        "insert into login_link (hash, purpose, account, ends) values ($1, $2, $3, $4)",
        &[new.hash.to_vec().into(), purpose.into(), account.into(), new.ends.into()],
    )
}

pub fn by_hash(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<LoginLink>> {
    let sql = "select hash, purpose, account, ends from login_link where hash = $1";
    tx.query_opt(sql, &[hash.to_vec().into()], read)
}

/// Takes a link away. Whether it was there: of two who use it at once, one finds it.
pub fn delete(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<bool> {
    Ok(tx.execute("delete from login_link where hash = $1", &[hash.to_vec().into()])? > 0)
}

/// Takes all links of an account away.
pub fn delete_of(tx: &mut Tx<'_>, account: AccountId) -> Result<u64> {
    tx.execute("delete from login_link where account = $1", &[account.into()])
}

/// Deletes up to `at_most` that do not count any more, and says how many those were.
pub fn delete_ended(tx: &mut Tx<'_>, now: UtcMillis, at_most: u32) -> Result<u64> {
    let sql = "delete from login_link where hash in
                 (select hash from login_link where ends < $1 order by ends, hash limit $2)";
    tx.execute(sql, &[now.into(), at_most.into()])
}

fn read(row: &Row<'_>) -> Result<LoginLink> {
    let (hash, purpose, account) = (crate::apps::read_hash(row.next()?)?, row.next::<&str>()?, row.next()?);
    let purpose = match (purpose, account) {
        (NEW_OWNER, None) => LinkPurpose::NewOwner,
        (PASSWORD, Some(account)) => LinkPurpose::Password(account),
        _ => return Err(Error::corrupt(format!("a login link for {purpose:?}"))),
    };
    Ok(LoginLink { hash, purpose, ends: row.next()? })
}
