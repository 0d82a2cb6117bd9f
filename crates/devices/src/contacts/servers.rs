//! Contacts as servers speak of them: looked up by channel or named user, and several changed in one request.

use base::{Error, Result};
use boxed::boxed;
use model::contact::{ContactAssociation, ContactUpdate};
use model::ids::{AppId, ChannelId, ContactId, NamedUserId};
use store::{Tx, channels, named_users};

use super::{Contact, Person, contact_of, person, update_user};
use crate::Devices;
use crate::channels::stored_profile;
use crate::named_users::join;
use crate::room::Batch;

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

    /// Gives a channel to a contact. The only channel of somebody unknown is theirs already.
    pub async fn associate_with_contact(&self, app: AppId, association: ContactAssociation) -> Result<Vec<String>> {
        let ContactAssociation { contact_id, channel } = association;
        let shown = self.users_shown(app, &[contact_id]).await?;
        self.change_audience(app, move |tx, context| {
            let mut batch = Batch::default();
            match person(tx, app, contact_id, &shown)? {
                Person::NamedUser(user) => batch.mistake(join(tx, context, &channel, &user)?),
                Person::UserOf(row) if row.id == channel.id => {}
                Person::UserOf(_) => {
                    let text = "A contact that is not a named user has one channel; identify the user first.";
                    return Err(Error::Conflict(text.to_owned()));
                }
            }
            batch.finish()
        })
        .await
    }

    /// Makes each change of the contacts that it names. Unknown contacts are skipped, and each is told in a sentence.
    pub async fn update_contacts(
        &self,
        app: AppId,
        changes: Vec<(Vec<ContactId>, ContactUpdate)>,
    ) -> Result<Vec<String>> {
        let ids: Vec<ContactId> = changes.iter().flat_map(|(ids, _)| ids).copied().collect();
        let shown = self.users_shown(app, &ids).await?;
        self.change_audience(app, move |tx, context| {
            let mut unknown = Vec::new();
            for (ids, update) in &changes {
                for id in ids {
                    match person(tx, app, *id, &shown) {
                        Ok(Person::NamedUser(user)) => update_user(tx, context, &user, update)?,
                        Ok(Person::UserOf(row)) => context.change_unknown_user(tx, row, update)?,
                        Err(Error::NotFound(_)) => {
                            unknown.push(format!("There is no contact {id}; it is passed over."))
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
