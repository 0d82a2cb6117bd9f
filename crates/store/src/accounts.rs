//! The accounts of people who use the console, and their roles in apps.

use std::collections::{BTreeMap, HashMap};

use model::account::{Email, Role};
use model::ids::{AccountId, AppId};
use model::time::UtcMillis;

use crate::{Error, Result, Row, Tx, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub id: AccountId,
    pub email: Email,
    pub name: String,
    /// A salted hash; `None` until the person has chosen one.
    pub password: Option<String>,
    pub totp: Option<Totp>,
    pub is_owner: bool,
    pub is_disabled: bool,
    pub created: UtcMillis,
    pub seen: Option<UtcMillis>,
    pub roles: BTreeMap<AppId, Role>,
}

/// One-time codes that a person's login needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totp {
    /// The secret, encrypted.
    pub sealed: String,
    /// The last step of time whose code was used: a code counts once.
    pub used: Option<i64>,
}

const COLUMNS: &str = "id, email, name, password, totp, totp_used, is_owner, is_disabled, created, seen";

/// Fails with a conflict of `account_by_email` when the address is taken.
pub fn insert(tx: &mut Tx<'_>, new: &Account) -> Result<()> {
    let totp = new.totp.as_ref();
    tx.execute(
        "insert into account (id, email, name, password, totp, totp_used, is_owner, is_disabled, created, seen)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            new.id.into(),
            new.email.as_str().into(),
            new.name.as_str().into(),
            new.password.clone().into(),
            totp.map(|totp| totp.sealed.clone()).into(),
            totp.and_then(|totp| totp.used).into(),
            new.is_owner.into(),
            new.is_disabled.into(),
            new.created.into(),
            new.seen.into(),
        ],
    )?;
    new.roles.iter().try_for_each(|(app, role)| set_role(tx, new.id, *app, *role))?;
    tx.note_object("account_id", new.id);
    tx.note_detail("email", new.email.as_str());
    Ok(())
}

/// Notes that the person logs in, if the password is still this one, nobody has locked the account, and the one-time code was
/// not used before: one statement, so that what another node changes meanwhile counts. Whether the person may.
pub fn sign_in(tx: &mut Tx<'_>, id: AccountId, password: &str, step: Option<i64>, now: UtcMillis) -> Result<bool> {
    let n_changed = match step {
        None => tx.execute(
            "update account set seen = $3 where id = $1 and password = $2 and is_disabled = 0 and totp is null",
            &[id.into(), password.into(), now.into()],
        )?,
        Some(step) => tx.execute(
            "update account set seen = $3, totp_used = $4
             where id = $1 and password = $2 and is_disabled = 0 and totp is not null
               and (totp_used is null or totp_used < $4)",
            &[id.into(), password.into(), now.into(), step.into()],
        )?,
    };
    Ok(n_changed > 0)
}

/// Gives an account that is not locked another password. Whether there is one.
pub fn set_password(tx: &mut Tx<'_>, id: AccountId, password: &str) -> Result<bool> {
    let sql = "update account set password = $2 where id = $1 and is_disabled = 0";
    Ok(tx.execute(sql, &[id.into(), password.into()])? > 0)
}

/// The person needs a link to choose another password.
pub fn clear_password(tx: &mut Tx<'_>, id: AccountId) -> Result<()> {
    tx.execute("update account set password = null where id = $1", &[id.into()]).map(drop)
}

/// From now on logging in needs the codes of a secret, or none. Whether there is such an account.
pub fn set_totp(tx: &mut Tx<'_>, id: AccountId, totp: Option<&Totp>) -> Result<bool> {
    let (sealed, used) = (totp.map(|totp| totp.sealed.clone()), totp.and_then(|totp| totp.used));
    let sql = "update account set totp = $2, totp_used = $3 where id = $1";
    Ok(tx.execute(sql, &[id.into(), sealed.into(), used.into()])? > 0)
}

pub fn set_name(tx: &mut Tx<'_>, id: AccountId, name: &str) -> Result<()> {
    tx.write("update account set name = $2 where id = $1", &[id.into(), name.into()])
}

pub fn set_owner(tx: &mut Tx<'_>, id: AccountId, is_owner: bool) -> Result<()> {
    tx.write("update account set is_owner = $2 where id = $1", &[id.into(), is_owner.into()])
}

pub fn set_disabled(tx: &mut Tx<'_>, id: AccountId, is_disabled: bool) -> Result<()> {
    tx.write("update account set is_disabled = $2 where id = $1", &[id.into(), is_disabled.into()])
}

/// Writes an account as it is, so that the audit log gets a row about an attempt to log in that changes nothing.
pub fn touch(tx: &mut Tx<'_>, email: &Email) -> Result<()> {
    tx.execute("update account set email = email where email = $1", &[email.as_str().into()]).map(drop)
}

/// Until the transaction ends, no other one on any node takes an owner away.
pub fn lock_owners(tx: &mut Tx<'_>) -> Result<()> {
    tx.execute("update serial set value = value where name = 'app'", &[]).map(drop)
}

/// The person was there.
pub fn set_seen(tx: &mut Tx<'_>, id: AccountId, now: UtcMillis) -> Result<()> {
    tx.write("update account set seen = $2 where id = $1", &[id.into(), now.into()])
}

/// Removes an account with its roles. Whether there was one.
pub fn delete(tx: &mut Tx<'_>, id: AccountId) -> Result<bool> {
    tx.execute("delete from account_role where account = $1", &[id.into()])?;
    Ok(tx.execute("delete from account where id = $1", &[id.into()])? > 0)
}

pub fn get(tx: &mut Tx<'_>, id: AccountId) -> Result<Option<Account>> {
    let sql = format!("select {COLUMNS} from account where id = $1");
    let found = tx.query_opt(&sql, &[id.into()], read_account)?;
    found.map(|account| with_roles(tx, account)).transpose()
}

pub fn by_email(tx: &mut Tx<'_>, email: &Email) -> Result<Option<Account>> {
    let sql = format!("select {COLUMNS} from account where email = $1");
    let found = tx.query_opt(&sql, &[email.as_str().into()], read_account)?;
    found.map(|account| with_roles(tx, account)).transpose()
}

pub fn count(tx: &mut Tx<'_>) -> Result<u64> {
    tx.query_one("select count(*) from account", &[], |row| row.get(0))
}

/// The owners who can log in, besides one account: with a password, or by the provider in use.
pub fn count_owners_besides(tx: &mut Tx<'_>, id: AccountId, provider: Option<&str>) -> Result<u64> {
    let sql = "select count(*) from account where is_owner = 1 and is_disabled = 0
               and (password is not null or issuer = $2) and id <> $1";
    // No provider has an empty name.
    tx.query_one(sql, &[id.into(), provider.unwrap_or_default().into()], |row| row.get(0))
}

/// The account of somebody whom a provider calls by this subject.
pub fn by_subject(tx: &mut Tx<'_>, issuer: &str, subject: &str) -> Result<Option<Account>> {
    let sql = format!("select {COLUMNS} from account where issuer = $1 and subject = $2");
    let found = tx.query_opt(&sql, &[issuer.into(), subject.into()], read_account)?;
    found.map(|account| with_roles(tx, account)).transpose()
}

/// Whether the person of an account logs in by a provider.
pub fn has_subject(tx: &mut Tx<'_>, id: AccountId) -> Result<bool> {
    let sql = "select count(*) from account where id = $1 and issuer is not null";
    Ok(tx.query_one(sql, &[id.into()], |row| row.get::<i64>(0))? > 0)
}

/// From now on the person of an account logs in by a provider.
pub fn set_subject(tx: &mut Tx<'_>, id: AccountId, issuer: &str, subject: &str) -> Result<()> {
    let sql = "update account set issuer = $2, subject = $3 where id = $1";
    tx.execute(sql, &[id.into(), issuer.into(), subject.into()]).map(drop)
}

/// Up to `at_most` accounts by their addresses, from one that is `start` or would come after it.
pub fn page(tx: &mut Tx<'_>, start: &str, at_most: u32) -> Result<Vec<Account>> {
    let sql = format!("select {COLUMNS} from account where email >= $1 order by email limit $2");
    let mut accounts = tx.query(&sql, &[start.into(), at_most.into()], read_account)?;
    let of_account = "select account, in_app, role from account_role where account = $1 order by in_app";
    let ids: Vec<[Value; 1]> = accounts.iter().map(|account| [account.id.into()]).collect();
    let roles = tx.query_many(of_account, ids, |row| {
        Ok((row.next::<AccountId>()?, row.next::<AppId>()?, read_role(row.next()?)?))
    })?;
    let mut by_account: HashMap<AccountId, BTreeMap<AppId, Role>> = HashMap::new();
    for (account, app, role) in roles {
        by_account.entry(account).or_default().insert(app, role);
    }
    for account in &mut accounts {
        account.roles = by_account.remove(&account.id).unwrap_or_default();
    }
    Ok(accounts)
}

/// The accounts with a role in an app, by their addresses; of their roles only that one.
pub fn team(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<(Account, Role)>> {
    let columns: Vec<String> = COLUMNS.split(", ").map(|column| format!("account.{column}")).collect();
    let sql = format!(
        "select {}, account_role.role from account_role join account on account.id = account_role.account
         where account_role.in_app = $1 order by account.email",
        columns.join(", ")
    );
    tx.query(&sql, &[app.into()], |row| Ok((read_account(row)?, read_role(row.next()?)?)))
}

/// Gives an account a role in an app, instead of any that it has there.
pub fn set_role(tx: &mut Tx<'_>, id: AccountId, app: AppId, role: Role) -> Result<()> {
    tx.write(
        "insert into account_role (account, in_app, role) values ($1, $2, $3)
         on conflict (account, in_app) do update set role = excluded.role",
        &[id.into(), app.into(), role.word().into()],
    )
}

/// Takes the role of an account in an app away. Whether it had one.
pub fn remove_role(tx: &mut Tx<'_>, id: AccountId, app: AppId) -> Result<bool> {
    let sql = "delete from account_role where account = $1 and in_app = $2";
    Ok(tx.execute(sql, &[id.into(), app.into()])? > 0)
}

/// The app is gone.
pub(crate) fn remove_roles_in(tx: &mut Tx<'_>, app: AppId) -> Result<()> {
    tx.execute("delete from account_role where in_app = $1", &[app.into()]).map(drop)
}

fn with_roles(tx: &mut Tx<'_>, mut account: Account) -> Result<Account> {
    let sql = "select in_app, role from account_role where account = $1 order by in_app";
    let roles = tx.query(sql, &[account.id.into()], |row| Ok((row.next()?, read_role(row.next()?)?)))?;
    account.roles = roles.into_iter().collect();
    Ok(account)
}

fn read_account(row: &Row<'_>) -> Result<Account> {
    Ok(Account {
        id: row.next()?,
        email: read_email(row.next()?)?,
        name: row.next()?,
        password: row.next()?,
        totp: read_totp(row)?,
        is_owner: row.next()?,
        is_disabled: row.next()?,
        created: row.next()?,
        seen: row.next()?,
        roles: BTreeMap::new(),
    })
}

fn read_totp(row: &Row<'_>) -> Result<Option<Totp>> {
    let (sealed, used): (Option<String>, Option<i64>) = (row.next()?, row.next()?);
    Ok(sealed.map(|sealed| Totp { sealed, used }))
}

fn read_email(text: &str) -> Result<Email> {
    Email::new(text).ok_or_else(|| Error::corrupt(format!("e-mail address {text:?} of an account")))
}

fn read_role(word: &str) -> Result<Role> {
    Role::from_word(word).ok_or_else(|| Error::corrupt(format!("role {word:?} of an account")))
}
