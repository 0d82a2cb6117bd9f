//! Looking a person up: the channels, the named user, and the texts that name them.

use std::collections::BTreeSet;

use base::{Error, Result};
use devices::{stored_profile, with_address};
use model::event::Face;
use model::ids::{AppId, NamedUserId, Offset, Ordinal};
use model::inbox::InboxUserId;
use model::privacy::{Identifier, Subject};
use model::time::UtcMillis;
use store::channels::{self, Channel};
use store::privacy::{Person, PersonChannel, Stretch};
use store::{Store, Tx, faces, inbox_users, log, named_users};

const FACES_AT_ONCE: u32 = 2_000;

pub(super) fn find(tx: &mut Tx<'_>, app: AppId, subject: &Subject, former: Former, now: UtcMillis) -> Result<Person> {
    let head = log::head(tx, app)?;
    let (mut rows, named_user) = match subject {
        Subject::ChannelId(id) => (channels::by_id(tx, app, *id)?.into_iter().collect(), None),
        Subject::NamedUserId(user) => (named_users::channels_of(tx, app, user)?, Some(user.clone())),
        Subject::Address(address) => (with_address(tx, app, address)?, None),
    };
    let stretches = match &named_user {
        Some(user) => former.end(tx, app, user, head, &mut rows)?,
        None => Vec::new(),
    };
    let mut identifiers: BTreeSet<Identifier> = BTreeSet::new();
    match subject {
        // Known or not, it may be named somewhere.
        Subject::ChannelId(id) => identifiers.extend(Identifier::new(id.to_string())),
        Subject::NamedUserId(user) => identifiers.extend(Identifier::new(user.as_str())),
        Subject::Address(address) => identifiers.extend(Identifier::said_by_device(address)),
    }
    for row in &rows {
        identifiers.extend(names(tx, app, row)?);
    }
    let ordinals: Vec<Ordinal> = rows.iter().map(|row| row.ordinal).collect();
    let inbox_users = inboxes(tx, app, &ordinals)?;
    identifiers.extend(inbox_users.iter().filter_map(Identifier::new));
    Ok(Person {
        channels: rows.iter().map(|row| PersonChannel { ordinal: row.ordinal, id: row.id }).collect(),
        named_user,
        inbox_users,
        stretches,
        identifiers: identifiers.into_iter().collect(),
        uploads: Vec::new(),
        asked: now,
        head,
    })
}

/// Where the log tells of channels while they were those of a user, as far as it was looked for.
#[derive(Clone)]
pub(super) struct Former {
    stretches: Vec<Stretch>,
    /// The last face that was looked at.
    after: (Offset, Ordinal),
}

impl Former {
    /// Looks through all that channels looked like, a portion in each transaction, because there may be many.
    pub(super) async fn look(store: &Store, app: AppId, subject: &Subject) -> Result<Self> {
        let mut former = Self { stretches: Vec::new(), after: (Offset(-1), Ordinal(0)) };
        let Subject::NamedUserId(user) = subject else { return Ok(former) };
        loop {
            let (user, mut next) = (user.clone(), former.clone());
            let read = move |tx: &mut Tx<'_>| {
                let head = log::head(tx, app)?;
                let is_more = next.read_some(tx, app, &user, head)?;
                Ok::<_, Error>((next, is_more))
            };
            let (next, is_more) = store.read(read).await?;
            former = next;
            if !is_more {
                return Ok(former);
            }
        }
    }

    /// Returns whether there may be more.
    fn read_some(&mut self, tx: &mut Tx<'_>, app: AppId, user: &NamedUserId, head: Offset) -> Result<bool> {
        let page = faces::page(tx, app, self.after, head, FACES_AT_ONCE)?;
        for face in &page {
            let Face { named_user, .. } = serde_json::from_slice(&face.body).map_err(Error::internal)?;
            if named_user.as_ref() == Some(user) {
                let (ordinal, until) = (face.ordinal, face.until);
                let after = faces::end_before(tx, app, ordinal, until)?;
                self.stretches.push(Stretch { ordinal, after, until });
            }
        }
        if let Some(last) = page.last() {
            self.after = (last.until, last.ordinal);
        }
        Ok(page.len() == FACES_AT_ONCE as usize)
    }

    /// Looks for the last ones. A channel that was uninstalled as the user's is added to the user's channels.
    fn end(
        mut self,
        tx: &mut Tx<'_>,
        app: AppId,
        user: &NamedUserId,
        head: Offset,
        rows: &mut Vec<Channel>,
    ) -> Result<Vec<Stretch>> {
        while self.read_some(tx, app, user, head)? {}
        let ordinals: BTreeSet<Ordinal> = self.stretches.iter().map(|part| part.ordinal).collect();
        for ordinal in ordinals {
            if rows.iter().all(|row| row.ordinal != ordinal) {
                let row = channels::by_ordinal(tx, app, ordinal)?.filter(|row| !row.installed);
                let is_theirs = row.is_some() && last_user(tx, app, ordinal)?.as_ref() == Some(user);
                rows.extend(row.filter(|_| is_theirs));
            }
        }
        self.stretches.retain(|part| rows.iter().all(|row| row.ordinal != part.ordinal));
        Ok(self.stretches)
    }
}

/// Whose a channel was when it changed for the last time.
fn last_user(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Option<NamedUserId>> {
    let Some(last) = faces::before(tx, app, [ordinal], Offset(i64::MAX), 1)?.pop() else { return Ok(None) };
    let Face { named_user, .. } = serde_json::from_slice(&last.body).map_err(Error::internal)?;
    Ok(named_user)
}

/// The texts that name a channel.
fn names(tx: &mut Tx<'_>, app: AppId, row: &Channel) -> Result<Vec<Identifier>> {
    let profile = stored_profile(row)?;
    let mut names = vec![row.id.to_string()];
    names.extend(profile.unknown_contact.map(|contact| contact.to_string()));
    // Devices say these themselves. A long value is represented by its digest, and is the address.
    let keys = channels::keys_of(tx, app, row.ordinal)?.into_iter().map(|key| key.value);
    let keys = keys.filter(|value| !value.starts_with("sha256:"));
    let said = row.address.clone().into_iter().chain(profile.alias).chain(keys);
    let said = said.filter_map(Identifier::said_by_device);
    Ok(names.into_iter().filter_map(Identifier::new).chain(said).collect())
}

/// The users of inboxes who have no other channels.
fn inboxes(tx: &mut Tx<'_>, app: AppId, ordinals: &[Ordinal]) -> Result<Vec<String>> {
    let mut users: BTreeSet<String> = BTreeSet::new();
    for ordinal in ordinals {
        users.extend(inbox_users::owner(tx, app, *ordinal)?.map(|user| user.as_str().to_owned()));
    }
    let mut theirs = Vec::new();
    for user in users {
        let Some(id) = InboxUserId::new(&user) else { continue };
        let all = inbox_users::channels(tx, app, &id)?;
        if all.iter().all(|channel| ordinals.contains(&channel.ordinal)) {
            theirs.push(user);
        }
    }
    Ok(theirs)
}
