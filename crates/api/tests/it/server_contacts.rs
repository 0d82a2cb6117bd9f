//! What servers say about contacts, by ids that events show and that devices are told; and small calls beside.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

async fn channel(app: &TestApp, device_type: &str, token: &str) -> String {
    let device = json!({"channel": {"device_type": device_type, "opt_in": true, "push_address": token}});
    app.master().post("/api/channels", device).await.expect(201)["channel_id"].as_str().unwrap().to_owned()
}

async fn user(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/named_users?id={id}")).await.expect(200)["named_user"].clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn contacts_are_found_and_changed_by_the_ids_that_events_show() {
    on_each_database(async |app| {
        let master = app.master();
        let (own, others) = (channel(&app, "ios", "ABCDEF01").await, channel(&app, "ios", "ABCDEF02").await);
        let anonymous = master.get(&format!("/api/contacts/lookup/channel/{own}")).await.expect(200);
        assert_eq!((&anonymous["contact_id"], &anonymous["is_anonymous"]), (&json!(own), &json!(true)));
        let user_of = json!({"channel_id": own, "named_user_id": "kim"});
        master.post("/api/named_users/associate", user_of).await.expect(200);
        master
            .post("/api/custom-events", json!({"user": {"channel": own}, "body": {"name": "bought"}}))
            .await
            .expect(200);
        let events = master.post("/api/events", json!({"follow": false, "filters": [{"types": ["CUSTOM"]}]})).await;
        let event: Value = serde_json::from_str(events.text().lines().next().unwrap()).unwrap();
        let contact = text(&event["user"]["contact_id"]);
        // On another node, or after a restart, nobody has looked it up before.
        let app = app.restart().await;
        let master = app.master();
        let tagging = json!({"audience": {"contact_id": [contact, NOBODY]}, "add": {"loyalty": ["gold"]}});
        let tagged = master.post("/api/contacts/tags/", tagging).await.expect(200);
        let passed_over = format!("There is no contact {NOBODY}; it is passed over.");
        assert_eq!((&tagged["tag_warnings"], tagged.get("warnings")), (&json!(passed_over), None));
        let plan = json!([{"action": "set", "key": "plan", "value": "a"}]);
        let attributes = json!([
            {"audience": {"contact_id": contact}, "attributes": plan},
            {"audience": {"contact_id": [NOBODY, "crm-1"]}, "attributes": plan},
        ]);
        let changed = master.post("/api/contacts/attributes", attributes).await.expect(200);
        let of_both = format!("{passed_over} There is no contact crm-1; it is passed over.");
        assert_eq!(changed["warnings"], json!(of_both));
        let scoped = json!({"scoped": [{"scope": ["app"], "subscription_lists": {"subscribe": ["weekly"]}}]});
        master.post(&format!("/api/contacts/scoped/{contact}"), scoped).await.expect(200);
        let kim = user(&app, "kim").await;
        assert_eq!((&kim["tags"], &kim["attributes"]), (&json!({"loyalty": ["gold"]}), &json!({"plan": "a"})));
        let lists = master.get(&format!("/api/subscription_lists/contacts/{contact}")).await.expect(200);
        assert_eq!(lists["subscription_lists"], json!([{"scope": "app", "list_ids": ["weekly"]}]));

        let found = master.get("/api/contacts/lookup/named_user/kim").await.expect(200);
        assert_eq!(found["contact_id"], json!(contact));
        let found = master.get(&format!("/api/contacts/lookup/channel/{own}")).await.expect(200);
        assert_eq!((&found["contact_id"], &found["is_anonymous"]), (&json!(contact), &json!(false)));
        for named in [json!(contact), json!("somebody else")] {
            let association = json!({"contact_id": named, "channel_id": others, "device_type": "ios"});
            let answer = master.post("/api/contacts/associate", association).await.expect(200);
            assert_eq!(answer["contact_id"], json!(contact), "a channel that is somebody's stays theirs");
        }
        assert_eq!(user(&app, "kim").await["channels"].as_array().unwrap().len(), 2);
        let leave = json!({"channel_type": "ios", "channel_id": others});
        let left = master.post(&format!("/api/contacts/disassociate/{contact}"), leave).await.expect(200);
        assert_eq!((&left["contact"], &left["channel_id"]), (&json!(contact), &json!(others)));
        assert_eq!(user(&app, "kim").await["channels"].as_array().unwrap().len(), 1);
        for path in ["lookup/named_user/nobody".to_owned(), format!("lookup/channel/{NOBODY}")] {
            master.get(&format!("/api/contacts/{path}")).await.expect(404);
        }
        let email = json!({"contact_id": contact, "email_address": "kim@example.com"});
        master.post("/api/contacts/associate", email).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn contacts_that_are_not_there_are_made() {
    on_each_database(async |app| {
        let master = app.master();
        for (n, name) in ["crm-17", NOBODY].into_iter().enumerate() {
            let mut answers = Vec::new();
            for device in 0..2 {
                let own = channel(&app, "ios", &format!("ABCDEF{n}{device}")).await;
                let association = json!({"contact_id": name, "channel_id": own});
                answers
                    .push(master.post("/api/contacts/associate", association).await.expect(200)["contact_id"].clone());
                let found = master.get(&format!("/api/contacts/lookup/channel/{own}")).await.expect(200);
                assert_eq!(found["contact_id"], answers[0]);
            }
            assert_eq!(answers[0], answers[1]);
            assert_eq!(user(&app, name).await["channels"].as_array().unwrap().len(), 2);
        }
        let own = channel(&app, "ios", "ABCDEF77").await;
        for wrong in [json!(""), json!("x".repeat(129)), json!(7)] {
            let association = json!({"contact_id": wrong, "channel_id": own});
            master.post("/api/contacts/associate", association).await.expect(400);
        }
    })
    .await;
}

#[tokio::test]
async fn contacts_are_named_as_the_server_has_named_them() {
    on_each_database(async |app| {
        let master = app.master();
        let upper = "9C36E8C7-5A73-47C0-9716-99FD3D4197D5";
        let names = ["crm-17", "ann lee@example.com", NOBODY, upper, "0123456789abcdef0123456789abcdef", "7"];
        for (n, name) in names.into_iter().enumerate() {
            let own = channel(&app, "ios", &format!("ABCDEF{n:02}")).await;
            let path = |call: &str| format!("/api/{call}/{}", name.replace(' ', "%20"));
            let lists = path("subscription_lists/contacts");
            let scoped = json!({"scoped": [{"scope": ["app"], "subscription_lists": {"subscribe": ["weekly"]}}]});
            let leave = json!({"channel_type": "ios", "channel_id": own});
            let tagging = json!({"audience": {"contact_id": [name]}, "add": {"loyalty": ["gold"]}});
            let plan = json!([{"action": "set", "key": "plan", "value": "a"}]);
            let attributes = json!({"audience": {"contact_id": name}, "attributes": plan});
            // It is not there yet.
            assert!(
                master.post("/api/contacts/tags", &tagging).await.expect(200)["tag_warnings"].is_string(),
                "{name}"
            );
            master.post(&path("contacts/scoped"), &scoped).await.expect(404);
            master.post(&path("contacts/disassociate"), &leave).await.expect(404);
            master.get(&lists).await.expect(404);

            let association = json!({"contact_id": name, "channel_id": own});
            let contact = master.post("/api/contacts/associate", association).await.expect(200)["contact_id"].clone();
            assert_eq!(master.post("/api/contacts/tags", &tagging).await.expect(200).get("tag_warnings"), None);
            assert_eq!(master.post("/api/contacts/attributes", attributes).await.expect(200).get("warnings"), None);
            master.post(&path("contacts/scoped"), &scoped).await.expect(200);
            master.post(&path("contacts"), json!({"tags": {"add": {"loyalty": ["new"]}}})).await.expect(200);
            master.get(&path("contacts/associated_types")).await.expect(200);
            let subscribed = master.get(&lists).await.expect(200);
            assert_eq!(subscribed["subscription_lists"], json!([{"scope": "app", "list_ids": ["weekly"]}]));
            let found = user(&app, &name.replace(' ', "%20")).await;
            assert_eq!(found["named_user_id"], name);
            assert_eq!(found["tags"], json!({"loyalty": ["gold", "new"]}));
            assert_eq!(found["attributes"], json!({"plan": "a"}));
            let left = master.post(&path("contacts/disassociate"), &leave).await.expect(200);
            assert_eq!((&left["contact"], &left["channel_id"]), (&contact, &json!(own)));
            assert_eq!(user(&app, &name.replace(' ', "%20")).await["channels"], json!([]));

            // A device that guesses the name says nothing by it.
            let device = app.device();
            device.post(&path("contacts/scoped"), &scoped).await.expect(404);
            device.post(&path("contacts/disassociate"), &leave).await.expect(404);
            device.post(&path("contacts"), json!({"tags": {"add": {"loyalty": ["x"]}}})).await.expect(404);
            device.get(&lists).await.expect(404);
            device.get(&path("contacts/associated_types")).await.expect(404);
        }
        for odd in ["%20a", &"x".repeat(129)] {
            master.get(&format!("/api/subscription_lists/contacts/{odd}")).await.expect(404);
        }
        let tagging = json!({"audience": {"contact_id": ["a", ""]}, "add": {"loyalty": ["gold"]}});
        let refused = master.post("/api/contacts/tags", tagging).await.expect(400);
        assert_eq!(refused["details"]["path"], "audience.contact_id[1]");
    })
    .await;
}

#[tokio::test]
async fn tags_of_a_contact_can_be_changed_with_its_subscriptions_or_alone() {
    on_each_database(async |app| {
        let master = app.master();
        master.post("/api/named_users/kim", json!({"tags": {"add": {"g": ["old"]}}})).await.expect(200);
        let contact = text(&master.get("/api/contacts/lookup/named_user/kim").await.expect(200)["contact_id"]);
        let path = format!("/api/contacts/scoped/{contact}");
        let tags = json!([{"add": {"g": ["new"]}, "remove": {"g": ["old"]}}, {"set": {"h": ["one"]}}]);
        master.post(&path, json!({"scoped": [{"scope": ["app"], "tags": tags}]})).await.expect(200);
        assert_eq!(user(&app, "kim").await["tags"], json!({"g": ["new"], "h": ["one"]}));
        let both = json!({"scope": ["web"], "tags": [{"set": {"h": ["two"]}}], "subscription_lists": {"subscribe": ["weekly"]}});
        master.post(&path, json!({"scoped": [both]})).await.expect(200);
        assert_eq!(user(&app, "kim").await["tags"], json!({"g": ["new"], "h": ["two"]}));
        let lists = master.get(&format!("/api/subscription_lists/contacts/{contact}")).await.expect(200);
        assert_eq!(lists["subscription_lists"], json!([{"scope": "web", "list_ids": ["weekly"]}]));
        for wrong in [
            json!({"scope": ["app"]}),
            json!({"tags": tags}),
            json!({"scope": ["app"], "tags": [{"add": {"g": ["t"]}, "remove": {"g": ["t"]}}]}),
        ] {
            master.post(&path, json!({"scoped": [wrong]})).await.expect(400);
        }
        let set = json!({"action": "set", "key": "plan", "value": "a"});
        let change = json!([{"audience": {"contact_id": contact}, "attributes": [set, {"action": "remove", "key": "plan"}]}]);
        let refused = master.post("/api/contacts/attributes", change).await.expect(400);
        assert!(refused.to_string().contains("The attribute 'plan' cannot be set and removed at once."), "{refused}");
    })
    .await;
}

/// Everybody who reads events knows these ids, so a device must not become somebody by one.
#[tokio::test]
async fn devices_cannot_use_the_ids_of_events() {
    on_each_database(async |app| {
        app.master().post("/api/named_users/kim", json!({"tags": {"add": {"g": ["t"]}}})).await.expect(200);
        let contact = text(&app.master().get("/api/contacts/lookup/named_user/kim").await.expect(200)["contact_id"]);
        let change = json!({"tags": {"add": {"g": ["more"]}}});
        app.device().post(&format!("/api/contacts/{contact}"), change).await.expect(404);
        app.device().get(&format!("/api/subscription_lists/contacts/{contact}")).await.expect(404);
        let own = channel(&app, "ios", "ABCDEF01").await;
        let action = json!({"action": {"type": "resolve", "contact_id": contact}});
        let request =
            app.device().request(http::Method::POST, "/api/contacts/identify/v2").header("x-ua-channel-id", &own);
        let resolved = app.device().send(request.body(action.to_string().into()).unwrap()).await.expect(200);
        assert_eq!(resolved["contact"]["is_anonymous"], true);
    })
    .await;
}

/// Each search goes through all users of the app.
#[tokio::test]
async fn an_id_of_nobody_is_looked_for_once_a_minute() {
    on_each_database(async |app| {
        let kim = json!({"tags": {"add": {"g": ["t"]}}});
        app.master().post("/api/named_users/kim", &kim).await.expect(200);
        let contact = text(&app.master().get("/api/contacts/lookup/named_user/kim").await.expect(200)["contact_id"]);
        app.master().post("/api/named_users/uninstall", json!({"named_user_id": ["kim"]})).await.expect(200);
        app.step_all().await;
        let app = app.restart().await;
        let master = app.master();
        let lists = format!("/api/subscription_lists/contacts/{contact}");
        master.get(&lists).await.expect(404);
        master.post("/api/named_users/kim", &kim).await.expect(200);
        master.get(&lists).await.expect(404);
        app.advance(std::time::Duration::from_secs(60));
        master.get(&lists).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn pipelines_are_filtered_and_sorted() {
    on_each_database(async |app| {
        let master = app.master();
        let push = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}});
        for (name, enabled, trigger) in [
            ("welcome", true, json!("first_open")),
            ("winback", false, json!({"tag_added": "lost"})),
            ("cart", true, json!({"tag_removed": "cart"})),
        ] {
            let body =
                json!({"name": name, "enabled": enabled, "immediate_trigger": trigger, "outcome": {"push": push}});
            master.post("/api/pipelines", body).await.expect(201);
            app.advance(std::time::Duration::from_secs(60));
        }
        let names = async |query: &str| {
            let page = master.get(&format!("/api/pipelines/filtered{query}")).await.expect(200);
            page["pipelines"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("").await, "cart welcome winback");
        assert_eq!(names("?enabled=true&order=desc").await, "welcome cart");
        assert_eq!(names("?prefix=w").await, "welcome winback");
        assert_eq!(names("?triggers=FIRST_REG&triggers=TAG_ADDED").await, "welcome winback");
        assert_eq!(names("?sort=started_date").await, "welcome winback cart");
        assert_eq!(names("?started_date_mills=1714564830000").await, "cart winback");
        let page = master.get("/api/pipelines/filtered?limit=1&start=1&triggers=TAG_ADDED,FIRST_REG").await.expect(200);
        assert_eq!((&page["total_count"], page.get("next_page")), (&json!(2), None));
        assert!(page["prev_page"].as_str().unwrap().contains("start=0&limit=1&triggers=TAG_ADDED"), "{page}");
        master.get("/api/pipelines/filtered?triggers=NOTHING").await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn with_the_app_secret_a_device_token_leads_to_no_names() {
    on_each_database(async |app| {
        let body = json!({"device_type": "ios", "opt_in": true, "push_address": "ABCDEF01", "alias": "kim", "tags": ["vip"],
                          "set_tags": true});
        let made = app.master().post("/api/channels", json!({ "channel": body })).await.expect(201);
        let path = "/api/device_tokens/ABCDEF01";
        let known = app.master().get(path).await.expect(200);
        assert_eq!((&known["alias"], &known["tags"], &known["active"]), (&json!("kim"), &json!(["vip"]), &json!(true)));
        let shown = app.device().get(path).await;
        assert!(!shown.text().contains(made["channel_id"].as_str().unwrap()), "{}", shown.text());
        let mut shown = shown.expect(200);
        assert_eq!((&shown["alias"], &shown["tags"]), (&Value::Null, &json!([])));
        (shown["alias"], shown["tags"]) = (json!("kim"), json!(["vip"]));
        assert_eq!(shown, known, "nothing else differs");
    })
    .await;
}

#[tokio::test]
async fn old_listings_show_channels() {
    on_each_database(async |app| {
        let master = app.master();
        let mut ios = Vec::new();
        for token in ["ABCDEF01", "ABCDEF02", "ABCDEF03"] {
            ios.push(channel(&app, "ios", token).await);
        }
        let android = channel(&app, "android", "token").await;
        master.post("/api/channels/tags", json!({"audience": {"channel": ios[0]}, "add": {"device": ["news"]}})).await.expect(200);
        let page = master.get("/api/device_tokens/?limit=2").await.expect(200);
        assert_eq!((&page["device_tokens_count"], &page["active_device_tokens_count"]), (&json!(3), &json!(3)));
        let one = &page["device_tokens"][0];
        assert_eq!((&one["device_token"], &one["active"], &one["tags"]), (&json!("ABCDEF01"), &json!(true), &json!(["news"])));
        assert_eq!(one["created"], "2024-05-01 12:00:00");
        assert_eq!(page.get("ok"), None);
        let next = text(&page["next_page"]);
        let next = &next[next.find("/api").unwrap()..];
        let page = master.get(next).await.expect(200);
        assert_eq!((page["device_tokens"].as_array().unwrap().len(), page.get("next_page")), (1, None));
        assert_eq!(master.get("/api/device_tokens/count/").await.expect(200)["device_tokens_count"], 3);
        assert_eq!(master.get("/api/device_tokens/ABCDEF02").await.expect(200)["active"], true);
        master.get("/api/device_tokens/token").await.expect(404);
        let apids = master.get("/api/apids/").await.expect(200);
        assert_eq!(apids["apids"][0]["apid"], json!(android));
        assert_eq!(master.get(&format!("/api/apids/{android}")).await.expect(200)["gcm_registration_id"], "token");
        master.get(&format!("/api/apids/{}", ios[0])).await.expect(404);
        // One that is known may be looked up by the app as well, lists may not.
        assert_eq!(app.device().get("/api/device_tokens/ABCDEF02").await.expect(200)["device_token"], "ABCDEF02");
        app.device().get(&format!("/api/apids/{android}")).await.expect(200);
        for path in ["device_tokens", "device_tokens/count", "apids"] {
            app.device().get(&format!("/api/{path}")).await.expect(401);
        }
        assert_eq!(master.get("/api/device_pins/").await.expect(200), json!({"device_pins": []}));

        let lookup = json!({"channel_id": ios[0], "device_type": "ios", "tag_groups": {"device": ["news", "other"], "g": ["t"]}});
        let tags = app.device().post("/api/channel-tags-lookup", lookup).await.expect(200);
        assert_eq!(tags["tag_groups"], json!({"device": ["news"]}));
        let own = json!({"channel_id": ios[0], "device_type": "ios"});
        app.device().post("/api/channels/remove_push_address", own).await.expect(200);
        let shown = master.get(&format!("/api/channels/{}", ios[0])).await.expect(200);
        assert_eq!((&shown["channel"]["push_address"], &shown["channel"]["installed"]), (&Value::Null, &json!(true)));
        assert_eq!(master.get("/api/device_tokens/count").await.expect(200)["active_device_tokens_count"], 2);
        assert_eq!(master.get("/api/named_users/count").await.expect(200)["count"], 0);
        assert_eq!(master.get("/api/regions?limit=10").await.expect(200)["regions"], json!([]));
        master.get("/api/regions/x").await.expect(404);
    })
    .await;
}
