//! Contacts as servers speak of them: looked up by channel or named user, and several changed in one request.

use base::{Error, Result};
use boxed::boxed;
use model::contact::{ContactAssociation, ContactName, ContactUpdate};
use model::ids::{AppId, ChannelId, ContactId, NamedUserId};
use store::channels::{self, Channel};
use store::{Tx, named_users};

use super::shown::ShownUsers;
use super::{Contact, Named, Person, contact_of, named, person, update_user};
use crate::channels::stored_profile;
use crate::named_users::join;
use crate::room::Batch;
use crate::{Author, Devices};

#[boxed]
impl Devices {
    /// Whose a channel is, under the id that events show.
    pub async fn contact_of_channel(&self, app: AppId, channel: ChannelId) -> Result<Contact> {
        let read = move |tx: &mut Tx<'_>| {
            let row = channels::by_id(tx, app, channel)?.filter(|row| row.installed);
            let row = row.ok_or(Error::NotFound("channel"))?;
            let associated = stored_profile(&row)?.associated.unwrap_or_default();
            let anonymous = if row.named_user.is_none() { contact_of(&row)? } else { None };
            Ok::<_, Error>((row.named_user, anonymous, associated))
        };
        let (user, anonymous, associated) = self.0.store.read(read).await?;
        match (user, anonymous) {
            (Some(user), _) => {
                Ok(Contact { id: self.shown_contact(app, &user).await?, is_anonymous: false, associated })
            }
            (None, Some(contact)) => Ok(contact),
            (None, None) => Err(Error::NotFound("contact")),
        }
    }

    /// The id under which events show a named user, who must exist.
    pub async fn contact_of_named_user(&self, app: AppId, user: NamedUserId) -> Result<ContactId> {
        let wanted = user.clone();
        let known = self.0.store.read(move |tx| named_users::get(tx, app, &wanted)).await?;
        known.ok_or(Error::NotFound("named user"))?;
        self.shown_contact(app, &user).await
    }

    /// Gives a channel that has no named user to a contact, which is made if there is none: a named user of that name. Answers
    /// the contact of the channel now, under the id that events show, and sentences about what was passed over.
    pub async fn associate_with_contact(
        &self,
        app: AppId,
        association: ContactAssociation,
    ) -> Result<(ContactId, Vec<String>)> {
        let ContactAssociation { contact, channel } = association;
        let shown = self.users_shown(app, contact.id.as_slice()).await?;
        let id = channel.id;
        let (user, warnings) = self
            .change_audience(app, move |tx, context| {
                let owner = channels::by_id(tx, app, channel.id)?.filter(|row| row.installed);
                if let Some(user) = owner.and_then(|row| row.named_user) {
                    return Ok((Some(user), Vec::new()));
                }
                match addressed(tx, app, &contact, &shown)? {
                    Addressed::User(user) => {
                        let mut batch = Batch::default();
                        batch.mistake(join(tx, context, &channel, &user)?);
                        Ok((Some(user), batch.finish()?))
                    }
                    Addressed::UnknownUserOf(owner) if owner.id == channel.id => Ok((None, Vec::new())),
                    Addressed::UnknownUserOf(_) => {
                        let text = "A contact that is not a named user has one channel; identify the user first.";
                        Err(Error::Conflict(text.to_owned()))
                    }
                }
            })
            .await?;
        let contact = match (self.contact_of_channel(app, id).await, user) {
            (Ok(contact), _) => contact.id,
            // It gets the channel when that registers.
            (Err(Error::NotFound(_)), Some(user)) => self.shown_contact(app, &user).await?,
            (Err(error), _) => return Err(error),
        };
        Ok((contact, warnings))
    }

    /// Makes each change of the contacts that it names. Unknown contacts are skipped, and each is told in a sentence.
    pub async fn update_contacts(
        &self,
        app: AppId,
        changes: Vec<(Vec<ContactName>, ContactUpdate)>,
    ) -> Result<Vec<String>> {
        let ids: Vec<ContactId> = changes.iter().flat_map(|(contacts, _)| contacts).filter_map(|one| one.id).collect();
        let shown = self.users_shown(app, &ids).await?;
        self.change_audience(app, move |tx, context| {
            let mut unknown = Vec::new();
            for (contacts, update) in &changes {
                for contact in contacts {
                    match named(tx, app, contact, &shown, Author::Servers) {
                        Ok(Named { person: Person::NamedUser(user), .. }) => update_user(tx, context, &user, update)?,
                        Ok(Named { person: Person::UserOf(row), .. }) => {
                            context.change_unknown_user(tx, row, update)?
                        }
                        Err(Error::NotFound(_)) => {
                            unknown.push(format!("There is no contact {}; it is passed over.", contact.user.as_str()))
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Ok(unknown)
        })
        .await
    }
}

/// Whom a server means by a contact.
enum Addressed {
    /// Who need not be there yet.
    User(NamedUserId),
    UnknownUserOf(Channel),
}

fn addressed(tx: &mut Tx<'_>, app: AppId, contact: &ContactName, shown: &ShownUsers) -> Result<Addressed> {
    let Some(id) = contact.id else { return Ok(Addressed::User(contact.user.clone())) };
    match person(tx, app, id, shown) {
        Ok(Person::NamedUser(user)) => Ok(Addressed::User(user)),
        Ok(Person::UserOf(row)) => Ok(Addressed::UnknownUserOf(row)),
        Err(Error::NotFound(_)) => Ok(Addressed::User(contact.user.clone())),
        Err(error) => Err(error),
    }
}
