//! What devices tell about themselves: selected by in audiences, and filled in in texts.

use model::ids::{AppId, ChannelId};
use model::time::UtcMillis;
use serde_json::{Value, json};
use store::Tx;
use store::attributes::{self, Owner, Write};
use store::channels;
use testkit::app::{TestApp, on_each_database};

use crate::attributes::{change, is, set};
use crate::crowd::Crowd;
use crate::personalization::{kept, send};
use crate::push_account::why;

/// Makes what is kept of a channel unreadable: its profile, and an attribute. What reads it without having to fails.
pub(crate) async fn spoil(app: &TestApp, crowd: &Crowd, name: &str, attribute: &str) {
    const APP: AppId = AppId(1);
    let (id, attribute): (ChannelId, _) = (crowd.id(name).parse().unwrap(), attribute.to_owned());
    let write = move |tx: &mut Tx<'_>| {
        let mut channel = channels::by_id(tx, APP, id)?.unwrap();
        channel.profile = "unreadable".to_owned();
        channels::update(tx, APP, &channel)?;
        let value = Some("unreadable".to_owned());
        let write = Write { name: attribute.clone(), value, at: UtcMillis(i64::MAX), expires: None };
        attributes::write(tx, APP, &Owner::Channel(channel.ordinal), &[write])
    };
    app.engine().store().write(APP, write).await.unwrap();
}

pub(crate) async fn tell(app: &TestApp, crowd: &Crowd, name: &str, device_type: &str, more: Value) {
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
    })
    .await;
}

#[tokio::test]
async fn audiences_by_what_no_tag_says() {
    on_each_database(async |app| {
        let members = [("a", "ios"), ("b", "android"), ("c", "amazon"), ("d", "web"), ("e", "ios"), ("k", "open::kiosk")];
        let crowd = Crowd::register(&app, &members).await;
        let phone = |os: &str, sdk: &str, model: &str, carrier: Value, zone: &str| {
            json!({"device_os": os, "sdk_version": sdk, "device_model": model, "carrier": carrier, "timezone": zone})
        };
        tell(&app, &crowd, "a", "ios", phone("17.4.1", "20.6.3", "iPhone15,2", json!("Telia"), "Europe/Oslo")).await;
        tell(&app, &crowd, "b", "android", phone("14", "20.10.0", "Pixel 8", json!(null), "Europe/Oslo")).await;
        tell(&app, &crowd, "c", "amazon", phone("17.4 Fire", "17.8.1", "KFTRWI", json!("Telenor"), "Asia/Tokyo")).await;
        tell(&app, &crowd, "e", "ios", phone("17.10", "20.6.10-beta", "iPhone15,3", json!("Telia"), "Mars/Base")).await;
        let web = json!({"browser_name": "chrome", "browser_type": "desktop", "browser_version": "chrome-141",
                         "web_sdk_version": "2.5.0"});
        tell(&app, &crowd, "d", "web", json!({"web": web, "timezone": "Europe/Berlin"})).await;
        let by = |name: &str, operator: &str, value: &str| match value {
            "" => json!({"attribute": format!("ua_{name}"), "operator": operator}),
            value => json!({"attribute": format!("ua_{name}"), "operator": operator, "value": value}),
        };
        let table = [
            (by("device_os", "equals", "17.4.1"), "a"),
            (by("device_os", "less", "17.4.1"), "b c"),
            (by("device_os", "greater", "17.4.1"), "e"),
            (by("device_os", "greater", "17"), "a c e"),
            (by("device_os", "contains", "Fire"), "c"),
            (by("device_os", "is_empty", ""), "d k"),
            (by("sdk_version", "equals", "2.5"), "d"),
            (by("sdk_version", "equals", "20.6.10"), "e"),
            (by("sdk_version", "less", "20.6.4"), "a c d"),
            (by("sdk_version", "greater", "20.6.3"), "b e"),
            (by("sdk_version", "is_empty", ""), "k"),
            (by("device_model", "equals", "Pixel 8"), "b"),
            (by("device_model", "contains", "iPhone15"), "a e"),
            (by("device_model", "is_empty", ""), "d k"),
            (by("carrier", "equals", "Telia"), "a e"),
            (json!({"not": by("carrier", "equals", "Telia")}), "b c d k"),
            (by("carrier", "is_empty", ""), "b d k"),
            (by("local_tz", "equals", "Europe/Oslo"), "a b"),
            (by("local_tz", "equals", "Mars/Base"), "e"),
            (by("local_tz", "contains", "Europe"), "a b d"),
            (by("local_tz", "is_empty", ""), "k"),
            (by("browser_name", "equals", "chrome"), "d"),
            (by("browser_type", "equals", "mobile"), ""),
            (by("browser_version", "equals", "chrome-141"), "d"),
            (by("browser_version", "greater", "140"), "d"),
            (by("browser_version", "less", "firefox-150"), ""),
            (by("browser_name", "is_empty", ""), "a b c e k"),
            (json!({"and": [by("device_os", "greater", "17"), {"not": by("sdk_version", "less", "20")}]}), "a e"),
        ];
        for (selector, expected) in &table {
            assert_eq!(crowd.reached(&app, selector).await, *expected, "{selector}");
        }
        // One device that asks is answered the same.
        for (selector, expected) in &table {
            let segment = json!({"display_name": "Devices", "criteria": selector});
            let id = app.master().post("/api/segments", segment).await.expect(201)["segment_id"].clone();
            for (name, _) in members.iter().filter(|(_, device_type)| *device_type != "open::kiosk") {
                let check = json!({"channel_id": crowd.id(name), "context": {"segment_id": id}});
                let path = format!("/api/remote-audience-check/app/{}", app.app.key);
                let answer = app.device().post(&path, check).await.expect(200);
                assert_eq!(answer["allowed"], expected.split(' ').any(|one| one == *name), "{name}: {selector}");
            }
        }
        // It counts at once when a device tells something else, and not any more once it is gone.
        tell(&app, &crowd, "e", "ios", json!({"device_os": "17.4.1"})).await;
        assert_eq!(crowd.reached(&app, &by("device_os", "equals", "17.4.1")).await, "a e");
        crowd.uninstall(&app, "a").await;
        assert_eq!(crowd.reached(&app, &by("device_os", "equals", "17.4.1")).await, "e");
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

#[tokio::test]
async fn telling_why_of_one_device_reads_what_is_kept_of_no_other() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "android"), ("b", "android"), ("c", "android"), ("d", "web")]).await;
        for (name, model) in [("a", "Pixel 8"), ("b", "Pixel 9"), ("c", "Pixel 8")] {
            tell(&app, &crowd, name, "android", json!({"device_model": model})).await;
            change(&app, &crowd, name, json!([set("plan", "gold")])).await;
        }
        let model = json!({"attribute": "ua_device_model", "operator": "equals", "value": "Pixel 8"});
        let push = json!({"audience": {"and": [model, {"not": {"not": is("plan", "gold")}}]}, "device_types": "all",
                          "notification": {"alert": "Hi"}});
        let push = app.master().post("/api/push", push).await.expect(200)["push_ids"][0].as_str().unwrap().to_owned();
        app.step_all().await;
        spoil(&app, &crowd, "c", "plan").await;
        for (name, outcome, expected) in [
            ("a", "delivered", [true, true]),
            ("b", "not_matched", [false, true]),
            ("d", "not_matched", [false, false]),
        ] {
            let found = why(&app, &push, &format!("channel_id={}", crowd.id(name))).await;
            assert_eq!(found["outcome"], outcome, "{found:#}");
            let steps = found["steps"].as_array().unwrap();
            let clause = &steps.iter().find(|step| step["step"] == "audience").unwrap()["clause"];
            let met = [&clause["clauses"][0]["matched"], &clause["clauses"][1]["matched"]];
            assert_eq!(met, expected, "{found:#}");
        }
    })
    .await;
}
