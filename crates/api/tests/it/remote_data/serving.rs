//! How data is served: what each kind of device gets, what is new, and that every node notices a change.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use super::device::Device;
use super::{banner, in_app, keep, modal};
use crate::sdk::Library;

/// How long the banner is shown for, as a device reads it.
async fn duration(app: &TestApp, platform: &str, query: &str, id: &str) -> f64 {
    let mut device = Device::new(app, platform, query);
    device.refresh().await;
    device.schedule(id)["message"]["display"]["duration"].as_f64().unwrap()
}

#[tokio::test]
async fn durations_are_in_the_unit_of_the_library() {
    on_each_database(async |app| {
        let id = keep(&app, &banner()).await;
        for (platform, query, expected) in [
            ("android", "sdk_version=20.10.0", 20_000.0),
            ("amazon", "sdk_version=18.0.0", 20_000.0),
            ("android", "sdk_version=17.8.1", 20.0),
            ("android", "", 20_000.0),
            ("ios", "sdk_version=20.6.3", 20.0),
        ] {
            assert_eq!(duration(&app, platform, query, &id).await, expected, "{platform} {query}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_answer_is_packed_and_has_a_tag() {
    on_each_database(async |app| {
        keep(&app, &banner()).await;
        let device = Device::new(&app, "ios", "");
        let plain = device.ask(&[]).await;
        assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("Accept-Encoding")));
        let packed = device.ask(&[("Accept-Encoding", "gzip")]).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        let mut text = String::new();
        GzDecoder::new(&packed.body[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, plain.text());
        let (tag, modified) = (plain.header("etag").unwrap(), plain.header("last-modified").unwrap());
        for known in [[("If-None-Match", tag)], [("If-Modified-Since", modified)]] {
            let known = device.ask(&known).await;
            assert_eq!((known.status.as_u16(), known.body.len()), (304, 0));
            assert_eq!((known.header("etag"), known.header("last-modified")), (Some(tag), Some(modified)));
        }
        for other in [("If-None-Match", "\"another\""), ("If-Modified-Since", "Wed, 01 May 2024 12:00:00 GMT")] {
            device.ask(&[other]).await.expect(200);
        }
        // Another kind of device has other content, and asks with the date of its own.
        let android = Device::new(&app, "android", "");
        android.ask(&[("If-Modified-Since", modified)]).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn texts_follow_the_language_of_the_device() {
    on_each_database(async |app| {
        let text = |text: &str| json!({"display": {"heading": {"text": text}}});
        let mut body = modal("a");
        body["in_app_message"]["localizations"] = json!([
            {"locale": {"language": "nb"}, "message": text("Salg")},
            {"locale": {"language": "fr", "country": "CA"}, "message": text("Soldes")},
            {"locale": {"country": "CA"}, "message": text("Sale, eh?")},
        ]);
        let id = keep(&app, &body).await;
        for (query, heading, locale) in [
            ("language=en&country=US", "Sale", Value::Null),
            ("language=nb&country=NO", "Salg", json!({"language": "nb"})),
            ("language=NB", "Salg", json!({"language": "nb"})),
            ("language=fr&country=CA", "Soldes", json!({"language": "fr", "country": "CA"})),
            ("language=fr&country=FR", "Sale", Value::Null),
            ("language=en&country=CA", "Sale, eh?", json!({"country": "CA"})),
        ] {
            let mut device = Device::new(&app, "ios", query);
            device.refresh().await;
            let message = &device.schedule(&id)["message"];
            assert_eq!(
                (&message["display"]["heading"]["text"], &message["rendered_locale"]),
                (&json!(heading), &locale),
                "{query}"
            );
            assert_eq!(message["display"]["body"]["text"], "Today only", "what is not said again stays");
        }
    })
    .await;
}

#[tokio::test]
async fn some_messages_are_for_contacts_only() {
    on_each_database(async |app| {
        let (all, few) = (keep(&app, &modal("a")).await, keep(&app, &modal("b")).await);
        let eligibility = format!("{}/eligibility", in_app(&app));
        let set = |ids: Value, requires: bool| json!({"automation_ids": ids, "requires_eligibility": requires});
        app.master().put(&eligibility, set(json!([few, all.replace('0', "1")]), true)).await.expect(404);
        app.master().put(&eligibility, set(json!([few]), true)).await.expect(200);
        let mut device = Device::new(&app, "android", "");
        device.refresh().await;
        assert_eq!(device.scheduled(), BTreeSet::from([&*all]));
        assert_eq!(device.payload("app_config").unwrap()["fetch_contact_remote_data"], true);
        let library = Library::of(&app);
        let (channel, _) = library.channel("token-1").await;
        let contact = library.act(&channel, json!({"type": "resolve"})).await;
        let headers = library.with_token(contact["token"].as_str().unwrap());
        let path = format!("/api/remote-data-contact/android/{}", contact["contact"]["contact_id"].as_str().unwrap());
        let served = library.get(&path, &headers).await.expect(200);
        assert_eq!(served["payloads"].as_array().unwrap().len(), 1);
        assert_eq!(served["payloads"][0]["data"]["in_app_messages"][0]["id"], few);
        // It comes back as a new one, because devices have seen newer data without it.
        app.master().put(&eligibility, set(json!([few]), false)).await.expect(200);
        assert!(device.refresh().await);
        assert_eq!(device.scheduled(), BTreeSet::from([&*all, &*few]));
        let before = library.get(&path, &headers).await.expect(200)["payloads"][0].clone();
        assert_eq!(before["data"]["in_app_messages"], json!([]));
        // So do devices with a contact have to take it for new, by whichever way it is changed.
        let mut body = modal("b");
        body["in_app_message"]["requires_eligibility"] = json!(true);
        app.master().put(&format!("{}/{few}", in_app(&app)), body).await.expect(200);
        let after = library.get(&path, &headers).await.expect(200)["payloads"][0].clone();
        let [moved] = after["data"]["in_app_messages"].as_array().unwrap().as_slice() else { panic!("{after}") };
        assert!(moved["created"].as_str() > before["timestamp"].as_str(), "{before} {after}");
        assert!(device.refresh().await);
        assert_eq!(device.scheduled(), BTreeSet::from([&*all]));
    })
    .await;
}

#[tokio::test]
async fn an_app_has_values_for_its_devices() {
    on_each_database(async |app| {
        let path = |scope: &str| format!("/api/remote-config/app/{}/{scope}", app.app.key);
        let nothing = app.master().get(&path("common")).await.expect(200);
        assert_eq!((&nothing["timestamp"], &nothing["data"]), (&Value::Null, &json!({})));
        let set = |scope: Value, value: Value| json!({"set_values": [{"scope": scope, "value": value}]});
        app.master().post(&path("common"), set(json!(["shop", "color"]), json!("blue"))).await.expect(200);
        app.master().post(&path("ios"), set(json!(["shop", "size"]), json!(3))).await.expect(200);
        let moved = set(json!(["airship_config", "device_api_url"]), json!("https://elsewhere.example"));
        app.master().post(&path("common"), moved).await.expect(200);
        let mut device = Device::new(&app, "ios", "");
        device.refresh().await;
        let config = device.payload("app_config").unwrap();
        assert_eq!(config["shop"], json!({"color": "blue", "size": 3}));
        assert_eq!(config["airship_config"]["device_api_url"], app.url(""), "devices have to find the service");
        let below = set(json!(["shop", "color", "dark"]), json!(true));
        let refused = app.master().post(&path("common"), below).await.expect(400);
        assert_eq!(refused["details"]["path"], "set_values[0].scope");
        app.master()
            .post(&path("common"), json!({"deletes": [{"scope": ["shop", "color"]}, {"scope": ["a", "b"]}]}))
            .await
            .expect(200);
        assert_eq!(app.master().get(&path("common")).await.expect(200)["data"]["shop"], json!({}));
        app.master().get(&path("toaster")).await.expect(404);
        app.master().post(&path("common"), json!({})).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn holdout_groups_have_the_dates_that_libraries_read() {
    on_each_database(async |app| {
        let group = json!({"name": "Few", "audience_selector": {}, "message_exclusions": [{"message_type": {"value": {"equals": "a"}}}]});
        let id = app.master().post("/api/holdout-groups", group).await.expect(201)["holdout_id"].clone();
        let mut device = Device::new(&app, "ios", "");
        device.refresh().await;
        let [served] = device.payload("experiments").unwrap()["experiments"].as_array().unwrap().as_slice() else {
            panic!("one group")
        };
        assert_eq!((&served["experiment_id"], &served["created"]), (&id, &json!("2024-05-01T12:00:00.000")));
        let definition = &served["experiment_definition"];
        assert_eq!((&definition["experiment_type"], &definition["type"]), (&json!("holdout"), &json!("static")));
        assert_eq!(definition["reporting_metadata"], json!({"experiment_id": id}));
        assert!(definition["audience_selector"].is_object() && definition.get("name").is_none());
    })
    .await;
}

#[tokio::test]
async fn devices_are_told_of_news_by_a_push_that_nobody_sees() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        library.channel("token-1").await;
        let mut body = modal("a");
        body["notify"] = json!(true);
        let id = keep(&app, &body).await;
        app.step_all().await;
        let sent = app.master().get("/api/sandbox").await.expect(200);
        let text = sent.to_string();
        assert!(text.contains("com.urbanairship.remote-data.update"), "{sent}");
        app.master().put(&format!("{}/{id}", in_app(&app)), modal("a")).await.expect(200);
        app.step_all().await;
        assert_eq!(app.master().get("/api/sandbox").await.expect(200).to_string(), text, "only if it is wanted");
    })
    .await;
}
