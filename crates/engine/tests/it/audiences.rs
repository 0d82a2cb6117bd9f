//! Who gets a push: every selector that is resolved through the index, on devices that registered over HTTP.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::devices::{push, reached, register, register_open};

#[tokio::test]
async fn selectors_reach_exactly_whom_they_name() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app).await;
        for (audience, device_types, wanted) in crowd.expectations() {
            let body = json!({"audience": audience, "device_types": device_types, "notification": {"alert": "x"}});
            let id = push(&app, body).await;
            app.step_all().await;
            assert_eq!(crowd.names(&reached(&app, &id).await), wanted, "{audience} {device_types}");
        }
    })
    .await;
}

struct Crowd(Vec<(&'static str, String)>);

impl Crowd {
    async fn register(app: &TestApp) -> Self {
        let french = json!({"tags": ["news", "sports"], "timezone": "Europe/Paris", "locale_language": "fr",
            "locale_country": "FR", "app_version": "2.0", "sdk_version": "6.1.0", "device_os": "8.1.3",
            "device_model": "iPhone7,2"});
        let american = json!({"tags": ["news"], "timezone": "America/Detroit", "locale_language": "en",
            "locale_country": "US", "app_version": "2.0", "sdk_version": "6.1.0", "android_api_version": 21});
        let open = json!({"tags": ["sports"], "locale_language": "fr"});
        let mut crowd = vec![
            ("iphone", register(app, "ios", "A1", french).await),
            ("android", register(app, "android", "A2", american).await),
            ("kindle", register(app, "amazon", "A3", json!({"tags": ["sports"]})).await),
            ("windows", register(app, "wns", "A4", json!({})).await),
            ("kiosk", register_open(app, "kiosk", "lobby", open).await),
            ("fridge", register_open(app, "fridge", "lobby", json!({})).await),
        ];
        // These can never be reached.
        register(app, "ios", "A5", json!({"opt_in": false, "tags": ["news"]})).await;
        let gone = register(app, "ios", "A6", json!({"tags": ["news"]})).await;
        let uninstall = json!({"channel_id": gone, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        crowd.push(("uninstalled", gone));
        Self(crowd)
    }

    fn id(&self, name: &str) -> &str {
        &self.0.iter().find(|(known, _)| *known == name).unwrap().1
    }

    fn names(&self, ids: &BTreeSet<String>) -> BTreeSet<&str> {
        let named = self.0.iter().filter(|(_, id)| ids.contains(id)).map(|(name, _)| *name);
        let named: BTreeSet<&str> = named.collect();
        assert_eq!(named.len(), ids.len(), "a channel was reached that nobody expected");
        named
    }

    fn expectations(&self) -> Vec<(Value, Value, BTreeSet<&'static str>)> {
        let [iphone, android, kindle, windows, kiosk] =
            ["iphone", "android", "kindle", "windows", "kiosk"].map(|name| self.id(name));
        let tag = |tag: &str| json!({ "tag": tag });
        let property = |group: &str, tag: &str| json!({"group": group, "tag": tag});
        let rows: Vec<(Value, Value, &[&str])> = vec![
            (json!("all"), json!("all"), &["iphone", "android", "kindle", "windows", "kiosk", "fridge"]),
            (json!("ALL"), json!(["all"]), &["iphone", "android", "kindle", "windows", "kiosk", "fridge"]),
            (json!("all"), json!(["ios", "amazon", "ios"]), &["iphone", "kindle"]),
            (json!("all"), json!(["open::fridge"]), &["fridge"]),
            (json!({ "ios_channel": iphone }), json!("all"), &["iphone"]),
            (json!({ "ios_channel": iphone.to_uppercase() }), json!("all"), &["iphone"]),
            (json!({ "android_channel": [android, iphone] }), json!("all"), &["android"]),
            (json!({ "amazon_channel": kindle }), json!("all"), &["kindle"]),
            (json!({ "channel": [iphone, kiosk] }), json!("all"), &["iphone", "kiosk"]),
            (json!({ "channel": self.id("uninstalled") }), json!("all"), &[]),
            (json!({ "web_channel": iphone }), json!("all"), &[]),
            (json!({ "device_token": "a".repeat(64) }), json!("all"), &[]),
            (json!({"wns": "A4"}), json!("all"), &["windows"]),
            (json!({ "wns": [windows.to_uppercase(), iphone] }), json!("all"), &["windows"]),
            (json!({"not": {"wns": windows}}), json!(["ios", "wns"]), &["iphone"]),
            (json!({"open_channel": "lobby"}), json!(["open::kiosk"]), &["kiosk"]),
            (json!({"open_channel": "lobby"}), json!("all"), &["kiosk", "fridge"]),
            (json!({ "open_channel": kiosk }), json!(["open::kiosk"]), &["kiosk"]),
            (json!({ "open_channel": kiosk }), json!(["open::fridge"]), &[]),
            (tag("news"), json!("all"), &["iphone", "android"]),
            (json!({"tag": ["news", "sports"]}), json!("all"), &["iphone", "android", "kindle", "kiosk"]),
            (json!({"tag": "news", "group": "device"}), json!("all"), &["iphone", "android"]),
            (json!({"tag": "news", "group": "loyalty"}), json!("all"), &[]),
            (tag("nobody has this"), json!("all"), &[]),
            (json!({"AND": [tag("news"), tag("sports")]}), json!("all"), &["iphone"]),
            (json!({"or": [tag("news"), {"channel": kindle}]}), json!("all"), &["iphone", "android", "kindle"]),
            (json!({"Not": tag("news")}), json!("all"), &["kindle", "windows", "kiosk", "fridge"]),
            (json!({"not": [tag("nobody has this")]}), json!(["ios"]), &["iphone"]),
            (
                json!({"and": [{"or": [tag("news"), tag("sports")]}, {"not": property("ua_locale_language", "fr")}]}),
                json!("all"),
                &["android", "kindle"],
            ),
            (property("timezone", "Europe/Paris"), json!("all"), &["iphone"]),
            (property("timezone", "America/New_York"), json!("all"), &["android"]),
            (property("timezone", "NO_TIME_ZONE"), json!("all"), &["kindle", "windows", "kiosk", "fridge"]),
            (property("ua_locale_country", "Unknown"), json!("all"), &["kindle", "windows", "kiosk", "fridge"]),
            (property("ua_ios_version", "8.1.X"), json!("all"), &["iphone"]),
            (property("ua_ios_version", "8.1.3"), json!("all"), &[]),
            (property("ua_android_version", "5.0.X"), json!("all"), &["android"]),
            (property("ua_android_app_version", "2.0"), json!("all"), &["android"]),
            (property("ua_ios_model", "iPhone7,2"), json!("all"), &["iphone"]),
            (property("ua_opt_in", "false"), json!("all"), &[]),
            // Nothing of these kinds exists, so nobody is in them and everybody is outside.
            (json!({"segment": "00000000-0000-4000-8000-000000000000"}), json!("all"), &[]),
            (json!({"named_user": "kim"}), json!("all"), &[]),
            (json!({"static_list": "vip"}), json!("all"), &[]),
            (json!({"not": {"static_list": "vip"}}), json!(["ios"]), &["iphone"]),
        ];
        rows.into_iter().map(|(audience, types, names)| (audience, types, names.iter().copied().collect())).collect()
    }
}

#[tokio::test]
async fn audiences_follow_what_devices_change() {
    on_each_database(async |app| {
        let id = register(&app, "ios", "A1", json!({"tags": ["news"]})).await;
        let audience =
            |tag: &str| json!({"audience": {"tag": tag}, "device_types": "all", "notification": {"alert": "x"}});
        let update = json!({"channel": {"device_type": "ios", "tags": ["sports"]}});
        app.device().put(&format!("/api/channels/{id}"), update).await.expect(200);
        for (tag, n_reached) in [("news", 0), ("sports", 1)] {
            let push_id = push(&app, audience(tag)).await;
            app.step_all().await;
            assert_eq!(reached(&app, &push_id).await.len(), n_reached, "{tag}");
        }
        // The same after a restart, which builds the index anew.
        let app = app.restart().await;
        for (tag, n_reached) in [("news", 0), ("sports", 1)] {
            let push_id = push(&app, audience(tag)).await;
            app.step_all().await;
            assert_eq!(reached(&app, &push_id).await.len(), n_reached, "{tag}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_address_belongs_to_the_newest_channel() {
    on_each_database(async |app| {
        let first = register(&app, "ios", "A1", json!({})).await;
        let second = register(&app, "ios", "A2", json!({})).await;
        let update = json!({"channel": {"device_type": "ios", "push_address": "A1"}});
        app.device().put(&format!("/api/channels/{second}"), update).await.expect(200);
        let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "x"}});
        let push_id = push(&app, body).await;
        app.step_all().await;
        assert_eq!(reached(&app, &push_id).await, BTreeSet::from([second]));
        let former = app.master().get(&format!("/api/channels/{first}")).await.expect(200);
        assert_eq!(former["channel"]["push_address"], Value::Null);
    })
    .await;
}
