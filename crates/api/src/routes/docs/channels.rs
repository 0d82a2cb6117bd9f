//! Channels of devices and of open platforms.

use model::channel::{ChannelTagsLookup, OpenAddress, OpenRegistration, OpenTags, RegistrationBody, Uninstalls};
use model::contact::ContactChannel;
use serde_json::json;

use crate::answer::DoneExcept;
use crate::openapi::{Area, Operation, body, query};
use crate::page_size::PageSize;
use crate::routes::channels::{One, Page, Registered, TagsAmong};
use crate::routes::inbox::OfChannel;
use crate::routes::old_devices::{
    ApidRecord, Apids, DevicePins, DeviceTokenCount, DeviceTokenRecord, DeviceTokens, GoneApid, GoneDeviceToken,
};
use crate::routes::open_channels;
use crate::routes::timelines::Timeline;
use crate::routes::web_channels::Browser;

const GONE: &str = "The channel was uninstalled, or the id is none: register a new channel (40900).";

pub(super) fn area() -> Area {
    let mut area =
        Area::new("Channels", "Installations of an app on devices, each with an id, an address, tags and attributes.");
    let channel =
        json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "a-token-of-the-device"}});
    area.post(
        "/api/channels",
        "Register a channel",
        "Devices register when they are installed, and get a channel of their own; with a token of a channel, that one. Servers get \
         the channel that has the hint or the address.",
    )
    .body(body::of::<RegistrationBody>, channel.clone())
    .changed::<Registered>("The channel was there, and is updated.")
    .location()
    .changed::<Registered>("A new channel.")
    .status(201)
    .location()
    .refuses(409, GONE);
    let browser = json!({"channel": {"device_type": "web", "opt_in": false, "live": true}});
    area.post(
        "/api/web-channels",
        "Register a browser",
        "Web pages of the origins that the app allows register their browser with the key of the app, and get a new channel with a \
         secret of its own. With other credentials this is the same as `POST /api/channels`.",
    )
    .body(body::of::<RegistrationBody>, browser)
    .changed::<Browser>("The channel was there, and is updated.")
    .location()
    .changed::<Browser>("A new channel.")
    .status(201)
    .location()
    .refuses(403, "Pages of this origin may not register browsers in this app (40300).")
    .refuses(409, GONE);
    area.get("/api/channels", "List channels", "Of all devices and open platforms, in an order that stays the same.")
        .takes(query::id("start", "The first channel of the page."))
        .takes(query::limit(PageSize::CHANNELS))
        .takes(query::text("address", "Only those with this device token or other address, of whatever device type."))
        .ok::<Page>("A page of channels.")
        .paged();
    area.get("/api/channels/{channel_id}", "Look up a channel", "Everything that is known about it.")
        .ok::<One>("The channel.");
    area.put(
        "/api/channels/{channel_id}",
        "Update a channel",
        "What devices send whenever something about them changes.",
    )
    .body(body::of::<RegistrationBody>, channel)
    .changed::<Registered>("Updated.")
    .location()
    .refuses(409, GONE);
    area.delete(
        "/api/channels/{channel_id}",
        "Uninstall a channel",
        "For devices whose users want to be forgotten, and servers.",
    )
    .nothing("It can no longer be reached.");
    timeline(area.get("/api/channels/{channel_id}/timeline", "Show what happened to a channel", TIMELINE));
    area.get("/api/channels/{channel_id}/inbox", "Show the inbox of a channel", INBOX)
        .ok::<OfChannel>("What is in the inbox now. It is empty if the device has never opened one.");
    area.post("/api/channels/import", "Import channels", IMPORT)
        .takes(query::choice("dry_run", &["false", "true"], "`true` reads and checks all lines, and writes nothing."))
        .text_body("application/x-ndjson", IMPORTED_LINE)
        .any_content(
            "As `application/x-ndjson`: `{line, path, error}` for every line that was left out, up to 10,000 of them, shortened after \
             4 MiB, and a last line `{ok, operation_id, created, updated, named_users, refused}`.",
        )
        .changed::<DoneExcept>("To an array of channels in place of lines: `warnings` tell of those that were left out.")
        .status(202)
        .refuses(408, "Nothing arrived for a minute (40800). Lines before that may be imported.")
        .refuses(413, "The lines are larger than 8 GiB when unpacked (41300).");
    let reference = json!({"channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": "ios"});
    area.post(
        "/api/channels/remove_push_address",
        "Remove the address of a channel",
        "It is not reached until it registers again.",
    )
    .body(body::of::<ContactChannel>, reference)
    .done()
    .refuses(404, "There is no such channel (40401).");
    area.post(
        "/api/channel-tags-lookup",
        "Ask for tags of a channel",
        "Which of these tags the channel has, for older device libraries.",
    )
    .body(
        body::of::<ChannelTagsLookup>,
        json!({
            "channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": "ios", "tag_groups": {"loyalty": ["gold"]},
        }),
    )
    .ok::<TagsAmong>("The tags, by group.")
    .refuses(404, "There is no such channel (40401).");
    area.post(
        "/api/channels/uninstall",
        "Uninstall channels",
        "Takes one or an array of up to 1,000. They can no longer be reached.",
    )
    .body(body::of::<Uninstalls>, json!([{"channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": "ios"}]))
    .done_except()
    .status(202);
    area
}

const DEVICE_TOKEN: &str = "Of an iOS channel. With the app secret, without its alias and its tags.";
const IMPORT: &str = "Lines of JSON, plain or gzip, each the channel object of a registration, with `channel_id`, `tag_groups`, \
                      `attributes` and `subscription_lists` if they are known. A channel is found by its id, or else by its address, \
                      and updated; otherwise it is created. A line under the key `named_user` says what a named user holds itself: `tags`, `attributes` and \
                      `subscription_lists`, as lookups show them. Repeating an import changes nothing more. It causes no events. An array of \
                      channels, of up to 5 MiB, is taken as well.";
const IMPORTED_LINE: &str = r#"{"device_type": "android", "opt_in": true, "push_address": "a-token-of-the-device", "tag_groups": {"loyalty": ["gold"]}}
{"named_user": {"named_user_id": "kim", "tags": {"crm": ["vip"]}, "subscription_lists": [{"scope": "app", "list_ids": ["weekly"]}]}}
"#;
const INBOX: &str = "The messages that the person of the device sees in the inbox, as far as they were not deleted, and which of them are read.";

const TIMELINE: &str =
    "What was sent, what the device did and how it changed, newest first, as far back as events are kept.";

const GONE_TOKENS: &str = "Of iOS channels that were uninstalled, unless another channel has the token by now.";
const GONE_APIDS: &str = "Android channels that were uninstalled, by their ids.";

/// The parameters and answers of a timeline.
pub(super) fn timeline(described: &mut Operation) {
    described
        .takes(query::text("before", "Only entries before the one with this offset.").example("131072"))
        .takes(query::limit(PageSize::TIMELINE))
        .takes(query::choice("kind", &["send", "event", "change"], "Only entries of this kind."))
        .takes(query::text("types", "Only events of these types, with commas between them.").example("OPEN,SEND"))
        .ok::<Timeline>("Some entries. There may be fewer than `limit`, even none, although `before` leads to more.");
}

pub(super) fn open_area() -> Area {
    let mut area =
        Area::new("Open channels", "Addresses on platforms of your own, which a webhook of yours delivers to.");
    let channel = json!({"channel": {
        "type": "open", "opt_in": true, "address": "lobby-1", "open": {"open_platform_name": "kiosk"}
    }});
    area.post("/api/channels/open", "Register an open channel", "Makes the channel of an address, or changes it.")
        .body(body::of::<OpenRegistration>, channel.clone())
        .changed::<open_channels::Registered>("The channel.")
        .location()
        .refuses(
            409,
            "The id is that of another channel, or the idempotency key was used for another request (40900).",
        );
    let address = json!({"address": "lobby-1", "open_platform_name": "kiosk"});
    area.post("/api/channels/open/uninstall", "Uninstall an open channel", "By its platform and address.")
        .body(body::of::<OpenAddress>, address)
        .done()
        .status(202)
        .refuses(404, "There is no such channel (40401).");
    let tags = json!({"audience": {"address": "lobby-1", "open_platform_name": "kiosk"}, "add": {"floor": ["first"]}});
    area.post("/api/channels/open/tags", "Tag an open channel", "An unknown address is passed over.")
        .body(body::of::<OpenTags>, tags)
        .done()
        .refuses(403, READ_ONLY);
    area.post(
        "/api/channels/restricted/open",
        "Register an open channel from a device",
        "For devices: makes new channels and changes none.",
    )
    .body(body::of::<OpenRegistration>, channel)
    .changed::<open_channels::Restricted>("The id of the channel.")
    .location()
    .refuses(409, "The address or the id is in use (40900).");
    area
}

/// For routes that change tags.
pub(super) const READ_ONLY: &str = "A tag group follows from device properties and cannot be changed, or the caller may not \
    do this (40300).";

pub(super) fn old_area() -> Area {
    let mut area = Area::new(
        "Device tokens and APIDs",
        "Channels as listings before them showed devices, for programs that still ask so. Read-only.",
    );
    let start = || query::id("start", "The channel that the page begins with.");
    area.get("/api/device_tokens", "List device tokens", "The iOS channels that are installed.")
        .takes(start())
        .takes(query::limit(PageSize::CHANNELS))
        .bare::<DeviceTokens>("A page of device tokens.");
    area.get("/api/device_tokens/count", "Count device tokens", "Of the iOS channels that are installed.")
        .bare::<DeviceTokenCount>("How many there are, and how many are shown notifications.");
    let since = || query::date("since", "From when on, at most 31 days ago.").required().example("2030-01-31");
    area.get("/api/device_tokens/feedback", "List device tokens that are gone", GONE_TOKENS).takes(since()).bare::<Vec<
        GoneDeviceToken,
    >>(
        "Up to 20,000 of them, in the order in which they went.",
    );
    area.get("/api/device_tokens/{device_token}", "Look up a device token", DEVICE_TOKEN)
        .bare::<DeviceTokenRecord>("The device.");
    area.get("/api/apids", "List APIDs", "The Android channels that are installed, by their ids.")
        .takes(start())
        .takes(query::limit(PageSize::CHANNELS))
        .bare::<Apids>("A page of APIDs.");
    area.get("/api/apids/feedback", "List APIDs that are gone", GONE_APIDS)
        .takes(since())
        .bare::<Vec<GoneApid>>("Up to 20,000 of them, in the order in which they went.");
    area.get("/api/apids/{apid}", "Look up an APID", "By the id of an Android channel.")
        .bare::<ApidRecord>("The device.");
    area.get("/api/device_pins", "List device PINs", "There are none.")
        .takes(query::limit(PageSize::CHANNELS))
        .bare::<DevicePins>("An empty list.");
    area.get("/api/device_pins/{device_pin}", "Look up a device PIN", "There are none: always answered with 404.")
        .refuses(404, "There is no such device PIN (40401).");
    area
}
