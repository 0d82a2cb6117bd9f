//! What else requests of devices depend on: the address by which they ask, changes that they have not uploaded yet, and where they
//! are to ask before they show messages.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use testkit::app::on_each_database;
use testkit::client::Reply;

use super::device::Device;
use super::{banner, keep, modal};
use crate::sdk::Library;

fn unpacked(answer: &Reply) -> String {
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(&answer.body[..]).read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn every_address_of_the_service_is_told_itself_and_packed_for() {
    on_each_database(async |app| {
        keep(&app, &banner()).await;
        let mut decided_here = modal("a");
        decided_here["in_app_message"]["server_audience"] = json!({"tag": "gold"});
        let id = keep(&app, &decided_here).await;
        let device = Device::new(&app, "ios", "");
        let mut tags = Vec::new();
        for n in 0..8 {
            let host = format!("made-up-{n}.example");
            let answer = device.ask(&[("Host", &host), ("Accept-Encoding", "gzip")]).await;
            assert_eq!(answer.header("content-length"), Some(&*answer.body.len().to_string()));
            let text = unpacked(&answer);
            let body: Value = serde_json::from_str(&text).unwrap();
            let told = &body["payloads"][0]["data"]["airship_config"]["device_api_url"];
            assert_eq!(told, &json!(format!("http://{host}")));
            assert!(text.contains(&format!("\"http://{host}/api/in-app/{}/{id}/resolve\"", app.app.key)), "{text}");
            let plain = device.ask(&[("Host", &host)]).await;
            assert_eq!((plain.text(), plain.header("etag")), (&*text, answer.header("etag")));
            assert_eq!(plain.header("content-length"), Some(&*text.len().to_string()));
            for (name, known) in [("If-None-Match", "etag"), ("If-Modified-Since", "last-modified")] {
                let known = answer.header(known).unwrap();
                assert_eq!(device.ask(&[("Host", &host), (name, known)]).await.status, 304);
            }
            tags.push(answer.header("etag").unwrap().to_owned());
        }
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), 8, "each address has a content of its own");
    })
    .await;
}

#[tokio::test]
async fn a_tag_follows_from_the_content_however_the_service_is_configured() {
    on_each_database(async |app| {
        keep(&app, &banner()).await;
        let asked = [("Host", "push.example"), ("Accept-Encoding", "gzip")];
        let (text, tag, modified) = {
            let device = Device::new(&app, "ios", "");
            // Others have asked before, by addresses of their own.
            for host in ["a.example", "b.example", "c.example", "d.example", "e.example"] {
                device.ask(&[("Host", host)]).await.expect(200);
            }
            let answer = device.ask(&asked).await;
            let header = |name: &str| answer.header(name).unwrap().to_owned();
            (unpacked(&answer), header("etag"), header("last-modified"))
        };
        let app = app.restart_with_public_url("http://push.example").await;
        let device = Device::new(&app, "ios", "");
        let answer = device.ask(&asked).await;
        assert_eq!((unpacked(&answer), answer.header("etag")), (text, Some(tag.as_str())));
        for (name, known) in [("If-None-Match", tag), ("If-Modified-Since", modified)] {
            assert_eq!(device.ask(&[("Host", "elsewhere.example"), (name, &known)]).await.status, 304);
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_device_has_not_uploaded_yet_counts() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, token) = library.channel("token-1").await;
        let operations = json!([{"action": "set", "key": "city", "value": "Oslo"}]);
        let change = json!({"audience": {"channel": channel}, "attributes": operations});
        app.master().post("/api/channels/attributes", change).await.expect(200);
        let tags = json!({"audience": {"channel": channel}, "add": {"loyalty": ["gold"]}});
        app.master().post("/api/channels/tags", tags).await.expect(200);
        let gold = json!({"tag": "gold", "group": "loyalty"});
        let city = |name: &str| json!({"attribute": "city", "operator": "equals", "value": name});
        let set = |name: &str| json!([{"action": "set", "key": "city", "value": name, "timestamp": "2030-05-01T09:31:00"}]);
        for (n, (audience, tags, attributes, is_meant)) in [
            (gold.clone(), json!([]), json!([]), true),
            // As one library sends it, and as the other does.
            (gold.clone(), json!({"remove": {"loyalty": ["gold"]}}), json!([]), false),
            (gold.clone(), json!([{"set": {"loyalty": ["silver"]}}]), json!([]), false),
            (gold.clone(), json!([{"remove": {"loyalty": ["gold"]}}, {"add": {"loyalty": ["gold"]}}]), json!([]), true),
            (json!({"not": gold}), json!({"set": {"loyalty": []}}), json!([]), true),
            (json!({"tag": "new"}), json!({"add": {"device": ["new"]}}), json!([]), true),
            (json!({"tag": "android", "group": "ua_opt_in"}), json!({"add": {"ua_opt_in": ["android"]}}), json!([]), false),
            (city("Oslo"), Value::Null, json!([]), true),
            (city("Oslo"), Value::Null, set("Bergen"), false),
            (city("Bergen"), Value::Null, set("Bergen"), true),
            (city("Oslo"), Value::Null, json!([{"action": "remove", "key": "city"}]), false),
        ]
        .into_iter()
        .enumerate()
        {
            let flag = json!({"name": format!("flag-{n}"), "server_audience": audience});
            let id = app.master().post("/api/feature-flags", flag).await.expect(201)["flag_id"].clone();
            let mut body = banner();
            body["in_app_message"]["server_audience"] = audience.clone();
            let message = keep(&app, &body).await;
            let body = json!({"platform": "ios", "channel_id": channel, "tag_overrides": tags, "attribute_overrides": attributes});
            let path = format!("/api/feature-flags/{}/resolve", id.as_str().unwrap());
            let answer = library.post(&path, &library.with_token(&token), &body).await.expect(200);
            assert_eq!(answer["is_eligible"], is_meant, "{audience} {body}");
            let path = format!("/api/in-app/{}/{message}/resolve", app.app.key);
            let answer = library.post(&path, &library.with_token(&token), &body).await.expect(200);
            assert_eq!(answer["audience_match"], is_meant, "{audience} {body}");
        }
    })
    .await;
}

#[tokio::test]
async fn devices_are_told_where_to_ask_before_they_show_messages() {
    on_each_database(async |app| {
        let config = format!("/api/remote-config/app/{}", app.app.key);
        let set = async |scope: &str, path: Value, value: Value| {
            let body = json!({"set_values": [{"scope": path, "value": value}]});
            app.master().post(&format!("{config}/{scope}"), body).await.expect(200);
        };
        let told = async |platform: &str| {
            let mut device = Device::new(&app, platform, "");
            device.refresh().await;
            let of_in_app = device.payload("app_config").unwrap().get("in_app_config").cloned().unwrap_or_default();
            of_in_app["additional_audience_check"].clone()
        };
        assert_eq!(told("ios").await, Value::Null);
        let enabled = json!({"enabled": true, "context": {"a": 1}});
        set("ios", json!(["in_app_config", "additional_audience_check"]), enabled.clone()).await;
        // As Airship's examples have it.
        set("android", json!(["additional_audience_check"]), enabled).await;
        let url = app.url(&format!("/api/remote-audience-check/app/{}", app.app.key));
        for platform in ["ios", "android"] {
            assert_eq!(told(platform).await, json!({"enabled": true, "context": {"a": 1}, "url": url}), "{platform}");
        }
        // One of the app's own stays.
        set("ios", json!(["in_app_config", "additional_audience_check", "url"]), json!("https://check.example")).await;
        let mut body = modal("opened");
        body["in_app_message"]["additional_audience_check_overrides"] = json!({"context": {"segment_id": "x"}});
        keep(&app, &body).await;
        assert_eq!(told("ios").await["url"], "https://check.example");
        assert_eq!(told("amazon").await, json!({"enabled": true, "url": url}));
    })
    .await;
}
