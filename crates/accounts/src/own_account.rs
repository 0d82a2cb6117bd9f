//! What people change about their own accounts: the password, and one-time codes. Each change asks for the password again, because
//! a browser that somebody has left open must not be enough for it.

use base::{Error, Result};
use boxed::boxed;
use model::account::{PASSWORD_SHAPE, Password};
use model::ids::AccountId;
use store::accounts::{self, Account, Totp};
use store::{Signal, Tx, sign_ins};
use tenancy::OPERATOR;

use crate::totp::TotpSecret;
use crate::{Accounts, Origin, Visitor};

#[boxed]
impl Accounts {
    /// Gives the visitor another password, which ends all of the account's sign-ins but this one.
    pub async fn change_password(&self, visitor: &Visitor, from: Origin, current: String, new: &str) -> Result<()> {
        let Some(new) = Password::new(new) else { return Err(Error::invalid("new", PASSWORD_SHAPE)) };
        self.prove(visitor, &from, current).await?;
        let (id, password, kept) = (visitor.account.id, self.0.passwords.hash(new).await?, visitor.hash);
        self.change_own(id, move |tx| {
            sign_ins::end_others(tx, id, Some(&kept))?;
            accounts::set_password(tx, id, &password)
        })
        .await
    }

    /// From the next login on, the visitor needs a code of the authenticator app that has this secret.
    pub async fn begin_codes(&self, visitor: &Visitor, secret: &TotpSecret, code: &str) -> Result<()> {
        if visitor.account.totp.is_some() {
            return Err(Error::Conflict("Codes are on already; switch them off first.".to_owned()));
        }
        let Some(step) = secret.step_of(code, self.0.clock.now(), None) else {
            return Err(Error::invalid("code", "This is not the code that the app shows now; try the next one."));
        };
        let id = visitor.account.id;
        let sealed = self.0.seal_key.seal(&codes_purpose(id), &secret.text())?;
        let totp = Totp { sealed, used: Some(step) };
        self.change_own(id, move |tx| accounts::set_totp(tx, id, Some(&totp))).await
    }

    /// The visitor logs in without codes again.
    pub async fn end_own_codes(&self, visitor: &Visitor, from: Origin, password: String) -> Result<()> {
        self.prove(visitor, &from, password).await?;
        self.end_codes(visitor.account.id).await
    }

    /// Whoever has the account logs in without codes again.
    pub async fn end_codes(&self, account: AccountId) -> Result<()> {
        self.change_own(account, move |tx| accounts::set_totp(tx, account, None)).await
    }

    pub(crate) fn totp_secret(&self, account: &Account, totp: &Totp) -> Result<TotpSecret> {
        let text = self.0.seal_key.open(&codes_purpose(account.id), &totp.sealed)?;
        TotpSecret::from_text(&text).ok_or_else(|| Error::internal("the secret of one-time codes is damaged"))
    }

    /// That the visitor is the person of the account, by the password; wrong ones count as in a login.
    async fn prove(&self, visitor: &Visitor, from: &Origin, password: String) -> Result<()> {
        let (email, now) = (&visitor.account.email, self.0.clock.now());
        self.0.attempts.begin(email, from.address, now)?;
        if !self.0.passwords.is_right(password, visitor.account.password.clone()).await? {
            return Err(Error::invalid("current", "This is not the current password."));
        }
        self.0.attempts.succeed(email, from.address);
        Ok(())
    }

    /// Changes an account, and has it read anew everywhere. The change says whether there is such an account.
    async fn change_own(
        &self,
        id: AccountId,
        change: impl Fn(&mut Tx<'_>) -> store::Result<bool> + Send + 'static,
    ) -> Result<()> {
        let write = move |tx: &mut Tx<'_>| {
            if !change(tx)? {
                return Err(Error::NotFound("account"));
            }
            tx.signal(Signal::Apps);
            tx.note_object("account_id", id);
            Ok(())
        };
        self.0.store.write(OPERATOR, write).await?;
        self.forget_visitors();
        Ok(())
    }
}

/// The purpose for which the codes of an account are sealed.
pub fn codes_purpose(account: AccountId) -> String {
    format!("one-time codes of {account}")
}

/// The codes of an account cannot be checked any more. The password goes with them, because it alone was not enough to get in; the
/// person needs a link.
pub fn forget_codes(tx: &mut Tx<'_>, account: AccountId) -> store::Result<()> {
    accounts::set_totp(tx, account, None)?;
    accounts::clear_password(tx, account)?;
    sign_ins::end_others(tx, account, None)?;
    tx.signal(Signal::Apps);
    Ok(())
}
