//! Subscriptions of channels for themselves and of named users for kinds of channels, and the lists that are in use.

use std::collections::{BTreeMap, BTreeSet};

use audience::index::Index;
use audience::plan::Plan;
use base::Result;
use boxed::boxed;
use index::term_plan;
use model::channel::{ChannelBatch, ChannelRef};
use model::device_type::DeviceType;
use model::ids::{AppId, NamedUserId};
use model::subscription::{
    Scope, ScopedOperation, ScopedSubscriptions, ScopedUpdate, Subscription, SubscriptionAction, SubscriptionListId,
    SubscriptionOperation, SubscriptionUpdate,
};
use model::term::{Term, subscription_group};
use model::time::UtcMillis;
use store::Tx;
use store::channels::Holder;

use crate::Devices;
use crate::change_context::ChangeContext;
use crate::channels::OwnChange;
use crate::holdings::Holdings;
use crate::room::{Batch, Limit, Room};

/// A list with subscribers, and the kinds of channels that are or were subscribed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionListView {
    pub id: String,
    pub scopes: BTreeSet<Scope>,
}

#[boxed]
impl Devices {
    /// Channels that are unknown or uninstalled are skipped. Named users, who are created if necessary, subscribe for all of their
    /// channels. Channels of another type and those without room are skipped, and each is told in a sentence.
    pub async fn change_subscriptions(&self, app: AppId, update: SubscriptionUpdate) -> Result<Vec<String>> {
        let everywhere = Scope::ALL.map(Some);
        self.change_audience(app, move |tx, context| {
            let now = context.journal.now();
            let (mut batch, channels) = Batch::of(context.meant(tx, update.audience.channels())?);
            for row in channels {
                let room = context.try_change_own(tx, &row, &[OwnChange::Subscriptions(&update.operations)])?;
                batch.add(|| format!("channel {}", row.id), room);
            }
            context.change_each(tx, update.audience.named_users(), &mut batch, |holdings| {
                apply(holdings, &update.operations, &everywhere, now);
            })?;
            batch.finish()
        })
        .await
    }

    /// Changes the subscriptions of a named user, who is created if necessary.
    pub async fn change_scoped_subscriptions(&self, app: AppId, user: NamedUserId, update: ScopedUpdate) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            context.change_user(tx, &user, |holdings| {
                let mut subscriptions = holdings.scoped_subscriptions();
                update.apply(&mut subscriptions);
                holdings.set_scoped_subscriptions(subscriptions);
            })
        })
        .await
    }

    /// Makes several changes to one channel, which must exist.
    pub async fn change_channel(&self, app: AppId, channel: ChannelRef, batch: ChannelBatch) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            let row = context.installed_one(tx, &channel)?;
            context.change_channel(tx, &row.into(), &batch)
        })
        .await
    }

    /// Every list that was ever subscribed to, in the order of the ids.
    pub async fn subscription_lists(&self, app: AppId) -> Result<Vec<SubscriptionListView>> {
        let index = self.0.index.current(app).await?;
        self.0.index.evaluate(move || all_lists(&index)).await
    }
}

fn all_lists(index: &Index) -> Vec<SubscriptionListView> {
    let mut lists: BTreeMap<String, BTreeSet<Scope>> = BTreeMap::new();
    for scope in Scope::ALL {
        for list in index.tags(subscription_group(Some(scope))) {
            lists.entry(list).or_default().insert(scope);
        }
    }
    let own = subscription_group(None);
    for list in index.tags(own) {
        let of_channels = Term::from_key(own, &list).map_or(Plan::Nobody, |term| term_plan(index, &term));
        let has = |scope: &Scope| {
            let subscribed = Plan::And(vec![of_channels.clone(), channels_of(index, *scope)]);
            index.count(&subscribed.normalize()) > 0
        };
        lists.entry(list).or_default().extend(Scope::ALL.into_iter().filter(has));
    }
    lists.into_iter().map(|(id, scopes)| SubscriptionListView { id, scopes }).collect()
}

impl ChangeContext<'_> {
    /// Makes several changes to an installed channel.
    pub(crate) fn change_channel(&mut self, tx: &mut Tx<'_>, row: &Holder, batch: &ChannelBatch) -> Result<()> {
        self.change_attributes(tx, row.ordinal, &batch.attributes)?;
        self.change_live_content(tx, row.ordinal, &batch.live_activities)?;
        self.change_live_content(tx, row.ordinal, &batch.live_updates)?;
        self.change_own(tx, row, &[OwnChange::Tags(&batch.tags), OwnChange::Subscriptions(&batch.subscriptions)])
    }
}

impl Holdings {
    pub(crate) fn subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        self.memberships.iter().filter_map(|term| match term {
            Term::Subscription(subscription) => Some(subscription),
            Term::Tag { .. }
            | Term::DeviceType(_)
            | Term::Reach(_)
            | Term::Live(_)
            | Term::DeliveryType(_)
            | Term::List(_)
            | Term::OwnClock(_)
            | Term::Day(_)
            | Term::LastPlace(_)
            | Term::Retired { .. } => None,
        })
    }

    /// The lists that a channel subscribes to for itself.
    pub(crate) fn own_subscriptions(&self) -> BTreeSet<SubscriptionListId> {
        let own = self.subscriptions().filter(|subscription| subscription.scope.is_none());
        own.map(|subscription| subscription.list.clone()).collect()
    }

    /// The lists that a named user subscribes to.
    pub(crate) fn scoped_subscriptions(&self) -> ScopedSubscriptions {
        let mut scoped = ScopedSubscriptions::new();
        for Subscription { list, scope } in self.subscriptions() {
            if let Some(scope) = scope {
                scoped.entry(*scope).or_default().insert(list.clone());
            }
        }
        scoped
    }

    fn set_scoped_subscriptions(&mut self, scoped: ScopedSubscriptions) {
        self.memberships.retain(|term| !matches!(term, Term::Subscription(Subscription { scope: Some(_), .. })));
        for (scope, lists) in scoped {
            let terms = lists.into_iter().map(|list| Term::Subscription(Subscription { list, scope: Some(scope) }));
            self.memberships.extend(terms);
        }
    }

    fn n_subscription_lists(&self) -> usize {
        self.subscriptions().map(|subscription| &subscription.list).collect::<BTreeSet<_>>().len()
    }
}

/// Refuses more lists than one may subscribe to.
pub(crate) fn check_lists(before: &Holdings, after: &Holdings, limit: Limit) -> Room {
    // Most changes are about tags.
    if after.memberships == before.memberships {
        return Ok(());
    }
    let (before, after) = (before.n_subscription_lists(), after.n_subscription_lists());
    limit.check(before, after, "subscription_lists", "subscription lists")
}

/// The channels that subscribe to any of the lists, or whose named users do for channels of their kind.
pub fn subscribers(index: &Index, lists: &[String]) -> Plan {
    let mut ways = Vec::new();
    for list in lists.iter().filter_map(|list| SubscriptionListId::new(list).ok()) {
        let subscribed = |scope| term_plan(index, &Term::Subscription(Subscription { list: list.clone(), scope }));
        ways.push(subscribed(None));
        // The subscription of a named user is on all of the user's channels.
        ways.extend(Scope::ALL.map(|scope| Plan::And(vec![subscribed(Some(scope)), channels_of(index, scope)])));
    }
    Plan::Or(ways)
}

/// Every channel of a scope.
fn channels_of(index: &Index, scope: Scope) -> Plan {
    let named = |is_wanted: bool| {
        let types = DeviceType::NAMED.into_iter().filter(|(_, known)| (Scope::of(known) == scope) == is_wanted);
        Plan::Or(types.map(|(_, known)| term_plan(index, &Term::DeviceType(known))).collect())
    };
    match scope {
        // Open platforms belong to it, and have any names.
        Scope::App => Plan::Not(Box::new(named(false))),
        Scope::Web | Scope::Email | Scope::Sms => named(true),
    }
}

/// The operations of a person in the order in which they were decided.
pub(crate) fn apply_scoped(holdings: &mut Holdings, operations: &[ScopedOperation], now: UtcMillis) {
    let mut operations: Vec<_> = operations.iter().collect();
    operations.sort_by_key(|scoped| scoped.operation.timestamp.unwrap_or(now).min(now));
    for ScopedOperation { operation, scope } in operations {
        apply(holdings, std::slice::from_ref(operation), &[Some(*scope)], now);
    }
}

/// The operations in the order in which they were decided.
pub(crate) fn apply(
    holdings: &mut Holdings,
    operations: &[SubscriptionOperation],
    scopes: &[Option<Scope>],
    now: UtcMillis,
) {
    let mut operations: Vec<_> = operations.iter().collect();
    operations.sort_by_key(|operation| operation.timestamp.unwrap_or(now).min(now));
    for operation in operations {
        for scope in scopes {
            let term = Term::Subscription(Subscription { list: operation.list_id.clone(), scope: *scope });
            match operation.action {
                SubscriptionAction::Subscribe => holdings.memberships.insert(term),
                SubscriptionAction::Unsubscribe => holdings.memberships.remove(&term),
            };
        }
    }
}
