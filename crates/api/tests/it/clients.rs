//! Client libraries of servers write some things their own way; these are their bodies.

use http::Method;
use serde_json::json;
use testkit::app::on_each_database;

use crate::events_intake::told;

#[tokio::test]
async fn java_says_utf8_of_every_message_and_landing_page() {
    on_each_database(async |app| {
        let page = json!({"content_type": "text/html", "body": "<h1>Hé</h1>", "content_encoding": "utf8"});
        let push = json!({
            "audience": "all",
            "device_types": ["ios", "android"],
            "notification": {"alert": "Hi", "actions": {"open": {"type": "landing_page", "content": page}}},
            "message": {"title": "Hi", "body": "<h1>Hé</h1>", "content_type": "text/html", "content_encoding": "utf8",
                        "expiry": "2024-05-02T12:00:00", "extra": {}},
        });
        let accepted = app.master().post("/api/push", push).await.expect(200);
        let page = accepted["content_urls"][0].as_str().unwrap().strip_prefix(&app.url("")).unwrap().to_owned();
        assert_eq!(app.nobody().get(&page).await.text(), "<h1>Hé</h1>");
    })
    .await;
}

#[tokio::test]
async fn java_sends_an_empty_list_of_variables_with_every_change_of_a_template() {
    on_each_database(async |app| {
        let template = json!({"name": "T", "variables": [{"key": "NAME", "default_value": "you"}],
                              "push": {"notification": {"alert": "Hi {{NAME}}"}}});
        let made = app.master().post("/api/templates/", template).await.expect(201);
        let path = format!("/api/templates/{}", made["template_id"].as_str().unwrap());
        let change = json!({"name": "U", "variables": []});
        app.master().post(&path, change).await.expect_done(200);
        let shown = &app.master().get(&path).await.expect(200)["template"];
        assert_eq!((&shown["name"], &shown["variables"][0]["key"]), (&json!("U"), &json!("NAME")));
        let plain = json!({"push": {"notification": {"alert": "Hi"}}, "variables": []});
        app.master().post(&path, plain).await.expect_done(200);
        assert_eq!(app.master().get(&path).await.expect(200)["template"]["variables"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn python_writes_the_attributes_of_a_user_behind_the_id() {
    on_each_database(async |app| {
        let attributes = json!([{"action": "set", "key": "city", "value": "Oslo"}]);
        let behind = "%5B%7B'action':%20'set',%20'key':%20'city',%20'value':%20'Oslo'%7D%5D";
        let path = format!("/api/named_users/kim%40home{behind}");
        app.master().post(&path, json!({"attributes": attributes})).await.expect_done(200);
        let all = app.master().get("/api/named_users").await.expect(200)["named_users"].clone();
        assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
        assert_eq!(all[0]["named_user_id"], "kim@home");
        assert_eq!(all[0]["attributes"], json!({"city": "Oslo"}));
        let of_nobody = format!("/api/named_users/{behind}");
        app.master().post(&of_nobody, json!({"attributes": attributes})).await.expect(400);
        // Whoever sends anything else means the path as it is.
        app.master().post("/api/named_users/%5B%7B'x", json!({"tags": {"add": {"g": "t"}}})).await.expect(200);
        app.master().get("/api/named_users?id=%5B%7B'x").await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn ruby_writes_offsets() {
    on_each_database(async |app| {
        for (occurred, at) in [
            ("2024-05-01T10:01:07.000+0000", "2024-05-01T10:01:07.000Z"),
            ("2024-05-01T10:01:07.250+02:00", "2024-05-01T08:01:07.250Z"),
        ] {
            let event = json!({"occurred": occurred, "user": {"named_user_id": "kim"}, "body": {"name": "bought"}});
            app.master().post("/api/custom-events/", json!([event])).await.expect(200);
            assert_eq!(told(&app).await.last().unwrap()["occurred"], at);
        }
        let event = json!({"occurred": "2024-05-01T10:01:07[Europe/Oslo]", "user": {"named_user_id": "kim"},
                           "body": {"name": "bought"}});
        let refused = app.master().post("/api/custom-events", event).await.expect(400);
        assert_eq!(refused["details"]["path"], "occurred");
    })
    .await;
}

#[tokio::test]
async fn zones_that_would_be_ignored_are_refused() {
    on_each_database(async |app| {
        for time in ["2030-01-31T12:00:00[America/New_York]", "2030-01-31T12:00:00-05:00[America/New_York]"] {
            let schedule = json!({"schedule": {"scheduled_time": time},
                                  "push": {"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}}});
            let refused = app.master().post("/api/schedules", schedule).await.expect(400);
            assert_eq!(refused["details"]["path"], "schedule.scheduled_time", "{refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn channels_of_email_and_sms_are_said_to_be_missing() {
    on_each_database(async |app| {
        for (kind, name) in [("email", "email"), ("sms", "SMS")] {
            let sentence = format!("There are no {name} channels here.");
            let says = |answer: &serde_json::Value| answer["error"].as_str().unwrap().starts_with(&sentence);
            let missing = app.master().post(&format!("/api/channels/{kind}/"), json!({})).await.expect(404);
            assert!(says(&missing), "{missing}");
            for (method, below) in [
                (Method::POST, "uninstall"),
                (Method::POST, "tags/"),
                (Method::POST, "attributes"),
                (Method::POST, "replace/9c36e8c7-5a73-47c0-9716-99fd3d4197d5"),
                (Method::PUT, "9c36e8c7-5a73-47c0-9716-99fd3d4197d5"),
                (Method::GET, "kim%40example.com"),
                (Method::GET, "15035550100/12345"),
            ] {
                let path = format!("/api/channels/{kind}/{below}");
                let missing = app.master().call(method.clone(), &path, "").await.expect(404);
                assert!(says(&missing), "{method} {path}: {missing}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn python_sends_a_notification_of_null_where_there_is_none() {
    on_each_database(async |app| {
        let push = |content: serde_json::Value| {
            let mut push = json!({"audience": "all", "device_types": ["ios"], "notification": null});
            push.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
            push
        };
        let message = push(json!({"message": {"title": "Hi", "body": "Hello"}}));
        let in_app = push(json!({"in_app": {"alert": "Hi", "display_type": "banner"}}));
        app.master().post("/api/push", json!([message, in_app])).await.expect(200);
        let scheduled = json!({"schedule": {"scheduled_time": "2024-05-02T12:00"}, "push": message});
        let made = app.master().post("/api/schedules", scheduled).await.expect(201);
        let path = format!("/api/schedules/{}", made["schedule_ids"][0].as_str().unwrap());
        let shown = app.master().get(&path).await.expect(200);
        assert_eq!(shown["push"].get("notification"), None, "{shown}");
        let nothing = app.master().post("/api/push", push(json!({}))).await.expect(400);
        assert_eq!(nothing["details"]["path"], "notification", "{nothing}");
    })
    .await;
}

#[tokio::test]
async fn python_and_java_send_a_value_with_operators_that_have_none() {
    on_each_database(async |app| {
        for value in [json!(null), json!(""), json!("gold"), json!(0), json!(true)] {
            for selector in [
                json!({"attribute": "plan", "operator": "is_empty", "value": value}),
                json!({"attribute": "cart#1", "where": {"property": "$.n", "operator": "not_empty", "value": value}}),
            ] {
                let segment = json!({"display_name": "S", "criteria": selector});
                let made = app.master().post("/api/segments", segment).await.expect(201);
                let path = format!("/api/segments/{}", made["segment_id"].as_str().unwrap());
                let shown = app.master().get(&path).await.expect(200).to_string();
                assert!(!shown.contains("value"), "it means nothing: {shown}");
            }
        }
        let list = json!({"attribute": "plan", "operator": "is_empty", "value": ["gold"]});
        let push = json!({"audience": list, "device_types": "all", "notification": {"alert": "Hi"}});
        let refused = app.master().post("/api/push", push).await.expect(400);
        assert_eq!(refused["details"]["path"], "audience.value");
    })
    .await;
}

#[tokio::test]
async fn pushes_that_could_only_go_to_email_and_sms_are_refused() {
    on_each_database(async |app| {
        let email = json!({"message_type": "commercial", "subject": "S", "plaintext_body": "B", "sender_name": "N",
                           "sender_address": "a@example.com", "reply_to": "a@example.com"});
        let push = |device_types: serde_json::Value| {
            json!({"audience": "all", "device_types": device_types, "notification": {"alert": "Hi", "email": email}})
        };
        for device_types in [json!(["sms"]), json!(["email"]), json!(["sms", "email"])] {
            let name = device_types[0].as_str().unwrap();
            let later = json!({"schedule": {"scheduled_time": "2024-05-02T12:00"}, "push": push(device_types.clone())});
            let variant = json!({"push": {"notification": {"alert": "Hi", "email": email}}});
            let experiment =
                json!({"audience": "all", "device_types": device_types, "variants": [variant, variant]});
            for (path, body, at) in [
                ("/api/push", push(device_types.clone()), "device_types"),
                ("/api/push/validate", push(device_types.clone()), "device_types"),
                ("/api/schedules", later, "push.device_types"),
                ("/api/experiments", experiment, "device_types"),
            ] {
                let refused = app.master().post(path, body).await.expect(400);
                assert_eq!(refused["details"]["path"], at, "{path}: {refused}");
                let message = refused["details"]["error"].as_str().unwrap();
                assert!(message.starts_with(&format!("Nothing can be sent to {name} ")), "{path}: {refused}");
            }
        }
        for device_types in [json!("all"), json!(["ios", "sms"]), json!(["email", "open::kiosk", "sms"])] {
            let open = json!({"channel": {"type": "open", "opt_in": true, "address": "a",
                              "open": {"open_platform_name": "kiosk"}}});
            app.master().post("/api/channels/open", open).await.expect(200);
            app.master().post("/api/push", push(device_types)).await.expect(200);
        }
    })
    .await;
}
