//! The first start of a library of each generation, from asking where the service is to a push that finds the device.

use serde_json::{Value, json};
use testkit::app::on_each_database;

use super::{Library, android, reached};

#[tokio::test]
async fn a_library_that_signs_its_requests_starts() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        // Where everything is. Without this a new library does nothing at all.
        let path = format!("/api/remote-data/app/{}/android?sdk_version=20.10.0&random_value=42", library.key());
        let first = library.get(&path, &library.as_app()).await;
        let config = first.expect(200);
        let base = app.url("");
        assert_eq!(config["payloads"].as_array().unwrap().len(), 1);
        assert_eq!(config["payloads"][0]["type"], "app_config");
        assert_eq!(config["payloads"][0]["timestamp"].as_str().unwrap().len(), "2024-05-01T12:00:00".len());
        let expected =
            json!({"device_api_url": base, "analytics_url": base, "remote_data_url": base, "wallet_url": base});
        assert_eq!(config["payloads"][0]["data"]["airship_config"], expected);
        let modified = first.header("last-modified").unwrap().to_owned();
        let mut again = library.as_app();
        again.push(("If-Modified-Since", modified.clone()));
        let again = library.get(&path, &again).await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
        assert_eq!(again.header("last-modified"), Some(&*modified));

        // A channel, and what it proves itself with from now on.
        let made = library.post("/api/channels/", &library.as_app(), &android("token-1")).await;
        let channel = made.expect(201)["channel_id"].as_str().unwrap().to_owned();
        assert_eq!(made.header("location"), Some(&*app.url(&format!("/api/channels/{channel}"))));
        let answer = library.get("/api/auth/device", &library.as_channel(&channel)).await.expect(200);
        assert_eq!(answer["expires_in"], 24 * 60 * 60 * 1000);
        let token = library.with_token(answer["token"].as_str().unwrap());

        // Nobody yet. The library has made up a contact, and drops what the app told it about that one up to the time of the
        // answer: nothing.
        let made_up = "6f0c3a60-30c5-4f0e-8f9f-0d3d1c6e2f10";
        let anonymous = library.act(&channel, json!({"type": "resolve", "contact_id": made_up})).await;
        assert_eq!(anonymous["contact"]["is_anonymous"], true);
        assert_eq!(anonymous["contact"]["channel_association_timestamp"], "1970-01-01T00:00:00");
        assert_eq!(anonymous["token_expires_in"], 24 * 60 * 60 * 1000);
        let anonymous_id = anonymous["contact"]["contact_id"].as_str().unwrap().to_owned();
        let resolved = library.act(&channel, json!({"type": "resolve", "contact_id": anonymous_id})).await;
        assert_eq!(resolved["contact"], anonymous["contact"]);

        // The library tells again what it is, now with its contact.
        let update = json!({"channel": {"device_type": "android", "opt_in": true, "contact_id": anonymous_id}});
        library.put(&format!("/api/channels/{channel}"), &token, &update).await.expect(200);
        let batch = json!({
            "tags": {"add": {"food": ["fish"]}},
            "attributes": [{"action": "set", "key": "city", "value": "Oslo", "timestamp": "2024-05-01T12:00:00"}],
            "subscription_lists": [{"action": "subscribe", "list_id": "weekly", "timestamp": "2024-05-01T12:00:00"}],
            "live_updates": [{"action": "set", "id": "a", "name": "b", "start_ts_ms": 1, "action_ts_ms": 2}],
        });
        let path = format!("/api/channels/sdk/batch/{channel}?platform=android");
        library.put(&path, &token, &batch).await.expect(200);
        let lists = library.get(&format!("/api/subscription_lists/channels/{channel}"), &token).await.expect(200);
        assert_eq!(lists["list_ids"], json!(["weekly"]));

        // Somebody logs in.
        app.advance(std::time::Duration::from_secs(60));
        let action = json!({"type": "identify", "named_user_id": "jo", "contact_id": anonymous_id});
        let known = library.act(&channel, action).await;
        assert_eq!(known["contact"]["is_anonymous"], false);
        assert_eq!(known["contact"]["channel_association_timestamp"], "2024-05-01T12:01:00");
        let contact = known["contact"]["contact_id"].as_str().unwrap().to_owned();
        assert_ne!(contact, anonymous_id);
        let contact_token = library.with_token(known["token"].as_str().unwrap());
        let update = json!({
            "tags": {"add": {"loyalty": ["gold"]}, "remove": {}, "set": {}},
            "attributes": [{"action": "set", "key": "tier", "value": 3, "timestamp": "2024-05-01T12:01:00"}],
            "subscription_lists": [
                {"action": "subscribe", "list_id": "daily", "scope": "app", "timestamp": "2024-05-01T12:01:00"},
                {"action": "subscribe", "list_id": "daily", "scope": "email", "timestamp": "2024-05-01T12:01:00"},
            ],
        });
        library.post(&format!("/api/contacts/{contact}"), &contact_token, &update).await.expect(200);
        let path = format!("/api/subscription_lists/contacts/{contact}");
        let lists = library.get(&path, &contact_token).await.expect(200);
        let scoped = |scope| json!({"scope": scope, "list_ids": ["daily"]});
        assert_eq!(lists["subscription_lists"], json!([scoped("app"), scoped("email")]));
        for (path, key) in [
            (format!("/api/contacts/associated_types/{contact}"), "channels"),
            (format!("/api/remote-data-contact/android/{contact}"), "payloads"),
        ] {
            assert_eq!(library.get(&path, &contact_token).await.expect(200)[key], json!([]), "{path}");
        }
        library.post("/api/metered-usage", &token, &json!({"usage": []})).await.expect(200);
        // Newer libraries sign for the app, and name their channel beside.
        let mut signed = library.as_app();
        signed.push(("X-UA-Channel-ID", channel.clone()));
        library.post("/api/metered-usage", &signed, &json!({"usage": []})).await.expect(200);

        // An inbox, of which the channel is told.
        let made = library.post("/api/user/", &token, &json!({"android_channels": [channel]})).await.expect(201);
        let (user, password) = (made["user_id"].as_str().unwrap(), made["password"].as_str().unwrap());
        assert_eq!(made["user_url"], app.url(&format!("/api/user/{user}/")));
        let update = json!({"channel": {"device_type": "android"}, "identity_hints": {"user_id": user}});
        library.put(&format!("/api/channels/{channel}"), &token, &update).await.expect(200);
        let message = json!({"audience": {"named_user": "jo"}, "device_types": ["android"], "message": {"title": "Hi", "body": "Hei"}});
        app.master().post("/api/push", message).await.expect(200);
        app.step_all().await;
        let inbox = app.nobody().basic(user, password);
        let messages = inbox.get(&format!("/api/user/{user}/messages/")).await.expect(200);
        assert_eq!(messages["messages"][0]["title"], "Hi");

        // What happened meanwhile.
        let now = app.clock().now().seconds();
        let event = |kind: &str, n: u32, mut data: Value| {
            data["session_id"] = json!("5d1f6c1c-93f2-4f6f-9f0f-0d3d1c6e2f10");
            json!({"type": kind, "event_id": format!("5d1f6c1c-93f2-4f6f-9f0f-{n:012}"), "time": format!("{now}.000"), "data": data})
        };
        let events = json!([
            event("app_foreground", 1, json!({"time_zone": 7200, "last_metadata": null})),
            event("enhanced_custom_event", 2, json!({"event_name": "looked", "event_value": 1_500_000})),
            event("app_background", 3, json!({})),
        ]);
        let mut headers = token.clone();
        headers.extend([
            ("X-UA-Channel-ID", channel.clone()),
            ("X-UA-Sent-At", format!("{now}.250")),
            ("X-UA-Package-Name", "com.example.app".to_owned()),
            ("X-UA-Package-Version", "8".to_owned()),
        ]);
        let told = library.post("/warp9/", &headers, &events).await;
        assert_eq!(told.header("x-ua-max-batch"), Some("500"));
        told.expect(200);

        // All of it counts, also after a restart.
        let app = app.restart().await;
        let known_events = app.master().get("/api/events?follow=false&types=OPEN,CUSTOM,CLOSE").await;
        let seen: Vec<Value> = known_events.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let types: Vec<&Value> = seen.iter().map(|event| &event["type"]).collect();
        assert_eq!(types, ["OPEN", "CUSTOM", "CLOSE"]);
        assert_eq!((&seen[1]["body"]["name"], &seen[1]["body"]["value"]), (&json!("looked"), &json!(1.5)));
        assert_eq!(seen[0]["device"]["named_user_id"], "jo");
        assert_eq!(seen[0]["device"]["attributes"]["app_version"], "8", "of a token it is believed");
        for audience in [
            json!({"tag": "fresh"}),
            json!({"tag": "fish", "group": "food"}),
            json!({"tag": "gold", "group": "loyalty"}),
            json!({"named_user": "jo"}),
            json!({"subscription_list": "weekly"}),
            json!({"subscription_list": "daily"}),
            json!({"attribute": "tier", "operator": "equals", "value": 3}),
        ] {
            assert_eq!(reached(&app, audience.clone()).await, 1, "{audience}");
        }
        let library = Library::of(&app);
        library.n_nonces.set(1000);
        let resolved = library.act(&channel, json!({"type": "resolve"})).await;
        assert_eq!(resolved["contact"], known["contact"]);

        // And out again: somebody else whom nobody knows, since a moment ago.
        let reset = library.act(&channel, json!({"type": "reset"})).await;
        assert_eq!(reset["contact"]["is_anonymous"], true);
        assert_ne!(reset["contact"]["contact_id"], *anonymous_id);
        assert_eq!(reset["contact"]["channel_association_timestamp"], "2024-05-01T12:01:00");
        assert_eq!(reached(&app, json!({"named_user": "jo"})).await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_library_that_sends_the_app_secret_starts() {
    on_each_database(async |app| {
        let device = app.device();
        // Libraries of this time send no credentials here, or the secret.
        let path = format!("/api/remote-data/app/{}/ios/", app.app.key);
        app.nobody().get(&path).await.expect(200);
        device.get(&path).await.expect(200);

        let body = json!({"channel": {
            "device_type": "ios", "opt_in": true, "background": true, "push_address": "AB".repeat(32), "set_tags": true,
            "tags": ["fresh"], "ios": {"badge": 0, "tz": "Europe/Oslo"}, "locale_language": "nb", "locale_country": "NO",
        }, "identity_hints": {"device_id": "4B2A", "user_id": "inbox-user"}});
        let made = device.post("/api/channels/", &body).await;
        let channel = made.expect(201)["channel_id"].as_str().unwrap().to_owned();
        let location = made.header("location").unwrap().strip_prefix(&app.url("")).unwrap().to_owned();
        // It puts to where it was sent.
        device.put(&location, &body).await.expect(200);
        let tags = json!({"audience": {"ios_channel": channel}, "add": {"food": ["fish"]}});
        device.post("/api/channels/tags/", tags).await.expect(200);
        let attributes = json!({"attributes": [{"action": "set", "key": "city", "value": "Oslo"}]});
        device.post(&format!("/api/channels/{channel}/attributes?platform=ios"), attributes).await.expect(200);
        let user = json!({"channel_id": channel, "device_type": "ios", "named_user_id": "kim"});
        device.post("/api/named_users/associate/", &user).await.expect(200);
        device.post("/api/named_users/disassociate/", json!({"channel_id": channel, "device_type": "ios"})).await.expect(200);

        // Some years later.
        let own = json!({"channel_id": channel, "device_type": "ios"});
        let nobody = device.post("/api/contacts/resolve/", &own).await.expect(200);
        assert_eq!(nobody["is_anonymous"], true);
        let kim = device.post("/api/contacts/identify/", &user).await.expect(200);
        assert_eq!(kim["is_anonymous"], false);
        let contact = kim["contact_id"].as_str().unwrap();
        let update = json!({"tags": {"add": {"loyalty": ["gold"]}}, "associate": []});
        device.post(&format!("/api/contacts/{contact}"), update).await.expect(200);
        device.put(&format!("/api/channels/sdk/batch/{channel}?platform=ios"), json!({"tags": {"add": {"a": ["b"]}}})).await.expect(200);
        for audience in [json!({"tag": "gold", "group": "loyalty"}), json!({"tag": "b", "group": "a"}), json!({"named_user": "kim"})] {
            assert_eq!(reached(&app, audience.clone()).await, 1, "{audience}");
        }
        let reset = device.post("/api/contacts/reset/", &own).await.expect(200);
        assert_eq!(reset["is_anonymous"], true);
        assert_ne!(reset["contact_id"], nobody["contact_id"]);
        assert_eq!(device.post("/api/contacts/resolve/", &own).await.expect(200)["contact_id"], reset["contact_id"]);
    })
    .await;
}

#[tokio::test]
async fn remote_data_follows_the_address_and_the_app() {
    on_each_database(async |app| {
        let path = format!("/api/remote-data/app/{}/web", app.app.key);
        let ask = async |host: &str, known: Option<&str>| {
            let mut request = app.nobody().request(http::Method::GET, &path).header("host", host);
            if let Some(known) = known {
                request = request.header("if-modified-since", known);
            }
            app.nobody().send(request.body(bytes::Bytes::new()).unwrap()).await
        };
        let one = ask("one.example", None).await;
        let known = one.header("last-modified").unwrap();
        assert!(known.ends_with(" GMT") && known.len() == 29, "{known}");
        assert_eq!(one.header("access-control-allow-origin"), Some("*"));
        assert_eq!(one.expect(200)["payloads"][0]["data"]["airship_config"]["device_api_url"], "http://one.example");
        assert_eq!(ask("one.example", Some(known)).await.status, 304);
        assert_eq!(ask("two.example", Some(known)).await.status, 200);
        app.nobody().get("/api/remote-data/app/AAAAAAAAAAAAAAAAAAAAAA/ios").await.expect(404);
        app.nobody().get(&format!("/api/remote-data/app/{}/toaster", app.app.key)).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn a_library_may_say_more_than_we_know() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let mut body = android("token-1");
        body["channel"]["thermal_state"] = json!("cool");
        body["channel"]["android"]["store"] = json!("galaxy");
        body["sdk_features"] = json!(["live_updates"]);
        let refused = app.master().post("/api/channels", body.clone()).await;
        refused.expect(400);
        assert_eq!(refused.header("aerogram-problems"), Some("3"), "{}", refused.text());
        let made = library.post("/api/channels/", &library.as_app(), &body).await.expect(201);
        let channel = made["channel_id"].as_str().unwrap().to_owned();
        let answer = library.get("/api/auth/device", &library.as_channel(&channel)).await.expect(200);
        let token = library.with_token(answer["token"].as_str().unwrap());
        library.put(&format!("/api/channels/{channel}"), &token, &body).await.expect(200);
        let web = json!({"channel": {"device_type": "web", "opt_in": false, "web": {"engine": "blink"}}});
        app.device().post("/api/web-channels", web).await.expect(201);
        let fridge = json!({
            "channel": {
                "type": "open", "opt_in": true, "address": "kitchen", "shelf": 2,
                "open": {"open_platform_name": "fridge", "color": "white"},
            },
        });
        app.device().post("/api/channels/restricted/open", fridge).await.expect(200);
        let attributes = json!({
            "attributes": [{"action": "set", "key": "city", "value": "Oslo", "confidence": 0.9}], "source": "app",
        });
        let path = format!("/api/channels/{channel}/attributes");
        library.post(&path, &token, &attributes).await.expect(200);
        app.master().post(&path, attributes).await.expect(400);
        // What is known has to be right all the same.
        body["channel"]["opt_in"] = json!("yes");
        library.put(&format!("/api/channels/{channel}"), &token, &body).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn an_odd_version_does_not_keep_a_device_away() {
    on_each_database(async |app| {
        let mut body = android("token-1");
        body["channel"]["app_version"] = json!(" 1.2\t3\u{0} ");
        body["channel"]["device_model"] = json!("m".repeat(300));
        let made = app.device().post("/api/channels", body).await.expect(201);
        let path = format!("/api/channels/{}", made["channel_id"].as_str().unwrap());
        let seen = app.master().get(&path).await.expect(200);
        assert_eq!(seen["channel"]["tag_groups"]["ua_android_app_version"], json!(["1.23"]));
    })
    .await;
}

#[tokio::test]
async fn an_odd_quiet_time_or_badge_does_not_keep_a_device_away() {
    on_each_database(async |app| {
        let quiet = |start: &str, end: &str| json!({"start": start, "end": end});
        for (n, (told, kept)) in [
            (
                json!({"badge": 2, "quiettime": quiet("22:00", "7:00")}),
                json!({"badge": 2, "quiettime": quiet("22:00", "07:00")}),
            ),
            (
                json!({"badge": 0, "quiettime": quiet("0:30", "8:05")}),
                json!({"badge": 0, "quiettime": quiet("00:30", "08:05")}),
            ),
            (json!({"badge": 2, "quiettime": quiet("22 Uhr", "7:00")}), json!({"badge": 2})),
            (json!({"badge": -1, "quiettime": {"start": "22:00"}}), json!({})),
            (json!({"badge": "many", "quiettime": "always", "time_sensitive": true}), json!({"time_sensitive": true})),
        ]
        .into_iter()
        .enumerate()
        {
            let device = json!({"channel": {
                "device_type": "ios", "opt_in": true, "push_address": format!("A{n}"), "ios": told,
            }});
            let made = app.device().post("/api/channels", device).await.expect(201);
            let path = format!("/api/channels/{}", made["channel_id"].as_str().unwrap());
            let seen = app.master().get(&path).await.expect(200);
            let shown = seen["channel"].get("ios").cloned().unwrap_or_else(|| json!({}));
            for key in ["badge", "quiettime"] {
                assert_eq!(shown.get(key), kept.get(key), "{told}: {seen}");
            }
        }
        // A badge that cannot be read changes nothing.
        let path = "/api/channels/10000000-0000-4000-8000-000000000000";
        for badge in [json!(3), json!(-1)] {
            let device = json!({"channel": {"device_type": "ios", "opt_in": true, "ios": {"badge": badge}}});
            app.device().put(path, device).await.expect(200);
        }
        assert_eq!(app.master().get(path).await.expect(200)["channel"]["ios"]["badge"], 3);
    })
    .await;
}
