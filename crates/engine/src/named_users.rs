//! Named users: whose channels are whose, and what users bring to their channels.

mod lookup;
mod tags;

pub use lookup::NamedUserView;

use model::channel::TagOperation;
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal};
use store::{Tx, channels, named_users};

use crate::channels::uninstall_in;
use crate::desk::Desk;
use crate::{Engine, Result};

/// Changes to one user, made together.
#[derive(Clone, Debug, Default)]
pub struct NamedUserChange {
    pub associate: Vec<ChannelId>,
    pub disassociate: Vec<ChannelId>,
    pub tags: Option<TagOperation>,
}

impl Engine {
    /// Gives a channel to a user, who is made if need be. A channel that has not registered yet is given when it does.
    pub async fn associate(&self, app: AppId, channel: ChannelId, user: NamedUserId) -> Result<()> {
        let change = NamedUserChange { associate: vec![channel], ..NamedUserChange::default() };
        self.change_named_user(app, user, change).await
    }

    /// Takes a channel from its user; from `user` only, if one is named.
    pub async fn disassociate(&self, app: AppId, channel: ChannelId, user: Option<NamedUserId>) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let mut desk = Desk::new(app, &index, now);
                leave(tx, &mut desk, channel, user.as_ref())?;
                desk.journal.write(tx, app)?;
                Ok(())
            })
            .await
    }

    pub async fn change_named_user(&self, app: AppId, user: NamedUserId, change: NamedUserChange) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let mut desk = Desk::new(app, &index, now);
                named_users::ensure(tx, app, &user, now)?;
                for channel in &change.disassociate {
                    leave(tx, &mut desk, *channel, Some(&user))?;
                }
                for channel in &change.associate {
                    join(tx, &mut desk, *channel, &user)?;
                }
                if let Some(operation) = &change.tags {
                    desk.change_user(tx, &user, |holdings| operation.apply(&mut holdings.tags))?;
                }
                desk.journal.write(tx, app)?;
                Ok(())
            })
            .await
    }

    /// Uninstalls every channel of the users and forgets the users. Unknown ones are passed over.
    pub async fn uninstall_named_users(&self, app: AppId, users: Vec<NamedUserId>) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let mut journal = Desk::new(app, &index, now).journal;
                for user in &users {
                    let rows = named_users::channels_of(tx, app, user)?;
                    let ordinals: Vec<Ordinal> = rows.iter().map(|row| row.ordinal).collect();
                    journal = uninstall_in(tx, app, &index, journal, &ordinals)?;
                    named_users::delete(tx, app, user)?;
                }
                journal.write(tx, app)?;
                Ok(())
            })
            .await
    }
}

fn join(tx: &mut Tx<'_>, desk: &mut Desk<'_>, channel: ChannelId, user: &NamedUserId) -> Result<()> {
    let Some(row) = channels::by_id(tx, desk.app, channel)?.filter(|row| row.installed) else {
        return Ok(named_users::put_pending(tx, desk.app, channel, user, desk.journal.now())?);
    };
    let opened = desk.open(tx, row)?;
    let mut after = opened.state.clone();
    after.named_user = Some(user.clone());
    desk.save(tx, opened, &after)?;
    Ok(())
}

fn leave(tx: &mut Tx<'_>, desk: &mut Desk<'_>, channel: ChannelId, user: Option<&NamedUserId>) -> Result<()> {
    let is_meant = |actual: &NamedUserId| user.is_none_or(|user| user == actual);
    let Some(row) = channels::by_id(tx, desk.app, channel)? else {
        if let Some(other) = named_users::take_pending(tx, desk.app, channel)?.filter(|waiting| !is_meant(waiting)) {
            named_users::put_pending(tx, desk.app, channel, &other, desk.journal.now())?;
        }
        return Ok(());
    };
    if !row.named_user.as_ref().is_some_and(is_meant) {
        return Ok(());
    }
    let opened = desk.open(tx, row)?;
    let mut after = opened.state.clone();
    after.named_user = None;
    desk.save(tx, opened, &after)?;
    Ok(())
}
