//! One rich push, and the exact request that each platform gets for it.

use serde_json::{Value, json};

use crate::fixture::{
    CHANNEL, DELIVERY, MESSAGE, PUSH, Push, SENT_AT, banner, button_actions, metadata, recipient, rich, tap_actions,
};

#[test]
fn apple_gets_aps_and_everything_else_beside_it() {
    let push = rich(
        "ios",
        &json!({
            "title": "Today only", "badge": "+2", "expiry": 3600, "thread_id": "sales", "collapse_id": "sale-1",
            "sound": {"name": "beep.caf", "volume": 0.5, "critical": true},
            "interruption_level": "time-sensitive", "relevance_score": 0.75,
            "extra": {"order": {"id": 7}, "_": "cannot be taken"},
            "media_attachment": {"url": "https://example.com/a.gif", "options": {"time": 1}},
        }),
    );
    let expected = json!({
        "method": "POST",
        "url": "https://api.push.apple.com/3/device/0123ABCD",
        "headers": {
            "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "1714568400",
            "apns-collapse-id": "sale-1", "apns-id": DELIVERY,
        },
        "body": {
            "aps": {
                "alert": {"title": "Today only", "body": "Sale!"},
                "badge": 7,
                "sound": {"name": "beep.caf", "volume": 0.5, "critical": 1},
                "category": "ua_yes_no_foreground",
                "content-available": 1, "mutable-content": 1, "thread-id": "sales",
                "interruption-level": "time-sensitive", "relevance-score": 0.75,
            },
            "_": PUSH,
            "com.urbanairship.metadata": metadata(),
            "_uamid": MESSAGE,
            "^+t": "sale", "^p": {"url": "https://push.example/pages/11"}, "my_action": {"x": 1},
            "com.urbanairship.interactive_actions": button_actions(),
            "com.urbanairship.media_attachment": {"url": "https://example.com/a.gif", "options": {"time": 1}},
            "com.urbanairship.in_app": banner(),
            "order": {"id": 7},
        },
    });
    assert_eq!(push.request("ios", "0123ABCD"), expected);
}

#[test]
fn badges_are_counted_for_apple() {
    let table = [(json!(3), 3), (json!("auto"), 5), (json!("+1"), 6), (json!("-2"), 3), (json!("-9"), 0)];
    for (badge, sent) in table {
        let request = Push::of(json!({"ios": {"badge": badge}})).request("ios", "aa");
        assert_eq!(request["body"]["aps"], json!({"badge": sent}));
        assert_eq!(request["headers"]["apns-push-type"], "alert");
    }
}

#[test]
fn an_action_of_the_app_cannot_stand_for_aps() {
    let push = Push::of(json!({"alert": "Hi", "actions": {"app_defined": {"aps": {"alert": "No"}, "own": 1}}}));
    let rendered = push.render("ios").unwrap().request(&recipient("aa"));
    assert_eq!(rendered.body.matches("\"aps\"").count(), 1);
    assert_eq!(
        (&rendered.to_json()["body"]["aps"], &rendered.to_json()["body"]["own"]),
        (&json!({"alert": "Hi"}), &json!(1))
    );
}

#[test]
fn a_live_update_is_urgent_unless_somebody_says_otherwise() {
    for (priority, sent) in [(json!(null), "high"), (json!("normal"), "normal")] {
        let mut android = json!({"live_update": {"name": "match", "event": "end"}});
        if !priority.is_null() {
            android["delivery_priority"] = priority;
        }
        let request = Push::of(json!({ "android": android })).request("android", "tok:en-1");
        let message = &request["body"]["message"];
        assert_eq!(message["android"]["priority"], sent);
        let update = json!({"name": "match", "event": "end", "timestamp": SENT_AT.seconds()});
        let told = message["data"]["com.urbanairship.live_update"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(told).unwrap(), update);
    }
}

#[test]
fn what_nobody_sees_is_a_background_push() {
    let message = Some(json!({"title": "t", "body": "b"}));
    let request = Push { message, ..Push::default() }.request("ios", "aa");
    let expected = json!({"apns-push-type": "background", "apns-priority": "5", "apns-id": DELIVERY});
    assert_eq!(request["headers"], expected);
    let body = json!({
        "aps": {"content-available": 1},
        "_": PUSH, "com.urbanairship.metadata": metadata(), "_uamid": MESSAGE,
    });
    assert_eq!(request["body"], body);
}

#[test]
fn now_or_never_is_zero_for_every_provider_that_can() {
    let push = Push { expiry: Some(0), ..Push::of(json!({"alert": "Now"})) };
    assert_eq!(push.request("ios", "aa")["headers"]["apns-expiration"], "0");
    assert_eq!(push.request("android", "aa")["body"]["message"]["android"]["ttl"], "0s");
    assert_eq!(push.request("amazon", "aa")["body"]["expiresAfter"], 60);
    assert_eq!(push.request("web", "https://web.example/1")["headers"]["ttl"], "0");
    assert_eq!(push.request("wns", "https://wns.example/1")["headers"]["x-wns-ttl"], "0");
}

#[test]
fn firebase_gets_a_data_message_of_strings() {
    let push = rich(
        "android",
        &json!({
            "title": "Today only", "summary": "All shops", "sound": "beep", "icon": "tag", "icon_color": "#00ff00",
            "collapse_key": "sale", "notification_channel": "offers", "notification_tag": "t1", "time_to_live": 3600,
            "priority": -1, "category": "promo", "visibility": 0, "local_only": true, "delivery_priority": "high",
            "public_notification": {"title": "Shop"},
            "style": {"type": "inbox", "lines": ["a", "b"], "title": "Two"},
            "wearable": {"background_image": "https://example.com/w.png", "interactive": {"type": "ua_share"}},
            "live_update": {"name": "match", "event": "update", "content_state": {"score": 1}},
            "extra": {
                "order": "7", "com.urbanairship.metadata": "cannot be taken", "com.urbanairship.push.APID": "nor this",
            },
        }),
    );
    let mut request = push.request("android", "tok:en-1");
    let data = &mut request["body"]["message"]["data"];
    // JSON inside strings is compared as JSON: the order of its keys means nothing.
    let mut inner = |key: &str| {
        let text = data[format!("com.urbanairship.{key}")].take();
        serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap()
    };
    assert_eq!(inner("actions"), tap_actions());
    assert_eq!(inner("interactive_actions"), button_actions());
    assert_eq!(inner("in_app"), banner());
    assert_eq!(inner("style"), json!({"type": "inbox", "lines": ["a", "b"], "title": "Two"}));
    assert_eq!(inner("public_notification"), json!({"title": "Shop"}));
    let watch = json!({"interactive_type": "ua_share", "background_image": "https://example.com/w.png"});
    assert_eq!(inner("wearable"), watch);
    let update =
        json!({"name": "match", "event": "update", "content_state": {"score": 1}, "timestamp": SENT_AT.seconds()});
    assert_eq!(inner("live_update"), update);
    data.as_object_mut().unwrap().retain(|_, value| !value.is_null());

    let expected = json!({
        "method": "POST",
        "url": "https://fcm.googleapis.com/v1/projects/ISex_TTJRuarzs9-o_Gkhg/messages:send",
        "headers": {"content-type": "application/json"},
        "body": {"message": {
            "token": "tok:en-1",
            "data": {
                "com.urbanairship.push.APID": CHANNEL,
                "com.urbanairship.push.PUSH_ID": PUSH,
                "com.urbanairship.push.CANONICAL_PUSH_ID": PUSH,
                "com.urbanairship.push.ALERT": "Sale!",
                "com.urbanairship.push.EXPIRATION": "1714568400",
                "com.urbanairship.metadata": metadata(),
                "_uamid": MESSAGE,
                "com.urbanairship.title": "Today only",
                "com.urbanairship.summary": "All shops",
                "com.urbanairship.sound": "beep",
                "com.urbanairship.icon": "tag",
                "com.urbanairship.icon_color": "#00ff00",
                "com.urbanairship.notification_channel": "offers",
                "com.urbanairship.notification_tag": "t1",
                "com.urbanairship.interactive_type": "ua_yes_no_foreground",
                "com.urbanairship.priority": "-1",
                "com.urbanairship.category": "promo",
                "com.urbanairship.visibility": "0",
                "com.urbanairship.local_only": "true",
                "order": "7",
            },
            "android": {"priority": "high", "ttl": "3540s", "collapse_key": "sale"},
        }},
    });
    assert_eq!(request, expected);
}

#[test]
fn amazon_gets_a_data_message_of_strings() {
    let push = Push::of(json!({
        "alert": "Sale!",
        "actions": {"share": "Look"},
        "amazon": {
            "title": "Today only", "consolidation_key": "sale", "expires_after": 3600, "extra": {"order": "7"},
            "style": {"type": "big_text", "big_text": "Long"}, "interactive": {"type": "custom"},
        },
    }));
    let expected = json!({
        "method": "POST",
        "url": "https://api.amazon.com/messaging/registrations/amzn1.adm%2F1/messages",
        "headers": {
            "content-type": "application/json",
            "accept": "application/json",
            "x-amzn-type-version": "com.amazon.device.messaging.ADMMessage@1.0",
            "x-amzn-accept-type": "com.amazon.device.messaging.ADMSendResult@1.0",
        },
        "body": {
            "data": {
                "com.urbanairship.push.APID": CHANNEL,
                "com.urbanairship.push.PUSH_ID": PUSH,
                "com.urbanairship.push.CANONICAL_PUSH_ID": PUSH,
                "com.urbanairship.push.ALERT": "Sale!",
                "com.urbanairship.push.EXPIRATION": "1714568400",
                "com.urbanairship.metadata": metadata(),
                "com.urbanairship.title": "Today only",
                "com.urbanairship.style": "{\"type\":\"big_text\",\"big_text\":\"Long\"}",
                "com.urbanairship.actions": "{\"^s\":\"Look\"}",
                "com.urbanairship.interactive_type": "custom",
                "order": "7",
            },
            "consolidationKey": "sale",
            "expiresAfter": 3540,
        },
    });
    assert_eq!(push.request("amazon", "amzn1.adm/1"), expected);
}

#[test]
fn browsers_get_our_own_payload() {
    let push = rich(
        "web",
        &json!({
            "title": "Today only", "icon": {"url": "https://example.com/i.png"}, "require_interaction": true,
            "extra": {"order": "7"}, "time_to_live": 600,
            "buttons": [
                {"id": "go", "label": "Go", "actions": {"open": {"type": "url", "content": "https://example.com/go"}}},
                {"id": "no", "label": "No", "background": true},
            ],
        }),
    );
    let expected = json!({
        "method": "POST",
        "url": "https://web.example/sub/1",
        "headers": {"ttl": "540", "urgency": "normal"},
        "body": {
            "_": PUSH,
            "push_id": PUSH,
            "com.urbanairship.metadata": metadata(),
            "_uamid": MESSAGE,
            "alert": "Sale!",
            "title": "Today only",
            "icon": {"url": "https://example.com/i.png"},
            "require_interaction": true,
            "actions": tap_actions(),
            "buttons": [
                {"id": "go", "label": "Go", "actions": {"^u": "https://example.com/go"}},
                {"id": "no", "label": "No", "background": true},
            ],
            "extra": {"order": "7"},
        },
    });
    assert_eq!(push.request("web", "https://web.example/sub/1"), expected);
}
