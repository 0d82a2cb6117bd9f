//! Links that let somebody in once, for first logins and lost passwords. No mail is sent: a person copies the link to another.

use std::time::Duration;

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use boxed::boxed;
use model::account::{EMAIL_SHAPE, Email, PASSWORD_SHAPE, Password};
use model::ids::AccountId;
use model::problem::{Problem, ProblemKind};
use store::accounts::{self, Account};
use store::login_links::{self, LinkPurpose, LoginLink};
use store::{Constraint, Signal, Tx, sign_ins};
use tenancy::{OPERATOR, credentials};

use crate::Accounts;
use crate::sign_in::Origin;

/// Of links that make an owner: whoever has one may do everything.
const OWNER_LINK: Duration = Duration::from_secs(60 * 60);
/// Of invitations and links for a new password.
const PASSWORD_LINK: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// What a link is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFor {
    NewOwner,
    /// A first password, or another one.
    Password {
        email: Email,
        name: String,
        is_first: bool,
    },
}

/// What somebody chooses who uses a link.
#[derive(Clone)]
pub struct NewPassword {
    /// Needed where the link makes an account.
    pub email: String,
    pub name: String,
    pub password: String,
}

/// A new account or a new place in a team, with the secret of the link that lets its person in for the first time.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub account: AccountId,
    /// `None` if the person has a password already.
    pub secret: Option<String>,
}

/// What became of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsedLink {
    /// The person is logged in; the secret is for the cookie.
    SignedIn(String),
    /// The password was set; logging in needs a one-time code, too.
    CodeNeeded,
    /// It was used already, has ended, or the account is locked.
    Ended,
}

pub(crate) fn new_secret() -> Result<String> {
    Ok(BASE64_URL.encode(credentials::random_bytes::<32>()?))
}

#[boxed]
impl Accounts {
    /// Whether nobody has an account yet.
    pub async fn is_without_accounts(&self) -> Result<bool> {
        Ok(self.0.store.read(accounts::count).await? == 0)
    }

    /// The secret of a link with which somebody makes an account that owns the installation.
    pub async fn new_owner_link(&self) -> Result<String> {
        let (secret, link) = self.new_link(LinkPurpose::NewOwner)?;
        self.0.store.write(OPERATOR, move |tx: &mut Tx<'_>| login_links::insert(tx, &link)).await?;
        Ok(secret)
    }

    /// The secret of a link with which the person of an account chooses a password. Earlier links end.
    pub async fn password_link(&self, account: AccountId) -> Result<String> {
        let (secret, link) = self.new_link(LinkPurpose::Password(account))?;
        let write = move |tx: &mut Tx<'_>| {
            let known = accounts::get(tx, account)?.ok_or(Error::NotFound("account"))?;
            if known.is_disabled {
                return Err(Error::NotFound("account that is not locked"));
            }
            login_links::delete_of(tx, account)?;
            Ok::<_, Error>(login_links::insert(tx, &link)?)
        };
        self.0.store.write(OPERATOR, write).await?;
        Ok(secret)
    }

    /// What a link is good for; `None` if it was used, has ended or never was.
    pub async fn look_at_link(&self, secret: &str) -> Result<Option<LinkFor>> {
        let (hash, now) = (credentials::hash(secret), self.0.clock.now());
        let read = move |tx: &mut Tx<'_>| {
            let link = login_links::by_hash(tx, &hash)?.filter(|link| link.ends > now);
            Ok(match link.map(|link| link.purpose) {
                None => None,
                Some(LinkPurpose::NewOwner) => Some(LinkFor::NewOwner),
                Some(LinkPurpose::Password(id)) => accounts::get(tx, id)?.map(|account| {
                    let is_first = account.password.is_none();
                    LinkFor::Password { email: account.email, name: account.name, is_first }
                }),
            })
        };
        self.0.store.read(read).await
    }

    /// Uses a link: the person has a password from now on, and is logged in, unless that needs a code.
    pub async fn use_link(&self, secret: &str, new: NewPassword, from: Origin) -> Result<UsedLink> {
        let Some(purpose) = self.look_at_link(secret).await? else { return Ok(UsedLink::Ended) };
        let NewPassword { email, name, password } = new;
        let (email, name) = match purpose {
            LinkFor::NewOwner => (Email::new(&email), name),
            LinkFor::Password { email, name: known, .. } => (Some(email), if name.is_empty() { known } else { name }),
        };
        let name = name.trim().to_owned();
        let mut problems = Vec::new();
        let password = Password::new(&password);
        if email.is_none() {
            problems.push(problem("email", EMAIL_SHAPE));
        }
        if password.is_none() {
            problems.push(problem("password", PASSWORD_SHAPE));
        }
        if name.is_empty()
            || name.chars().count() > model::limits::DISPLAY_NAME_CHARS
            || name.contains(char::is_control)
        {
            problems.push(problem("name", "This must be a name of 1 to 128 characters."));
        }
        Error::refuse(problems)?;
        let (Some(email), Some(password)) = (email, password) else { return Ok(UsedLink::Ended) };
        let password = self.0.passwords.hash(password).await?;
        self.let_in(credentials::hash(secret), email, name, password, from).await
    }

    async fn let_in(
        &self,
        link: [u8; 32],
        email: Email,
        name: String,
        password: String,
        from: Origin,
    ) -> Result<UsedLink> {
        let now = self.0.clock.now();
        let new_id = AccountId::at(now);
        let (secret, sign_in) = self.new_sign_in(new_id, from)?;
        let write = move |tx: &mut Tx<'_>| {
            let known = login_links::by_hash(tx, &link)?.filter(|link| link.ends > now);
            let Some(known) = known else { return Ok(Used::Not) };
            // Of two who use a link at once, one finds it.
            if !login_links::delete(tx, &link)? {
                return Ok(Used::Not);
            }
            let account = match known.purpose {
                LinkPurpose::NewOwner => {
                    let account = Account {
                        name: name.clone(),
                        password: Some(password.clone()),
                        is_owner: true,
                        seen: Some(now),
                        ..crate::people::new_account(new_id, email.clone(), now)
                    };
                    insert(tx, &account)?;
                    new_id
                }
                LinkPurpose::Password(id) => {
                    let Some(account) = accounts::get(tx, id)? else { return Ok(Used::Not) };
                    if !accounts::set_password(tx, id, &password)? {
                        return Ok(Used::Not);
                    }
                    accounts::set_name(tx, id, &name)?;
                    login_links::delete_of(tx, id)?;
                    sign_ins::end_others(tx, id, None)?;
                    tx.note_object("account_id", id);
                    tx.signal(Signal::Apps);
                    // A link is copied by way of others, who must not get around the second factor by it.
                    if account.totp.is_some() {
                        return Ok(Used::WithoutCode);
                    }
                    accounts::set_seen(tx, id, now)?;
                    id
                }
            };
            sign_ins::insert(tx, &sign_ins::SignIn { account, ..sign_in.clone() })?;
            tx.signal(Signal::Apps);
            Ok::<_, Error>(Used::Wholly)
        };
        let used = self.0.store.write(OPERATOR, write).await?;
        self.forget_visitors();
        Ok(match used {
            Used::Wholly => UsedLink::SignedIn(secret),
            Used::WithoutCode => UsedLink::CodeNeeded,
            Used::Not => UsedLink::Ended,
        })
    }

    pub(crate) fn new_link(&self, purpose: LinkPurpose) -> Result<(String, LoginLink)> {
        let secret = new_secret()?;
        let lasts = match purpose {
            LinkPurpose::NewOwner => OWNER_LINK,
            LinkPurpose::Password(_) => PASSWORD_LINK,
        };
        let link = LoginLink { hash: credentials::hash(&secret), purpose, ends: self.0.clock.now().plus(lasts) };
        Ok((secret, link))
    }
}

fn problem(path: &str, message: &str) -> Problem {
    Problem { path: path.to_owned(), message: message.to_owned(), kind: ProblemKind::Invalid }
}

/// Whether a transaction has used a link, and let somebody in by it.
enum Used {
    Wholly,
    WithoutCode,
    Not,
}

/// An address belongs to one account.
pub(crate) fn insert(tx: &mut Tx<'_>, account: &Account) -> Result<()> {
    match accounts::insert(tx, account) {
        Err(store::Error::Conflict(Constraint::Index(name))) if name == "account_by_email" => {
            Err(Error::Conflict(format!("There is an account of {} already.", account.email)))
        }
        other => Ok(other?),
    }
}
