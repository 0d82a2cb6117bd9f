//! Users and channels that are full. Devices cannot fill a named user to the brim, so that servers always have room, and a holder
//! that is full fails no batch of others.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use uuid::Uuid;

async fn register(app: &TestApp) -> String {
    let body = json!({"channel": {"device_type": "ios", "opt_in": false}});
    app.master().post("/api/channels", body).await.expect(201)["channel_id"].as_str().unwrap().to_owned()
}

fn tagging(user: &Value, group: &str, tags: &[String]) -> Value {
    json!({"audience": {"named_user_id": user}, "add": {group: tags}})
}

fn names(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|n| format!("{prefix}-{n}")).collect()
}

async fn user(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/named_users?id={id}")).await.expect(200)["named_user"].clone()
}

/// Checks that an answer names those who were passed over, and nobody else.
#[track_caller]
fn expect_passed_over(answer: &Value, who: &[&str]) {
    let none = Vec::new();
    let warnings = answer["warnings"].as_array().unwrap_or(&none);
    assert_eq!(warnings.len(), who.len(), "{answer}");
    for (warning, who) in warnings.iter().zip(who) {
        assert!(warning.as_str().unwrap().contains(who), "{answer}");
    }
}

#[tokio::test]
async fn servers_have_room_for_tags_that_devices_cannot_take() {
    on_each_database(async |app| {
        // Somebody with the app secret fills Kim with tags, a hundred at a time.
        let (device, kim) = (app.device(), json!("kim"));
        for n in 0..5 {
            device
                .post("/api/named_users/tags", tagging(&kim, "spam", &names(&format!("t{n}"), 100)))
                .await
                .expect(200);
        }
        let refused = device.post("/api/named_users/tags", tagging(&kim, "spam", &names("more", 1))).await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains("at most 500 tags"), "{refused}");
        // A change that adds nothing is no growth.
        let exchange =
            json!({"audience": {"named_user_id": "kim"}, "add": {"spam": ["new"]}, "remove": {"spam": ["t0-0"]}});
        device.post("/api/named_users/tags", exchange).await.expect(200);
        for n in 0..5 {
            let tags = tagging(&kim, "crm", &names(&format!("s{n}"), 100));
            expect_passed_over(&app.master().post("/api/named_users/tags", tags).await.expect(200), &[]);
        }
        assert_eq!(user(&app, "kim").await["tags"]["crm"].as_array().unwrap().len(), 500);
        device.post("/api/named_users/tags", tagging(&kim, "spam", &names("more", 1))).await.expect(400);

        // Kim is full now, which is nothing to the others.
        let all = json!(["jo", "kim", "lee"]);
        let answer =
            app.master().post("/api/named_users/tags", tagging(&all, "crm", &names("late", 1))).await.expect(200);
        expect_passed_over(&answer, &["named user 'kim'"]);
        for id in ["jo", "lee"] {
            assert_eq!(user(&app, id).await["tags"], json!({"crm": ["late-0"]}));
        }
        app.master().post("/api/named_users/tags", tagging(&kim, "crm", &names("late", 1))).await.expect(400);
        let remove = json!({"audience": {"named_user_id": all}, "remove": {"spam": names("t1", 100)}});
        expect_passed_over(&app.master().post("/api/named_users/tags", remove).await.expect(200), &[]);
        let answer =
            app.master().post("/api/named_users/tags", tagging(&all, "crm", &names("late", 1))).await.expect(200);
        expect_passed_over(&answer, &[]);
    })
    .await;
}

#[tokio::test]
async fn servers_have_room_for_attributes_and_lists_that_devices_cannot_take() {
    on_each_database(async |app| {
        let attributes = |user: &Value, prefix: &str, n: usize| {
            let set = |key: &String| json!({"action": "set", "key": key, "value": 1});
            let operations: Vec<Value> = names(prefix, n).iter().map(set).collect();
            json!({"audience": {"named_user_id": user}, "attributes": operations})
        };
        let lists = |user: &Value, prefix: &str, n: usize| {
            let subscribe = |id: &String| json!({"action": "subscribe", "list_id": id});
            let operations: Vec<Value> = names(prefix, n).iter().map(subscribe).collect();
            json!({"audience": {"named_user_id": user}, "subscription_lists": operations})
        };
        let (kim, all) = (json!("kim"), json!(["jo", "kim"]));
        type MakeBody<'f> = &'f dyn Fn(&Value, &str, usize) -> Value;
        let bodies: [MakeBody<'_>; 2] = [&attributes, &lists];
        for (path, key, body, status) in [
            ("/api/channels/attributes", "attributes", bodies[0], 200),
            ("/api/channels/subscription_lists", "subscription_lists", bodies[1], 202),
        ] {
            // As many as one request has, which differs.
            let fill = async |caller: testkit::client::Caller, prefix: &str, n: usize| {
                for part in 0..n / 50 {
                    caller.post(path, body(&kim, &format!("{prefix}{part}"), 50)).await.expect(status);
                }
            };
            fill(app.device(), "d", 500).await;
            let refused = app.device().post(path, body(&kim, "more", 1)).await.expect(400);
            assert!(refused["error"].as_str().unwrap().contains("at most 500"), "{refused}");
            assert_eq!(refused["details"]["path"], key);
            fill(app.master(), "s", 500).await;
            let answer = app.master().post(path, body(&all, "late", 1)).await.expect(status);
            expect_passed_over(&answer, &["named user 'kim'"]);
            app.master().post(path, body(&kim, "late", 1)).await.expect(400);
        }
        assert_eq!(user(&app, "jo").await["attributes"], json!({"late-0": 1}));
        assert_eq!(user(&app, "kim").await["attributes"].as_object().unwrap().len(), 1000);
    })
    .await;
}

#[tokio::test]
async fn servers_have_room_for_channels_that_devices_cannot_take() {
    on_each_database(async |app| {
        let joined = |channel: &str| json!({"channel_id": channel, "device_type": "ios", "named_user_id": "kim"});
        let path = "/api/named_users/associate";
        // Half of them register only after they were promised.
        let mut promised = Vec::new();
        for n in 0..25 {
            app.device().post(path, joined(&register(&app).await)).await.expect(200);
            let id = Uuid::from_u128(0x4000_8000_0000_0000_0000 + n).to_string();
            app.device().post(path, joined(&id)).await.expect(200);
            promised.push(id);
        }
        let late = register(&app).await;
        let refused = app.device().post(path, joined(&late)).await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains("50 channels"), "{refused}");
        let unknown = "00000000-0000-4000-8000-00000000ffff";
        app.device().post(path, joined(unknown)).await.expect(400);
        for id in &promised {
            let body = json!({"channel": {"device_type": "ios", "opt_in": false}});
            app.device().put(&format!("/api/channels/{id}"), body).await.expect(200);
        }
        app.device().post(path, joined(&late)).await.expect(400);
        app.device().post("/api/contacts/identify", joined(&late)).await.expect(400);
        assert_eq!(user(&app, "kim").await["channels"].as_array().unwrap().len(), 50);
        // A server has the other half, and promises are kept.
        app.master().post(path, joined(&late)).await.expect(200);
        app.master().post(path, joined(unknown)).await.expect(200);
        let body = json!({"channel": {"device_type": "ios", "opt_in": false}});
        app.device().put(&format!("/api/channels/{unknown}"), body).await.expect(200);
        assert_eq!(user(&app, "kim").await["channels"].as_array().unwrap().len(), 52);
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_its_device_fills_fails_no_batch_of_others() {
    on_each_database(async |app| {
        let body =
            json!({"channel": {"device_type": "ios", "opt_in": false, "set_tags": true, "tags": names("t", 1000)}});
        let hostile =
            app.device().post("/api/channels", body).await.expect(201)["channel_id"].as_str().unwrap().to_owned();
        let honest = register(&app).await;
        let tags = |channels: Value| json!({"audience": {"channel": channels}, "add": {"crm": ["vip"]}});
        let answer = app.master().post("/api/channels/tags", tags(json!([hostile, honest]))).await.expect(200);
        expect_passed_over(&answer, &[&hostile]);
        app.master().post("/api/channels/tags", tags(json!(hostile))).await.expect(400);
        let shown = app.master().get(&format!("/api/channels/{honest}")).await.expect(200);
        assert_eq!(shown["channel"]["tag_groups"]["crm"], json!(["vip"]));
        let flat = json!({"ios_channels": {"add": [hostile, honest]}});
        expect_passed_over(&app.master().post("/api/tags/late", flat).await.expect(200), &[&hostile]);
    })
    .await;
}

#[tokio::test]
async fn what_was_said_before_somebody_had_a_name_is_not_lost() {
    on_each_database(async |app| {
        let channel = register(&app).await;
        let own = json!({"channel_id": channel, "device_type": "ios"});
        let contact = app.device().post("/api/contacts/resolve", &own).await.expect(200)["contact_id"].clone();
        let path = format!("/api/contacts/{}", contact.as_str().unwrap());
        for n in 0..6 {
            let tags = json!({"tags": {"add": {"own": names(&format!("t{n}"), 100)}}});
            app.device().post(&path, tags).await.expect(200);
        }
        let joined = json!({"channel_id": channel, "device_type": "ios", "named_user_id": "jo"});
        app.device().post("/api/contacts/identify", joined).await.expect(200);
        assert_eq!(user(&app, "jo").await["tags"]["own"].as_array().unwrap().len(), 600);
    })
    .await;
}
