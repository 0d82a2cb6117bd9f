//! Random notifications with every override.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::random_json::{
    Random, array, color, expiry, flag, fraction, free, integer, map, number, object, one_or_many, text, url, uuid,
    words,
};

/// Always with an alert, so that every platform has something to show; never with both SMS and MMS.
pub(crate) fn notification() -> Random {
    let overrides = |phone: (&'static str, Random)| {
        vec![
            ("actions", actions()),
            ("interactive", interactive()),
            ("ios", ios()),
            ("android", android()),
            ("amazon", amazon()),
            ("web", web()),
            ("wns", wns()),
            ("open::kiosk", open()),
            ("email", email()),
            phone,
        ]
    };
    let with = |phone| object(vec![("alert", text())], overrides(phone));
    prop_oneof![with(("sms", sms())), with(("mms", mms()))].boxed()
}

pub(crate) fn actions() -> Random {
    let open = prop_oneof![
        url().prop_map(|url| json!({"type": "url", "content": url})),
        object(vec![("type", words(&["deep_link"])), ("content", text())], vec![("fallback_url", url())],),
        object(
            vec![("body", text()), ("content_type", words(&["text/html"]))],
            vec![("content_encoding", words(&["utf-8"]))]
        )
        .prop_map(|page| json!({"type": "landing_page", "content": page})),
        url().prop_map(|url| json!({"type": "landing_page", "content": {"url": url}})),
        Just(json!({"type": "home"})),
    ];
    let subject = || ("type", words(&["channel", "contact"]));
    let set = object(vec![subject(), ("action", words(&["set"])), ("name", text()), ("value", text())], vec![]);
    let unset = object(vec![subject(), ("action", words(&["remove"])), ("name", text())], vec![]);
    let tags = object(
        vec![subject(), ("action", words(&["add", "remove"])), ("tags", one_or_many(text()))],
        vec![("group", text())],
    );
    let lists = object(
        vec![subject(), ("action", words(&["subscribe", "unsubscribe"])), ("list_id", text())],
        vec![("scope", words(&["app", "web"]))],
    );
    object(
        vec![("share", text())],
        vec![
            ("add_tag", one_or_many(text())),
            ("remove_tag", one_or_many(text())),
            ("open", open.boxed()),
            ("app_defined", map('a', free())),
            (
                "add_custom_event",
                object(vec![("name", text())], vec![("value", number()), ("properties", map('p', free()))]),
            ),
            ("attributes", array(prop_oneof![set, unset].boxed(), 1..=2)),
            ("tags", array(tags, 1..=2)),
            ("subscription_list", array(lists, 1..=2)),
        ],
    )
}

pub(crate) fn interactive() -> Random {
    let yes_no = object(vec![], vec![("yes", actions()), ("no", actions())]);
    prop_oneof![
        object(vec![("type", words(&["ua_yes_no_foreground"]))], vec![("button_actions", yes_no)]),
        object(vec![("type", words(&["my_buttons"]))], vec![("button_actions", map('b', actions()))]),
    ]
    .boxed()
}

fn template(field: &'static str) -> Random {
    prop_oneof![
        uuid().prop_map(|id| json!({"template_id": id})),
        text().prop_map(|id| json!({"external_id": id})),
        text().prop_map(move |text| json!({"fields": {field: text}})),
    ]
    .boxed()
}

/// The override with its own texts, or with a template that gives them.
fn with_template(
    field: &'static str,
    texts: Vec<(&'static str, Random)>,
    others: Vec<(&'static str, Random)>,
) -> Random {
    let mut own = others.clone();
    own.extend(texts);
    prop_oneof![3 => object(vec![], own), 1 => object(vec![("template", template(field))], others)].boxed()
}

fn texts(keys: &'static [&'static str]) -> Vec<(&'static str, Random)> {
    keys.iter().map(|key| (*key, text())).collect()
}

fn ios() -> Random {
    let alert_object = object(
        vec![("body", text())],
        vec![
            ("title", text()),
            ("loc-key", text()),
            ("loc-args", array(text(), 0..=2)),
            ("summary-arg-count", integer(1..=9)),
        ],
    );
    let sound = object(vec![("name", text())], vec![("volume", fraction()), ("critical", flag())]);
    let badge = prop_oneof![integer(0..=99), words(&["auto", "+1", "-2"])].boxed();
    let crop = object(vec![("x", fraction())], vec![("y", fraction()), ("width", fraction()), ("height", fraction())]);
    let media = object(
        vec![("url", url())],
        vec![
            ("content", object(vec![("title", text())], texts(&["subtitle", "body"]))),
            ("options", object(vec![("hidden", flag())], vec![("crop", crop), ("time", integer(0..=9))])),
        ],
    );
    with_template(
        "alert",
        vec![("alert", prop_oneof![text(), alert_object].boxed()), ("title", text()), ("subtitle", text())],
        vec![
            ("badge", badge),
            ("sound", prop_oneof![text(), sound].boxed()),
            ("content_available", Just(json!(true)).boxed()),
            ("mutable_content", flag()),
            ("extra", map('e', free())),
            ("expiry", expiry()),
            ("priority", select(vec![5, 10]).prop_map(|n| json!(n)).boxed()),
            ("category", text()),
            ("interactive", interactive()),
            ("actions", actions()),
            ("thread_id", text()),
            ("collapse_id", text()),
            ("target_content_id", text()),
            ("interruption_level", words(&["passive", "active", "time-sensitive", "critical"])),
            ("relevance_score", fraction()),
            ("media_attachment", media),
        ],
    )
}

fn style() -> Random {
    prop_oneof![
        object(vec![("type", words(&["big_text"])), ("big_text", text())], texts(&["title", "summary"])),
        object(vec![("type", words(&["big_picture"])), ("big_picture", url())], texts(&["title", "summary"])),
        object(vec![("type", words(&["inbox"])), ("lines", array(text(), 1..=3))], texts(&["title", "summary"])),
    ]
    .boxed()
}

/// The texts of Android and Amazon, among which templates count the icon.
fn with_icon() -> Vec<(&'static str, Random)> {
    let mut fields = texts(&["alert", "title", "summary", "icon"]);
    fields.push(("icon_color", color()));
    fields
}

fn android() -> Random {
    let page = object(vec![("title", text())], texts(&["alert"]));
    let wearable = object(
        vec![("background_image", url())],
        vec![("extra_pages", array(page, 1..=2)), ("interactive", interactive())],
    );
    with_template(
        "alert",
        with_icon(),
        vec![
            ("sound", text()),
            ("collapse_key", text()),
            ("notification_channel", text()),
            ("time_to_live", expiry()),
            ("extra", map('e', text())),
            ("priority", integer(-2..=2)),
            ("category", words(&["alarm", "msg", "transport"])),
            ("visibility", integer(-1..=1)),
            ("public_notification", object(vec![("title", text())], texts(&["alert", "summary"]))),
            ("local_only", flag()),
            ("delivery_priority", words(&["high", "normal"])),
            ("deliver_to", words(&["all", "opted_in"])),
            ("style", style()),
            ("wearable", wearable),
            (
                "live_update",
                object(
                    vec![("name", text()), ("event", words(&["update"]))],
                    vec![("content_state", map('c', free()))],
                ),
            ),
            ("interactive", interactive()),
            ("actions", actions()),
        ],
    )
}

fn amazon() -> Random {
    with_template(
        "alert",
        with_icon(),
        vec![
            ("consolidation_key", text()),
            ("expires_after", expiry()),
            ("extra", map('e', text())),
            ("style", style()),
            ("interactive", interactive()),
            ("actions", actions()),
        ],
    )
}

fn web() -> Random {
    let image = || object(vec![("url", url())], vec![]);
    let button = object(vec![("id", text()), ("label", text())], vec![("actions", actions())]);
    with_template(
        "alert",
        texts(&["alert", "title"]),
        vec![
            ("icon", image()),
            ("image", image()),
            ("extra", map('e', text())),
            ("require_interaction", flag()),
            ("time_to_live", expiry()),
            ("buttons", array(button, 1..=1)),
            ("actions", actions()),
        ],
    )
}

fn wns() -> Random {
    let binding = || {
        object(
            vec![("template", words(&["ToastText01"]))],
            vec![
                ("version", integer(1..=3)),
                ("image", one_or_many(text())),
                ("text", one_or_many(text())),
                ("add_image_query", flag()),
            ],
        )
    };
    let policy = || vec![("cache_policy", words(&["cache", "no-cache"]))];
    let toast = object(vec![("binding", binding())], vec![("duration", words(&["long", "short"]))]);
    prop_oneof![
        object(vec![("alert", text())], policy()),
        object(vec![("toast", toast)], policy()),
        object(vec![("tile", object(vec![("binding", array(binding(), 1..=2))], vec![]))], policy()),
        object(vec![("badge", object(vec![("value", integer(1..=99))], vec![]))], policy()),
        object(vec![("raw", words(&["{}", "<x/>"]))], policy()),
    ]
    .boxed()
}

fn open() -> Random {
    with_template(
        "alert",
        vec![("alert", text()), ("title", text()), ("summary", text()), ("media_attachment", url())],
        vec![("extra", map('e', text())), ("interactive", interactive())],
    )
}

fn sms() -> Random {
    object(vec![("alert", text())], vec![("expiry", expiry()), ("shorten_links", flag())])
}

fn mms() -> Random {
    let media = object(
        vec![("url", url()), ("content_type", words(&["image/png", "image/jpeg"]))],
        vec![("content_length", integer(1..=1000))],
    );
    let slide = object(vec![("media", media)], vec![("text", text())]);
    object(
        vec![("fallback_text", text()), ("slides", array(slide, 1..=1))],
        vec![("subject", text()), ("shorten_links", flag())],
    )
}

fn email() -> Random {
    let address = || words(&["kim@example.com", "desk@example.org"]);
    object(
        vec![
            ("message_type", words(&["commercial"])),
            ("subject", text()),
            ("plaintext_body", text()),
            ("sender_name", text()),
            ("sender_address", address()),
            ("reply_to", address()),
        ],
        vec![
            ("html_body", text()),
            ("bcc", one_or_many(address())),
            ("attachments", array(uuid().prop_map(|id| json!({"id": id})).boxed(), 1..=2)),
            ("click_tracking", flag()),
            ("open_tracking", flag()),
            ("url_parameters", map('u', text())),
        ],
    )
}
