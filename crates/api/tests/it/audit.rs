//! Who asked for which change: every change by a server or by the operator is in the audit log, and nothing else is.

mod in_order;
mod people;

use std::collections::BTreeSet;
use std::time::Duration;

use api::{Access, Audited, Route, routes};
use bytes::Bytes;
use http::Method;
use model::app::Mode;
use model::event::{EventOffset, RecordKind};
use model::ids::{EventId, Offset, WebhookId};
use serde_json::{Value, json};
use store::Tx;
use store::webhooks::DeadLetter;
use testkit::app::{OPERATOR_TOKEN, TestApp, on_each_database};
use testkit::client::{Caller, Reply};
use testkit::event_receiver::EventReceiver;

use crate::isolation::{Belongings, MARK, bodies, settle_in};
use crate::webhooks;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn log(app: &TestApp, query: &str) -> Vec<Value> {
    let page = app.operator().get(&format!("/operator/audit?limit=1000{query}")).await.expect(200);
    assert_eq!(page.get("next_page"), None, "{page}");
    page["entries"].as_array().unwrap().clone()
}

async fn actions(app: &TestApp) -> BTreeSet<String> {
    log(app, "").await.iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
}

fn push() -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}})
}

async fn send_push(app: &TestApp) -> String {
    let sent = app.master().post("/api/push", push()).await.expect(200);
    sent["push_ids"][0].as_str().unwrap().to_owned()
}

const fn name_of(route: &Route) -> Option<&'static str> {
    match route.audited {
        Audited::Never => None,
        Audited::Each(name) | Audited::PerMinute(name) => Some(name),
    }
}

async fn call(caller: &Caller, method: &Method, path: &str, belongings: &Belongings, body: &Value) -> Reply {
    let text = match body {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let request = caller.request(method.clone(), path).header("x-ua-channel-id", &belongings.channel);
    caller.send(request.body(Bytes::from(text)).unwrap()).await
}

/// Has a server of the app call every route that is not the operator's, with its own things: first what adds and changes, then what
/// removes.
async fn call_everything(app: &TestApp, belongings: &Belongings) {
    let server = app.master();
    let removes = |route: &Route| {
        let words = ["uninstall", "disassociate", "delete", "reset"];
        route.method == Method::DELETE || words.iter().any(|word| route.path.contains(word))
    };
    let mut wanted: Vec<Route> = routes().into_iter().filter(|route| name_of(route).is_some()).collect();
    wanted.retain(|route| !matches!(route.access, Access::Operator | Access::Events));
    wanted.sort_by_key(removes);
    for route in wanted {
        let path = belongings.path_of(&route, "nobody");
        for body in bodies(&route, belongings) {
            let reply = call(&server, &route.method, &path, belongings, &body).await;
            assert!(reply.status.as_u16() < 500, "{} {path}: {}", route.method, reply.text());
        }
    }
}

async fn operate(app: &TestApp) {
    let operator = app.operator();
    let created = operator.post("/operator/apps", json!({"name": "Second", "mode": "production"})).await.expect(201);
    let path = format!("/operator/apps/{}", created["app"]["key"].as_str().unwrap());
    operator.patch(&path, json!({"name": "Renamed"})).await.expect(200);
    operator.post(&format!("{path}/rotate"), json!({"secret": "master", "overlap": 60})).await.expect(200);
    operator.delete(&format!("{path}/former-secrets/master")).await.expect(204);
    let adm = format!("{path}/platforms/adm");
    let key = |n: u32| json!({"client_id": format!("client {n}"), "client_secret": "hunter2"});
    operator.put(&adm, key(1)).await.expect(200);
    let shown = operator.post(&format!("{adm}/keys"), key(2)).await.expect(200);
    operator.delete(&format!("{adm}/keys/{}", shown["keys"][0]["fingerprint"].as_str().unwrap())).await.expect(204);
    operator.post(&format!("{adm}/pause"), "").await.expect(200);
    operator.post(&format!("{adm}/resume"), "").await.expect(200);
    operator.delete(&adm).await.expect(204);
    let receiver = EventReceiver::start().await;
    let webhook = webhooks::create(app, &receiver, &["CUSTOM"]).await;
    keep_dead_letters(app, &webhook).await;
    operator.post(&format!("{webhook}/dead/redeliver"), "").await.expect(200);
    keep_dead_letters(app, &webhook).await;
    operator.delete(&format!("{webhook}/dead")).await.expect(200);
    operator.patch(&webhook, json!({"enabled": false})).await.expect(200);
    operator.post(&format!("{webhook}/replay"), json!({"time": "2024-05-01T00:00"})).await.expect(200);
    operator.delete(&webhook).await.expect(204);
    people::invite(app, &path).await;
    operator.delete(&path).await.expect(204);
}

async fn keep_dead_letters(app: &TestApp, webhook: &str) {
    let webhook: WebhookId = webhook.rsplit('/').next().unwrap().parse().unwrap();
    let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
    let letter = DeadLetter {
        offset: EventOffset::new(Offset(1), 0),
        event: EventId::random(),
        kind: RecordKind::Open,
        at: app.clock().now(),
        attempts: 9,
        reason: "It answers 503.".to_owned(),
        body: b"{}".to_vec(),
    };
    let keep = move |tx: &mut Tx<'_>| {
        store::webhooks::keep_dead_letters(tx, id, webhook, std::slice::from_ref(&letter), 10).map(drop)
    };
    app.engine().store().write(id, keep).await.unwrap_or_else(|error: store::Error| panic!("{error}"));
}

/// Whether a row names the devices and users that were changed.
fn is_about_devices(entry: &Value) -> bool {
    let action = entry["action"].as_str().unwrap();
    ["uninstall", "associate", "disassociate"].iter().any(|verb| action.ends_with(&format!(".{verb}")))
}

#[tokio::test]
async fn every_change_by_a_server_or_the_operator_leaves_a_row() {
    on_each_database(async |app| {
        let belongings = settle_in(&app).await;
        in_order::call_in_order(&app, &belongings).await;
        call_everything(&app, &belongings).await;
        operate(&app).await;
        let known: BTreeSet<String> = routes().iter().filter_map(name_of).map(str::to_owned).collect();
        let found = actions(&app).await;
        let missing: Vec<_> = known.difference(&found).collect();
        assert!(missing.is_empty(), "no row for {missing:?}");
        let text = json!(log(&app, "").await).to_string();
        for secret in [&app.app.master_secret, &app.app.app_secret, OPERATOR_TOKEN, "hunter2"] {
            assert!(!text.contains(secret));
        }
        // What was said about people is not in it, except whose a device became, and that it went.
        let rest: Vec<Value> = log(&app, "").await.into_iter().filter(|entry| !is_about_devices(entry)).collect();
        let rest = json!(rest).to_string();
        assert!(!rest.contains("user-of-the-first-app") && !rest.contains(&belongings.channel), "{rest}");
        assert!(rest.contains(MARK), "but the names of things are");
    })
    .await;
}

#[tokio::test]
async fn a_row_says_who_what_from_where_and_by_which_request() {
    on_each_database(async |app| {
        let request = app.master().request(Method::POST, "/api/push").header("x-request-id", "req-1");
        let sent = app.master().send(request.body(Bytes::from(push().to_string())).unwrap()).await.expect(200);
        let [entry] = &log(&app, "").await[..] else { panic!("one row") };
        assert_eq!(entry["at"], "2024-05-01T12:00:00.000Z");
        assert_eq!((&entry["n"], &entry["app"]), (&json!(1), &json!(app.app.key)));
        assert_eq!((&entry["action"], &entry["address"]), (&json!("push.send"), &json!("127.0.0.1")));
        assert_eq!(
            (&entry["object"], &entry["request_id"]),
            (&json!({"push_id": sent["push_ids"][0]}), &json!("req-1"))
        );
        let credential = entry["credential"].as_str().unwrap();
        let fingerprint = credential.strip_prefix("master secret ").unwrap();
        assert!(fingerprint.len() == 8 && fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit()), "{entry}");

        app.advance(Duration::from_secs(1));
        let path = format!("/operator/apps/{}", app.app.key);
        app.operator().patch(&path, json!({"mode": "production"})).await.expect(200);
        let rotated = app.operator().post(&format!("{path}/rotate"), json!({"secret": "master"})).await.expect(200);
        let server = app.nobody().basic(&app.app.key, rotated["master_secret"].as_str().unwrap());
        app.advance(Duration::from_secs(1));
        server.post("/api/push", push()).await.expect(200);
        let [after, .., changed, before] = &log(&app, "").await[..] else { panic!("rows") };
        assert_eq!(before, entry);
        assert_ne!(after["credential"], before["credential"], "the fingerprint changes with the secret");
        let all = log(&app, "&action=app.change").await;
        assert_eq!(all[0]["detail"]["before"]["mode"], "development");
        assert_eq!(all[0]["detail"]["after"]["mode"], "production");
        assert_eq!(all[0]["object"], json!({"app": app.app.key}));
        assert!(changed["credential"].as_str().unwrap().starts_with("operator token "), "{changed}");
        let text = json!(log(&app, "").await).to_string();
        assert!(!text.contains(rotated["master_secret"].as_str().unwrap()));
    })
    .await;
}

#[tokio::test]
async fn data_calls_of_a_minute_share_a_row() {
    on_each_database(async |app| {
        let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ABCDEF0123"}});
        let channel = app.device().post("/api/channels", device).await.expect(201)["channel_id"].clone();
        let tag = async |caller: &Caller, tag: &str| {
            let body = json!({"audience": {"channel": channel}, "add": {"crm": [tag]}});
            caller.post("/api/channels/tags", body).await.expect(200);
        };
        app.advance(Duration::from_secs(10));
        for n in 0..5 {
            tag(&app.master(), &format!("t{n}")).await;
        }
        app.advance(Duration::from_secs(60));
        tag(&app.master(), "later").await;
        let counts: Vec<_> =
            log(&app, "").await.iter().map(|entry| (entry["at"].clone(), entry["n"].clone())).collect();
        let expected = [("2024-05-01T12:01:00.000Z", 1), ("2024-05-01T12:00:00.000Z", 5)];
        assert_eq!(counts, expected.map(|(at, n)| (json!(at), json!(n))));
        let [_, first] = &log(&app, "&action=channel.tag").await[..] else { panic!("two rows") };
        assert_eq!((&first["last_at"], &first["object"]), (&json!("2024-05-01T12:00:10.000Z"), &json!({})));
    })
    .await;
}

#[tokio::test]
async fn rows_about_the_going_of_devices_name_them() {
    on_each_database(async |app| {
        let server = app.master();
        let mut channels = Vec::new();
        for n in 0..3 {
            let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": format!("ABCDEF012{n}")}});
            channels.push(app.device().post("/api/channels", device).await.expect(201)["channel_id"].clone());
        }
        let user = |channel: &Value| json!({"channel_id": channel, "device_type": "ios", "named_user_id": "user-4711-lee"});
        for _ in 0..2 {
            server.post("/api/named_users/associate", user(&channels[0])).await.expect(200);
        }
        server.post("/api/named_users/associate", user(&channels[1])).await.expect(200);
        let own = json!({"channel_id": channels[0], "device_type": "ios"});
        server.post("/api/named_users/disassociate", own).await.expect(200);
        server.post("/api/named_users/uninstall", json!({"named_user_id": ["user-4711-lee"]})).await.expect(200);
        let gone = json!([{"channel_id": channels[0], "device_type": "ios"}, {"channel_id": channels[2], "device_type": "ios"}]);
        server.post("/api/channels/uninstall", gone).await.expect(202);
        let objects = async |action: &str| {
            let entries = log(&app, &format!("&action={action}")).await;
            entries.into_iter().map(|mut entry| entry["object"].take()).collect::<Vec<_>>()
        };
        let of = |channel: &Value| json!({"channel_id": channel, "named_user_id": "user-4711-lee"});
        let associated = objects("named_user.associate").await;
        assert_eq!(associated.len(), 2, "what changes nothing has no row: {associated:?}");
        assert!(associated.contains(&of(&channels[0])) && associated.contains(&of(&channels[1])), "{associated:?}");
        assert_eq!(objects("named_user.disassociate").await, [of(&channels[0])]);
        assert_eq!(objects("named_user.uninstall").await, [of(&channels[1])]);
        assert_eq!(objects("channel.uninstall").await, [json!({"channel_id": [channels[0], channels[2]]})]);

        server.post("/api/privacy/erase", json!({"named_user_id": "user-4711-lee"})).await.expect(202);
        server.post("/api/privacy/erase", json!({"channel_id": channels[0]})).await.expect(202);
        for _ in 0..3 {
            app.step_all().await;
            app.advance(Duration::from_secs(600));
        }
        let text = json!(log(&app, "").await).to_string();
        assert!(!text.contains("user-4711-lee"), "{text}");
        assert!(!text.contains(channels[0].as_str().unwrap()), "{text}");
        assert!(text.contains(channels[2].as_str().unwrap()), "others stay: {text}");
    })
    .await;
}

#[tokio::test]
async fn refused_requests_repeats_looks_and_devices_leave_no_row() {
    on_each_database(async |app| {
        let master = app.master();
        master.post("/api/push", json!({"audience": "all"})).await.expect(400);
        master.post("/api/push/validate", push()).await.expect(200);
        master.delete("/api/segments/00000000-0000-4000-8000-000000000000").await.expect(404);
        master.post("/api/push/00000000-0000-4000-8000-000000000000/cancel", "").await.expect(404);
        app.device().post("/api/push", push()).await.expect(401);
        app.nobody().basic(&app.app.key, "wrong").post("/api/push", push()).await.expect(401);
        let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ABCDEF0123"}});
        let channel = app.device().post("/api/channels", device).await.expect(201)["channel_id"].clone();
        let tags = json!({"audience": {"channel": channel}, "add": {"device": ["x"]}});
        app.device().post("/api/channels/tags", tags).await.expect(200);
        app.operator().patch(&format!("/operator/apps/{}", app.app.key), json!({"mode": "nonsense"})).await.expect(400);
        assert_eq!(log(&app, "").await, Vec::<Value>::new());

        let request = || master.request(Method::POST, "/api/push").header("idempotency-key", "k1");
        for _ in 0..2 {
            master.send(request().body(Bytes::from(push().to_string())).unwrap()).await.expect(200);
        }
        assert_eq!(log(&app, "").await.len(), 1, "a repeat changes nothing");
        app.step_all().await;
        assert_eq!(log(&app, "").await.len(), 1, "neither do jobs on behalf of the caller");
    })
    .await;
}

#[tokio::test]
async fn pages_and_filters_find_every_row_once() {
    on_each_database(async |app| {
        let other = app.another_app(Mode::Development).await;
        let other_server = app.nobody().basic(&other.key, &other.master_secret);
        for n in 0..7 {
            send_push(&app).await;
            if n % 2 == 0 {
                other_server.post("/api/push", push()).await.expect(200);
                app.advance(Duration::from_secs(3600));
            }
        }
        let segment = json!({"display_name": "s", "criteria": {"tag": "x"}});
        app.master().post("/api/segments", segment).await.expect(201);
        let all = log(&app, "").await;
        assert_eq!(all.len(), 12);
        let mut found = Vec::new();
        let mut path = "/operator/audit?limit=5".to_owned();
        loop {
            let page = app.operator().get(&path).await.expect(200);
            found.extend(page["entries"].as_array().unwrap().clone());
            let Some(next) = page.get("next_page").and_then(Value::as_str) else { break };
            path = next[next.find("/operator").unwrap()..].to_owned();
        }
        assert_eq!(found, all);
        assert_eq!(log(&app, &format!("&app={}", other.key)).await.len(), 4);
        assert_eq!(log(&app, "&action=segment.create").await.len(), 1);
        assert_eq!(log(&app, "&credential=master%20secret").await.len(), 12);
        let credential = all[0]["credential"].as_str().unwrap().replace(' ', "%20");
        assert_eq!(log(&app, &format!("&credential={credential}")).await.len(), 8);
        assert_eq!(log(&app, "&credential=master").await.len(), 12);
        assert_eq!(log(&app, "&credential=mast").await.len(), 0);
        assert_eq!(log(&app, "&from=2024-05-01%2012:30&to=2024-05-01%2013:30").await.len(), 3);
        app.operator().get("/operator/audit?app=unknown").await.expect(404);
        app.operator().get("/operator/audit?start=1_2").await.expect(400);
        app.master().get("/operator/audit").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn a_deleted_app_takes_its_rows_along_but_who_deleted_it_stays() {
    on_each_database(async |app| {
        let other = app.another_app(Mode::Development).await;
        app.nobody().basic(&other.key, &other.master_secret).post("/api/push", push()).await.expect(200);
        app.operator().delete(&format!("/operator/apps/{}", other.key)).await.expect(204);
        app.step_all().await;
        let [entry] = &log(&app, "").await[..] else { panic!("one row") };
        assert_eq!((&entry["action"], entry.get("app")), (&json!("app.delete"), None));
        assert_eq!(entry["object"], json!({"app": other.key}));
    })
    .await;
}

#[tokio::test]
async fn rows_are_deleted_after_their_time() {
    on_each_database(async |app| {
        send_push(&app).await;
        app.advance(399 * DAY);
        app.step_all().await;
        send_push(&app).await;
        assert_eq!(log(&app, "").await.len(), 2);
        app.advance(2 * DAY);
        app.step_all().await;
        assert_eq!(log(&app, "").await.len(), 1);
    })
    .await;
}
