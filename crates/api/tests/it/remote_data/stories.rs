//! What people do with it: a message that a custom event sets off, a page where somebody unsubscribes, and a flag that is on for
//! some.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use super::device::{Device, check_message};
use super::{in_app, keep, modal};
use crate::personalization::set;
use crate::sdk::{Library, reached};

/// Uploads what happened on a channel.
pub(super) async fn upload(app: &TestApp, library: &Library<'_>, channel: &str, token: &str, events: &[(&str, Value)]) {
    let now = app.clock().now().seconds();
    let event = |(n, (kind, data)): (usize, &(&str, Value))| {
        let mut data = data.clone();
        data["session_id"] = json!("5d1f6c1c-93f2-4f6f-9f0f-0d3d1c6e2f10");
        json!({"type": kind, "event_id": format!("5d1f6c1c-93f2-4f6f-9f0f-{n:012}"), "time": format!("{now}.000"), "data": data})
    };
    let events: Vec<Value> = events.iter().enumerate().map(event).collect();
    let mut headers = library.with_token(token);
    headers.push(("X-UA-Channel-ID", channel.to_owned()));
    library.post("/warp9/", &headers, &json!(events)).await.expect(200);
}

async fn events(app: &TestApp, types: &str) -> Vec<Value> {
    let told = app.master().get(&format!("/api/events?follow=false&types={types}")).await;
    told.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_custom_event_shows_a_modal_message() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, token) = library.channel("token-1").await;
        let mut device = Device::new(&app, "android", "sdk_version=20.10.0&language=nb&country=NO");
        assert!(device.refresh().await);
        assert!(device.payload("in_app_messages").is_none(), "no app has automation that does not want it");
        let id = keep(&app, &modal("viewed_cart")).await;
        assert!(device.refresh().await);
        assert_eq!(device.scheduled(), BTreeSet::from([&*id]));
        assert!(!device.refresh().await, "nothing is new");

        // Another event is not meant.
        assert!(device.on_custom_event(&json!({"event_name": "looked"})).is_empty());
        assert_eq!(device.on_custom_event(&json!({"event_name": "viewed_cart"})), [&*id]);
        let about = json!({"message_id": id, "campaigns": {"categories": ["spring"]}});
        let context = json!({"display": {"trigger_session_id": "s", "is_first_display": true}});
        let resolution =
            json!({"type": "button_click", "button_id": "go", "button_description": "Show", "display_time": "2.50"});
        let happened = [
            ("enhanced_custom_event", json!({"event_name": "viewed_cart"})),
            ("in_app_display", json!({"id": about, "source": "urban-airship", "context": context})),
            (
                "in_app_resolution",
                json!({"id": about, "source": "urban-airship", "context": context, "resolution": resolution}),
            ),
        ];
        upload(&app, &library, &channel, &token, &happened).await;
        let told = events(&app, "CUSTOM,IN_APP_MESSAGE_DISPLAY,IN_APP_MESSAGE_RESOLUTION").await;
        let types: Vec<&str> = told.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["CUSTOM", "IN_APP_MESSAGE_DISPLAY", "IN_APP_MESSAGE_RESOLUTION"]);
        for event in &told[1..] {
            assert_eq!((&event["body"]["push_id"], &event["body"]["group_id"]), (&json!(id), &json!(id)), "{event}");
            assert_eq!(event["body"]["campaigns"], json!({"categories": ["spring"]}));
            assert_eq!(event["device"]["channel"], channel);
        }
        assert_eq!((&told[2]["body"]["type"], &told[2]["body"]["button_id"]), (&json!("BUTTON_CLICK"), &json!("go")));
        assert_eq!(told[2]["body"]["duration"], 2500);

        // Within the same second: devices that have seen the first take the second for new all the same.
        let second = keep(&app, &modal("bought")).await;
        assert!(device.refresh().await);
        assert_eq!(device.scheduled(), BTreeSet::from([&*id, &*second]));
        // An edit is no new message, and a deleted one stops.
        let mut edited = modal("viewed_cart");
        edited["in_app_message"]["message"]["display"]["heading"]["text"] = json!("Last day");
        app.master().put(&format!("{}/{id}", in_app(&app)), edited).await.expect(200);
        app.master().delete(&format!("{}/{second}", in_app(&app))).await.expect(200);
        assert!(device.refresh().await);
        assert_eq!(device.scheduled(), BTreeSet::from([&*id]));
        assert_eq!(device.schedule(&id)["message"]["display"]["heading"]["text"], "Last day");
    })
    .await;
}

#[tokio::test]
async fn somebody_unsubscribes_in_a_preference_center() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, token) = library.channel("token-1").await;
        let batch = format!("/api/channels/sdk/batch/{channel}?platform=android");
        let change = |action: &str, list: &str| {
            json!({"subscription_lists": [{"action": action, "list_id": list, "timestamp": "2024-05-01T12:00:00"}]})
        };
        let headers = library.with_token(&token);
        library.put(&batch, &headers, &change("subscribe", "weekly")).await.expect(200);
        assert_eq!(reached(&app, json!({"subscription_list": "weekly"})).await, 1);

        let item = json!({"type": "channel_subscription", "id": "i1", "subscription_id": "weekly", "display": {"name": "Weekly letter"}});
        let form = json!({"preference_form": {"form": {"id": "news", "display": {"name": "News"}, "sections": [
            {"type": "section", "id": "s1", "display": {"name": "Letters"}, "items": [item]},
        ]}, "platforms": ["ios", "android"]}});
        let forms = format!("/api/preference-forms/{}", app.app.key);
        app.master().post(&forms, &form).await.expect(200);
        let mut device = Device::new(&app, "android", "sdk_version=20.10.0");
        assert!(device.refresh().await);
        let served = device.payload("preference_forms").unwrap()["preference_forms"].as_array().unwrap();
        let [served] = served.as_slice() else { panic!("{served:?}") };
        assert_eq!(served["form"]["id"], "news");
        // The switch that somebody turns off.
        let section = &served["form"]["sections"][0];
        assert_eq!((&section["type"], &section["id"]), (&json!("section"), &json!("s1")));
        let switch = &section["items"][0];
        assert_eq!(switch["type"], "channel_subscription");
        let list = switch["subscription_id"].as_str().unwrap();
        library.put(&batch, &headers, &change("unsubscribe", list)).await.expect(200);
        let lists = library.get(&format!("/api/subscription_lists/channels/{channel}"), &headers).await.expect(200);
        assert_eq!(lists["list_ids"], json!([]));
        assert_eq!(reached(&app, json!({"subscription_list": "weekly"})).await, 0);

        // Browsers are not among the platforms.
        let mut browser = Device::new(&app, "web", "");
        browser.refresh().await;
        assert_eq!(browser.payload("preference_forms").unwrap()["preference_forms"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn a_flag_is_evaluated_for_two_audiences() {
    on_each_database(async |app| {
        let variant = |id: &str, audience: Value, color: &str| {
            json!({"id": id, "audience_selector": audience, "data": {"color": color}})
        };
        let by_device = json!({"name": "checkout", "variables": {"type": "variant", "variants": [
            variant("blue", json!({"tags": {"tag": "beta"}}), "blue"),
            variant("grey", json!({}), "grey"),
        ]}});
        let made = app.master().post("/api/feature-flags", by_device).await.expect(201);
        let (mut tester, mut other) = (Device::new(&app, "ios", "sdk_version=20.6.3"), Device::new(&app, "ios", ""));
        tester.tags.insert("beta");
        for (device, color, id) in [(&mut tester, "blue", "blue"), (&mut other, "grey", "grey")] {
            assert!(device.refresh().await);
            let metadata = json!({"flag_id": made["flag_id"], "variant_id": id});
            assert_eq!(device.flag("checkout"), Some((true, json!({"color": color}), metadata)));
            assert_eq!(device.flag("unknown"), None);
        }
        let only_testers = json!({"name": "search", "audience_selector": {"tags": {"tag": "beta"}}});
        app.master().post("/api/feature-flags", only_testers).await.expect(201);
        for (device, is_on) in [(&mut tester, true), (&mut other, false)] {
            assert!(device.refresh().await);
            assert_eq!(device.flag("search").unwrap().0, is_on);
        }

        // An audience that only the service knows.
        let library = Library::of(&app);
        let (gold, gold_token) = library.channel("token-1").await;
        let (plain, plain_token) = library.channel("token-2").await;
        let tags = json!({"audience": {"channel": gold}, "add": {"loyalty": ["gold"]}});
        app.master().post("/api/channels/tags", tags).await.expect(200);
        let audience = json!({"tag": "gold", "group": "loyalty"});
        let by_service = json!({"name": "lounge", "server_audience": audience, "variables": {"type": "variant", "variants": [
            {"id": "nobody", "server_audience": {"tag": "platinum", "group": "loyalty"}, "data": {"seats": 9}},
            {"id": "rest", "data": {"seats": 2}},
        ]}});
        let id = app.master().post("/api/feature-flags", by_service).await.expect(201)["flag_id"].clone();
        assert!(tester.refresh().await);
        let flags = tester.payload("feature_flags").unwrap()["feature_flags"].as_array().unwrap();
        let served = &flags.iter().find(|flag| flag["flag_id"] == id).unwrap()["flag"];
        assert_eq!((&served["type"], served.get("variables")), (&json!("deferred"), None));
        assert!(served.get("server_audience").is_none(), "who is meant is nobody else's business");
        let path = served["deferred"]["url"].as_str().unwrap().strip_prefix(&app.url("")).unwrap().to_owned();
        let ask = async |channel: &str, token: &str| {
            let body = json!({"platform": "android", "channel_id": channel, "state_overrides": {"sdk_version": "20.10.0"}});
            library.post(&path, &library.with_token(token), &body).await.expect(200)
        };
        let on = ask(&gold, &gold_token).await;
        assert_eq!((&on["is_eligible"], &on["reporting_metadata"]), (&json!(true), &json!({"flag_id": id, "variant_id": "rest"})));
        assert_eq!(on["variables"], json!({"type": "fixed", "data": {"seats": 2}}));
        let off = ask(&plain, &plain_token).await;
        assert_eq!(off, json!({"is_eligible": false, "reporting_metadata": {"flag_id": id}}));
        // A token speaks for its own channel, whatever the body says.
        assert_eq!(ask(&gold, &plain_token).await["is_eligible"], false);
    })
    .await;
}

#[tokio::test]
async fn a_flag_by_attributes_is_decided_for_one_device() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (own, own_token) = library.channel("token-1").await;
        let (user, user_token) = library.channel("token-2").await;
        let (none, none_token) = library.channel("token-3").await;
        for channel in [&own, &user] {
            let associate = json!({"channel_id": channel, "named_user_id": "kim"});
            app.master().post("/api/named_users/associate", associate).await.expect(200);
        }
        set(&app, json!({"named_user_id": ["kim"]}), json!({"plan": "gold"})).await;
        set(&app, json!({"channel": [own]}), json!({"plan": "basic"})).await;
        let plan = |operator: &str, value: &str| json!({"attribute": "plan", "operator": operator, "value": value});
        let nothing = json!({"attribute": "plan", "operator": "is_empty"});
        let gold = json!({"display_name": "Gold", "criteria": plan("equals", "gold")});
        let gold = app.master().post("/api/segments", gold).await.expect(201)["segment_id"].clone();
        let version = json!({"attribute": "ua_app_version", "operator": "greater", "value": "100"});
        let flag = json!({"name": "lounge", "server_audience": {"not": version}, "variables": {"type": "variant", "variants": [
            {"id": "gold", "server_audience": {"segment": gold}, "data": {}},
            {"id": "nothing", "server_audience": nothing, "data": {}},
            {"id": "rest", "server_audience": {"not": plan("contains", "gold")}, "data": {}},
        ]}});
        let id = app.master().post("/api/feature-flags", flag).await.expect(201)["flag_id"].clone();
        let path = format!("/api/feature-flags/{}/resolve", id.as_str().unwrap());
        for (channel, token, variant) in
            [(&own, &own_token, "rest"), (&user, &user_token, "gold"), (&none, &none_token, "nothing")]
        {
            let body = json!({"platform": "android", "channel_id": channel});
            let answer = library.post(&path, &library.with_token(token), &body).await.expect(200);
            assert_eq!(answer["reporting_metadata"]["variant_id"], variant);
        }
    })
    .await;
}

#[tokio::test]
async fn a_flag_by_what_devices_tell_means_the_devices_that_an_audience_reaches() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let mut channels = Vec::new();
        for (n, version) in ["7", "made-up", "6.2"].into_iter().enumerate() {
            let address = format!("token-{n}");
            let (channel, token) = library.channel(&address).await;
            let told = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": address,
                                          "app_version": version}});
            app.device().put(&format!("/api/channels/{channel}"), told).await.expect(200);
            channels.push((channel, token));
        }
        let version =
            |operator: &str, value: &str| json!({"attribute": "ua_app_version", "operator": operator, "value": value});
        let none = |name: &str| json!({"attribute": name, "operator": "is_empty"});
        let segment = json!({"display_name": "New", "criteria": version("greater", "6.5")});
        let segment = app.master().post("/api/segments", segment).await.expect(201)["segment_id"].clone();
        for (n, (audience, meant)) in [
            (version("greater", "6.10"), [true, false, false]),
            (json!({"not": version("greater", "6.10")}), [false, true, true]),
            (version("equals", "made-up"), [false, true, false]),
            (json!({"segment": segment}), [true, false, false]),
            (none("ua_app_version"), [false, false, false]),
            (json!({"not": none("ua_app_version")}), [true, true, true]),
            (json!({"and": [{"not": none("ua_app_version")}, version("less", "7")]}), [false, false, true]),
        ]
        .into_iter()
        .enumerate()
        {
            let reached = reached(&app, audience.clone()).await;
            assert_eq!(reached, meant.iter().filter(|is_meant| **is_meant).count() as u64, "{audience}");
            let flag = json!({"name": format!("flag-{n}"), "server_audience": audience});
            let id = app.master().post("/api/feature-flags", flag).await.expect(201)["flag_id"].clone();
            let path = format!("/api/feature-flags/{}/resolve", id.as_str().unwrap());
            for ((channel, token), is_meant) in channels.iter().zip(meant) {
                let body = json!({"platform": "android", "channel_id": channel});
                let answer = library.post(&path, &library.with_token(token), &body).await.expect(200);
                assert_eq!(answer["is_eligible"], is_meant, "{audience} {channel}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn the_service_decides_about_a_message() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (gold, gold_token) = library.channel("token-1").await;
        let (plain, plain_token) = library.channel("token-2").await;
        let tags = json!({"audience": {"channel": gold}, "add": {"loyalty": ["gold"]}});
        app.master().post("/api/channels/tags", tags).await.expect(200);
        let mut body = super::banner();
        body["in_app_message"]["server_audience"] = json!({"tag": "gold", "group": "loyalty"});
        body["in_app_message"]["localizations"] =
            json!([{"locale": {"language": "nb"}, "message": {"display": {"body": {"text": "Hei"}}}}]);
        let id = keep(&app, &body).await;
        let mut device = Device::new(&app, "android", "sdk_version=20.10.0");
        device.refresh().await;
        let schedule = device.schedule(&id);
        assert_eq!((&schedule["type"], schedule.get("message")), (&json!("deferred"), None));
        let url = schedule["deferred"]["url"].as_str().unwrap();
        let path = url.strip_prefix(&app.url("")).unwrap().to_owned();
        let ask = async |channel: &str, token: &str| {
            let state = json!({"app_version": "7", "sdk_version": "20.10.0", "notification_opt_in": true,
                               "locale_language": "nb", "locale_country": "NO"});
            let body = json!({"platform": "android", "channel_id": channel, "contact_id": channel, "state_overrides": state,
                              "trigger": {"type": "custom_event_count", "goal": 1, "event": {}}, "tag_overrides": [],
                              "attribute_overrides": []});
            library.post(&path, &library.with_token(token), &body).await
        };
        let shown = ask(&gold, &gold_token).await.expect(200);
        assert_eq!(shown["audience_match"], true);
        check_message(&shown["message"]);
        assert_eq!(shown["message"]["display"]["body"]["text"], "Hei");
        assert_eq!(shown["message"]["display"]["duration"], 20_000.0, "in the unit of this library");
        assert_eq!(ask(&plain, &plain_token).await.expect(200), json!({"audience_match": false}));

        // The same question in the other form.
        let check = format!("/api/remote-audience-check/app/{}", app.app.key);
        let segment = json!({"display_name": "Gold", "criteria": {"tag": "gold", "group": "loyalty"}});
        let segment = app.master().post("/api/segments", segment).await.expect(201)["segment_id"].clone();
        for (channel, is_gold) in [(&gold, true), (&plain, false)] {
            let contact = library.act(channel, json!({"type": "resolve"})).await;
            let of_contact = |id: &Value| {
                let mut headers = library.with_token(contact["token"].as_str().unwrap());
                headers.push(("X-UA-Contact-ID", id.as_str().unwrap().to_owned()));
                headers
            };
            let headers = of_contact(&contact["contact"]["contact_id"]);
            for (context, allowed) in [
                (json!({"in_app_message_id": id}), is_gold),
                (json!({"segment_id": segment}), is_gold),
                (json!({"in_app_message_id": segment}), false),
                (json!({}), true),
            ] {
                let body = json!({"channel_id": channel, "contact_id": contact["contact"]["contact_id"], "context": context});
                let answer = library.post(&check, &headers, &body).await.expect(200);
                assert_eq!((&answer["allowed"], answer["cache_seconds"].is_u64()), (&json!(allowed), true), "{body}");
            }
            let body = json!({"channel_id": channel});
            library.post(&check, &of_contact(&segment), &body).await.expect(403);
            // A contact asks about its own channels.
            let other = if is_gold { &plain } else { &gold };
            library.post(&check, &headers, &json!({"channel_id": other, "context": {"segment_id": segment}})).await.expect(403);
        }

        // Since it is for everybody, devices have to get it again.
        app.master().put(&format!("{}/{id}", in_app(&app)), super::banner()).await.expect(200);
        ask(&gold, &gold_token).await.expect(409);
        app.master().delete(&format!("{}/{id}", in_app(&app))).await.expect(200);
        ask(&gold, &gold_token).await.expect(404);
    })
    .await;
}
