//! What devices tell about themselves: selected by in audiences, filled in in texts, and refused where no tag says what it is.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;
use crate::personalization::{kept, send};

async fn tell(app: &TestApp, crowd: &Crowd, name: &str, device_type: &str, more: Value) {
    let mut channel = json!({"device_type": device_type, "opt_in": true});
    channel.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.master().put(&format!("/api/channels/{}", crowd.id(name)), json!({ "channel": channel })).await.expect(200);
}

#[tokio::test]
async fn audiences_by_what_devices_tell() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "amazon"), ("d", "web")]).await;
        let german = json!({"app_version": "4.10.0-beta", "locale_language": "DE", "locale_country": "AT"});
        tell(&app, &crowd, "a", "ios", german).await;
        let hebrew = json!({"app_version": "4.9", "locale_language": "iw", "location_settings": true});
        tell(&app, &crowd, "b", "android", hebrew).await;
        tell(&app, &crowd, "c", "amazon", json!({"app_version": "winter"})).await;
        let by = |name: &str, operator: &str, value: Value| match value {
            Value::Null => json!({"attribute": format!("ua_{name}"), "operator": operator}),
            value => json!({"attribute": format!("ua_{name}"), "operator": operator, "value": value}),
        };
        let table = [
            (by("app_version", "equals", json!("4.10")), "a"),
            (by("app_version", "equals", json!(4.9)), "b"),
            (by("app_version", "equals", json!("winter")), "c"),
            (by("app_version", "less", json!("4.10")), "b"),
            (by("app_version", "greater", json!("4.9.0")), "a"),
            (by("app_version", "greater", json!("4")), "a b"),
            (by("app_version", "contains", json!("win")), "c"),
            (by("app_version", "is_empty", Value::Null), "d"),
            (json!({"not": by("app_version", "is_empty", Value::Null)}), "a b c"),
            (by("language", "equals", json!("de")), "a"),
            (by("language", "equals", json!("HE")), "b"),
            (by("language", "is_empty", Value::Null), "c d"),
            (by("country", "equals", json!("at")), "a"),
            (by("country", "equals", json!("DE")), ""),
            (by("location_settings", "equals", json!("true")), "b"),
        ];
        for (selector, expected) in table {
            assert_eq!(crowd.reached(&app, &selector).await, expected, "{selector}");
        }
        for name in
            ["ua_sdk_version", "ua_device_model", "ua_device_os", "ua_carrier", "ua_local_tz", "ua_browser_name"]
        {
            let selector = json!({"not": {"attribute": name, "operator": "equals", "value": "1"}});
            let push = json!({"audience": selector, "device_types": "all", "notification": {"alert": "Hi"}});
            let refused = app.master().post("/api/push", push).await.expect(400);
            assert_eq!(refused["details"]["path"], "audience.not.attribute", "{refused}");
            assert!(refused["error"].as_str().unwrap().contains("ua_app_version"), "{refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn texts_are_filled_in_with_what_devices_tell() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("phone", "ios")]).await;
        let told = json!({"location_settings": false, "carrier": "Telia", "timezone": "Europe/Oslo"});
        tell(&app, &crowd, "phone", "ios", told).await;
        let web = json!({"browser_name": "chrome", "browser_type": "desktop", "browser_version": "chrome-141"});
        let channel = json!({"device_type": "web", "live": true, "opt_in": true, "web": web});
        let browser = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        let names = ["browser_name", "browser_type", "browser_version", "location_settings", "carrier", "tz"];
        let alert = names.map(|name| format!("{{{{ua_{name}}}}}")).join("|");
        send(&app, json!({"notification": {"alert": alert}, "options": {"personalization": true}})).await;
        let kept = kept(&app).await;
        assert_eq!(kept[crowd.id("phone")]["aps"]["alert"], "|||false|Telia|Europe/Oslo");
        assert_eq!(kept[browser["channel_id"].as_str().unwrap()]["alert"], "chrome|desktop|chrome-141|||");
    })
    .await;
}
