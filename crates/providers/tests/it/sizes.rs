//! Pushes that are too large for a platform, and the part that is to blame.

use model::app::AppKey;
use model::json::parse;
use model::payload::Push;
use model::payload::actions::InlinePage;
use providers::{RenderedPush, Rendering, too_large};
use serde_json::{Value, json};

use crate::fixture::{APP_KEY, NOW, PUSH, SENT_AT};

/// Path and platform of everything that does not fit.
fn blamed(push: &Value) -> Vec<(String, String)> {
    let push = parse(push.to_string().as_bytes(), Push::parse).unwrap_or_else(|problems| panic!("{problems}"));
    let app_key = AppKey::new(APP_KEY).unwrap();
    let page_url = |_: &InlinePage| "https://push.example/pages/1".to_owned();
    let found = too_large(&push, &|content, device_type| {
        let rendering = Rendering {
            app_key: &app_key,
            push_id: PUSH.parse().unwrap(),
            group_id: None,
            variant_id: None,
            sent_at: SENT_AT,
            now: NOW,
            expiry: None,
            content,
            has_marks: false,
            campaigns: None,
            page_url: &page_url,
        };
        RenderedPush::new(&rendering, device_type)
    });
    let platform = |message: &str| message.split("for ").nth(1).unwrap().split(':').next().unwrap().to_owned();
    found.into_iter().map(|one| (one.path, platform(&one.message))).collect()
}

fn push(device_type: &str, notification: Value) -> Value {
    let mut push = json!({"audience": "all", "device_types": [device_type]});
    push["notification"] = notification;
    push
}

fn text(n_bytes: usize) -> String {
    "x".repeat(n_bytes)
}

/// The longest alert that fits, found by trying.
fn longest_alert(device_type: &str) -> usize {
    let fits = |n: &usize| blamed(&push(device_type, json!({"alert": text(*n)}))).is_empty();
    let (mut good, mut bad) = (0, 10_000);
    while bad - good > 1 {
        let middle = (good + bad) / 2;
        *if fits(&middle) { &mut good } else { &mut bad } = middle;
    }
    good
}

#[test]
fn every_platform_has_its_limit() {
    // What remains of each limit after the keys that every message has.
    let table =
        [("ios", 4096, 260), ("android", 4096, 400), ("amazon", 6144, 400), ("web", 3993, 260), ("wns", 5000, 100)];
    for (device_type, most, overhead) in table {
        let longest = longest_alert(device_type);
        assert!(longest < most && longest > most - overhead, "{device_type}: {longest}");
    }
    let open = json!({"audience": "all", "device_types": ["open::chat"], "notification": {"alert": text(20_000)}});
    assert_eq!(blamed(&open), []);
}

#[test]
fn the_largest_part_is_to_blame() {
    let long = text(7000);
    let page = json!({"type": "landing_page", "content": {"body": text(8000), "content_type": "text/html"}});
    let table = [
        (push("ios", json!({"alert": long})), "notification.alert"),
        (push("ios", json!({"alert": "a", "ios": {"alert": long}})), "notification.ios.alert"),
        (push("ios", json!({"alert": "a", "ios": {"extra": {"k": {"deep": long}}}})), "notification.ios.extra"),
        (push("android", json!({"alert": "a", "android": {"extra": {"k": long}}})), "notification.android.extra"),
        (push("amazon", json!({"alert": "a", "amazon": {"summary": long}})), "notification.amazon.summary"),
        (push("web", json!({"alert": "a", "web": {"title": long}})), "notification.web.title"),
        (push("wns", json!({"wns": {"raw": long}})), "notification.wns.raw"),
        (
            push("ios", json!({"alert": text(3900), "actions": {"open": page, "app_defined": {"a": text(300)}}})),
            "notification.alert",
        ),
        (push("ios", json!({"alert": "a", "actions": {"app_defined": {"a": long}}})), "notification.actions"),
    ];
    for (push, path) in table {
        let device_type = push["device_types"][0].as_str().unwrap().to_owned();
        assert_eq!(blamed(&push), [(path.to_owned(), device_type)]);
    }
    let mut with_banner = push("ios", json!({"alert": "a"}));
    with_banner["in_app"] = json!({"alert": "b", "display_type": "banner", "extra": {"k": long}});
    assert_eq!(blamed(&with_banner), [("in_app.extra".to_owned(), "ios".to_owned())]);
}

#[test]
fn every_platform_and_every_localization_is_looked_at() {
    let everywhere = json!({"audience": "all", "device_types": "all", "notification": {"alert": text(7000)}});
    let platforms: Vec<String> = blamed(&everywhere).into_iter().map(|(_, platform)| platform).collect();
    assert_eq!(platforms, ["ios", "android", "amazon", "web", "wns"]);

    let localized = json!({
        "audience": "all", "device_types": ["ios"], "notification": {"alert": "a"},
        "localizations": [
            {"language": "de", "notification": {"alert": "b"}},
            {"language": "fr", "notification": {"ios": {"title": text(7000)}}},
        ],
    });
    assert_eq!(blamed(&localized), [("localizations[1].notification.ios.title".to_owned(), "ios".to_owned())]);

    let inherited = json!({
        "audience": "all", "device_types": ["ios"], "notification": {"alert": text(7000)},
        "localizations": [{"language": "de", "message": {"title": "t", "body": "b"}}],
        "message": {"title": "t", "body": "b"},
    });
    let blamed = blamed(&inherited);
    assert!(blamed.iter().all(|(path, _)| path == "notification.alert"), "{blamed:?}");
}

#[test]
fn the_largest_badge_counts() {
    let longest = |badge: Value| {
        let fits = |n| blamed(&push("ios", json!({"alert": text(n), "ios": {"badge": badge}}))).is_empty();
        (3000..5000).take_while(|n| fits(*n)).last().unwrap()
    };
    assert_eq!(longest(json!(1)) - longest(json!("+1")), i64::MAX.to_string().len() - 1);
}
