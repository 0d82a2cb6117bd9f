//! Browsers register with the key of the app, from pages of the origins that it allows, and prove to be their channels from then
//! on.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::{Caller, Reply};

use crate::user_rules::{proof_key, signed};

const ORIGIN: &str = "https://shop.example";

/// A page of an origin calls, with nothing but the key of an app.
async fn page(app: &TestApp, origin: Option<&str>, key: &str, body: &Value) -> Reply {
    let mut request = app.nobody().request(Method::POST, "/api/web-channels").header("X-UA-App-Key", key);
    if let Some(origin) = origin {
        request = request.header("Origin", origin);
    }
    app.nobody().send(request.body(Bytes::from(body.to_string())).unwrap()).await
}

fn browser() -> Value {
    json!({"channel": {"device_type": "web", "opt_in": false, "live": true}})
}

async fn allow(app: &TestApp, origins: Value) -> Value {
    let path = format!("/operator/apps/{}", app.app.key);
    app.operator().patch(&path, json!({"web_origins": origins})).await.expect(200)["app"]["web_origins"].clone()
}

/// A browser that is registered: its channel and the secret of it.
pub(crate) async fn register(app: &TestApp) -> (String, String) {
    let made = page(app, Some("http://localhost:3000"), &app.app.key, &browser()).await.expect(201);
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("channel_id"), text("channel_secret"))
}

async fn token(caller: &Caller) -> String {
    caller.get("/api/auth/device").await.expect(200)["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn pages_of_allowed_origins_register_browsers() {
    on_each_database(async |app| {
        let path = format!("/operator/apps/{}", app.app.key);
        app.operator().patch(&path, json!({"mode": "production"})).await.expect(200);
        let key = app.app.key.clone();
        // In production nobody is allowed until the operator says so, not even pages of the same machine.
        for origin in [Some(ORIGIN), Some("http://localhost:3000"), Some("null"), None] {
            page(&app, origin, &key, &browser()).await.expect(403);
        }
        assert_eq!(allow(&app, json!(["HTTPS://Shop.Example:443"])).await, json!([ORIGIN]));
        let reply = page(&app, Some(ORIGIN), &key, &browser()).await;
        let made = reply.expect(201);
        let channel = made["channel_id"].as_str().unwrap();
        assert_eq!(made["channel_secret"].as_str().unwrap().len(), 22);
        assert_eq!(reply.header("location"), Some(app.url(&format!("/api/channels/{channel}")).as_str()));
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
        assert_eq!(reply.header("access-control-allow-credentials"), None);
        let shown = app.master().get(&format!("/api/channels/{channel}")).await;
        assert!(!shown.text().contains(made["channel_secret"].as_str().unwrap()));
        // Others, those that look like it, and what no browser sends.
        for origin in [
            "https://evil.example",
            "https://shop.example.evil.example",
            "https://shop.example:444",
            "http://shop.example",
        ] {
            let refused = page(&app, Some(origin), &key, &browser()).await.expect(403);
            let sentence = refused["error"].as_str().unwrap();
            assert!(origin.starts_with("http:") || sentence.contains("aerogram app web-origins"), "{refused}");
        }
        let twice = app.nobody().request(Method::POST, "/api/web-channels").header("X-UA-App-Key", &key);
        let twice = twice.header("Origin", ORIGIN).header("Origin", "https://evil.example");
        app.nobody().send(twice.body(Bytes::from(browser().to_string())).unwrap()).await.expect(403);
        page(&app, Some(ORIGIN), "AAAAAAAAAAAAAAAAAAAAAA", &browser()).await.expect(401);
        let other = app.another_app(Mode::Production).await;
        page(&app, Some(ORIGIN), &other.key, &browser()).await.expect(403);
        // Removed: no new browsers, and those that are there stay.
        assert_eq!(allow(&app, json!([])).await, json!([]));
        page(&app, Some(ORIGIN), &key, &browser()).await.expect(403);
        token(&app.nobody().basic(channel, made["channel_secret"].as_str().unwrap())).await;
    })
    .await;
}

#[tokio::test]
async fn origins_that_are_none_are_refused() {
    on_each_database(async |app| {
        let path = format!("/operator/apps/{}", app.app.key);
        for origin in ["*", "null", "http://shop.example", "https://shop.example/", "https://*.example", "shop.example"]
        {
            let refused = app.operator().patch(&path, json!({"web_origins": [origin]})).await.expect(400);
            assert_eq!(refused["details"]["path"], "web_origins[0]", "{origin}");
        }
        let many: Vec<String> = (0..101).map(|n| format!("https://{n}.example")).collect();
        app.operator().patch(&path, json!({"web_origins": many})).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn with_the_key_alone_only_browsers_register_and_not_too_many() {
    on_each_database(async |app| {
        let local = Some("http://127.0.0.1:8080");
        let phone = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
        page(&app, local, &app.app.key, &phone).await.expect(400);
        for _ in 1..20 {
            page(&app, local, &app.app.key, &browser()).await.expect(201);
        }
        let refused = page(&app, local, &app.app.key, &browser()).await;
        refused.expect(429);
        assert!(refused.header("retry-after").is_some());
        // Everybody with credentials registers as before, without a secret.
        let made = app.device().post("/api/web-channels", browser()).await.expect(201);
        assert_eq!(made.get("channel_secret"), None);
        app.advance(Duration::from_secs(60));
        page(&app, local, &app.app.key, &browser()).await.expect(201);
    })
    .await;
}

#[tokio::test]
async fn the_registration_of_the_web_library_is_taken_whole() {
    on_each_database(async |app| {
        let keys = json!({
            "p256dh": "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU=",
            "auth": "AAAAAAAAAAAAAAAAAAAAAA==",
        });
        let body = json!({"channel": {
            "device_type": "web", "opt_in": true, "push_address": "https://push.example/abc", "set_tags": true,
            "tags": ["news"], "timezone": "Europe/Oslo", "locale_country": "NO", "locale_language": "nb",
            "web": {
                "user_agent_string": "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
                "browser_name": "chrome", "browser_type": "desktop", "browser_version": "chrome-141",
                "web_sdk_version": "2.5.0", "subscription": {"subscription_type": "vapid", "keys": keys},
            },
        }});
        for caller in [app.device(), app.master()] {
            let made = caller.post("/api/web-channels", &body).await;
            let id = made.json()["channel_id"].as_str().unwrap().to_owned();
            let shown = app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"].clone();
            let told = json!({
                "ua_browser_name": "chrome", "ua_browser_type": "desktop", "ua_browser_version": "chrome-141",
                "ua_sdk_version": "2.5.0", "ua_country": "NO", "ua_language": "nb", "ua_local_tz": "Europe/Oslo",
            });
            assert_eq!(shown["device_attributes"], told);
            let mut keys: Vec<&String> = shown["web"].as_object().unwrap().keys().collect();
            keys.sort();
            assert_eq!(keys, ["subscription", "user_agent_string"]);
            // An update need not have the subscription again.
            let update =
                json!({"channel": {"device_type": "web", "opt_in": true, "web": {"browser_version": "chrome-142"}}});
            caller.put(&format!("/api/web-channels/{id}"), update).await.expect(200);
            let after = app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"].clone();
            assert_eq!(after["web"], shown["web"]);
            assert_eq!(after["device_attributes"]["ua_browser_version"], "chrome-142");

            let mut safari = body.clone();
            safari["channel"]["web"]["subscription"] = json!({"subscription_type": "apns"});
            let refused = caller.post("/api/web-channels", safari).await.expect(400);
            assert_eq!(refused["details"]["path"], "channel.web.subscription.subscription_type");
            assert!(refused["error"].as_str().unwrap().contains("Safari"), "{refused}");
        }
    })
    .await;
}

/// Beside that of its registration. With the final slash, as the library writes it.
#[tokio::test]
async fn the_other_paths_of_the_web_library_are_served() {
    on_each_database(async |app| {
        let made = app.device().post("/api/web-channels", browser()).await.expect(201);
        let channel = made["channel_id"].as_str().unwrap();
        let tags = json!({"audience": {"channel": [channel]}, "add": {"loyalty": ["gold"]}});
        assert_eq!(app.master().post("/api/web-channels/tags/", &tags).await.expect(200)["ok"], true);
        let unknown = json!({"audience": {"channel": [channel]}, "upsert": {"loyalty": ["gold"]}});
        app.master().post("/api/web-channels/tags/", unknown).await.expect(400);
        let of_channel = |path: &str| app.device().request(Method::POST, path).header("X-UA-Channel-ID", channel);
        for (path, action, user) in [
            ("/api/contacts/identify/v2_web", json!({"type": "identify", "named_user_id": "kim"}), json!("kim")),
            ("/api/contacts/identify/v2_web/", json!({"type": "reset"}), Value::Null),
        ] {
            let body = json!({"device_info": {"device_type": "web"}, "action": action});
            let request = of_channel(path).body(Bytes::from(body.to_string())).unwrap();
            app.device().send(request).await.expect(200);
            let shown = app.master().get(&format!("/api/channels/{channel}")).await.expect(200)["channel"].clone();
            assert_eq!((&shown["tag_groups"]["loyalty"], &shown["named_user_id"]), (&json!(["gold"]), &user));
        }
        let seen = json!([{"type": "app_foreground", "event_id": "00000000-0000-4000-8000-000000000001",
            "time": app.clock().now().seconds().to_string(), "data": {"session_id": "s"}}]);
        let request = of_channel("/api/web-events").body(Bytes::from(seen.to_string())).unwrap();
        app.device().send(request).await.expect(200);
        let data = format!("/api/remote-data/app/{}/web/?sdk_version=2.5.0", app.app.key);
        app.nobody().get(&data).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn a_registration_that_is_repeated_makes_one_channel() {
    on_each_database(async |app| {
        let send = async |key: &str| {
            let request = app.nobody().request(Method::POST, "/api/web-channels").header("X-UA-App-Key", &app.app.key);
            let request = request.header("Origin", "http://localhost").header("Idempotency-Key", key);
            app.nobody().send(request.body(Bytes::from(browser().to_string())).unwrap()).await
        };
        let key = "5f6a1b0e-6d0e-4b0c-9a52-0b1c2d3e4f50";
        assert_eq!(send(key).await.expect(201), send(key).await.expect(201));
        // The answer has a secret, and everybody has the key of the app.
        send("today").await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn the_secret_of_a_channel_is_good_for_this_channel() {
    on_each_database(async |app| {
        let (own, secret) = register(&app).await;
        let (other, other_secret) = register(&app).await;
        let of_own = app.nobody().basic(&own, &secret);
        let of_token = app.nobody().bearer(&token(&of_own).await);
        // Not another channel's, nor anything that is for servers or for all devices.
        for (id, secret) in [(&own, &other_secret), (&other, &secret), (&own, &app.app.app_secret)] {
            app.nobody().basic(id, secret).get("/api/auth/device").await.expect(401);
        }
        for caller in [&of_own, &of_token] {
            caller.get(&format!("/api/channels/{own}")).await.expect(200);
            caller.get(&format!("/api/channels/{other}")).await.expect(403);
            caller.put(&format!("/api/web-channels/{own}"), browser()).await.expect(200);
            caller.put(&format!("/api/web-channels/{other}"), browser()).await.expect(403);
            caller
                .post("/api/channels/tags", json!({"audience": {"channel": other}, "add": {"g": ["t"]}}))
                .await
                .expect(403);
            caller.get("/api/channels").await.expect(401);
            caller.get("/api/platforms/web/vapid").await.expect(200);
            let changes = json!({"tags": {"add": {"loyalty": ["gold"]}},
                                 "attributes": [{"action": "set", "key": "plan", "value": "gold"}]});
            caller.put(&format!("/api/channels/sdk/batch/{own}"), &changes).await.expect(200);
            caller.put(&format!("/api/channels/sdk/batch/{other}"), &changes).await.expect(403);
        }
        // A token does not renew itself.
        of_token.get("/api/auth/device").await.expect(401);
        // Another app does not know the channel, whatever it is called there.
        let stranger = app.another_app(Mode::Development).await;
        let request = of_own.request(Method::GET, "/api/auth/device").header("X-UA-App-Key", &stranger.key);
        of_own.send(request.body(Bytes::new()).unwrap()).await.expect(401);
        let request = of_own.request(Method::GET, "/api/auth/device").header("X-UA-App-Key", &app.app.key);
        of_own.send(request.body(Bytes::new()).unwrap()).await.expect(200);
        // Replacing the app secret ends tokens; the secret of a channel gets new ones until the channel is uninstalled.
        let rotate = format!("/operator/apps/{}/rotate", app.app.key);
        app.operator().post(&rotate, json!({"secret": "app"})).await.expect(200);
        of_token.get(&format!("/api/channels/{own}")).await.expect(401);
        token(&of_own).await;
        app.master()
            .post("/api/channels/uninstall", json!({"channel_id": own, "device_type": "web"}))
            .await
            .expect(202);
        of_own.get("/api/auth/device").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn the_credentials_of_a_browser_give_it_no_other_channel() {
    on_each_database(async |app| {
        let phone = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "of-another"}});
        let victim = app.device().post("/api/channels", &phone).await.expect(201)["channel_id"].clone();
        let (own, secret) = register(&app).await;
        let of_secret = app.nobody().basic(&own, &secret);
        let of_token = app.nobody().bearer(&token(&of_secret).await);
        let paths = ["/api/channels", "/api/web-channels"];
        for (caller, path) in [&of_secret, &of_token].into_iter().flat_map(|caller| paths.map(|path| (caller, path))) {
            caller.post(path, &phone).await.expect(409);
            assert_eq!(caller.post(path, browser()).await.expect(200)["channel_id"], own);
        }
        of_token.delete(&format!("/api/channels/{own}")).await.expect(204);
        for path in paths {
            of_token.post(path, &phone).await.expect(409);
            of_token.post(path, browser()).await.expect(409);
            of_secret.post(path, browser()).await.expect(401);
        }
        let shown = app.master().get("/api/channels").await.expect(200);
        let phones = shown["channels"].as_array().unwrap().iter().filter(|shown| shown["device_type"] == "android");
        assert_eq!(phones.count(), 1, "{shown}");
        let kept = app.master().get(&format!("/api/channels/{}", victim.as_str().unwrap())).await.expect(200);
        assert_eq!(kept["channel"]["push_address"], "of-another");
    })
    .await;
}

#[tokio::test]
async fn a_browser_says_whose_it_is_with_a_proof() {
    on_each_database(async |app| {
        let path = format!("/operator/apps/{}", app.app.key);
        let (own, secret) = register(&app).await;
        let (other, other_secret) = register(&app).await;
        app.operator().patch(&path, json!({"mode": "production"})).await.expect(200);
        let (now, key) = (app.clock().now().seconds(), proof_key(&app).await);
        let identify = async |id: &str, secret: &str, proof: Option<&str>| {
            let caller = app.nobody().basic(id, secret);
            let mut request = caller.request(Method::POST, "/api/contacts/identify/v2");
            if let Some(proof) = proof {
                request = request.header("X-UA-Named-User-Proof", proof);
            }
            let body =
                json!({"device_info": {"device_type": "web"}, "action": {"type": "identify", "named_user_id": "kim"}});
            caller.send(request.body(Bytes::from(body.to_string())).unwrap()).await
        };
        identify(&own, &secret, None).await.expect(403);
        let claims = json!({"aud": app.app.key, "sub": "kim", "exp": now + 60, "channel": own});
        let proof = signed(&key, "HS256", &claims);
        identify(&own, &secret, Some(&proof)).await.expect(200);
        // Replayed by another browser, too late, and signed by somebody else.
        identify(&other, &other_secret, Some(&proof)).await.expect(403);
        identify(&own, &secret, Some(&signed("guess", "HS256", &claims))).await.expect(403);
        let shown = app.master().get(&format!("/api/channels/{own}")).await.expect(200);
        assert_eq!(shown["channel"]["named_user_id"], "kim");
        app.advance(Duration::from_secs(61));
        identify(&own, &secret, Some(&proof)).await.expect(403);
    })
    .await;
}

#[tokio::test]
async fn receipts_are_counted_once() {
    on_each_database(async |app| {
        let (own, secret) = register(&app).await;
        let caller = app.nobody().basic(&own, &secret);
        let opted = json!({"channel": {"device_type": "web", "opt_in": true, "live": true}});
        caller.put(&format!("/api/web-channels/{own}"), opted).await.expect(200);
        let push = json!({"audience": {"channel": own}, "device_types": ["web"], "notification": {"alert": "Hi"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        let push = sent["push_ids"][0].as_str().unwrap().to_owned();
        app.step_all().await;
        let event = |n: u32, kind: &str| {
            let id = format!("00000000-0000-4000-8000-{n:012}");
            json!({"type": kind, "event_id": id, "time": app.clock().now().seconds().to_string(), "data": {"push_id": push}})
        };
        let tell = async |caller: &Caller, events: Vec<Value>| {
            caller.post("/api/web-events", Value::from(events)).await.expect(200);
        };
        tell(&caller, vec![event(1, "push_received"), event(2, "push_dismiss")]).await;
        tell(&caller, vec![event(3, "push_received"), event(4, "push_click"), event(5, "push_click")]).await;
        tell(&caller, vec![event(4, "push_click")]).await;
        let clicks = app.master().get("/api/events?follow=false&types=WEB_CLICK").await;
        let clicks: Vec<Value> = clicks.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [click] = &clicks[..] else { panic!("readers of events must not count it again either: {clicks:?}") };
        assert_eq!((&click["body"]["push_id"], &click["device"]["channel"]), (&json!(push), &json!(own)));
        let state = app.master().get(&format!("/api/push/{push}")).await.expect(200);
        assert_eq!(state["push"]["received"], 1, "{state}");
        let responses = app.master().get(&format!("/api/reports/responses/{push}")).await.expect(200);
        assert_eq!(responses["direct_responses"], 1, "{responses}");
        // Somebody whom the push was not sent to counts for nothing.
        let (stranger, secret) = register(&app).await;
        tell(&app.nobody().basic(&stranger, &secret), vec![event(6, "push_received"), event(7, "push_click")]).await;
        let state = app.master().get(&format!("/api/push/{push}")).await.expect(200);
        let responses = app.master().get(&format!("/api/reports/responses/{push}")).await.expect(200);
        assert_eq!((&state["push"]["received"], &responses["direct_responses"]), (&json!(1), &json!(1)));
    })
    .await;
}
