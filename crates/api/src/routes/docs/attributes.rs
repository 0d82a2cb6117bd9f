//! Attributes of channels and named users.

use model::attribute::{AttributeUpdate, AttributesOfOne};
use model::channel::ChannelBatch;
use serde_json::json;

use super::channels::READ_ONLY;
use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::attributes_in_use::Page;

pub(super) fn area() -> Area {
    let mut area = Area::new("Attributes", "Named values of channels and named users, which audiences can compare.");
    let operations = json!([{"action": "set", "key": "plan", "value": "gold"}, {"action": "remove", "key": "trial"}]);
    area.post(
        "/api/channels/attributes",
        "Change attributes",
        "Of up to 1,000 channels or named users. Unknown channels are passed over.",
    )
    .body(body::of::<AttributeUpdate>, json!({"audience": {"named_user_id": "kim-7"}, "attributes": operations}))
    .done_except();
    area.post(
        "/api/channels/{channel_id}/attributes",
        "Change the attributes of a channel",
        "The channel has to be installed.",
    )
    .takes(platform())
    .body(body::of::<AttributesOfOne>, json!({"attributes": operations}))
    .done();
    area.post(
        "/api/named_users/{named_user_id}/attributes",
        "Change the attributes of a named user",
        "The user is created if need be.",
    )
    .body(body::of::<AttributesOfOne>, json!({"attributes": operations}))
    .done();
    let batch = json!({
        "tags": {"add": {"interests": ["news"]}},
        "attributes": operations,
        "subscription_lists": [{"action": "subscribe", "list_id": "weekly"}],
    });
    area.put(
        "/api/channels/sdk/batch/{channel_id}",
        "Change a channel in one go",
        "Tags, attributes and subscriptions of a channel, as device libraries send them: all or nothing.",
    )
    .takes(platform())
    .body(body::of::<ChannelBatch>, batch)
    .done()
    .refuses(403, READ_ONLY);
    area.get(
        "/api/attributes",
        "List attributes",
        "The names that channels and named users have attributes under, with the types and the most frequent values. A call looks \
         at a few ten thousand values, shared by as many names as `limit` says.",
    )
    .takes(query::text("prefix", "Only names that begin with this, in the same letters."))
    .takes(query::text("start", "The first name of the page."))
    .takes(query::limit(PageSize::ATTRIBUTES))
    .ok::<Page>("A page of attributes.")
    .paged();
    area
}

fn platform() -> query::Parameter {
    query::text("platform", "The device type that the channel has to be of.").example("ios")
}
