//! Logging in and out.

use std::net::IpAddr;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::account::{Email, PASSWORD_SHAPE, Password};
use model::ids::{AccountId, SignInId};
use model::time::UtcMillis;
use store::accounts::{self, Account, Totp};
use store::sign_ins::{self, SignIn};
use store::{Signal, Tx};
use tenancy::{OPERATOR, credentials};

use crate::totp::TotpSecret;
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
pub struct From {
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
    pub async fn sign_in(&self, login: Login, from: From) -> Result<SignedIn> {
        let Login { email, password } = login;
        let now = self.0.clock.now();
        self.0.attempts.begin(&email, from.address, now)?;
        let wanted = email.clone();
        let account = self.0.store.read(move |tx: &mut Tx<'_>| accounts::by_email(tx, &wanted)).await?;
        let hash = account.as_ref().and_then(|account| account.password.clone());
        let is_right = self.0.passwords.is_right(password, hash).await?;
        let Some(account) = account.filter(|account| is_right && !account.is_disabled) else {
            return Ok(SignedIn::No);
        };
        self.0.attempts.succeed(&email, from.address);
        if account.totp.is_some() {
            let ticket = format!("{} {}", account.id, now.plus(TICKET_LASTS).0);
            return Ok(SignedIn::CodeNeeded { ticket: self.0.seal_key.seal(TICKET, &ticket)? });
        }
        let secret = self.begin(&account, from, None).await?;
        Ok(secret.map_or(SignedIn::No, SignedIn::Yes))
    }

    /// The second step, with a one-time code.
    pub async fn sign_in_with_code(&self, ticket: &str, code: &str, from: From) -> Result<SignedIn> {
        let now = self.0.clock.now();
        let Some(id) = self.ticket_holder(ticket, now) else { return Ok(SignedIn::No) };
        let account = self.0.store.read(move |tx: &mut Tx<'_>| accounts::get(tx, id)).await?;
        let Some(account) = account.filter(|account| !account.is_disabled) else { return Ok(SignedIn::No) };
        self.0.attempts.begin(&account.email, from.address, now)?;
        let Some(totp) = &account.totp else { return Ok(SignedIn::No) };
        let Some(step) = self.totp_secret(&account, totp)?.step_of(code, now, totp.used) else {
            return Ok(SignedIn::No);
        };
        self.0.attempts.succeed(&account.email, from.address);
        let secret = self.begin(&account, from, Some(step)).await?;
        Ok(secret.map_or(SignedIn::No, SignedIn::Yes))
    }

    fn ticket_holder(&self, ticket: &str, now: UtcMillis) -> Option<AccountId> {
        let text = self.0.seal_key.open(TICKET, ticket).ok()?;
        let (account, ends) = text.split_once(' ')?;
        (now.0 < ends.parse().ok()?).then(|| account.parse().ok())?
    }

    /// Lets somebody in. `None` if the account is not as it was any more, or its one-time code was used meanwhile.
    pub(crate) async fn begin(&self, account: &Account, from: From, step: Option<i64>) -> Result<Option<String>> {
        let (secret, sign_in) = self.new_sign_in(account.id, from)?;
        let (now, password, account) = (self.0.clock.now(), account.password.clone(), account.id);
        let write = move |tx: &mut Tx<'_>| {
            let Some(mut current) = accounts::get(tx, account)? else { return Ok(false) };
            let is_same = current.password == password && !current.is_disabled;
            let is_late = current.totp.as_ref().is_some_and(|totp| step.is_none_or(|step| totp.used >= Some(step)));
            if !is_same || is_late {
                return Ok(false);
            }
            if let Some(totp) = &mut current.totp {
                totp.used = step;
            }
            current.seen = Some(now);
            accounts::update(tx, &current)?;
            sign_ins::insert(tx, &sign_in)?;
            tx.note_object("account_id", account);
            Ok::<_, Error>(true)
        };
        let is_in = self.0.store.write(OPERATOR, write).await?;
        Ok(is_in.then_some(secret))
    }

    pub(crate) fn new_sign_in(&self, account: AccountId, from: From) -> Result<(String, SignIn)> {
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
        self.0.store.write(OPERATOR, move |tx: &mut Tx<'_>| sign_ins::delete(tx, &hash)).await?;
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

    /// Gives the visitor another password, which ends all of the account's sign-ins but this one.
    pub async fn change_password(&self, visitor: &Visitor, current: String, new: &str) -> Result<()> {
        let Some(new) = Password::new(new) else { return Err(Error::invalid("new", PASSWORD_SHAPE)) };
        let (id, email, now) = (visitor.account.id, visitor.account.email.clone(), self.0.clock.now());
        self.0.attempts.begin(&email, None, now)?;
        if !self.0.passwords.is_right(current, visitor.account.password.clone()).await? {
            return Err(Error::invalid("current", "This is not the current password."));
        }
        self.0.attempts.succeed(&email, None);
        let (password, kept) = (self.0.passwords.hash(new).await?, visitor.hash);
        self.change(id, move |tx, account| {
            account.password = Some(password.clone());
            sign_ins::end_others(tx, id, Some(&kept)).map(drop)
        })
        .await
    }

    /// From the next login on, the visitor needs a code of the authenticator app that has this secret.
    pub async fn begin_codes(&self, visitor: &Visitor, secret: &TotpSecret, code: &str) -> Result<()> {
        let now = self.0.clock.now();
        let Some(step) = secret.step_of(code, now, None) else {
            return Err(Error::invalid("code", "This is not the code that the app shows now; try the next one."));
        };
        let sealed = self.0.seal_key.seal(&totp_purpose(visitor.account.id), &secret.text())?;
        let totp = Totp { sealed, used: Some(step) };
        self.change(visitor.account.id, move |_, account| {
            account.totp = Some(totp.clone());
            Ok(())
        })
        .await
    }

    /// The visitor logs in without codes again.
    pub async fn end_codes(&self, account: AccountId) -> Result<()> {
        self.change(account, |_, account| {
            account.totp = None;
            Ok(())
        })
        .await
    }

    fn totp_secret(&self, account: &Account, totp: &Totp) -> Result<TotpSecret> {
        let text = self.0.seal_key.open(&totp_purpose(account.id), &totp.sealed)?;
        TotpSecret::from_text(&text).ok_or_else(|| Error::internal("the secret of one-time codes is damaged"))
    }

    /// Changes an account as it is now, and has it read anew everywhere.
    pub(crate) async fn change(
        &self,
        id: AccountId,
        change: impl Fn(&mut Tx<'_>, &mut Account) -> store::Result<()> + Send + 'static,
    ) -> Result<()> {
        let write = move |tx: &mut Tx<'_>| {
            let Some(mut account) = accounts::get(tx, id)? else { return Err(Error::NotFound("account")) };
            change(tx, &mut account)?;
            accounts::update(tx, &account)?;
            tx.signal(Signal::Apps);
            tx.note_object("account_id", id);
            Ok(())
        };
        self.0.store.write(OPERATOR, write).await?;
        self.forget_visitors();
        Ok(())
    }
}

fn totp_purpose(account: AccountId) -> String {
    format!("one-time codes of {account}")
}
