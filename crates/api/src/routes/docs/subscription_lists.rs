//! Subscription lists.

use model::subscription::{ScopedUpdate, SubscriptionUpdate};
use serde_json::json;

use crate::openapi::{Area, body};
use crate::routes::subscription_lists::{Lists, OfChannel, OfPerson};

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Subscription lists",
        "Lists that channels and people subscribe to. A list begins with its first subscription.",
    );
    area.post("/api/channels/subscription_lists", "Subscribe", "Channels and named users; the latter in all scopes.")
        .body(
            body::of::<SubscriptionUpdate>,
            json!({"audience": {"named_user_id": "kim-7"}, "subscription_lists": {"action": "subscribe", "list_id": "weekly"}}),
        )
        .done_except()
        .status(202);
    area.post(
        "/api/named_users/scoped/{named_user_id}",
        "Subscribe a named user by scope",
        "A subscription counts for the user's channels of its scope: `app`, `web`, `email` or `sms`.",
    )
    .body(
        body::of::<ScopedUpdate>,
        json!({"scoped": [{"scope": ["app", "web"], "subscription_lists": {"subscribe": ["weekly"]}}]}),
    )
    .done();
    area.get("/api/subscription_lists", "List subscription lists", "Every list that anybody has subscribed to.")
        .ok::<Lists>("The lists.");
    area.get(
        "/api/subscription_lists/channels/{channel_id}",
        "List the subscriptions of a channel",
        "Its own, without its user's.",
    )
    .ok::<OfChannel>("The ids of the lists.");
    area.get(
        "/api/subscription_lists/named_users/{named_user_id}",
        "List the subscriptions of a named user",
        "By scope.",
    )
    .ok::<OfPerson>("The lists.");
    area.get(
        "/api/subscription_lists/contacts/{contact_id}",
        "List the subscriptions of a contact",
        "By scope, for devices.",
    )
    .ok::<OfPerson>("The lists.");
    area
}
