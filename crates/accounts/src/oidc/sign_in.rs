//! Lets somebody in of whom the provider has said who it is. An account is the provider's subject; a mail address counts only
//! once, for an invitation, and only if the provider has verified it.

use std::collections::BTreeMap;

use base::{Error, Result};
use boxed::boxed;
use model::account::{Email, Role};
use model::ids::{AccountId, AppId};
use store::accounts::{self, Account};
use store::{Signal, Tx, login_links, sign_ins};
use tenancy::OPERATOR;

use super::{Grant, GroupRole, Identity, LoginRefusal, Oidc, Proven};
use crate::people::{new_account, refuse_too_many};
use crate::{Accounts, Origin, links};

/// What became of a login by the provider.
pub type ProviderSignIn = Proven<String>;

const NO_ROLE: LoginRefusal =
    LoginRefusal("You have no role in any app. Ask an administrator to add you to a team or to a group that has one.");
const LOCKED: LoginRefusal = LoginRefusal("This account is locked; an owner of the installation can unlock it.");
const TAKEN: LoginRefusal = LoginRefusal(
    "There is an account with your address already, which logs in with a password; an owner can delete it.",
);
const NAMELESS: LoginRefusal =
    LoginRefusal("The provider has not verified a mail address of yours, which a new account needs.");

/// What groups of somebody give.
#[derive(Clone, Default)]
struct Granted {
    is_owner: bool,
    roles: BTreeMap<AppId, Role>,
}

#[boxed]
impl Accounts {
    /// Logs somebody in: with the secret for the cookie, or a sentence for the person.
    pub async fn sign_in_by_provider(&self, oidc: &Oidc, identity: Identity, from: Origin) -> Result<ProviderSignIn> {
        let (now, groups) = (self.0.clock.now(), oidc.groups().to_vec());
        let new_id = AccountId::at(now);
        let (secret, sign_in) = self.new_sign_in(new_id, from)?;
        let write = move |tx: &mut Tx<'_>| {
            let granted = if groups.is_empty() { None } else { Some(granted(tx, &groups, &identity.groups)?) };
            let mut account = match find(tx, &identity)? {
                Ok(Some(known)) => known,
                Ok(None) => {
                    if !granted.as_ref().is_some_and(|granted| granted.is_owner || !granted.roles.is_empty()) {
                        return Ok(Err(NO_ROLE));
                    }
                    let Some(email) = identity.email.clone() else { return Ok(Err(NAMELESS)) };
                    make(tx, new_account(new_id, email, now), &identity)?
                }
                Err(refusal) => return Ok(Err(refusal)),
            };
            if account.is_disabled {
                return Ok(Err(LOCKED));
            }
            if let Some(granted) = granted {
                apply(tx, &mut account, granted, &identity.issuer)?;
            }
            tx.signal(Signal::Apps);
            tx.note_object("account_id", account.id);
            // The roles that were taken away stay away.
            if !account.is_owner && account.roles.is_empty() {
                return Ok(Err(NO_ROLE));
            }
            login_links::delete_of(tx, account.id)?;
            accounts::set_seen(tx, account.id, now)?;
            sign_ins::insert(tx, &sign_ins::SignIn { account: account.id, ..sign_in.clone() })?;
            Ok::<_, Error>(Ok(()))
        };
        let signed_in = self.0.store.write(OPERATOR, write).await?;
        self.forget_visitors();
        Ok(signed_in.map(|()| secret))
    }
}

/// The account of somebody: by the subject, or by an invitation to a verified address, which becomes the subject's.
fn find(tx: &mut Tx<'_>, identity: &Identity) -> Result<Proven<Option<Account>>> {
    if let Some(known) = accounts::by_subject(tx, &identity.issuer, &identity.subject)? {
        return Ok(Ok(Some(known)));
    }
    let Some(email) = &identity.email else { return Ok(Ok(None)) };
    let Some(account) = accounts::by_email(tx, email)? else { return Ok(Ok(None)) };
    if account.is_disabled {
        return Ok(Err(LOCKED));
    }
    if account.password.is_some() || accounts::has_subject(tx, account.id)? {
        return Ok(Err(TAKEN));
    }
    bind(tx, &account, identity)?;
    Ok(Ok(Some(account)))
}

fn make(tx: &mut Tx<'_>, account: Account, identity: &Identity) -> Result<Account> {
    refuse_too_many(tx)?;
    links::insert(tx, &account)?;
    bind(tx, &account, identity)?;
    Ok(account)
}

fn bind(tx: &mut Tx<'_>, account: &Account, identity: &Identity) -> Result<()> {
    accounts::set_subject(tx, account.id, &identity.issuer, &identity.subject)?;
    if let Some(name) = &identity.name {
        accounts::set_name(tx, account.id, name)?;
    }
    Ok(())
}

/// The highest role of those that the groups of somebody have in each app.
fn granted(tx: &mut Tx<'_>, all: &[GroupRole], own: &[String]) -> Result<Granted> {
    let mut granted = Granted::default();
    for GroupRole { grant, .. } in all.iter().filter(|known| own.contains(&known.group)) {
        match grant {
            Grant::Owner => granted.is_owner = true,
            Grant::InApp(key, role) => {
                let Some((app, _)) = store::apps::by_key(tx, key.as_str())? else { continue };
                let highest = granted.roles.entry(app.id).or_insert(*role);
                *highest = (*highest).max(*role);
            }
        }
    }
    Ok(granted)
}

/// Somebody has the roles of their groups, and no others; only the last owner stays one, as when people change accounts.
fn apply(tx: &mut Tx<'_>, account: &mut Account, granted: Granted, provider: &str) -> Result<()> {
    for app in account.roles.keys().filter(|app| !granted.roles.contains_key(app)) {
        accounts::remove_role(tx, account.id, *app)?;
    }
    for (app, role) in granted.roles.iter().filter(|(app, role)| account.roles.get(app) != Some(role)) {
        accounts::set_role(tx, account.id, *app, *role)?;
    }
    let is_kept = account.is_owner && !granted.is_owner && is_last_owner(tx, account.id, provider)?;
    if is_kept {
        tracing::warn!(account = %account.id, "the last owner has left the groups of owners and stays one");
        tx.note_detail("kept_as_last_owner", true);
    }
    let is_owner = granted.is_owner || is_kept;
    if account.is_owner != is_owner {
        accounts::set_owner(tx, account.id, is_owner)?;
    }
    (account.roles, account.is_owner) = (granted.roles, is_owner);
    Ok(())
}

/// Whether no other owner could log in, be it with a password or by the provider.
fn is_last_owner(tx: &mut Tx<'_>, id: AccountId, provider: &str) -> Result<bool> {
    accounts::lock_owners(tx)?;
    Ok(accounts::count_owners_besides(tx, id, Some(provider))? == 0)
}

/// What the audit log calls somebody of whom only the provider has spoken so far.
impl Identity {
    pub fn credential(&self) -> String {
        self.email.as_ref().map_or_else(|| "account".to_owned(), |email: &Email| format!("account {email}"))
    }
}
