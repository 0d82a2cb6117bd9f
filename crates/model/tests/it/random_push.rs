//! Random pushes that obey every rule across their parts.

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value, json};

use crate::random_json::{Random, array, color, expiry, flag, free, integer, map, object, one_or_many, text, words};
use crate::random_notification::{actions, interactive, notification};
use crate::random_selector::selector;

pub(crate) fn push() -> Random {
    prop_oneof![to_everything(), to_some_platforms()].prop_map(in_one_language).boxed()
}

/// Content that lives on the screen has no localizations.
fn in_one_language(mut push: Value) -> Value {
    if push.to_string().contains("\"live_update\"") {
        push.as_object_mut().expect("a push is an object").remove("localizations");
    }
    push
}

fn to_everything() -> Random {
    let audience = prop_oneof![
        1 => words(&["all", "ALL", "All"]),
        3 => selector().prop_filter("a location needs platforms", |audience| {
            !audience.to_string().contains("\"location\"")
        }),
    ];
    let all = prop_oneof![words(&["all", "ALL"]), Just(json!(["all"]))];
    let mut always = parts();
    always.extend([("message", message()), ("localizations", array(localization(true), 1..=3))]);
    object(
        vec![("audience", audience.boxed()), ("device_types", all.boxed()), ("notification", notification())],
        always,
    )
}

/// The list may lack web, SMS and so on only when the audience does not name such devices, so audiences are tags.
fn to_some_platforms() -> Random {
    // With at least one platform that shows buttons.
    let others = vec!["android", "amazon", "web", "wns", "sms", "open::kiosk", "open::other"];
    let short_list = subsequence(others, 0..=7)
        .prop_map(|mut list| {
            list.push("ios");
            json!(list)
        })
        .boxed();
    let long_list = json!(["android", "ios", "ios", "amazon", "web", "wns", "sms", "open::kiosk"]);
    let with_message = words_list(&["web", "amazon", "android", "ios"]);
    let mut some = parts();
    some.push(("localizations", array(localization(false), 1..=3)));
    let mut with_page = parts();
    with_page.push(("localizations", array(localization(true), 1..=3)));
    let tag = || object(vec![("tag", text())], vec![("group", text())]);
    prop_oneof![
        object(vec![("audience", tag()), ("device_types", short_list), ("notification", notification())], some.clone()),
        object(
            vec![("audience", selector()), ("device_types", Just(long_list).boxed()), ("notification", notification())],
            some,
        ),
        object(vec![("audience", tag()), ("device_types", with_message), ("message", message())], with_page,),
    ]
    .boxed()
}

fn words_list(words: &'static [&'static str]) -> Random {
    Just(json!(words)).boxed()
}

/// What goes with any audience and any platforms.
fn parts() -> Vec<(&'static str, Random)> {
    let orchestration = Just(json!({"type": "fan_out"}));
    let feed = object(
        vec![("name", text())],
        vec![("params", map('p', free())), ("on_error", words(&["cancel", "continue"]))],
    );
    vec![
        ("in_app", in_app()),
        ("options", options()),
        ("campaigns", campaigns()),
        ("global_attributes", map('g', free())),
        ("message_type", words(&["commercial"])),
        ("orchestration", orchestration.boxed()),
        ("feed_references", object(vec![("feeds", array(feed, 1..=2))], vec![("defaults", map('d', free()))])),
        (
            "snippet_references",
            object(vec![("snippets", array(object(vec![("name", text())], vec![]), 1..=2))], vec![]),
        ),
    ]
}

fn campaigns() -> Random {
    object(vec![("categories", one_or_many(text()))], vec![])
}

fn options() -> Random {
    object(
        vec![],
        vec![
            ("expiry", expiry()),
            ("no_throttle", flag()),
            ("personalization", flag()),
            ("redact_payload", Just(Value::Bool(false)).boxed()),
            ("omit_from_activity_log", flag()),
            ("bypass_frequency_limits", flag()),
            ("bypass_holdout_groups", flag()),
            ("bypass_ban_list_processing", flag()),
            ("ban_list_parameters", map('b', text())),
            (
                "audience_limits",
                integer(1..=1000).prop_map(|n| json!({"max_recipients": n, "targeting_type": "contact"})).boxed(),
            ),
            ("use_strict_sms_validation", flag()),
        ],
    )
}

fn message() -> Random {
    let common = || {
        vec![
            ("content_type", words(&["text/html", "text/plain; charset=utf-8"])),
            ("expiry", expiry()),
            ("extra", map('e', text())),
            (
                "icons",
                words(&["ua:1", "https://example.com/a.png"]).prop_map(|icon| json!({"list_icon": icon})).boxed(),
            ),
            ("options", map('o', free())),
            ("campaigns", campaigns()),
        ]
    };
    let encoded = vec![("title", text()), ("body", words(&["aGk=", ""])), ("content_encoding", words(&["base64"]))];
    let template = words(&["welcome"]).prop_map(|id| json!({"external_id": id})).boxed();
    let mut plain = common();
    plain.push(("content_encoding", words(&["utf-8"])));
    prop_oneof![
        4 => object(vec![("title", text()), ("body", text())], plain),
        1 => object(encoded, common()),
        1 => object(vec![("template", template)], common()),
    ]
    .boxed()
}

fn in_app() -> Random {
    let display = object(
        vec![],
        vec![
            ("position", words(&["top", "bottom"])),
            ("duration", integer(0..=60)),
            ("primary_color", color()),
            ("secondary_color", color()),
        ],
    );
    object(
        vec![("alert", text()), ("display_type", words(&["banner"]))],
        vec![
            ("display", display),
            ("expiry", expiry()),
            ("actions", actions()),
            ("interactive", interactive()),
            ("extra", map('e', text())),
        ],
    )
}

fn localization(with_message: bool) -> Random {
    let mut content = vec![("country", words(&["AT", "de"])), ("in_app", in_app())];
    if with_message {
        content.push(("message", message()));
    }
    object(vec![("language", words(&["de", "fr", "EN"])), ("notification", notification())], content)
}
