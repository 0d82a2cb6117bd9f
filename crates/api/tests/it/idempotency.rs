//! `Idempotency-Key`: a request is carried out once, however often it is sent.

use std::collections::BTreeSet;

use bytes::Bytes;
use futures_util::future::join_all;
use http::Method;
use model::ids::AppId;
use serde_json::{Value, json};
use store::Tx;
use testkit::app::on_each_database;
use testkit::client::{Caller, Reply};

async fn post(caller: &Caller, path: &str, key: &str, body: &Value) -> Reply {
    let request = caller.request(Method::POST, path).header("idempotency-key", key);
    caller.send(request.body(Bytes::from(body.to_string())).unwrap()).await
}

fn push(alert: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}})
}

#[tokio::test]
async fn repeats_get_the_first_answer_on_every_route_that_sends_or_creates() {
    on_each_database(async |app| {
        let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
        let open = json!({"channel": {"type": "open", "opt_in": true, "address": "a",
                          "open": {"open_platform_name": "fridge"}}});
        let recipients = json!({"audience": {"create_and_send": [{"ua_address": "b"}]}, "device_types": ["open::fridge"],
                          "notification": {"alert": "Hi"}});
        let template = json!({"name": "T", "variables": [], "push": {"notification": {"alert": "Hi"}}});
        let made = app.master().post("/api/templates", &template).await.expect(201);
        let merge_data = json!({"template_id": made["template_id"]});
        let usage = json!({"audience": "all", "device_types": "all", "merge_data": merge_data});
        let mut later = usage.clone();
        later["schedule"] = json!({"scheduled_time": "2030-01-01T00:00"});
        let rotate = format!("/operator/apps/{}/rotate", app.app.key);
        let webhooks = format!("/operator/apps/{}/webhooks", app.app.key);
        let tokens = format!("/operator/apps/{}/tokens", app.app.key);
        let (in_app, forms) = (format!("/api/in-app/{}", app.app.key), format!("/api/preference-forms/{}", app.app.key));
        let clients = format!("/operator/apps/{}/oauth-clients", app.app.key);
        let own = json!({"channel": {"type": "open", "opt_in": true, "address": "c",
                         "open": {"open_platform_name": "fridge"}}});
        let happened = json!({"user": {"named_user_id": "kim"}, "body": {"name": "bought"}});
        let variant = json!({"push": {"notification": {"alert": "Hi"}},
                            "schedule": {"scheduled_time": "2030-01-01T00:00"}});
        let pipeline = json!({"name": "P", "enabled": true, "immediate_trigger": {"tag_added": "new"},
                             "outcome": {"push": {"audience": "triggered", "device_types": "all",
                                                  "notification": {"alert": "Hi"}}}});
        let scheduled = json!({"schedule": {"scheduled_time": "2030-01-01T00:00"}, "push": recipients});
        let file = app.master().post("/api/bulk/open/fridge", "ua_address\nb\n").await.expect(200);
        let bulk = json!({"audience": {"bulk_id": file["bulk_id"]}, "device_types": ["open::fridge"],
                          "notification": {"alert": "Hi"}});
        app.master().put("/api/push/test-group", json!({"audience": {"tag": "test"}})).await.expect(200);
        let table = [
            (app.master(), "/api/push", push("Hi")),
            (app.device(), "/api/channels", device.clone()),
            (app.device(), "/api/web-channels", device),
            (app.master(), "/api/channels/open", open),
            (app.master(), "/api/create-and-send", recipients.clone()),
            (app.master(), "/api/schedules/create-and-send", scheduled.clone()),
            (app.master(), "/api/schedules/bulk-send", scheduled),
            (app.master(), "/api/bulk-send", bulk),
            (app.master(), "/api/journeys/trigger", json!({"audience": {"tag": "none"}, "triggering_id": "welcome"})),
            (app.device(), "/api/channels/restricted/open", own),
            (app.master(), "/api/custom-events", happened),
            (app.device(), "/api/user", json!({})),
            (
                app.master(),
                "/api/experiments",
                json!({"audience": "all", "device_types": "all", "variants": [variant, variant]}),
            ),
            (app.master(), "/api/pipelines", pipeline),
            (app.master(), "/api/lists", json!({"name": "vips"})),
            (
                app.master(),
                "/api/content/templates",
                json!({"type": "app", "name": "Sale", "content": {"alert": "Hi"}}),
            ),
            (app.master(), &in_app, json!({"in_app_message": {
                "type": "actions", "actions": {"^u": "https://a.example"}, "triggers": [{"type": "foreground", "goal": 1}],
            }})),
            (app.master(), &forms, json!({"preference_form": {"form": {"id": "news", "sections": []}}})),
            (app.master(), "/api/feature-flags", json!({"name": "checkout"})),
            (app.master(), "/api/holdout-groups", json!({"name": "few", "audience_selector": {}})),
            (app.master(), "/api/tag-lists", json!({"name": "vips", "add": {"g": ["t"]}})),
            (app.master(), "/api/attribute-lists", json!({"name": "vips"})),
            (app.master(), "/api/privacy/export", json!({"named_user_id": "kim"})),
            (app.master(), "/api/privacy/erase", json!({"named_user_id": "kim"})),
            (app.operator(), &webhooks, json!({"url": "http://127.0.0.1:9/", "types": ["OPEN"]})),
            (app.master(), "/api/segments", json!({"display_name": "News", "criteria": {"tag": "news"}})),
            (
                app.master(),
                "/api/schedules",
                json!({"schedule": {"scheduled_time": "2030-01-01T00:00"}, "push": push("Hi")}),
            ),
            (app.master(), "/api/push/test", json!({"push": push("Hi")})),
            (app.master(), "/api/drafts", json!({"document": {}})),
            (app.master(), "/api/templates", template.clone()),
            (app.master(), "/api/templates/push", usage.clone()),
            (app.master(), "/api/templates/schedules", later),
            (app.operator(), "/operator/apps", json!({"name": "New", "mode": "production"})),
            (app.operator(), &rotate, json!({"secret": "app"})),
            (app.operator(), &tokens, json!({"name": "crm", "role": "sender"})),
            (app.operator(), &clients, json!({"name": "crm", "role": "sender"})),
        ];
        let marked: BTreeSet<String> = api::routes()
            .into_iter()
            .filter(|route| route.takes_idempotency_key)
            .map(|route| route.path.replace("{key}", &app.app.key))
            .collect();
        assert_eq!(marked, table.iter().map(|(_, path, _)| (*path).to_owned()).collect::<BTreeSet<_>>());
        for (caller, path, body) in table {
            // Keys are shared by all routes of an app.
            let key = format!("key-for-{path}");
            let first = post(&caller, path, &key, &body).await;
            assert!(first.status.is_success(), "{path}: {}", first.text());
            let again = post(&caller, &format!("/{path}/"), &key, &body).await;
            assert_eq!((again.status, again.text()), (first.status, first.text()), "{path}");
            assert_eq!(again.header("location"), first.header("location"), "{path}");
        }
        assert_eq!(app.master().get("/api/channels").await.expect(200)["channels"].as_array().unwrap().len(), 5);
        assert_eq!(app.operator().get("/operator/apps").await.expect(200)["apps"].as_array().unwrap().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn repeats_get_the_first_answer_whatever_has_happened_since() {
    on_each_database(async |app| {
        let (master, operator) = (app.master(), app.operator());
        let open = json!({"channel": {"type": "open", "opt_in": true, "address": "a", "tags": ["first"],
                          "open": {"open_platform_name": "fridge"}}});
        let registered = post(&master, "/api/channels/open", "key", &open).await;
        let address = json!({"address": "a", "open_platform_name": "fridge"});
        let tags = json!({"audience": address, "add": {"loyalty": ["second"]}});
        master.post("/api/channels/open/tags", tags).await.expect(200);
        let again = post(&master, "/api/channels/open", "key", &open).await;
        assert_eq!(again.text(), registered.text());
        assert!(again.text().contains("first") && !again.text().contains("second"), "{}", again.text());
        let id = again.json()["channel_id"].as_str().unwrap().to_owned();
        let shown = master.get(&format!("/api/channels/{id}")).await.expect(200);
        assert_eq!(shown["channel"]["tag_groups"]["loyalty"], json!(["second"]));

        let new = json!({"name": "New", "mode": "production"});
        let created = post(&operator, "/operator/apps", "key", &new).await;
        let path = format!("/operator/apps/{}", created.expect(201)["app"]["key"].as_str().unwrap());
        operator.patch(&path, json!({"name": "Renamed"})).await.expect(200);
        assert_eq!(post(&operator, "/operator/apps", "key", &new).await.text(), created.text());
        operator.delete(&path).await.expect(204);
        let again = post(&operator, "/operator/apps", "key", &new).await;
        assert_eq!((again.status, again.text()), (created.status, created.text()));
        operator.get(&path).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn repeats_may_come_when_the_time_has_passed_and_the_template_is_gone() {
    on_each_database(async |app| {
        let master = app.master();
        let template = json!({"name": "T", "variables": [], "push": {"notification": {"alert": "Hi"}}});
        let made = master.post("/api/templates", &template).await.expect(201);
        let usage =
            json!({"audience": "all", "device_types": "all", "merge_data": {"template_id": made["template_id"]}});
        let schedule = json!({"scheduled_time": "2024-05-01T13:00"});
        let mut later = usage.clone();
        later["schedule"] = schedule.clone();
        let variant = json!({"push": {"notification": {"alert": "Hi"}}, "schedule": schedule});
        let table = [
            ("/api/schedules", json!([{"schedule": schedule, "push": push("Hi")}])),
            ("/api/templates/schedules", later),
            ("/api/templates/push", usage),
            ("/api/experiments", json!({"audience": "all", "device_types": "all", "variants": [variant, variant]})),
        ];
        let mut first = Vec::new();
        for (path, body) in &table {
            let reply = post(&master, path, path, body).await;
            assert!(reply.status.is_success(), "{path}: {}", reply.text());
            first.push(reply);
        }
        app.advance(std::time::Duration::from_secs(2 * 60 * 60));
        app.step_all().await;
        master.delete(&format!("/api/templates/{}", made["template_id"].as_str().unwrap())).await.expect(200);
        let rows = testkit::rows::row_counts(app.engine().store()).await;
        for ((path, body), first) in table.iter().zip(&first) {
            let again = post(&master, path, path, body).await;
            assert_eq!((again.status, again.text()), (first.status, first.text()), "{path}");
            post(&master, path, "another", body).await.expect(400);
        }
        assert_eq!(testkit::rows::row_counts(app.engine().store()).await, rows);
    })
    .await;
}

#[tokio::test]
async fn devices_cannot_use_up_the_keys_of_servers() {
    on_each_database(async |app| {
        let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
        post(&app.device(), "/api/channels", "key", &device).await.expect(201);
        post(&app.master(), "/api/push", "key", &push("Hi")).await.expect(200);
        post(&app.device(), "/api/channels", "key", &device).await.expect(201);
        // A server that sends what the device sent is somebody else.
        post(&app.master(), "/api/channels", "other", &device).await.expect(200);
        post(&app.device(), "/api/channels", "other", &device).await.expect(201);
        let rotate = format!("/operator/apps/{}/rotate", app.app.key);
        post(&app.operator(), &rotate, "key", &json!({"secret": "app"})).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn a_channel_is_not_answered_what_another_was() {
    on_each_database(async |app| {
        let mut tokens = Vec::new();
        for address in ["a", "b"] {
            let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": address}});
            let made = app.device().post("/api/channels", device).await.expect(201);
            let channel = made["channel_id"].as_str().unwrap();
            let request = app.device().request(Method::GET, "/api/auth/device").header("x-ua-channel-id", channel);
            let token = app.device().send(request.body(Bytes::new()).unwrap()).await.expect(200);
            tokens.push(app.nobody().bearer(token["token"].as_str().unwrap()));
        }
        let first = post(&tokens[0], "/api/user", "key-1", &json!({})).await.expect(201);
        let second = post(&tokens[1], "/api/user", "key-1", &json!({})).await.expect(201);
        assert_ne!(first["user_id"], second["user_id"]);
        assert_ne!(first["password"], second["password"]);
        assert_eq!(post(&tokens[0], "/api/user", "key-1", &json!({})).await.expect(201), first);
        assert_eq!(post(&tokens[1], "/api/user", "key-1", &json!({})).await.expect(201), second);
        // Whoever has the app secret is none of the two.
        let third = post(&app.device(), "/api/user", "key-1", &json!({})).await.expect(201);
        assert!(third["user_id"] != first["user_id"] && third["user_id"] != second["user_id"]);
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_any_more_counts_as_none() {
    on_each_database(async |app| {
        let first = post(&app.master(), "/api/push", "key", &push("Hi")).await.expect(200);
        let damage = |tx: &mut Tx<'_>| tx.execute("update idempotency set answer = 'sealed with another key'", &[]);
        assert_eq!(app.engine().store().write(AppId(1), damage).await.unwrap(), 1);
        post(&app.master(), "/api/push", "key", &push("Ho")).await.expect(409);
        let second = post(&app.master(), "/api/push", "key", &push("Hi")).await;
        assert_ne!(second.expect(200)["push_ids"], first["push_ids"]);
        let third = post(&app.master(), "/api/push", "key", &push("Hi")).await;
        assert_eq!(third.text(), second.text());
    })
    .await;
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_one_app() {
    on_each_database(async |app| {
        let first = post(&app.master(), "/api/push", "key-1", &push("Hi")).await.expect(200);
        let conflict = post(&app.master(), "/api/push", "key-1", &push("Ho")).await.expect(409);
        assert_eq!(conflict["error_code"], 40900);
        let other_key = post(&app.master(), "/api/push", "key-2", &push("Hi")).await.expect(200);
        assert_ne!(other_key["push_ids"], first["push_ids"]);
        let stranger = app.another_app(model::app::Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        let other_app = post(&stranger, "/api/push", "key-1", &push("Hi")).await.expect(200);
        assert_ne!(other_app["push_ids"], first["push_ids"]);
        // A refused request leaves its key free.
        post(&app.master(), "/api/push", "key-3", &json!({})).await.expect(400);
        post(&app.master(), "/api/push", "key-3", &push("Hi")).await.expect(200);
    })
    .await;
}

/// The table of routes says which they are, and so does the documentation.
#[test]
fn the_documentation_lists_the_routes() {
    const DOCUMENT: &str = include_str!("../../../../docs/api.md");
    let section = DOCUMENT.split("### Idempotency").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let sentence = section.split(" makes a request safe to repeat").next().unwrap();
    let listed: BTreeSet<String> = sentence
        .split('`')
        .skip(1)
        .step_by(2)
        .map(|quoted| quoted.trim_start_matches("POST ").replace("<key>", "{key}"))
        .filter(|quoted| quoted.starts_with('/'))
        .collect();
    let marked =
        api::routes().into_iter().filter(|route| route.takes_idempotency_key).map(|route| route.path.to_owned());
    assert_eq!(listed, marked.collect());
}

#[tokio::test]
async fn keys_have_a_form() {
    on_each_database(async |app| {
        for key in ["", "two words", &"k".repeat(256)] {
            let refused = post(&app.master(), "/api/push", key, &push("Hi")).await.expect(400);
            assert_eq!(refused["details"]["path"], "idempotency-key", "{key}");
        }
        post(&app.master(), "/api/push", &"k".repeat(255), &push("Hi")).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn duplicates_at_the_same_time_are_one() {
    on_each_database(async |app| {
        let (master, body) = (app.master(), push("Hi"));
        let replies = join_all((0..20).map(|_| post(&master, "/api/push", "key-1", &body))).await;
        for reply in &replies {
            assert_eq!(reply.expect(200), replies[0].json());
        }
        let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
        app.device().post("/api/channels", device).await.expect(201);
        app.step_all().await;
        let metrics = app.operator().get("/metrics").await;
        let rows = testkit::rows::row_counts(app.engine().store()).await;
        assert_eq!(rows["push"], 1, "{}", metrics.text());
    })
    .await;
}
