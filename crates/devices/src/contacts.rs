//! Contacts: the people behind channels, as devices ask about them and change them. A change by a device goes to its named user,
//! or to the unknown user of the channel as long as that has none.

mod keys;
mod servers;
mod shown;
mod unknown;

pub use keys::ContactKey;
pub(crate) use keys::ContactKeys;
pub(crate) use shown::RememberedUsers;

use base::{Error, Result};
use boxed::boxed;
use model::channel::{ChannelRef, Profile};
use model::contact::{ContactAction, ContactName, ContactUpdate};
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, ContactId, NamedUserId};
use model::subscription::{Scope, ScopedSubscriptions};
use model::time::UtcMillis;
use store::channels::{self, Channel};
use store::{Tx, contacts, named_users};
use tenancy::Rights;

use crate::change_context::ChangeContext;
use crate::channels::contact_key;
use crate::holdings::Holdings;
use crate::named_users::{has_room, join, leave};
use crate::subscriptions::apply_scoped;
use crate::{Author, Devices};
use shown::ShownUsers;

/// Whose a channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    pub id: ContactId,
    pub is_anonymous: bool,
    /// When the channel was associated with this contact. Of one that never was this is long ago: device libraries that get
    /// another contact than they thought drop what the app told them before this time.
    pub associated: UtcMillis,
}

/// The person behind a contact.
enum Person {
    NamedUser(NamedUserId),
    /// The user of an installed channel without a named user.
    UserOf(Channel),
}

/// A contact that a caller names.
struct Named {
    person: Person,
    /// The id that it is named by, unless that is the id of a named user.
    id: Option<ContactId>,
}

#[boxed]
impl Devices {
    /// Whose a channel is, after what its device does about that.
    pub async fn contact(&self, app: AppId, channel: ChannelRef, action: ContactAction) -> Result<Contact> {
        let author = self.1;
        // Most devices only ask, and nearly always there is nothing to write for that.
        if let ContactAction::Resolve(last) = action {
            let asked = channel.clone();
            if let Some(known) = self.0.store.read(move |tx| known_contact(tx, app, &asked, last, author)).await? {
                return Ok(known);
            }
        }
        let (next, next_of_user) = (ContactId::random(), ContactId::random_of_named_user());
        self.change_audience(app, move |tx, context| {
            let mut id_of_user = next_of_user;
            match &action {
                ContactAction::Resolve(last) => {
                    let row = context.installed_one(tx, &channel)?;
                    if let Some((last, user)) = returning_user(tx, app, &row, *last, author)? {
                        take_id_of_user(tx, context, &user, last)?;
                        join(tx, context, &channel, &user)?;
                        id_of_user = last;
                    }
                }
                ContactAction::Identify(user) => {
                    context.installed_one(tx, &channel)?;
                    join(tx, context, &channel, user)?;
                }
                ContactAction::Reset => {
                    leave(tx, context, &channel, None)?;
                    let row = context.installed_one(tx, &channel)?;
                    context.replace_unknown_user(tx, row, next)?;
                }
            }
            let row = context.installed_one(tx, &channel)?;
            let row = tell_id_of_user(tx, context, row, id_of_user)?;
            contact_of(&row)?.ok_or_else(|| Error::internal("a contact has no id"))
        })
        .await
    }

    /// Changes several things about one contact. `refused_for_named` says why the caller may not change a named user, if so; what
    /// is said about an unknown user is its channel's.
    pub async fn update_contact(
        &self,
        app: AppId,
        contact: ContactName,
        update: ContactUpdate,
        rights: Rights,
        refused_for_named: Option<String>,
    ) -> Result<()> {
        let (shown, author) = (self.users_shown(app, contact.id.as_slice()).await?, self.1);
        self.change_audience(app, move |tx, context| match named(tx, app, &contact, &shown, author)?.person {
            Person::NamedUser(user) => {
                if let Some(why) = &refused_for_named {
                    return Err(Error::Forbidden(why.clone()));
                }
                for channel in &update.associate {
                    check_claim(tx, app, channel, rights)?;
                    join(tx, context, channel, &user)?;
                }
                update_user(tx, context, &user, &update)
            }
            Person::UserOf(_) if !update.associate.is_empty() => {
                let text = "A contact that is not a named user has one channel; identify the user first.";
                Err(Error::Conflict(text.to_owned()))
            }
            Person::UserOf(row) => context.change_unknown_user(tx, row, &update),
        })
        .await
    }

    /// The subscriptions of a contact.
    pub async fn contact_subscriptions(&self, app: AppId, contact: ContactName) -> Result<ScopedSubscriptions> {
        let (shown, author) = (self.users_shown(app, contact.id.as_slice()).await?, self.1);
        let index = self.0.index.get(app).await?;
        let now = self.0.clock.now();
        self.0
            .store
            .read(move |tx| {
                let context = ChangeContext::new(app, &index, now);
                match named(tx, app, &contact, &shown, author)?.person {
                    Person::NamedUser(user) => {
                        let terms = named_users::get(tx, app, &user)?.map(|user| user.terms).unwrap_or_default();
                        Ok(Holdings::of(context.names(tx, &terms)?).scoped_subscriptions())
                    }
                    Person::UserOf(row) => {
                        let own = Holdings::of(context.names(tx, &row.terms)?).own_subscriptions();
                        let scope = Scope::of(&row.device_type);
                        Ok(if own.is_empty() { ScopedSubscriptions::new() } else { [(scope, own)].into() })
                    }
                }
            })
            .await
    }

    /// Fails unless there is such a contact.
    pub async fn check_contact(&self, app: AppId, contact: ContactName) -> Result<()> {
        let (shown, author) = (self.users_shown(app, contact.id.as_slice()).await?, self.1);
        self.0.store.read(move |tx| named(tx, app, &contact, &shown, author).map(drop)).await
    }

    /// Fails unless a channel is this contact's.
    pub async fn check_channel_of_contact(&self, app: AppId, contact: ContactId, channel: ChannelId) -> Result<()> {
        let shown = self.users_shown(app, &[contact]).await?;
        let is_own = move |tx: &mut Tx<'_>| -> Result<bool> {
            let named = |row: Channel| row.named_user.filter(|_| row.installed);
            Ok(match person(tx, app, contact, &shown)? {
                Person::NamedUser(user) => channels::by_id(tx, app, channel)?.and_then(named) == Some(user),
                Person::UserOf(row) => row.id == channel,
            })
        };
        if self.0.store.read(is_own).await? {
            return Ok(());
        }
        Err(Error::Forbidden(format!("The channel {channel} is not this contact's.")))
    }

    /// Removes a channel from a contact, and answers the id of the contact; a channel of another contact is skipped.
    pub async fn disassociate_from_contact(
        &self,
        app: AppId,
        contact: ContactName,
        channel: ChannelId,
    ) -> Result<ContactId> {
        let (shown, author) = (self.users_shown(app, contact.id.as_slice()).await?, self.1);
        let found = self.change_audience(app, move |tx, context| {
            let found = named(tx, app, &contact, &shown, author)?;
            match &found.person {
                Person::NamedUser(user) => {
                    leave(tx, context, &ChannelRef { id: channel, claimed: None }, Some(user))?;
                }
                Person::UserOf(_) => {}
            }
            Ok(found)
        });
        match found.await? {
            Named { id: Some(id), .. } => Ok(id),
            Named { person: Person::NamedUser(user), id: None } => self.shown_contact(app, &user).await,
            Named { person: Person::UserOf(_), id: None } => Err(Error::internal("an unknown user has no name")),
        }
    }
}

/// The contact of a channel, unless something has to be written for it first.
fn known_contact(
    tx: &mut Tx<'_>,
    app: AppId,
    channel: &ChannelRef,
    last: Option<ContactId>,
    author: Author,
) -> Result<Option<Contact>> {
    let row = channels::by_id(tx, app, channel.id)?;
    let row = row.filter(|row| row.installed && channel.fits(&row.device_type)).ok_or(Error::NotFound("channel"))?;
    let Some(contact) = contact_of(&row)? else { return Ok(None) };
    let is_written = if contact.is_anonymous {
        returning_user(tx, app, &row, last, author)?.is_none()
    } else {
        contacts::named_user(tx, app, contact.id)? == row.named_user
    };
    Ok(is_written.then_some(contact))
}

/// The id of its channel's user that a device is told from now on, unless it has one that is still good.
fn tell_id_of_user(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, row: Channel, new: ContactId) -> Result<Channel> {
    let Some(user) = row.named_user.clone() else { return Ok(row) };
    let opened = context.open(tx, row)?;
    if let Some(known) = opened.state.profile.named_contact
        && contacts::named_user(tx, context.app, known)?.as_ref() == Some(&user)
    {
        return Ok(opened.row);
    }
    contacts::keep(tx, context.app, new, &user)?;
    let mut after = opened.state.clone();
    after.profile.named_contact = Some(new);
    context.save(tx, opened, after)
}

/// Takes an id from the channel that has it, which its device has left for another: it must not end with that one.
fn take_id_of_user(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, user: &NamedUserId, id: ContactId) -> Result<()> {
    for row in named_users::channels_of(tx, context.app, user)? {
        let opened = context.open(tx, row)?;
        if opened.state.profile.named_contact == Some(id) {
            let mut after = opened.state.clone();
            after.profile.named_contact = None;
            context.save(tx, opened, after)?;
        }
    }
    Ok(())
}

/// The named user of a device that had to register anew and still knows its last contact. The device need not have been told the
/// user's own id, but nobody else was told the id of the contact, which is random, and ends when its device leaves the user.
fn returning_user(
    tx: &mut Tx<'_>,
    app: AppId,
    row: &Channel,
    last: Option<ContactId>,
    author: Author,
) -> Result<Option<(ContactId, NamedUserId)>> {
    let Some(last) = last.filter(ContactId::is_of_named_user) else { return Ok(None) };
    let profile: Profile = serde_json::from_str(&row.profile).map_err(Error::internal)?;
    // A channel that was taken from its user stays so.
    if row.named_user.is_some() || profile.associated.is_some() {
        return Ok(None);
    }
    let user = contacts::named_user(tx, app, last)?;
    match user {
        Some(user) if has_room(tx, app, &user, author)? => Ok(Some((last, user))),
        Some(_) | None => Ok(None),
    }
}

/// `None` when the device was not told an id of its user yet.
fn contact_of(row: &Channel) -> Result<Option<Contact>> {
    let profile: Profile = serde_json::from_str(&row.profile).map_err(Error::internal)?;
    let id = match (&row.named_user, profile.named_contact) {
        (Some(_), Some(id)) => id,
        (Some(_), None) => return Ok(None),
        (None, _) => profile.unknown_contact_of(row.id),
    };
    let is_anonymous = row.named_user.is_none();
    // A device that chose such an id for its channel would speak for another contact.
    if is_anonymous && id.is_of_named_user() {
        return Err(Error::Conflict("This channel id cannot have a contact; register a new channel.".to_owned()));
    }
    Ok(Some(Contact { id, is_anonymous, associated: profile.associated.unwrap_or_default() }))
}

/// The person whom a caller names: by an id, or else as a server has called a contact that it has made. Names are easy to guess, so
/// that a device says nothing by one.
fn named(tx: &mut Tx<'_>, app: AppId, contact: &ContactName, shown: &ShownUsers, author: Author) -> Result<Named> {
    let none = Error::NotFound("contact");
    if let Some(id) = contact.id {
        match person(tx, app, id, shown) {
            Err(Error::NotFound(_)) => {}
            found => return Ok(Named { person: found?, id: Some(id) }),
        }
    }
    match author {
        Author::Devices => Err(none),
        Author::Servers => {
            let user = named_users::get(tx, app, &contact.user)?.ok_or(none)?;
            Ok(Named { person: Person::NamedUser(user.id), id: None })
        }
    }
}

fn person(tx: &mut Tx<'_>, app: AppId, id: ContactId, shown: &ShownUsers) -> Result<Person> {
    const NONE: Error = Error::NotFound("contact");
    if let Some(user) = shown.get(&id) {
        // The user may be gone since its id was found.
        return named_users::get(tx, app, user)?.map(|user| Person::NamedUser(user.id)).ok_or(NONE);
    }
    if id.is_of_named_user() {
        return contacts::named_user(tx, app, id)?.map(Person::NamedUser).ok_or(NONE);
    }
    let row = match channels::by_id(tx, app, ChannelId::from_uuid(id.uuid()))? {
        Some(row) => Some(row),
        None => match channels::by_key(tx, app, &contact_key(id))? {
            Some(ordinal) => channels::by_ordinal(tx, app, ordinal)?,
            None => None,
        },
    };
    let row = row.filter(|row| row.installed).ok_or(NONE)?;
    let profile: Profile = serde_json::from_str(&row.profile).map_err(Error::internal)?;
    if profile.unknown_contact_of(row.id) != id {
        return Err(NONE);
    }
    // Somebody has logged in since, and the device that speaks is still that channel's.
    Ok(row.named_user.clone().map_or_else(|| Person::UserOf(row), Person::NamedUser))
}

/// A token speaks for one contact. It can claim channels that devices create for their users and that have no contact yet; a
/// device's own channel can only be claimed from that device.
fn check_claim(tx: &mut Tx<'_>, app: AppId, channel: &ChannelRef, rights: Rights) -> Result<()> {
    match rights {
        Rights::Master | Rights::Device => return Ok(()),
        Rights::Channel(_) | Rights::Contact(_) | Rights::KeyOnly => {}
    }
    let row = channels::by_id(tx, app, channel.id)?.ok_or(Error::NotFound("channel"))?;
    if matches!(row.device_type, DeviceType::Open(_)) && row.named_user.is_none() {
        return Ok(());
    }
    Err(Error::Forbidden(format!("The channel {} is not this contact's to claim.", channel.id)))
}

fn update_user(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    user: &NamedUserId,
    update: &ContactUpdate,
) -> Result<()> {
    let now = context.journal.now();
    context.change_user(tx, user, |holdings| {
        for operation in &update.tags {
            operation.apply(&mut holdings.tags);
        }
        apply_scoped(holdings, &update.subscriptions, now);
    })?;
    context.change_user_attributes(tx, user, &update.attributes)
}
