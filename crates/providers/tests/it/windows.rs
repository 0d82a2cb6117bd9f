//! Windows gets XML: a toast, a tile or a badge.

use providers::NotSendable;
use serde_json::{Value, json};

use crate::fixture::Push;

fn request(wns: &Value) -> Value {
    Push::of(json!({ "wns": wns })).request("wns", "https://db5.notify.windows.com/?token=1")
}

#[test]
fn an_alert_is_the_simplest_toast() {
    let push = Push { expiry: Some(3600), ..Push::of(json!({"alert": "5 < 6 & \"so on\""})) };
    let expected = json!({
        "method": "POST",
        "url": "https://db5.notify.windows.com/?token=1",
        "headers": {"content-type": "text/xml", "x-wns-type": "wns/toast", "x-wns-ttl": "3540"},
        "body": "<toast><visual><binding template=\"ToastText01\">\
                 <text id=\"1\">5 &lt; 6 &amp; &quot;so on&quot;</text></binding></visual></toast>",
    });
    assert_eq!(push.request("wns", "https://db5.notify.windows.com/?token=1"), expected);
}

#[test]
fn a_toast_with_everything() {
    let request = request(&json!({
        "toast": {
            "duration": "long",
            "binding": {
                "template": "ToastImageAndText02", "version": 2, "fallback": "ToastText02", "lang": "en-US",
                "base_uri": "https://example.com/", "add_image_query": true, "image": ["a.png"], "text": ["One", "Two"],
            },
            "audio": {"sound": "looping-alarm2", "loop": true},
        },
        "cache_policy": "no-cache",
    }));
    let headers = json!({"content-type": "text/xml", "x-wns-type": "wns/toast", "x-wns-cache-policy": "no-cache"});
    assert_eq!(request["headers"], headers);
    let body = "<toast duration=\"long\"><visual version=\"2\">\
                <binding template=\"ToastImageAndText02\" fallback=\"ToastText02\" lang=\"en-US\" \
                baseUri=\"https://example.com/\" addImageQuery=\"true\">\
                <image id=\"1\" src=\"a.png\"/><text id=\"1\">One</text><text id=\"2\">Two</text></binding></visual>\
                <audio src=\"ms-winsoundevent:Notification.Looping.Alarm2\" loop=\"true\"/></toast>";
    assert_eq!(request["body"], body);
}

#[test]
fn a_muted_toast() {
    let toast = json!({"binding": {"template": "ToastText01", "text": "Hush"}, "audio": {"sound": "mute"}});
    let body = "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">Hush</text></binding></visual>\
                <audio silent=\"true\"/></toast>";
    assert_eq!(request(&json!({ "toast": toast }))["body"], body);
}

#[test]
fn tiles_and_badges() {
    let bindings = json!([{"template": "TileSquareText01", "text": ["a"]}, {"template": "TileWideText01"}]);
    let tile = request(&json!({"tile": {"binding": bindings}}));
    assert_eq!(tile["headers"]["x-wns-type"], "wns/tile");
    let body = "<tile><visual><binding template=\"TileSquareText01\"><text id=\"1\">a</text></binding>\
                <binding template=\"TileWideText01\"></binding></visual></tile>";
    assert_eq!(tile["body"], body);

    for (badge, value) in [(json!({"value": 5}), "5"), (json!({"glyph": "new-message"}), "newMessage")] {
        let request = request(&json!({ "badge": badge }));
        assert_eq!(request["headers"]["x-wns-type"], "wns/badge");
        assert_eq!(request["body"], format!("<badge value=\"{value}\"/>"));
    }
}

#[test]
fn platforms_without_content_or_transport_get_nothing() {
    let ios_only = Push::of(json!({"ios": {"alert": "Hi"}}));
    for device_type in ["android", "amazon", "web", "wns", "open::chat"] {
        assert_eq!(ios_only.render(device_type).unwrap_err(), NotSendable::NothingToSend, "{device_type}");
    }
    let in_app = json!({"alert": "Hi", "display_type": "banner"});
    let banner_only = Push { in_app: Some(in_app), ..Push::default() };
    for (device_type, sendable) in [("ios", true), ("android", true), ("amazon", true), ("web", false), ("wns", false)]
    {
        assert_eq!(banner_only.render(device_type).is_ok(), sendable, "{device_type}");
    }
    for device_type in ["sms", "mms", "email"] {
        let push = Push::of(json!({"alert": "Hi"}));
        assert_eq!(push.render(device_type).unwrap_err(), NotSendable::NoTransport, "{device_type}");
    }
}
