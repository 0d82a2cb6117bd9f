//! SUBSCRIPTION_LIST events: of a channel for itself, and of its named user for channels like it.

use std::collections::BTreeSet;

use base::Result;
use model::event::SubscriptionChange;
use model::ids::Ordinal;
use model::subscription::{Scope, SubscriptionListId};

use super::ChangeContext;
use crate::holdings::Holdings;
use crate::journal::NewEvent;

impl ChangeContext<'_> {
    /// Writes which subscriptions begin and end for a channel by a change of one of its two holders: the channel itself, or its
    /// named user, who subscribes for a scope.
    pub(crate) fn record_subscription_events(
        &mut self,
        ordinal: Ordinal,
        scope: Option<Scope>,
        before: &Holdings,
        after: &Holdings,
    ) -> Result<()> {
        // Most changes are not about lists.
        if before.memberships == after.memberships {
            return Ok(());
        }
        let (before, current) = (lists(before, scope), lists(after, scope));
        if before == current {
            return Ok(());
        }
        let change = SubscriptionChange { enrolled: &current - &before, canceled: &before - &current, current, scope };
        self.journal.event(Some(ordinal), NewEvent::SubscriptionList(change))
    }
}

fn lists(holdings: &Holdings, scope: Option<Scope>) -> BTreeSet<SubscriptionListId> {
    let of_scope = holdings.subscriptions().filter(|subscription| subscription.scope == scope);
    of_scope.map(|subscription| subscription.list.clone()).collect()
}
