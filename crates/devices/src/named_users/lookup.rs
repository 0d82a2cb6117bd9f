//! Named users as the API shows them.

use std::collections::HashMap;

use base::{Error, Result};
use boxed::boxed;
use model::channel::TagSets;
use model::ids::{AppId, NamedUserId};
use model::subscription::ScopedSubscriptions;
use model::time::UtcMillis;
use store::Tx;
use store::attributes::{self, Owner};
use store::named_users::{self, NamedUser};

use crate::Devices;
use crate::attributes::{Attributes, read};
use crate::change_context::ChangeContext;
use crate::channels::ChannelView;
use crate::holdings::Holdings;

/// A user may have a hundred channels, each with much to show. A page with so many channels is full.
const CHANNELS_PER_PAGE: usize = 2000;
/// This many users are read together, so that a page has at most a few thousand channels too many.
const USERS_AT_ONCE: usize = 20;

#[derive(Clone, Debug)]
pub struct NamedUserView {
    pub id: NamedUserId,
    pub created: UtcMillis,
    pub modified: UtcMillis,
    pub tags: TagSets,
    pub attributes: Attributes,
    pub subscriptions: ScopedSubscriptions,
    pub channels: Vec<ChannelView>,
}

#[boxed]
impl Devices {
    /// How many named users the app has.
    pub async fn named_user_count(&self, app: AppId) -> Result<u64> {
        Ok(self.0.store.read(move |tx| named_users::count(tx, app)).await?)
    }

    pub async fn named_user(&self, app: AppId, id: NamedUserId) -> Result<NamedUserView> {
        let index = self.0.index.get(app).await?;
        let now = self.0.clock.now();
        self.0
            .store
            .read(move |tx| {
                let user = named_users::get(tx, app, &id)?.ok_or(Error::NotFound("named user"))?;
                let found = views_of(tx, &ChangeContext::new(app, &index, now), &[user])?.pop();
                found.ok_or(Error::NotFound("named user"))
            })
            .await
    }

    /// A page of users beginning with `start`, and the id the next page begins with. A page has fewer users than `limit` when they
    /// have very many channels together.
    pub async fn named_users(
        &self,
        app: AppId,
        start: Option<NamedUserId>,
        limit: u32,
    ) -> Result<(Vec<NamedUserView>, Option<NamedUserId>)> {
        let index = self.0.index.get(app).await?;
        let now = self.0.clock.now();
        self.0
            .store
            .read(move |tx| {
                let context = ChangeContext::new(app, &index, now);
                let mut page = named_users::page(tx, app, start.as_ref(), limit + 1)?;
                let mut next = (page.len() > limit as usize).then(|| page.pop()).flatten().map(|user| user.id);
                let (mut views, mut n_channels) = (Vec::with_capacity(page.len()), 0);
                for some in page.chunks(USERS_AT_ONCE) {
                    if n_channels >= CHANNELS_PER_PAGE {
                        next = some.first().map(|user| user.id.clone());
                        break;
                    }
                    let some = views_of(tx, &context, some)?;
                    n_channels += some.iter().map(|user| user.channels.len()).sum::<usize>();
                    views.extend(some);
                }
                Ok((views, next))
            })
            .await
    }
}

/// Users with their channels and attributes, read together.
fn views_of(tx: &mut Tx<'_>, context: &ChangeContext<'_>, users: &[NamedUser]) -> Result<Vec<NamedUserView>> {
    let channels = named_users::channels_of_all(tx, context.app, users.iter().map(|user| &user.id))?;
    let owners = users.iter().map(|user| Owner::NamedUser(user.id.clone()));
    let owners: Vec<Owner> = owners.chain(channels.iter().map(|channel| Owner::Channel(channel.ordinal))).collect();
    let mut known = attributes::of_owners(tx, context.app, &owners)?.into_iter();
    let mut next_attributes = || read(known.next().unwrap_or_default());
    let mut views = Vec::with_capacity(users.len());
    for user in users {
        let holdings = Holdings::of(context.names(tx, &user.terms)?);
        views.push(NamedUserView {
            id: user.id.clone(),
            created: user.created,
            modified: user.modified,
            attributes: next_attributes()?,
            subscriptions: holdings.scoped_subscriptions(),
            channels: Vec::new(),
            tags: holdings.tags,
        });
    }
    let indexes: HashMap<&NamedUserId, usize> =
        users.iter().enumerate().map(|(index, user)| (&user.id, index)).collect();
    for channel in channels {
        let attributes = next_attributes()?;
        let index = channel.named_user.as_ref().and_then(|user| indexes.get(user)).copied();
        let view = ChannelView::with(tx, context, channel, attributes)?;
        if let Some(user) = index.and_then(|index| views.get_mut(index)) {
            user.channels.push(view);
        }
    }
    Ok(views)
}
