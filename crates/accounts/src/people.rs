//! The accounts of the installation, for its owners.

use std::collections::BTreeMap;

use base::{Error, Result};
use boxed::boxed;
use model::account::{AccountChange, Email, NewAccount};
use model::ids::AccountId;
use model::time::UtcMillis;
use store::accounts::{self, Account};
use store::login_links::{self, LinkPurpose};
use store::{Signal, Tx, sign_ins};
use tenancy::OPERATOR;

use crate::Accounts;
use crate::links::{self, Invitation};

/// Far more than any company has; a list of them is read at once.
const MOST_ACCOUNTS: u64 = 10_000;

pub(crate) fn new_account(id: AccountId, email: Email, now: UtcMillis) -> Account {
    let name = email.as_str().split('@').next().unwrap_or_default().to_owned();
    Account {
        id,
        email,
        name,
        password: None,
        totp: None,
        is_owner: false,
        is_disabled: false,
        created: now,
        seen: None,
        roles: BTreeMap::new(),
    }
}

#[boxed]
impl Accounts {
    /// Accounts by their addresses, from one that is `start` or would come after it, and the address with which the next page
    /// begins.
    pub async fn accounts(&self, start: String, limit: u32) -> Result<(Vec<Account>, Option<Email>)> {
        let read = move |tx: &mut Tx<'_>| accounts::page(tx, &start, limit.saturating_add(1));
        let mut page = self.0.store.read(read).await?;
        let next = page.get(limit as usize).map(|account| account.email.clone());
        page.truncate(limit as usize);
        Ok((page, next))
    }

    pub async fn account(&self, id: AccountId) -> Result<Account> {
        self.0.store.read(move |tx: &mut Tx<'_>| accounts::get(tx, id)).await?.ok_or(Error::NotFound("account"))
    }

    /// A new account, and the link for its first password.
    pub async fn invite(&self, new: NewAccount) -> Result<Invitation> {
        let NewAccount { email, owner } = new;
        let now = self.0.clock.now();
        let id = AccountId::at(now);
        let account = Account { is_owner: owner, ..new_account(id, email, now) };
        let (secret, link) = self.new_link(LinkPurpose::Password(id))?;
        let write = move |tx: &mut Tx<'_>| {
            refuse_too_many(tx)?;
            links::insert(tx, &account)?;
            Ok::<_, Error>(login_links::insert(tx, &link)?)
        };
        self.0.store.write(OPERATOR, write).await?;
        Ok(Invitation { account: id, secret: Some(secret) })
    }

    pub async fn change_account(&self, id: AccountId, change: AccountChange) -> Result<Account> {
        let provider = self.0.provider.get().cloned();
        let write = move |tx: &mut Tx<'_>| {
            let mut account = accounts::get(tx, id)?.ok_or(Error::NotFound("account"))?;
            let AccountChange { name, owner, disabled } = change.clone();
            let was_owner = account.is_owner && !account.is_disabled;
            if let Some(name) = name {
                accounts::set_name(tx, id, &name)?;
                account.name = name;
            }
            if let Some(is_owner) = owner {
                accounts::set_owner(tx, id, is_owner)?;
                account.is_owner = is_owner;
            }
            if let Some(is_disabled) = disabled {
                accounts::set_disabled(tx, id, is_disabled)?;
                account.is_disabled = is_disabled;
            }
            if was_owner && (!account.is_owner || account.is_disabled) {
                refuse_without_owner(tx, id, provider.as_deref())?;
            }
            if account.is_disabled {
                sign_ins::end_others(tx, id, None)?;
                login_links::delete_of(tx, id)?;
            }
            tx.signal(Signal::Apps);
            tx.note_detail("owner", account.is_owner);
            tx.note_detail("disabled", account.is_disabled);
            Ok::<_, Error>(account)
        };
        let changed = self.0.store.write(OPERATOR, write).await?;
        self.forget_visitors();
        Ok(changed)
    }

    pub async fn delete_account(&self, id: AccountId) -> Result<()> {
        let provider = self.0.provider.get().cloned();
        let write = move |tx: &mut Tx<'_>| {
            let account = accounts::get(tx, id)?.ok_or(Error::NotFound("account"))?;
            if account.is_owner && !account.is_disabled {
                refuse_without_owner(tx, id, provider.as_deref())?;
            }
            sign_ins::end_others(tx, id, None)?;
            login_links::delete_of(tx, id)?;
            accounts::delete(tx, id)?;
            tx.signal(Signal::Apps);
            tx.note_detail("email", account.email.as_str());
            Ok::<_, Error>(())
        };
        self.0.store.write(OPERATOR, write).await?;
        self.forget_visitors();
        Ok(())
    }
}

pub(crate) fn refuse_too_many(tx: &mut Tx<'_>) -> Result<()> {
    if accounts::count(tx)? >= MOST_ACCOUNTS {
        return Err(Error::Conflict(format!("There are {MOST_ACCOUNTS} accounts, which is the limit; delete some.")));
    }
    Ok(())
}

/// Somebody must be left who may do everything.
fn refuse_without_owner(tx: &mut Tx<'_>, id: AccountId, provider: Option<&str>) -> Result<()> {
    accounts::lock_owners(tx)?;
    if accounts::count_owners_besides(tx, id, provider)? == 0 {
        return Err(Error::Conflict("This is the last owner; make somebody else an owner first.".to_owned()));
    }
    Ok(())
}
