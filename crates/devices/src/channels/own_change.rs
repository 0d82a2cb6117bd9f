//! A change of what is assigned to a channel: the groups that it is about, and its effect on the terms of those groups.

use model::channel::TagOperation;
use model::subscription::SubscriptionOperation;
use model::tag::DEVICE;
use model::term::{RETIRED_GROUP, Term, is_subscription};
use model::time::UtcMillis;

use crate::holdings::{Holdings, Membership};
use crate::subscriptions;

#[derive(Clone, Copy)]
pub enum OwnChange<'a> {
    /// Carried out in their order.
    Tags(&'a [TagOperation]),
    /// Subscriptions of the channel for itself.
    Subscriptions(&'a [SubscriptionOperation]),
    List {
        list: &'a Term,
        membership: Membership,
    },
}

impl OwnChange<'_> {
    /// Whether terms of a group may come or go.
    pub(super) fn is_about(self, group: &str) -> bool {
        match self {
            OwnChange::Tags(operations) => {
                // Deleted device tags still belong to their group until events have reported the deletion.
                let group = if group == RETIRED_GROUP { DEVICE } else { group };
                operations.iter().any(|operation| operation.names(group))
            }
            OwnChange::Subscriptions(operations) => !operations.is_empty() && is_subscription(group),
            OwnChange::List { list, .. } => list.key().0 == group,
        }
    }

    pub(super) fn apply(self, own: &mut Holdings, now: UtcMillis) {
        match self {
            OwnChange::Tags(operations) => operations.iter().for_each(|operation| operation.apply(&mut own.tags)),
            OwnChange::Subscriptions(operations) => subscriptions::apply(own, operations, &[None], now),
            OwnChange::List { list, membership } => own.set_membership(list, membership),
        }
    }
}
