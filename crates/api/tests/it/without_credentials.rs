//! An app in production without credentials: its pushes fail, and that is said before and afterwards.

use std::time::Duration;

use serde_json::{Value, json};
use sim::{Protocol, SimSettings, Simulator};
use store::Tx;
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;
use crate::platform_credentials;

async fn put_into_production(app: &TestApp) {
    let path = format!("/operator/apps/{}", app.app.key);
    app.operator().patch(&path, json!({"mode": "production"})).await.expect(200);
}

async fn set(app: &TestApp, platform: &str, credentials: Value) {
    let path = format!("/operator/apps/{}/platforms/{platform}", app.app.key);
    app.operator().put(&path, credentials).await.expect(200);
}

/// The warnings about devices that would get nothing.
async fn warnings(app: &TestApp, device_types: Value) -> Vec<String> {
    let question = json!({"audience": "all", "device_types": device_types});
    let explained = app.master().post("/api/audience/explain", question).await.expect(200);
    let message = |warning: &Value| {
        assert_eq!((&warning["path"], &warning["near"]), (&json!("device_types"), &json!([])), "{warning}");
        warning["message"].as_str().unwrap().to_owned()
    };
    explained["warnings"].as_array().unwrap().iter().map(message).collect()
}

/// Registers an Android device and says what delivers to it.
async fn android(app: &TestApp, address: &str, delivery_type: &str, live: bool) {
    let keys = json!({"p256dh": format!("BA{}", "A".repeat(85)), "auth": "A".repeat(22)});
    let details = match delivery_type {
        "unifiedpush" => json!({"delivery_type": delivery_type, "subscription": keys}),
        _ => json!({"delivery_type": delivery_type}),
    };
    let channel = json!({
        "device_type": "android", "opt_in": true, "live": live, "push_address": address, "android": details,
    });
    app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
}

/// Warnings without what they have in common.
fn in_short(app: &TestApp, warnings: &[String]) -> Vec<String> {
    let key = &app.app.key;
    let in_short = |warning: &String| {
        let (devices, rest) = warning.split_once(" would get nothing: ").unwrap();
        let (_, platform) = rest.split_once("has no credentials for ").unwrap();
        let (platform, advice) = platform.split_once(". ").unwrap();
        assert!(advice.contains(&format!("`aerogram platform set {key} {platform} …`")), "{warning}");
        format!("{devices}: {platform}")
    };
    warnings.iter().map(in_short).collect()
}

/// What the doctor finds wrong with platforms.
async fn findings(app: &TestApp) -> Vec<String> {
    let found = app.operator().get("/operator/doctor").await.expect(200);
    let checks = found["checks"].as_array().unwrap().iter();
    let told = checks.filter(|check| check["check"] == "platforms" && check["state"] != "ok");
    told.map(|check| check["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_audience_is_explained_with_a_warning() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("a", "ios"), ("b", "ios"), ("c", "android"), ("d", "amazon")]).await;
        let silent = json!({"channel": {"device_type": "amazon", "opt_in": false, "push_address": "e"}});
        app.device().post("/api/channels", silent).await.expect(201);
        assert_eq!(warnings(&app, json!("all")).await.len(), 0, "pushes go to the sandbox");
        put_into_production(&app).await;
        assert_eq!(warnings(&app, json!("all")).await.len(), 3);
        let key = &app.app.key;
        let expected = |devices: &str, platform: &str| {
            format!(
                "{devices} would get nothing: the app is in production and has no credentials for {platform}. Set them on the page \
                 Platforms of the console, or with `aerogram platform set {key} {platform} …`."
            )
        };
        for (device_type, devices, platform) in
            [("ios", "2 ios devices", "apns"), ("android", "1 android device", "fcm"), ("amazon", "1 amazon device", "adm")]
        {
            assert_eq!(warnings(&app, json!([device_type])).await, [expected(devices, platform)]);
        }
        set(&app, "adm", json!({"client_id": "one", "client_secret": "hunter2"})).await;
        assert_eq!(warnings(&app, json!(["amazon"])).await.len(), 0);
        let question = json!({"audience": {"tag": "nobody"}});
        let explained = app.master().post("/api/audience/explain", question).await.expect(200);
        assert_eq!(explained["warnings"].as_array().map(Vec::len), Some(1), "{explained}");
    })
    .await;
}

/// Each is told of if what reaches it lacks, and only then.
#[tokio::test]
async fn android_devices_are_told_of_by_what_delivers_to_them() {
    on_each_database(async |app| {
        // No credentials reach that of Huawei.
        for (addresses, delivery_type) in [("ab", "fcm"), ("c", "adm"), ("def", "unifiedpush"), ("g", "hms")] {
            for address in addresses.chars() {
                android(&app, &address.to_string(), delivery_type, false).await;
            }
        }
        put_into_production(&app).await;
        let about = async || in_short(&app, &warnings(&app, json!(["android"])).await);
        let by_amazon = "1 android device with the delivery type adm: adm";
        let phones = "3 android devices with the delivery type unifiedpush: webpush";
        assert_eq!(about().await, ["3 android devices: fcm", by_amazon, phones]);
        set(&app, "webpush", json!({"subject": "mailto:push@example.com"})).await;
        assert_eq!(about().await, ["3 android devices: fcm", by_amazon]);
        set(&app, "adm", json!({"client_id": "one", "client_secret": "hunter2"})).await;
        assert_eq!(about().await, ["3 android devices: fcm"]);
    })
    .await;
}

#[tokio::test]
async fn googles_credentials_are_not_enough_for_devices_of_others() {
    on_each_database(async |app| {
        let settings = SimSettings { clock: app.clock().clone(), ..SimSettings::default() };
        let sim = Simulator::start(settings).await.unwrap();
        android(&app, &sim.device(Protocol::Fcm, 1), "fcm", false).await;
        android(&app, "b", "adm", false).await;
        // An address goes before a connection, unless nothing at all is set for Android.
        android(&app, "c", "adm", true).await;
        android(&app, "d", "unifiedpush", false).await;
        put_into_production(&app).await;
        let about = async || in_short(&app, &warnings(&app, json!("all")).await);
        let (by_amazon, phone) =
            ("with the delivery type adm: adm", "1 android device with the delivery type unifiedpush");
        let without_google =
            ["2 android devices: fcm".to_owned(), format!("1 android device {by_amazon}"), format!("{phone}: webpush")];
        assert_eq!(about().await, without_google);
        set(&app, "fcm", platform_credentials::body(&sim, "fcm")).await;
        assert_eq!(about().await, [format!("2 android devices {by_amazon}"), format!("{phone}: webpush")]);
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let path = format!("/api/push/{}", sent["push_ids"][0].as_str().unwrap());
        let total = app.master().get(&path).await.expect(200)["push"]["total"].clone();
        assert_eq!((&total["delivered"], &total["failed"]), (&json!(1), &json!(3)), "{total}");
    })
    .await;
}

/// Amazon's credentials alone do not reach them: without Google's nothing is sent to Android but by UnifiedPush.
#[tokio::test]
async fn android_devices_of_amazon_need_googles_credentials_as_well() {
    on_each_database(async |app| {
        let by_amazon =
            json!({"device_type": "android", "opt_in": true, "push_address": "a", "android": {"delivery_type": "adm"}});
        app.device().post("/api/channels", json!({"channel": by_amazon})).await.expect(201);
        set(&app, "adm", json!({"client_id": "one", "client_secret": "hunter2"})).await;
        put_into_production(&app).await;
        let warned = warnings(&app, json!("all")).await;
        assert!(warned[0].starts_with("1 android device would get nothing: "), "{warned:?}");
        assert!(warned[0].contains("no credentials for fcm."), "{warned:?}");
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let path = format!("/api/push/{}", sent["push_ids"][0].as_str().unwrap());
        let total = app.master().get(&path).await.expect(200)["push"]["total"].clone();
        assert_eq!((&total["delivered"], &total["failed"]), (&json!(0), &json!(1)), "{total}");
        assert_eq!(total["reason"], "The app has no credentials for the platform android.");
    })
    .await;
}

#[tokio::test]
async fn the_doctor_tells_of_devices_that_nothing_reaches() {
    on_each_database(async |app| {
        android(&app, "a", "unifiedpush", false).await;
        android(&app, "b", "unifiedpush", true).await;
        for device_type in ["ios", "android"] {
            let channel = json!({"device_type": device_type, "opt_in": true, "live": true, "push_address": "c"});
            app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        }
        put_into_production(&app).await;
        let [phone] = &findings(&app).await[..] else { panic!("one without a connection") };
        assert!(
            phone.starts_with("1 android device of ") && phone.contains(" with the delivery type unifiedpush "),
            "{phone}"
        );
        let set_it = format!(
            "no credentials for webpush, so that what is for them fails; run `aerogram platform set {} webpush …`",
            app.app.key
        );
        assert!(phone.contains(&set_it), "{phone}");
        set(&app, "webpush", json!({"subject": "mailto:push@example.com"})).await;
        assert_eq!(findings(&app).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn the_doctor_tells_of_devices_of_others_beside_those_of_google() {
    on_each_database(async |app| {
        let sim = Simulator::start(SimSettings::default()).await.unwrap();
        android(&app, "a", "fcm", false).await;
        set(&app, "fcm", platform_credentials::body(&sim, "fcm")).await;
        put_into_production(&app).await;
        assert_eq!(findings(&app).await, Vec::<String>::new());
        let path = format!("/operator/apps/{}", app.app.key);
        // Anything may be an address in development.
        app.operator().patch(&path, json!({"mode": "development"})).await.expect(200);
        for address in ["b", "c"] {
            android(&app, address, "adm", false).await;
        }
        put_into_production(&app).await;
        let [by_amazon] = &findings(&app).await[..] else { panic!("those of Amazon") };
        assert!(by_amazon.starts_with("2 android devices of "), "{by_amazon}");
        assert!(by_amazon.contains(" with the delivery type adm and no credentials for adm,"), "{by_amazon}");
        set(&app, "adm", json!({"client_id": "one", "client_secret": "hunter2"})).await;
        assert_eq!(findings(&app).await, Vec::<String>::new());
    })
    .await;
}

/// Browsers and phones need no more than the app's own key pair where the server is a contact for push services.
#[tokio::test]
async fn the_doctor_knows_of_the_own_key_pair() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("a", "web")]).await;
        android(&app, "b", "unifiedpush", false).await;
        put_into_production(&app).await;
        assert_eq!(findings(&app).await.len(), 2);
        let app = app.restart_with_public_url("https://push.example.com").await;
        assert_eq!(findings(&app).await, Vec::<String>::new());
    })
    .await;
}

/// A question only reads: the pair for browsers is made when it is used.
#[tokio::test]
async fn explaining_makes_no_key_pair() {
    on_each_database(async |app| {
        let app = app.restart_with_public_url("https://push.example.com").await;
        android(&app, "a", "unifiedpush", false).await;
        put_into_production(&app).await;
        let (store, id) = (app.engine().store(), app.engine().tenancy().app(&app.app.key).await.unwrap().id);
        store.write(id, move |tx: &mut Tx<'_>| tenancy::forget_web_keys(tx, id)).await.unwrap();
        assert_eq!(warnings(&app, json!("all")).await, Vec::<String>::new(), "the pair would be there");
        let find = move |tx: &mut Tx<'_>| documents::get(tx, id, DocumentKind::WebKeys, "own");
        assert_eq!(store.read(find).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn devices_with_live_connections_need_no_credentials() {
    on_each_database(async |app| {
        for address in [json!(null), json!("a")] {
            let channel = json!({"device_type": "ios", "opt_in": true, "live": true, "push_address": address});
            app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        }
        put_into_production(&app).await;
        assert_eq!(warnings(&app, json!("all")).await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn what_failed_for_everybody_says_why() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("a", "ios"), ("b", "ios"), ("c", "amazon")]).await;
        put_into_production(&app).await;
        let total = async || {
            // Of two in one millisecond, either is listed first.
            app.advance(Duration::from_secs(1));
            let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
            let sent = app.master().post("/api/push", push).await.expect(200);
            app.step_all().await;
            let path = format!("/api/push/{}", sent["push_ids"][0].as_str().unwrap());
            let status = app.master().get(&path).await.expect(200)["push"].clone();
            assert_eq!(status["state"], "done");
            let listed = app.master().get("/api/pushes?limit=1").await.expect(200)["pushes"][0].clone();
            assert_eq!(listed["total"], status["total"]);
            status["total"].clone()
        };
        let in_vain = total().await;
        assert_eq!((&in_vain["delivered"], &in_vain["failed"]), (&json!(0), &json!(3)));
        assert_eq!(in_vain["reason"], "The app has no credentials for the platform ios.", "most are of that");
        let live = json!({"channel": {"device_type": "ios", "opt_in": true, "live": true}});
        app.device().post("/api/channels", live).await.expect(201);
        let of_some = total().await;
        assert_eq!((&of_some["delivered"], &of_some["failed"]), (&json!(1), &json!(3)));
        assert_eq!(of_some.get("reason"), None);
    })
    .await;
}

#[tokio::test]
async fn a_message_that_is_in_inboxes_is_told_of_beside_what_failed() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        put_into_production(&app).await;
        let push = json!({
            "audience": "all", "device_types": "all", "notification": {"alert": "Hi"},
            "message": {"title": "Hi", "body": "Hello"},
        });
        let sent = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let id = sent["push_ids"][0].as_str().unwrap();
        let status = app.master().get(&format!("/api/push/{id}")).await.expect(200)["push"].clone();
        assert_eq!((&status["total"]["failed"], &status["inboxes"]), (&json!(2), &json!(2)), "{status}");
        let listed = app.master().get("/api/pushes?limit=1").await.expect(200)["pushes"][0].clone();
        assert_eq!(listed["inboxes"], 2, "{listed}");
        let of_operator = app.operator().get(&format!("/operator/pushes/{id}")).await.expect(200)["push"].clone();
        assert_eq!(of_operator["inboxes"], 2, "{of_operator}");
    })
    .await;
}
