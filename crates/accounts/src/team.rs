//! The team of an app: who has which role in it, for its administrators.

use base::{Error, Result};
use boxed::boxed;
use model::account::{NewMember, Role};
use model::ids::{AccountId, AppId};
use store::accounts::{self, Account};
use store::login_links::{self, LinkPurpose};
use store::{Signal, Tx};

use crate::Accounts;
use crate::links::{self, Invitation};
use crate::people::{new_account, refuse_too_many};

/// Somebody who has a role in an app.
#[derive(Clone, Debug)]
pub struct Member {
    pub account: Account,
    pub role: Role,
}

#[boxed]
impl Accounts {
    pub async fn team(&self, app: AppId) -> Result<Vec<Member>> {
        let team = self.0.store.read(move |tx: &mut Tx<'_>| accounts::team(tx, app)).await?;
        Ok(team.into_iter().map(|(account, role)| Member { account, role }).collect())
    }

    /// Gives somebody a role in an app. A person without an account gets one, and a link for the first password. Another link
    /// for an account that has none yet is made only if the account has nothing outside this app: it lets in whoever has it.
    pub async fn add_member(&self, app: AppId, new: NewMember) -> Result<Invitation> {
        let NewMember { email, role } = new;
        let now = self.0.clock.now();
        let new_id = AccountId::at(now);
        let (secret, link) = self.new_link(LinkPurpose::Password(new_id))?;
        let write = move |tx: &mut Tx<'_>| {
            let (account, is_new) = match accounts::by_email(tx, &email)? {
                Some(known) if known.is_disabled => {
                    return Err(Error::Conflict(format!("The account of {email} is locked; an owner can unlock it.")));
                }
                Some(known) => (known, false),
                None => (new_account(new_id, email.clone(), now), true),
            };
            if is_new {
                refuse_too_many(tx)?;
                links::insert(tx, &account)?;
            }
            accounts::set_role(tx, account.id, app, role)?;
            let is_ours = !account.is_owner && account.roles.keys().all(|known| *known == app);
            let needs_link = account.password.is_none() && is_ours;
            if needs_link {
                login_links::delete_of(tx, account.id)?;
                let purpose = LinkPurpose::Password(account.id);
                login_links::insert(tx, &login_links::LoginLink { purpose, ..link.clone() })?;
            }
            tx.signal(Signal::Apps);
            tx.note_object("account_id", account.id);
            tx.note_detail("email", email.as_str());
            tx.note_detail("role", role.word());
            Ok::<_, Error>((account.id, needs_link))
        };
        let (account, needs_link) = self.0.store.write(app, write).await?;
        self.forget_visitors();
        Ok(Invitation { account, secret: needs_link.then_some(secret) })
    }

    pub async fn change_member(&self, app: AppId, id: AccountId, role: Role) -> Result<()> {
        let write = move |tx: &mut Tx<'_>| {
            let account = accounts::get(tx, id)?.filter(|account| account.roles.contains_key(&app));
            let account = account.ok_or(Error::NotFound("member of the team"))?;
            accounts::set_role(tx, id, app, role)?;
            tx.signal(Signal::Apps);
            tx.note_detail("email", account.email.as_str());
            tx.note_detail("role", role.word());
            Ok::<_, Error>(())
        };
        self.0.store.write(app, write).await?;
        self.forget_visitors();
        Ok(())
    }

    pub async fn remove_member(&self, app: AppId, id: AccountId) -> Result<()> {
        let write = move |tx: &mut Tx<'_>| {
            let account = accounts::get(tx, id)?.ok_or(Error::NotFound("member of the team"))?;
            if !accounts::remove_role(tx, id, app)? {
                return Err(Error::NotFound("member of the team"));
            }
            tx.signal(Signal::Apps);
            tx.note_detail("email", account.email.as_str());
            Ok::<_, Error>(())
        };
        self.0.store.write(app, write).await?;
        self.forget_visitors();
        Ok(())
    }
}
