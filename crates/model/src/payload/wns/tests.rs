//! The WNS override: what is accepted, how it prints, and where mistakes are reported.

use serde_json::{Value, json};

use super::*;
use crate::json::parse;

fn read(body: &Value) -> Result<WnsOverride, String> {
    parse(body.to_string().as_bytes(), WnsOverride::parse).map_err(|problems| problems.first().path.clone())
}

#[test]
fn good_overrides_print_as_they_came() {
    let binding = json!({"template": "ToastText01", "version": 2, "fallback": "f", "lang": "en-US", "base_uri": "ms:///",
        "add_image_query": true, "image": ["a.png"], "text": ["one", "two"]});
    for body in [
        json!({"alert": "a"}),
        json!({"alert": "a", "cache_policy": "no-cache"}),
        json!({"toast": {"binding": binding}}),
        json!({"toast": {"binding": {"template": "ToastText01", "text": "one"}, "duration": "long",
            "audio": {"sound": "looping-alarm2", "loop": true}}}),
        json!({"tile": {"binding": [binding, {"template": "TileWide"}]}, "cache_policy": "cache"}),
        json!({"tile": {"binding": {"template": "TileWide"}}}),
        json!({"badge": {"value": 1}}),
        json!({"badge": {"value": 99}}),
        json!({"badge": {"glyph": "new-message"}}),
        json!({"raw": "{}", "cache_policy": "no-cache"}),
    ] {
        let wns = read(&body).unwrap_or_else(|path| panic!("{body}: {path}"));
        assert_eq!(json!(wns), body);
    }
    for sound in ["mute", "default", "im", "mail", "reminder", "sms", "looping-alarm", "looping-call", "looping-call2"]
    {
        let body = json!({"toast": {"binding": {"template": "x"}, "audio": {"sound": sound}}});
        assert_eq!(json!(read(&body).unwrap()), body);
    }
}

#[test]
fn mistakes_are_reported_where_they_are() {
    let toast = |key: &str, value: Value| json!({"toast": {"binding": {"template": "x"}, key: value}});
    let binding = |key: &str, value: Value| json!({"toast": {"binding": {"template": "x", key: value}}});
    for (body, path) in [
        (json!("a"), ""),
        (json!({}), ""),
        (json!({"cache_policy": "cache"}), ""),
        (json!({"alert": "a", "badge": {"value": 1}}), ""),
        (json!({"alert": "a", "title": "t"}), "title"),
        (json!({"alert": null}), "alert"),
        (json!({"alert": "a", "cache_policy": "none"}), "cache_policy"),
        (json!({"toast": {}}), "toast.binding"),
        (json!({"toast": {"binding": {}}}), "toast.binding.template"),
        (json!({"toast": {"binding": []}}), "toast.binding"),
        (toast("duration", json!("medium")), "toast.duration"),
        (toast("audio", json!({})), "toast.audio.sound"),
        (toast("audio", json!({"sound": "bang"})), "toast.audio.sound"),
        (toast("audio", json!({"sound": "im", "loop": 1})), "toast.audio.loop"),
        (binding("version", json!("2")), "toast.binding.version"),
        (binding("text", json!(["a", 1])), "toast.binding.text[1]"),
        (binding("image", json!({})), "toast.binding.image"),
        (binding("color", json!("red")), "toast.binding.color"),
        (json!({"tile": {"binding": []}}), "tile.binding"),
        (json!({"tile": {"binding": [{}]}}), "tile.binding[0].template"),
        (json!({"badge": 1}), "badge"),
        (json!({"raw": ""}), "raw"),
        (json!({"raw": "a", "alert": "a"}), ""),
        (json!({"badge": {}}), "badge"),
        (json!({"badge": {"value": 0}}), "badge.value"),
        (json!({"badge": {"value": 100}}), "badge.value"),
        (json!({"badge": {"glyph": "star"}}), "badge.glyph"),
        (json!({"badge": {"value": 1, "glyph": "busy"}}), "badge"),
    ] {
        assert_eq!(read(&body).unwrap_err(), path, "{body}");
    }
}
