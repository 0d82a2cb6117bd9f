//! One app's data cannot be reached with another's credentials: every route is tried with the ids of a stranger.

mod bodies;

use api::{Access, Route, routes};
use bytes::Bytes;
use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

pub(crate) use self::bodies::bodies;

/// Texts that only the first app's data contains.
pub(crate) const MARK: &str = "marker-of-the-first-app";

/// The ids of things the first app has.
pub(crate) struct Belongings {
    pub(crate) channel: String,
    /// How devices call the named user.
    contact: String,
    push: String,
    segment: String,
    /// An uploaded file of recipients.
    bulk: String,
    schedule: String,
    draft: String,
    template: String,
    experiment: String,
    pipeline: String,
    inbox: String,
    message: String,
    key: String,
    in_app_message: String,
    flag: String,
    holdout: String,
}

impl Belongings {
    /// The path of something to do with the schedule.
    pub(crate) fn schedule_path(&self, action: &str) -> String {
        format!("/api/schedules/{}{action}", self.schedule)
    }

    /// The path of a route with the ids of these things.
    pub(crate) fn path_of(&self, route: &Route, user: &str) -> String {
        let variables = [
            ("{channel_id}", self.channel.as_str()),
            ("{push_id}", &self.push),
            ("{segment_id}", &self.segment),
            ("{named_user_id}", USER),
            ("{device_type}", "ios"),
            ("{open_platform}", "fridge"),
            ("{group_id}", &self.schedule),
            ("{send_id}", &self.push),
            ("{user_id}", user),
            ("{message_id}", &self.message),
            ("{tag}", MARK),
            ("{list}", LIST),
            ("{contact_id}", &self.contact),
            ("{schedule_id}", &self.schedule),
            ("{draft_id}", &self.draft),
            ("{template_id}", &self.template),
            ("{pipeline_id}", &self.pipeline),
            ("{experiment_id}", &self.experiment),
            ("{variant}", "0"),
            ("{region_id}", MARK),
            ("{device_token}", "ABCDEF0123"),
            ("{apid}", &self.channel),
            ("{device_pin}", "01234567"),
            ("{type}", "app"),
            ("{external_id}", "x-1"),
            ("{key}", &self.key),
            ("{platform}", "ios"),
            ("{automation_id}", &self.in_app_message),
            ("{flag_id}", &self.flag),
            ("{holdout_id}", &self.holdout),
            ("{form_id}", FORM),
        ];
        variables.iter().fold(route.path.to_owned(), |path, (variable, value)| path.replace(variable, value))
    }
}

/// The named user of the first app's channel, and its list.
const USER: &str = "user-of-the-first-app";
const LIST: &str = "list-of-the-first-app";
const FORM: &str = "form-of-the-first-app";

pub(crate) async fn settle_in(app: &TestApp) -> Belongings {
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
    let draft = json!({"name": MARK, "document": {"notification": {"alert": MARK}}});
    let draft = app.master().post("/api/drafts", draft).await.expect(201);
    app.master().put("/api/push/test-group", json!({"audience": {"tag": MARK}})).await.expect(200);
    let pipeline = json!({
        "name": MARK, "enabled": true, "immediate_trigger": {"tag_added": "nobody-has-this"},
        "outcome": {"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": MARK}}},
    });
    let pipeline = app.master().post("/api/pipelines", pipeline).await.expect(201);
    let rates = json!([{"rate": {"pushes": 7, "days": 1}}]);
    app.master().put("/api/pipelines/constraints", rates).await.expect(200);
    let key = &app.app.key;
    let in_app = bodies::in_app_message();
    let in_app = app.master().post(&format!("/api/in-app/{key}"), in_app).await.expect(201);
    app.master().post(&format!("/api/preference-forms/{key}"), bodies::form(FORM)).await.expect(200);
    let flag = app.master().post("/api/feature-flags", json!({"name": MARK})).await.expect(201);
    let holdout = json!({"name": MARK, "audience_selector": {}});
    let holdout = app.master().post("/api/holdout-groups", holdout).await.expect(201);
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
    let bulk = app.master().post("/api/bulk/open/fridge", "ua_address\nfridge-1\n").await.expect(200);
    app.step_all().await;
    Belongings {
        bulk: bulk["bulk_id"].as_str().unwrap().to_owned(),
        inbox: format!("{}:{}", inbox["user_id"].as_str().unwrap(), inbox["password"].as_str().unwrap()),
        message: message["message_ids"][0].as_str().unwrap().to_owned(),
        channel: channel["channel_id"].as_str().unwrap().to_owned(),
        contact: contact.expect(200)["contact_id"].as_str().unwrap().to_owned(),
        push: push["push_ids"][0].as_str().unwrap().to_owned(),
        segment: segment["segment_id"].as_str().unwrap().to_owned(),
        schedule: schedule["schedule_ids"][0].as_str().unwrap().to_owned(),
        draft: draft["draft"]["draft_id"].as_str().unwrap().to_owned(),
        template: template["template_id"].as_str().unwrap().to_owned(),
        experiment: experiment["experiment_id"].as_str().unwrap().to_owned(),
        pipeline: pipeline["pipeline_ids"][0].as_str().unwrap().to_owned(),
        key: key.clone(),
        in_app_message: in_app["message_id"].as_str().unwrap().to_owned(),
        flag: flag["flag_id"].as_str().unwrap().to_owned(),
        holdout: holdout["holdout_id"].as_str().unwrap().to_owned(),
    }
}

/// Everything the first app can see of itself.
pub(crate) async fn everything(app: &TestApp, belongings: &Belongings) -> Vec<Value> {
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
        "/api/drafts",
        &format!("/api/drafts/{}", belongings.draft),
        "/api/push/test-group",
        "/api/templates",
        &format!("/api/templates/{}", belongings.template),
        "/api/experiments",
        "/api/experiments/scheduled",
        &format!("/api/experiments/{}", belongings.experiment),
        "/api/pipelines",
        &format!("/api/in-app/{}", app.app.key),
        &format!("/api/in-app/{}/frequency-constraints", app.app.key),
        &format!("/api/preference-forms/{}", app.app.key),
        &format!("/api/remote-config/app/{}/ios", app.app.key),
        "/api/feature-flags",
        "/api/holdout-groups",
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

#[tokio::test]
async fn no_route_reaches_the_data_of_another_app() {
    on_each_database(async |app| {
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
                Access::Probe | Access::Public | Access::Open | Access::Events => continue,
                Access::Operator | Access::Scrape => continue,
                Access::Inbox => &reader,
                Access::Device | Access::Channel | Access::OwnChannel | Access::Page | Access::Signed => &servers,
                Access::Contact | Access::Master => &servers,
            };
            let path = belongings.path_of(&route, user);
            // Otherwise it would not end.
            let path = if path == "/api/events" { format!("{path}?follow=false") } else { path };
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
                if path.ends_with("/stream") {
                    assert_eq!(stranger.open(request).await.0.status, 200, "{what}");
                    continue;
                }
                let reply = stranger.send(request).await;
                // These are the stranger's own requests, with the names that they asked for.
                if path == "/api/requests" {
                    reply.expect(200);
                    continue;
                }
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
    on_each_database(async |app| {
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
            format!("/api/drafts/{}", belongings.draft),
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
