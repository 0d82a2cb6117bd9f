//! Contacts, as device libraries know the people who use them.

use model::contact::{
    ContactAction, ContactAssociation, ContactAttributeChanges, ContactChannel, ContactDisassociation,
    ContactIdentification, ContactTagging, ContactUpdate, ScopedContactUpdate,
};
use serde_json::json;

use super::channels::READ_ONLY;
use super::devices::channel_id;
use crate::openapi::{Area, body};
use crate::routes::contacts::{Acted, AssociatedTypes, Disassociated, Resolved};
use crate::routes::server_contacts::{Associated, AttributesChanged, OfChannel, OfNamedUser, Tagged};

const SERVERS_ONLY: &str =
    "A rule of the app about named users does not allow this to devices, or the caller may not do this (40300).";
const NO_CHANNEL: &str = "There is no such channel (40401).";
const NO_CONTACT: &str = "This channel cannot have a contact; register a new one (40900).";

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Contacts",
        "The person behind a channel, as device libraries know them: a named user, or somebody unknown.",
    );
    area.post(
        "/api/contacts/identify/v2",
        "Act on the contact of a channel",
        "`resolve` asks whose the channel is, `identify` gives it to a named user, and `reset` takes it back.",
    )
    .takes(channel_id(false))
    .body(body::of::<ContactAction>, json!({"action": {"type": "identify", "named_user_id": "kim-7"}}))
    .changed::<Acted>("The contact, and a token for it.")
    .refuses(403, SERVERS_ONLY)
    .refuses(404, NO_CHANNEL)
    .refuses(409, NO_CONTACT);
    let channel = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
    area.post("/api/contacts/resolve", "Resolve a contact", "Asks whose a channel is, for older libraries.")
        .body(body::of::<ContactChannel>, json!({"channel_id": channel, "device_type": "ios"}))
        .changed::<Resolved>("The contact.")
        .refuses(404, NO_CHANNEL)
        .refuses(409, NO_CONTACT);
    area.post("/api/contacts/identify", "Identify a contact", "Gives a channel to a named user, for older libraries.")
        .body(
            body::of::<ContactIdentification>,
            json!({"channel_id": channel, "device_type": "ios", "named_user_id": "kim-7"}),
        )
        .changed::<Resolved>("The contact.")
        .refuses(403, SERVERS_ONLY)
        .refuses(404, NO_CHANNEL)
        .refuses(409, NO_CONTACT);
    area.post("/api/contacts/reset", "Reset a contact", "Takes a channel from its named user, for older libraries.")
        .body(body::of::<ContactChannel>, json!({"channel_id": channel, "device_type": "ios"}))
        .changed::<Resolved>("The new contact.")
        .refuses(403, SERVERS_ONLY)
        .refuses(404, NO_CHANNEL)
        .refuses(409, NO_CONTACT);
    area.post("/api/contacts/{contact_id}", "Change a contact", "Tags, attributes, subscriptions by scope, and channels to associate.")
        .body(
            body::of::<ContactUpdate>,
            json!({"tags": {"add": {"loyalty": ["gold"]}}, "attributes": [{"action": "set", "key": "plan", "value": "gold"}]}),
        )
        .done()
        .refuses(403, READ_ONLY)
        .refuses(409, "Somebody unknown has one channel; identify the user first (40900).");
    area.get(
        "/api/contacts/associated_types/{contact_id}",
        "List the addresses of a contact",
        "Apart from devices. There are none.",
    )
    .ok::<AssociatedTypes>("An empty list.");
    area.post("/api/contacts/disassociate/{contact_id}", "Take a channel from a contact", "By the id of the channel.")
        .body(body::of::<ContactDisassociation>, json!({"channel_id": channel}))
        .changed::<Disassociated>("The channel.")
        .refuses(403, SERVERS_ONLY);
    by_servers(&mut area);
    area
}

fn by_servers(area: &mut Area) {
    let (channel, contact) = ("9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "3f1c3f8e-7f0a-5d6b-9a55-5f0c7a2b1e44");
    area.get(
        "/api/contacts/lookup/channel/{channel_id}",
        "Look up the contact of a channel",
        "Under the id that events show.",
    )
    .ok::<OfChannel>("The contact.");
    area.get(
        "/api/contacts/lookup/named_user/{named_user_id}",
        "Look up the contact of a named user",
        "Under the id that events show.",
    )
    .ok::<OfNamedUser>("The contact.");
    area.post(
        "/api/contacts/associate",
        "Associate a channel with a contact",
        "Gives a channel without a named user to a contact. One that is not there is made, as a named user of that name.",
    )
    .body(body::of::<ContactAssociation>, json!({"contact_id": contact, "channel_id": channel, "device_type": "ios"}))
    .changed::<Associated>("Whose the channel is; it stays its named user's if it has one.")
    .refuses(409, "Somebody unknown has one channel; identify the user first (40900).");
    area.post("/api/contacts/tags", "Tag contacts", "Up to 1,000. Contacts that are not there are passed over.")
        .body(body::of::<ContactTagging>, json!({"audience": {"contact_id": [contact]}, "add": {"loyalty": ["gold"]}}))
        .changed::<Tagged>("Done for all but those that `tag_warnings` names.")
        .refuses(403, READ_ONLY);
    area.post(
        "/api/contacts/attributes",
        "Change attributes of contacts",
        "One change or an array. Contacts that are not there are passed over.",
    )
    .body(
        body::of::<ContactAttributeChanges>,
        json!([{"audience": {"contact_id": contact}, "attributes": [{"action": "set", "key": "plan", "value": "gold"}]}]),
    )
    .changed::<AttributesChanged>("Done for all but those that `warnings` names.");
    area.post(
        "/api/contacts/scoped/{contact_id}",
        "Subscribe and tag a contact",
        "Subscriptions are for some kinds of its channels, tags for all.",
    )
    .body(
        body::of::<ScopedContactUpdate>,
        json!({"scoped": [{"scope": ["app"], "subscription_lists": {"subscribe": ["weekly"]}}]}),
    )
    .done()
    .refuses(403, SERVERS_ONLY);
}
