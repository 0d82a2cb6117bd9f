//! Logging in and out, in one step or two.

use std::net::IpAddr;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::account::Email;
use model::ids::{AccountId, SignInId};
use model::time::UtcMillis;
use store::accounts::{self, Account};
use store::sign_ins::{self, SignIn};
use store::{Signal, Tx};
use tenancy::{OPERATOR, credentials};

use crate::visitors::{IDLE, Visitor};
use crate::{Accounts, links};

const MOST_AGENT_CHARS: usize = 200;

/// For how long somebody who has given the password may look for the one-time code.
const TICKET_LASTS: Duration = Duration::from_secs(5 * 60);
const TICKET: &str = "the second step of a login";

/// What somebody gives to log in.
#[derive(Clone)]
pub struct Login {
    pub email: Email,
    pub password: String,
}

/// Where somebody logs in from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub address: Option<IpAddr>,
    pub agent: Option<String>,
}

/// What became of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedIn {
    /// The secret for the cookie.
    Yes(String),
    /// The password is right, and a one-time code is needed; the ticket says so to the second step.
    CodeNeeded { ticket: String },
    /// Something is wrong; nobody learns what.
    No,
}

/// Something that somebody is logged in with.
pub type SignInView = SignIn;

#[boxed]
impl Accounts {
    pub async fn sign_in(&self, login: Login, from: Origin) -> Result<SignedIn> {
        let Login { email, password } = login;
        let now = self.0.clock.now();
        self.0.attempts.begin(&email, from.address, now)?;
        let found = self.account_with(&email, password).await;
        let Some(account) = found.inspect_err(|_| self.0.attempts.take_back(&email, from.address))? else {
            return Ok(SignedIn::No);
        };
        if account.totp.is_some() {
            // The attempt counts until the code is right, too: who knows the password may still guess codes.
            return Ok(SignedIn::CodeNeeded { ticket: self.ticket(&account, now)? });
        }
        self.0.attempts.succeed(&email, from.address);
        let secret = self.begin(&account, from, None).await?;
        Ok(secret.map_or(SignedIn::No, SignedIn::Yes))
    }

    /// The account with an address and a password, if nobody has locked it.
    async fn account_with(&self, email: &Email, password: String) -> Result<Option<Account>> {
        let wanted = email.clone();
        let account = self.0.store.read(move |tx: &mut Tx<'_>| accounts::by_email(tx, &wanted)).await?;
        let hash = account.as_ref().and_then(|account| account.password.clone());
        let is_right = self.0.passwords.is_right(password, hash).await?;
        Ok(account.filter(|account| is_right && !account.is_disabled))
    }

    /// The second step, with a one-time code.
    pub async fn sign_in_with_code(&self, ticket: &str, code: &str, from: Origin) -> Result<SignedIn> {
        let now = self.0.clock.now();
        let Some(account) = self.ticket_holder(ticket).await? else { return Ok(SignedIn::No) };
        self.0.attempts.begin(&account.email, from.address, now)?;
        let Some(totp) = &account.totp else { return Ok(SignedIn::No) };
        let Some(step) = self.totp_secret(&account, totp)?.step_of(code, now, totp.used) else {
            return Ok(SignedIn::No);
        };
        self.0.attempts.succeed(&account.email, from.address);
        let secret = self.begin(&account, from, Some(step)).await?;
        Ok(secret.map_or(SignedIn::No, SignedIn::Yes))
    }

    /// Says to the second step who has given the right password. It ends with that password.
    fn ticket(&self, account: &Account, now: UtcMillis) -> Result<String> {
        let ends = now.plus(TICKET_LASTS).0;
        self.0.seal_key.seal(TICKET, &format!("{} {ends} {}", account.id, mark_of(account)))
    }

    /// The account that a ticket is about, as long as the ticket counts.
    pub async fn ticket_holder(&self, ticket: &str) -> Result<Option<Account>> {
        let opened = self.0.seal_key.open(TICKET, ticket).unwrap_or_default();
        let mut parts = opened.split(' ');
        let id: Option<AccountId> = parts.next().and_then(|id| id.parse().ok());
        let ends: Option<i64> = parts.next().and_then(|ends| ends.parse().ok());
        let (Some(id), Some(ends), Some(mark)) = (id, ends, parts.next()) else { return Ok(None) };
        if self.0.clock.now().0 >= ends {
            return Ok(None);
        }
        let account = self.0.store.read(move |tx: &mut Tx<'_>| accounts::get(tx, id)).await?;
        Ok(account.filter(|account| !account.is_disabled && mark_of(account) == mark))
    }

    /// Has the audit log say that somebody could not log in to an account, if there is one.
    pub async fn note_refusal(&self, email: Email) -> Result<()> {
        Ok(self.0.store.write(OPERATOR, move |tx: &mut Tx<'_>| accounts::touch(tx, &email)).await?)
    }

    /// Lets somebody in. `None` if the account is not as it was any more, or its one-time code was used meanwhile.
    pub(crate) async fn begin(&self, account: &Account, from: Origin, step: Option<i64>) -> Result<Option<String>> {
        let (secret, sign_in) = self.new_sign_in(account.id, from)?;
        let (now, password, account) = (self.0.clock.now(), account.password.clone().unwrap_or_default(), account.id);
        let write = move |tx: &mut Tx<'_>| {
            if !accounts::sign_in(tx, account, &password, step, now)? {
                return Ok(false);
            }
            sign_ins::insert(tx, &sign_in)?;
            tx.note_object("account_id", account);
            Ok::<_, Error>(true)
        };
        let is_in = self.0.store.write(OPERATOR, write).await?;
        Ok(is_in.then_some(secret))
    }

    pub(crate) fn new_sign_in(&self, account: AccountId, from: Origin) -> Result<(String, SignIn)> {
        let (secret, now) = (links::new_secret()?, self.0.clock.now());
        let sign_in = SignIn {
            hash: credentials::hash(&secret),
            id: SignInId::at(now),
            account,
            created: now,
            used: now,
            ends: now.plus(IDLE),
            agent: from.agent.map(|agent| agent.chars().take(MOST_AGENT_CHARS).collect()),
            address: from.address.map(|address| address.to_string()),
        };
        Ok((secret, sign_in))
    }

    pub async fn sign_out(&self, visitor: &Visitor) -> Result<()> {
        let hash = visitor.hash;
        let write = move |tx: &mut Tx<'_>| {
            tx.signal(Signal::Apps);
            sign_ins::delete(tx, &hash)
        };
        self.0.store.write(OPERATOR, write).await?;
        self.forget_visitors();
        Ok(())
    }

    /// Everywhere that an account is logged in, the newest first.
    pub async fn sign_ins(&self, account: AccountId) -> Result<Vec<SignInView>> {
        let now = self.0.clock.now();
        let found = self.0.store.read(move |tx: &mut Tx<'_>| sign_ins::of_account(tx, account)).await?;
        Ok(found.into_iter().filter(|sign_in| sign_in.ends > now).collect())
    }

    pub async fn end_sign_in(&self, account: AccountId, id: SignInId) -> Result<()> {
        let write = move |tx: &mut Tx<'_>| {
            tx.signal(Signal::Apps);
            Ok::<_, Error>(sign_ins::end(tx, account, id)?)
        };
        let was_there = self.0.store.write(OPERATOR, write).await?;
        self.forget_visitors();
        if was_there { Ok(()) } else { Err(Error::NotFound("sign-in")) }
    }
}

/// Changes with the password, and says nothing about it.
fn mark_of(account: &Account) -> String {
    let hash = credentials::hash(account.password.as_deref().unwrap_or_default());
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
