//! Named users as the API shows them.

use model::channel::TagSets;
use model::ids::{AppId, NamedUserId};
use model::subscription::ScopedSubscriptions;
use model::time::UtcMillis;
use store::Tx;
use store::attributes::Owner;
use store::named_users::{self, NamedUser};

use crate::attributes::{Attributes, attributes_of};
use crate::channels::ChannelView;
use crate::desk::Desk;
use crate::holdings::Holdings;
use crate::{Engine, Error, Result};

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

impl Engine {
    pub async fn named_user(&self, app: AppId, id: NamedUserId) -> Result<NamedUserView> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .read(move |tx| {
                let user = named_users::get(tx, app, &id)?.ok_or(Error::NotFound("named user"))?;
                view(tx, &Desk::new(app, &index, now), user)
            })
            .await
    }

    /// A page of users beginning with `start`, and the id the next page begins with.
    pub async fn named_users(
        &self,
        app: AppId,
        start: Option<NamedUserId>,
        limit: u32,
    ) -> Result<(Vec<NamedUserView>, Option<NamedUserId>)> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .read(move |tx| {
                let desk = Desk::new(app, &index, now);
                let mut page = named_users::page(tx, app, start.as_ref(), limit + 1)?;
                let next = (page.len() > limit as usize).then(|| page.pop()).flatten();
                let views = page.into_iter().map(|user| view(tx, &desk, user));
                Ok((views.collect::<Result<_>>()?, next.map(|user| user.id)))
            })
            .await
    }
}

fn view(tx: &mut Tx<'_>, desk: &Desk<'_>, user: NamedUser) -> Result<NamedUserView> {
    let holdings = Holdings::of(desk.names(tx, &user.terms)?);
    let channels = named_users::channels_of(tx, desk.app, &user.id)?;
    Ok(NamedUserView {
        attributes: attributes_of(tx, desk.app, &Owner::NamedUser(user.id.clone()))?,
        subscriptions: holdings.scoped_subscriptions(),
        channels: channels.into_iter().map(|channel| ChannelView::of(tx, desk, channel)).collect::<Result<_>>()?,
        id: user.id,
        created: user.created,
        modified: user.modified,
        tags: holdings.tags,
    })
}
