//! One app's data cannot be reached with another's credentials: every route is tried with the ids of a stranger.

use api::{Access, Route, routes};
use bytes::Bytes;
use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_engine};

/// Texts that only the first app's data contains.
const MARK: &str = "marker-of-the-first-app";

/// The ids of things the first app has.
struct Belongings {
    channel: String,
    /// How devices call the named user.
    contact: String,
    push: String,
    segment: String,
    schedule: String,
    template: String,
    experiment: String,
    pipeline: String,
    inbox: String,
    message: String,
}

/// The named user of the first app's channel, and its list.
const USER: &str = "user-of-the-first-app";
const LIST: &str = "list-of-the-first-app";

async fn settle_in(app: &TestApp) -> Belongings {
    let device = json!({"channel": {
        "device_type": "ios", "opt_in": true, "push_address": "ABCDEF0123", "set_tags": true, "tags": [MARK],
    }, "identity_hints": {"device_id": "hint-of-the-device"}});
    let channel = app.device().post("/api/channels", device).await.expect(201);
    let open = json!({"channel": {
        "type": "open", "opt_in": true, "address": "fridge-1", "tags": [MARK],
        "open": {"open_platform_name": "fridge", "identifiers": {"secret": MARK}},
    }});
    app.master().post("/api/channels/open", open).await.expect(200);
    let user = json!({"associate": [{"channel_id": channel["channel_id"]}], "tags": {"add": {MARK: "t"}}});
    app.master().post(&format!("/api/named_users/{USER}"), user).await.expect(200);
    let attributes = json!([{"action": "set", "key": "secret", "value": MARK}]);
    let owned =
        json!({"audience": {"channel": channel["channel_id"], "named_user_id": USER}, "attributes": attributes});
    app.master().post("/api/channels/attributes", owned).await.expect(200);
    let subscriptions = json!([{"action": "subscribe", "list_id": "weekly"}]);
    let owned = json!({"audience": {"channel": channel["channel_id"]}, "subscription_lists": subscriptions});
    app.master().post("/api/channels/subscription_lists", owned).await.expect(202);
    app.master().post("/api/lists", json!({"name": LIST, "description": MARK})).await.expect(201);
    app.master().put(&format!("/api/lists/{LIST}/csv"), format!("named_user,{USER}\n")).await.expect(202);
    let segment = json!({"display_name": MARK, "criteria": {"tag": MARK}});
    let segment = app.master().post("/api/segments", segment).await.expect(201);
    app.master().put(&format!("/api/tags/{MARK}"), "").await.expect(200);
    let content = json!({"notification": {"alert": MARK}});
    let template = json!({"name": MARK, "variables": [], "push": &content});
    let template = app.master().post("/api/templates", template).await.expect(201);
    let pipeline = json!({
        "name": MARK, "enabled": true, "immediate_trigger": {"tag_added": "nobody-has-this"},
        "outcome": {"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": MARK}}},
    });
    let pipeline = app.master().post("/api/pipelines", pipeline).await.expect(201);
    let rates = json!([{"rate": {"pushes": 7, "days": 1}}]);
    app.master().put("/api/pipelines/constraints", rates).await.expect(200);
    let cadence = json!({"type": "daily", "count": 1});
    let schedule = json!({
        "name": MARK, "schedule": {"scheduled_time": "2030-01-01T00:00", "recurring": {"cadence": cadence}},
        "push": {"audience": "all", "device_types": "all", "notification": {"alert": MARK}},
    });
    let schedule = app.master().post("/api/schedules", schedule).await.expect(201);
    let variant = json!({"push": content, "schedule": {"scheduled_time": "2030-01-01T00:00"}});
    let experiment = json!({"name": MARK, "audience": "all", "device_types": "all", "variants": [variant, variant]});
    let experiment = app.master().post("/api/experiments", experiment).await.expect(201);
    let contact = app.device().post("/api/contacts/resolve", json!({"channel_id": channel["channel_id"]})).await;
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": MARK}});
    let push = app.master().post("/api/push", push).await.expect(200);
    let inbox = app.device().post("/api/user", json!({"ios_channels": [channel["channel_id"]]})).await.expect(201);
    let message = json!({"audience": "all", "device_types": ["ios"], "message": {"title": MARK, "body": MARK}});
    let message = app.master().post("/api/push", message).await.expect(200);
    app.step_all().await;
    Belongings {
        inbox: format!("{}:{}", inbox["user_id"].as_str().unwrap(), inbox["password"].as_str().unwrap()),
        message: message["message_ids"][0].as_str().unwrap().to_owned(),
        channel: channel["channel_id"].as_str().unwrap().to_owned(),
        contact: contact.expect(200)["contact_id"].as_str().unwrap().to_owned(),
        push: push["push_ids"][0].as_str().unwrap().to_owned(),
        segment: segment["segment_id"].as_str().unwrap().to_owned(),
        schedule: schedule["schedule_ids"][0].as_str().unwrap().to_owned(),
        template: template["template_id"].as_str().unwrap().to_owned(),
        experiment: experiment["experiment_id"].as_str().unwrap().to_owned(),
        pipeline: pipeline["pipeline_ids"][0].as_str().unwrap().to_owned(),
    }
}

/// Everything the first app can see of itself.
async fn everything(app: &TestApp, belongings: &Belongings) -> Vec<Value> {
    let paths = [
        "/api/channels",
        "/api/sandbox",
        "/api/named_users",
        "/api/segments",
        "/api/tags",
        "/api/lists",
        &format!("/api/lists/{LIST}/csv"),
        &format!("/api/push/{}", belongings.push),
        &format!("/api/segments/{}", belongings.segment),
        "/api/schedules",
        &format!("/api/schedules/{}", belongings.schedule),
        "/api/templates",
        &format!("/api/templates/{}", belongings.template),
        "/api/experiments",
        "/api/experiments/scheduled",
        &format!("/api/experiments/{}", belongings.experiment),
        "/api/pipelines",
        "/api/pipelines/limits",
        "/api/pipelines/constraints",
        "/api/pipelines/deleted",
        &format!("/api/reports/experiment/overview/{}", belongings.experiment),
    ];
    let mut seen = Vec::new();
    for path in paths {
        let reply = app.master().get(path).await;
        assert_eq!(reply.status, 200, "{path}");
        seen.push(serde_json::from_slice(&reply.body).unwrap_or_else(|_| json!(reply.text())));
    }
    let (user, password) = belongings.inbox.split_once(':').unwrap();
    let inbox = app.nobody().basic(user, password);
    seen.push(inbox.get(&format!("/api/user/{user}")).await.expect(200));
    seen.push(inbox.get(&format!("/api/user/{user}/messages")).await.expect(200));
    seen
}

/// Bodies that name the first app's things in every way the route knows.
fn bodies(route: &Route, belongings: &Belongings) -> Vec<Value> {
    let channel = &belongings.channel;
    let push_to =
        |audience: Value| json!({"audience": audience, "device_types": "all", "notification": {"alert": "x"}});
    let device = json!({"channel": {"device_type": "ios", "opt_in": false, "push_address": "ABCDEF0123"},
                        "identity_hints": {"device_id": "hint-of-the-device"}});
    let fridge = json!({"address": "fridge-1", "open_platform_name": "fridge"});
    let forget = json!([{"action": "remove", "key": "secret"}]);
    let leave = json!([{"action": "unsubscribe", "list_id": "weekly"}]);
    match (route.method.as_str(), route.path) {
        ("GET", _) => vec![Value::Null],
        ("POST", "/api/push" | "/api/push/validate") => vec![
            push_to(json!("all")),
            push_to(json!({"channel": channel})),
            push_to(json!({"ios_channel": channel})),
            push_to(json!({"device_token": "ABCDEF0123"})),
            push_to(json!({"open_channel": "fridge-1"})),
            push_to(json!({"tag": MARK})),
            push_to(json!({"named_user": USER})),
            push_to(json!({"segment": belongings.segment})),
            push_to(json!({"static_list": LIST})),
            push_to(json!({"subscription_list": "weekly"})),
            push_to(json!({"attribute": "secret", "operator": "equals", "value": MARK})),
            push_to(json!({"not": {"tag": "nobody-has-this"}})),
        ],
        ("POST", "/api/channels") | ("PUT", "/api/channels/{channel_id}") => vec![device],
        ("POST", "/api/channels/uninstall") => vec![json!({"channel_id": channel, "device_type": "ios"})],
        ("POST", "/api/channels/open" | "/api/channels/restricted/open") => {
            let register = |open: Value, id: Option<&str>| {
                let mut body =
                    json!({"channel": {"type": "open", "opt_in": true, "address": "fridge-1", "open": open}});
                if let Some(id) = id {
                    body["channel"]["channel_id"] = json!(id);
                }
                body
            };
            let fridge = json!({"open_platform_name": "fridge"});
            vec![
                register(fridge.clone(), None),
                register(fridge, Some(channel)),
                register(json!({"open_platform_name": "fridge", "old_address": "fridge-1"}), None),
            ]
        }
        ("POST", "/api/channels/open/uninstall") => vec![fridge],
        ("POST", "/api/channels/open/tags") => {
            vec![json!({"audience": fridge, "set": {"device": []}}), json!({"audience": fridge, "add": {"g": ["t"]}})]
        }
        ("POST", "/api/channels/tags") => {
            vec![json!({"audience": {"ios_channel": channel}, "set": {"device": []}})]
        }
        ("POST", "/api/named_users/tags") => vec![json!({"audience": {"named_user_id": USER}, "set": {MARK: []}})],
        ("POST", "/api/named_users/associate") => vec![json!({"channel_id": channel, "named_user_id": "another"})],
        ("POST", "/api/named_users/disassociate") => {
            vec![json!({"channel_id": channel}), json!({"channel_id": channel, "named_user_id": USER})]
        }
        ("POST", "/api/named_users/uninstall") => vec![json!({"named_user_id": USER})],
        ("POST", "/api/named_users/{named_user_id}" | "/api/named_users/scoped") => {
            vec![json!({"disassociate": [{"channel_id": channel}], "tags": {"set": {MARK: []}}})]
        }
        ("POST", "/api/custom-events") => vec![
            json!({"user": {"channel": channel}, "body": {"name": "bought"}}),
            json!({"user": {"named_user_id": USER}, "body": {"name": "bought"}}),
        ],
        ("POST", "/api/segments") => vec![json!({"display_name": "x", "criteria": {"segment": belongings.segment}})],
        ("PUT", "/api/segments/{segment_id}") => vec![json!({"display_name": "x", "criteria": {"tag": "x"}})],
        ("POST", "/api/push/{push_id}/pause" | "/api/push/{push_id}/resume" | "/api/push/{push_id}/cancel") => {
            vec![Value::Null]
        }
        ("POST", "/api/schedules") | ("PUT", "/api/schedules/{schedule_id}") => {
            let time = json!({"scheduled_time": "2031-01-01T00:00"});
            vec![json!({"schedule": time, "push": push_to(json!({"segment": belongings.segment}))})]
        }
        ("POST", path) if path.contains("create-and-send") || path.ends_with("bulk-send") => {
            // The address of a channel of the first app.
            let push = json!({
                "audience": {"create_and_send": [{"ua_address": "fridge-1"}]}, "device_types": ["open::fridge"],
                "notification": {"alert": "x"},
            });
            let is_later = path.starts_with("/api/schedules");
            vec![if is_later {
                json!({"schedule": {"scheduled_time": "2031-01-01T00:00"}, "push": push})
            } else {
                push
            }]
        }
        ("POST", "/api/schedules/{schedule_id}/pause" | "/api/schedules/{schedule_id}/resume") => vec![Value::Null],
        ("POST", "/api/templates") => {
            vec![json!({"name": "x", "variables": [], "push": {"notification": {"alert": "x"}}})]
        }
        ("POST", "/api/experiments" | "/api/experiments/validate") => {
            let variant = json!({"push": {"notification": {"alert": "x"}}});
            let audience = json!({"segment": belongings.segment});
            vec![json!({"audience": audience, "device_types": "all", "variants": [variant, variant]})]
        }
        ("DELETE", "/api/experiments/scheduled/{experiment_id}") => vec![Value::Null],
        ("POST", "/api/templates/{template_id}") => vec![json!({"name": "changed"})],
        ("POST", "/api/templates/push" | "/api/templates/push/validate" | "/api/templates/schedules") => {
            let merge = json!({"template_id": belongings.template});
            let mut use_of = json!({"audience": "all", "device_types": "all", "merge_data": merge});
            if route.path.ends_with("schedules") {
                use_of["schedule"] = json!({"scheduled_time": "2031-01-01T00:00"});
            }
            vec![use_of]
        }
        ("POST", "/api/pipelines" | "/api/pipelines/validate") | ("PUT", "/api/pipelines/{pipeline_id}") => {
            let outcome = json!({"push": push_to(json!("triggered"))});
            vec![json!({"enabled": true, "immediate_trigger": "first_open", "outcome": outcome})]
        }
        ("PUT", "/api/pipelines/constraints") => vec![json!([{"rate": {"pushes": 1, "lifetimes": 1}}])],
        ("DELETE", "/api/pipelines/{pipeline_id}") => vec![Value::Null],
        ("POST", "/api/tags/{tag}") => vec![json!({"ios_channels": {"remove": [channel]}})],
        ("PUT" | "POST", "/api/tags/batch") => vec![json!([{"ios_channel": channel, "tags": []}])],
        ("POST", "/api/channels/attributes") => vec![
            json!({"audience": {"channel": channel}, "attributes": forget}),
            json!({"audience": {"named_user_id": USER}, "attributes": forget}),
        ],
        ("POST", "/api/channels/{channel_id}/attributes" | "/api/named_users/{named_user_id}/attributes") => {
            vec![json!({"attributes": forget})]
        }
        ("PUT", "/api/channels/sdk/batch/{channel_id}") => vec![json!({"attributes": forget})],
        ("POST", "/api/channels/subscription_lists") => {
            vec![json!({"audience": {"channel": channel}, "subscription_lists": leave})]
        }
        ("POST", "/api/named_users/scoped/{named_user_id}") => {
            vec![json!({"scoped": [{"scope": ["app"], "subscription_lists": {"unsubscribe": ["weekly"]}}]})]
        }
        ("POST", "/api/contacts/identify/v2") => vec![
            json!({"action": {"type": "resolve"}}),
            json!({"action": {"type": "reset"}}),
            json!({"action": {"type": "identify", "named_user_id": USER}}),
        ],
        ("POST", "/api/contacts/resolve" | "/api/contacts/reset") => vec![json!({"channel_id": channel})],
        ("POST", "/api/contacts/identify") => vec![json!({"channel_id": channel, "named_user_id": "another"})],
        ("POST", "/api/contacts/{contact_id}") => {
            vec![json!({"tags": {"set": {MARK: []}}, "attributes": forget, "associate": [{"channel_id": channel}]})]
        }
        ("POST", "/api/contacts/disassociate/{contact_id}") => vec![json!({"channel_id": channel})],
        ("POST", "/api/metered-usage") => vec![json!({})],
        ("POST", "/api/audience/explain") => vec![
            json!({"audience": {"tag": "nobody-has-this"}, "device_types": "all"}),
            json!({"audience": {"static_list": "list-of-the-first-ap"}, "device_types": "all"}),
        ],
        ("POST", "/api/reports/perpush/detail") => vec![json!({"push_ids": [belongings.push]})],
        ("POST", "/api/events") => vec![
            json!({"follow": false}),
            json!({"follow": false, "filters": [{"users": [{"named_user_id": USER}]}]}),
            json!({"follow": false, "filters": [{"notifications": [{"push_id": belongings.push}]}]}),
            json!({"follow": false, "filters": [{"devices": [{"channel": channel}]}]}),
        ],
        ("POST", "/api/lists") => vec![json!({"name": "another-list"})],
        ("PUT", "/api/lists/{list}") => vec![json!({"description": "changed"})],
        // Text that is not JSON.
        ("PUT", "/api/lists/{list}/csv") => vec![json!("named_user,somebody\n")],
        ("DELETE", "/api/lists/{list}") => vec![Value::Null],
        ("POST", "/api/user") => vec![json!({"ios_channels": [channel]})],
        ("POST", "/api/user/{user_id}") => {
            vec![json!({"ios_channels": {"add": [channel]}}), json!({"ios_channels": {"remove": [channel]}})]
        }
        ("POST", "/api/user/{user_id}/messages/unread" | "/api/user/{user_id}/messages/delete") => {
            vec![json!({"messages": [{"message_id": belongings.message}]})]
        }
        ("POST", "/api/user/{user_id}/messages/message/{message_id}/read") => vec![Value::Null],
        ("DELETE", "/api/user/messages/{message_id}") => vec![Value::Null],
        ("POST", "/api/user/messages/batch-delete") => {
            vec![json!({"message_ids": [belongings.message]}), json!({"group_ids": [belongings.schedule]})]
        }
        ("DELETE", "/api/user/{user_id}/messages/message/{message_id}") => vec![Value::Null],
        // These say all they say in the path; what the stranger makes under a name of the first app is the stranger's.
        ("PUT", "/api/tags/{tag}") => vec![Value::Null],
        ("DELETE", "/api/schedules/{schedule_id}" | "/api/templates/{template_id}") => vec![Value::Null],
        ("DELETE", "/api/segments/{segment_id}" | "/api/tags/{tag}") => vec![Value::Null],
        (method, path) => panic!("{method} {path} is new: say here how it names things of an app"),
    }
}

#[tokio::test]
async fn no_route_reaches_the_data_of_another_app() {
    on_each_engine(async |app| {
        let belongings = settle_in(&app).await;
        let before = everything(&app, &belongings).await;
        assert!(before.iter().any(|seen| seen.to_string().contains(MARK)));
        let stranger = app.another_app(Mode::Development).await;
        let servers = app.nobody().basic(&stranger.key, &stranger.master_secret);
        let inbox = servers.post("/api/user", json!({})).await.expect(201);
        let own_user = inbox["user_id"].as_str().unwrap();
        let reader = app.nobody().basic(own_user, inbox["password"].as_str().unwrap());
        let first_user = belongings.inbox.split_once(':').unwrap().0;
        // Inboxes are tried with the stranger's own, and with the first app's.
        let visits = routes().into_iter().flat_map(|route| [own_user, first_user].map(|user| (route.clone(), user)));
        for (route, user) in visits {
            if user == own_user && route.access != Access::Inbox {
                continue;
            }
            let stranger = match route.access {
                // Uploads name their channel in a header; events_intake.rs tries that.
                Access::Probe | Access::Public | Access::Open | Access::Events | Access::Operator => continue,
                Access::Inbox => &reader,
                Access::Device | Access::Channel | Access::OwnChannel | Access::Signed => &servers,
                Access::Contact | Access::Master => &servers,
            };
            let path = route.path.replace("{channel_id}", &belongings.channel).replace("{push_id}", &belongings.push);
            let path = path.replace("{segment_id}", &belongings.segment).replace("{named_user_id}", USER);
            let path = path.replace("{group_id}", &belongings.schedule).replace("{send_id}", &belongings.push);
            let path = path.replace("{user_id}", user).replace("{message_id}", &belongings.message);
            let path = path.replace("{tag}", MARK).replace("{list}", LIST);
            let path = path.replace("{contact_id}", &belongings.contact);
            let path =
                path.replace("{schedule_id}", &belongings.schedule).replace("{template_id}", &belongings.template);
            let path = path.replace("{pipeline_id}", &belongings.pipeline);
            // Otherwise it would not end.
            let path = if path == "/api/events" { format!("{path}?follow=false") } else { path };
            let path = path.replace("{experiment_id}", &belongings.experiment).replace("{variant}", "0");
            for body in bodies(&route, &belongings) {
                let text = match &body {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let request = stranger.request(route.method.clone(), &path);
                let request = request.header("x-ua-channel-id", &belongings.channel);
                let request = request.body(Bytes::from(text)).unwrap();
                let what = format!("{} {path} {body}", route.method);
                if path == "/api/sandbox/stream" {
                    assert_eq!(stranger.open(request).await.0.status, 200, "{what}");
                    continue;
                }
                let reply = stranger.send(request).await;
                assert!(!reply.text().contains(MARK), "{what}: {}", reply.text());
                assert!(reply.status.as_u16() < 500, "{what}: {}", reply.text());
            }
            app.step_all().await;
        }
        assert_eq!(everything(&app, &belongings).await, before);
    })
    .await;
}

#[tokio::test]
async fn ids_of_another_app_do_not_exist() {
    on_each_engine(async |app| {
        let belongings = settle_in(&app).await;
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        stranger.get(&format!("/api/channels/{}", belongings.channel)).await.expect(404);
        stranger.get(&format!("/api/push/{}", belongings.push)).await.expect(404);
        stranger.get(&format!("/api/segments/{}", belongings.segment)).await.expect(404);
        stranger.delete(&format!("/api/segments/{}", belongings.segment)).await.expect(404);
        stranger.get(&format!("/api/named_users?id={USER}")).await.expect(404);
        for path in [
            format!("/api/schedules/{}", belongings.schedule),
            format!("/api/templates/{}", belongings.template),
            format!("/api/pipelines/{}", belongings.pipeline),
        ] {
            stranger.get(&path).await.expect(404);
            stranger.delete(&path).await.expect(404);
        }
        for report in ["responses", "perpush/detail", "perpush/series", "perpush/pushbody", "mappings/send_ids"] {
            stranger.get(&format!("/api/reports/{report}/{}", belongings.push)).await.expect(404);
        }
        let details = json!({"push_ids": [belongings.push]});
        assert_eq!(stranger.post("/api/reports/perpush/detail", details).await.expect(200), json!([]));
        stranger.get(&format!("/api/experiments/{}", belongings.experiment)).await.expect(404);
        stranger.delete(&format!("/api/experiments/scheduled/{}", belongings.experiment)).await.expect(404);
        for report in ["experiments/{}/results", "reports/experiment/overview/{}", "reports/experiment/detail/{}/0"] {
            stranger.get(&format!("/api/{}", report.replace("{}", &belongings.experiment))).await.expect(404);
        }
        stranger.delete(&format!("/api/tags/{MARK}")).await.expect(404);
        let own = stranger.get("/api/channels").await.expect(200);
        assert_eq!(own["channels"], json!([]));
        let start = stranger.get(&format!("/api/channels?start={}", belongings.channel)).await.expect(200);
        assert_eq!(start["channels"], json!([]));
        stranger.get(&format!("/api/events?follow=false&channel={}", belongings.channel)).await.expect(400);
        let filtered = stranger.get(&format!("/api/sandbox?channel_id={}", belongings.channel)).await.expect(200);
        assert_eq!(filtered["deliveries"], json!([]));
    })
    .await;
}
