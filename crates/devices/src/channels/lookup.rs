//! Channels as the API shows them.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, Result};
use boxed::boxed;
use model::channel::Profile;
use model::channel::TagSets;
use model::ids::{AppId, ChannelId, NamedUserId};
use model::subscription::SubscriptionListId;
use model::term::{DayKind, Term};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::attributes::{self, Owner};
use store::channels::{self, Channel};

use super::keys;
use crate::Devices;
use crate::attributes::{Attributes, attributes_of, read};
use crate::change_context::ChangeContext;
use crate::holdings::Holdings;

/// Everything that the API shows of a channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChannelView {
    pub id: ChannelId,
    pub installed: bool,
    pub created: UtcMillis,
    pub last_registration: Option<UtcMillis>,
    /// The last day on which it had a live connection, counted from 1970, of the last month.
    #[serde(default)]
    pub last_live_day: Option<i32>,
    pub named_user: Option<NamedUserId>,
    pub profile: Profile,
    /// Tags of all groups, including those derived from device properties.
    pub tags: TagSets,
    pub attributes: Attributes,
    /// The lists the channel subscribes to for itself.
    pub subscriptions: BTreeSet<SubscriptionListId>,
}

#[boxed]
impl Devices {
    pub async fn channel(&self, app: AppId, id: ChannelId) -> Result<ChannelView> {
        let index = self.0.index.get(app).await?;
        let now = self.0.clock.now();
        self.0
            .store
            .read(move |tx| {
                let channel = channels::by_id(tx, app, id)?.ok_or(Error::NotFound("channel"))?;
                ChannelView::of(tx, &ChangeContext::new(app, &index, now), channel)
            })
            .await
    }

    /// The channels with an address: one of a device type at most, in the order in which they registered.
    pub async fn channels_with_address(&self, app: AppId, address: String) -> Result<Vec<ChannelView>> {
        let index = self.0.index.get(app).await?;
        let now = self.0.clock.now();
        self.0
            .store
            .read(move |tx| {
                let context = ChangeContext::new(app, &index, now);
                let keys = keys::address_keys(tx, app, &address)?;
                let mut found = channels::by_keys(tx, app, keys)?;
                found.sort_unstable();
                let mut views = Vec::with_capacity(found.len());
                for ordinal in found {
                    if let Some(channel) = channels::by_ordinal(tx, app, ordinal)? {
                        views.push(ChannelView::of(tx, &context, channel)?);
                    }
                }
                Ok(views)
            })
            .await
    }

    /// A page of channels beginning with `start`, and the id the next page begins with.
    pub async fn channels(
        &self,
        app: AppId,
        start: Option<ChannelId>,
        limit: u32,
    ) -> Result<(Vec<ChannelView>, Option<ChannelId>)> {
        let index = self.0.index.get(app).await?;
        let now = self.0.clock.now();
        self.0
            .store
            .read(move |tx| {
                let context = ChangeContext::new(app, &index, now);
                let mut page = channels::page(tx, app, start, limit + 1)?;
                let next = (page.len() > limit as usize).then(|| page.pop()).flatten();
                let mut stored = match page.first().zip(page.last()) {
                    Some((first, last)) => attributes::of_channels(tx, app, first.ordinal, last.ordinal)?,
                    None => BTreeMap::new(),
                };
                let views = page.into_iter().map(|channel| {
                    let attributes = stored.remove(&channel.ordinal).unwrap_or_default();
                    ChannelView::with(tx, &context, channel, read(attributes)?)
                });
                Ok((views.collect::<Result<_>>()?, next.map(|channel| channel.id)))
            })
            .await
    }
}

impl ChannelView {
    pub(crate) fn of(tx: &mut Tx<'_>, context: &ChangeContext<'_>, channel: Channel) -> Result<ChannelView> {
        let attributes = attributes_of(tx, context.app, &Owner::Channel(channel.ordinal))?;
        Self::with(tx, context, channel, attributes)
    }

    pub(crate) fn with(
        tx: &mut Tx<'_>,
        context: &ChangeContext<'_>,
        channel: Channel,
        attributes: Attributes,
    ) -> Result<ChannelView> {
        let terms = context.names(tx, &channel.terms)?;
        let subscriptions = Holdings::of(terms.clone()).own_subscriptions();
        let mut tags = TagSets::new();
        for term in terms {
            match term {
                Term::Tag { group, tag } => {
                    tags.entry(group).or_default().insert(tag);
                }
                Term::DeviceType(_)
                | Term::Reach(_)
                | Term::Live(_)
                | Term::DeliveryType(_)
                | Term::List(_)
                | Term::Subscription(_)
                | Term::OwnClock(_)
                | Term::Day(_)
                | Term::LastPlace(_)
                | Term::Retired { .. } => {}
            }
        }
        let mut profile: Profile = serde_json::from_str(&channel.profile).map_err(Error::internal)?;
        profile.address = channel.address;
        Ok(ChannelView {
            id: channel.id,
            installed: channel.installed,
            created: channel.created,
            last_registration: channel.last_registration,
            last_live_day: profile.live.then(|| context.last_day(DayKind::Live, channel.ordinal)).flatten(),
            named_user: channel.named_user,
            profile,
            tags,
            attributes,
            subscriptions,
        })
    }
}
