//! Templates: kept and changed, and sent with values, now and later, across restarts.

use std::time::Duration;

use model::ids::{AppId, PushId};
use model::limits;
use model::origin::Origin;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";
const HOUR: Duration = Duration::from_secs(60 * 60);

fn greeting() -> Value {
    json!({"name": "Greeting", "description": "Says hello", "variables": [
        {"key": "NAME", "name": "Name", "description": "Of the person", "default_value": null},
        {"key": "DAY", "name": "Day", "description": "Part of the day", "default_value": "day"},
    ], "push": {"notification": {"alert": "Good {{DAY}}, {{NAME}}"}}})
}

async fn create(app: &TestApp, template: Value) -> String {
    let reply = app.master().post("/api/templates/", template).await;
    let created = reply.expect(201);
    let id = created["template_id"].as_str().unwrap().to_owned();
    assert_eq!(reply.header("location"), Some(app.url(&format!("/api/templates/{id}")).as_str()));
    assert!(created["operation_id"].is_string());
    id
}

fn usage(template: &str, substitutions: &Value) -> Value {
    let merge_data = json!({"template_id": template, "substitutions": substitutions});
    json!({"audience": "all", "device_types": "all", "merge_data": merge_data})
}

async fn look_up(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/templates/{id}")).await.expect(200)["template"].clone()
}

async fn register(app: &TestApp) {
    let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
    app.device().post("/api/channels", device).await.expect(201);
}

/// The bodies that devices got, oldest first.
async fn shown(app: &TestApp) -> Vec<String> {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    sandbox["deliveries"].as_array().unwrap().iter().map(|it| it["request"]["body"].to_string()).collect()
}

#[tokio::test]
async fn templates_are_kept_and_changed() {
    on_each_database(async |app| {
        let id = create(&app, greeting()).await;
        let mut record = greeting();
        for (key, value) in [
            ("id", json!(id)),
            ("template_id", json!(id)),
            ("created_at", json!("2024-05-01T12:00:00.000Z")),
            ("modified_at", json!("2024-05-01T12:00:00.000Z")),
            ("last_used", Value::Null),
        ] {
            record[key] = value;
        }
        assert_eq!(look_up(&app, &id).await, record);
        app.advance(HOUR);
        let path = format!("/api/templates/{id}");
        app.master().post(&path, json!({"name": "Hello"})).await.expect_done(200);
        (record["name"], record["modified_at"]) = (json!("Hello"), json!("2024-05-01T13:00:00.000Z"));
        assert_eq!(look_up(&app, &id).await, record, "what is left out stays");
        let app = app.restart().await;
        let push = json!({"notification": {"alert": "Hi {{NAME}}", "ios": {"title": "{{DAY}}"}}});
        app.master().post(&path, json!({"push": push, "description": "Shorter"})).await.expect(200);
        (record["push"], record["description"]) = (push, json!("Shorter"));
        assert_eq!(look_up(&app, &id).await, record);
        app.master().post(&path, &record).await.expect(200);

        for (change, path_of_problem) in [
            (json!({}), ""),
            (json!({"variables": [{"key": "DAY"}]}), "push.notification.alert"),
            (json!({"push": {"notification": {"alert": "{{AGE}}"}}}), "push.notification.alert"),
            (json!({"push": {"notification": {"alert": "a"}, "device_types": "all"}}), "push.device_types"),
        ] {
            let refused = app.master().post(&path, &change).await.expect(400);
            assert_eq!(refused["details"]["path"], path_of_problem, "{change}");
        }
        assert_eq!(look_up(&app, &id).await, record);
        app.master().delete(&path).await.expect_done(200);
        for path in [path, format!("/api/templates/{UNKNOWN}"), "/api/templates/x".to_owned()] {
            app.master().get(&path).await.expect(404);
            app.master().delete(&path).await.expect(404);
            app.master().post(&path, json!({"name": "a"})).await.expect(404);
        }
    })
    .await;
}

#[tokio::test]
async fn pages_go_through_all_templates_in_every_order() {
    on_each_database(async |app| {
        let mut ids = Vec::new();
        for n in 0..5 {
            let mut template = greeting();
            template["name"] = json!(format!("T{n}"));
            ids.push(create(&app, template).await);
            app.advance(HOUR);
        }
        app.master().post(&format!("/api/templates/{}", ids[0]), json!({"name": "T0"})).await.expect(200);
        app.master().post("/api/templates/push", usage(&ids[1], &json!({"NAME": "Jo"}))).await.expect(200);
        for (query, expected) in [
            ("page_size=2", "T0 T1 T2 T3 T4"),
            ("limit=3", "T0 T1 T2 T3 T4"),
            ("page_size=2&order=desc", "T4 T3 T2 T1 T0"),
            ("page_size=2&sort=modified_at", "T1 T2 T3 T4 T0"),
            ("page_size=4&sort=last_used&order=desc", "T1 T4 T3 T2 T0"),
            ("", "T0 T1 T2 T3 T4"),
        ] {
            let mut names = Vec::new();
            let mut path = format!("/api/templates?{query}");
            loop {
                let page = app.master().get(&path).await.expect(200);
                let found = page["templates"].as_array().unwrap();
                assert_eq!((page["count"].as_u64(), &page["total_count"]), (Some(found.len() as u64), &json!(5)));
                assert_eq!(page["prev_page"].is_null(), names.is_empty(), "{page}");
                names.extend(found.iter().map(|it| it["name"].as_str().unwrap().to_owned()));
                let Some(next) = page["next_page"].as_str() else { break };
                path = next.replace(&app.url(""), "");
            }
            assert_eq!(names.join(" "), expected, "{query}");
        }
        for query in ["page=0", "page_size=101", "sort=name", "order=up"] {
            app.master().get(&format!("/api/templates?{query}")).await.expect(400);
        }
        assert_eq!(app.master().get("/api/templates?page=9").await.expect(200)["templates"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn an_app_has_so_many_templates() {
    on_each_database(async |app| {
        let id = create(&app, greeting()).await;
        let now = app.engine().clock().now();
        let fill_up = move |tx: &mut store::Tx<'_>| {
            (1..limits::TEMPLATES_PER_APP)
                .try_for_each(|n| documents::put(tx, AppId(1), DocumentKind::Template, &n.to_string(), "{}", now))
        };
        app.engine().store().write(AppId(1), fill_up).await.unwrap();
        let refused = app.master().post("/api/templates", greeting()).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("1000"), "{refused}");
        app.master().delete(&format!("/api/templates/{id}")).await.expect(200);
        create(&app, greeting()).await;
    })
    .await;
}

#[tokio::test]
async fn a_template_is_sent_with_values() {
    on_each_database(async |app| {
        register(&app).await;
        let id = create(&app, greeting()).await;
        app.advance(HOUR);
        let valid = app.master().post("/api/templates/push/validate", usage(&id, &json!({"NAME": "Jo"}))).await;
        assert_eq!(valid.expect(200), json!({"ok": true}));
        assert_eq!(look_up(&app, &id).await["last_used"], Value::Null, "validation is no use");
        let reply =
            app.master().post("/api/templates/push", usage(&id, &json!({"NAME": "Jo <b>", "OTHER": "x"}))).await;
        let sent = reply.expect(200);
        assert_eq!(reply.header("data-attribute"), Some("push_ids"));
        let app = app.restart().await;
        let bodies = shown(&app).await;
        assert_eq!(bodies.len(), 1);
        assert!(bodies[0].contains("Good day, Jo <b>"), "{bodies:?}");
        let push: PushId = sent["push_ids"][0].as_str().unwrap().parse().unwrap();
        let origin = app.engine().store().read(move |tx| store::origins::of(tx, AppId(1), push)).await.unwrap().origin;
        assert_eq!(origin, Origin::Template(id.parse().unwrap()));
        assert_eq!(look_up(&app, &id).await["last_used"], "2024-05-01T13:00:00.000Z");
        assert_eq!(look_up(&app, &id).await["modified_at"], "2024-05-01T12:00:00.000Z");

        let second = create(&app, greeting()).await;
        let both = json!([usage(&id, &json!({"NAME": "A", "DAY": "evening"})), usage(&second, &json!({"NAME": "B"}))]);
        assert_eq!(
            app.master().post("/api/templates/push/", both).await.expect(200)["push_ids"].as_array().unwrap().len(),
            2
        );
        let all = shown(&app).await.join(" ");
        assert!(all.contains("Good evening, A") && all.contains("Good day, B"), "{all}");
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_sent_is_named_and_nothing_is_stored() {
    on_each_database(async |app| {
        let id = create(&app, greeting()).await;
        let mut pictured = greeting();
        pictured["push"]["notification"]["web"] = json!({"icon": {"url": "{{NAME}}"}});
        let pictured = create(&app, pictured).await;
        let before = row_counts(app.engine().store()).await;
        let with = |key: &str, value: Value| {
            let mut usage = usage(&id, &json!({"NAME": "Jo"}));
            usage[key] = value;
            usage
        };
        for (body, path) in [
            (usage(&id, &json!({})), "merge_data.substitutions.NAME"),
            (usage(&id, &json!({"NAME": null})), "merge_data.substitutions.NAME"),
            (json!([usage(&id, &json!({"NAME": "a"})), usage(&id, &json!({}))]), "[1].merge_data.substitutions.NAME"),
            (usage(UNKNOWN, &json!({})), "merge_data.template_id"),
            (usage(&id, &json!({"NAME": ["a"]})), "merge_data.substitutions.NAME"),
            (usage(&pictured, &json!({"NAME": "Jo"})), "push.notification.web.icon.url"),
            (with("device_types", json!(["open::nobody"])), "device_types[0]"),
            (with("audience", json!({"ios_channel": "x"})), "audience.ios_channel"),
            (with("notification", json!({"alert": "x"})), "notification"),
            (json!({"merge_data": {"template_id": id}}), "audience"),
        ] {
            for route in ["/api/templates/push", "/api/templates/push/validate"] {
                let refused = app.master().post(route, &body).await.expect(400);
                assert_eq!(refused["details"]["path"], path, "{refused}");
            }
        }
        let missing = app.master().post("/api/templates/push", usage(&id, &json!({}))).await.expect(400);
        assert!(missing["error"].as_str().unwrap().contains("'NAME'"), "{missing}");
        let mut past = usage(&id, &json!({"NAME": "Jo"}));
        past["schedule"] = json!({"scheduled_time": "2024-05-01T11:00"});
        let refused = app.master().post("/api/templates/schedules", past).await.expect(400);
        assert_eq!(refused["details"]["path"], "schedule.scheduled_time");
        let mut redacted = usage(&id, &json!({"NAME": "Jo"}));
        redacted["options"] = json!({"redact_payload": true});
        redacted["schedule"] =
            json!({"scheduled_time": "2024-05-02T12:00", "recurring": {"cadence": {"type": "daily", "count": 1}}});
        let refused = app.master().post("/api/templates/schedules", json!([redacted])).await.expect(400);
        assert_eq!(refused["details"]["path"], "[0].options.redact_payload");
        assert_eq!(row_counts(app.engine().store()).await, before);
        assert_eq!(look_up(&app, &id).await["last_used"], Value::Null);
        for template in [json!({"name": "a"}), json!({"name": "a", "variables": [], "push": {"notification": {}}})] {
            app.master().post("/api/templates", template).await.expect(400);
        }
    })
    .await;
}

#[tokio::test]
async fn a_template_is_scheduled_as_it_is() {
    on_each_database(async |app| {
        register(&app).await;
        let id = create(&app, greeting()).await;
        let mut later = usage(&id, &json!({"NAME": "Jo"}));
        later["name"] = json!("Evening");
        later["schedule"] = json!({"scheduled_time": "2024-05-01T18:00"});
        let created = app.master().post("/api/templates/schedules/", &later).await.expect(201);
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Good day, Jo"}});
        let expected = json!({"name": "Evening", "schedule": {"scheduled_time": "2024-05-01T18:00:00"}, "push": push});
        let path = format!("/api/schedules/{}", created["schedule_ids"][0].as_str().unwrap());
        assert_eq!(app.master().get(&path).await.expect(200), expected);
        assert_eq!(created["schedules"][0]["push"], push);
        assert_eq!(created["schedule_urls"], json!([app.url(&path)]));
        assert_eq!(look_up(&app, &id).await["last_used"], "2024-05-01T12:00:00.000Z");
        let two = app.master().post("/api/templates/schedules", json!([later, later])).await.expect(201);
        let second = format!("/api/schedules/{}", two["schedule_ids"][1].as_str().unwrap());
        let app = app.restart().await;
        app.master().delete(&second).await.expect(204);
        app.master().delete(&format!("/api/templates/{id}")).await.expect(200);
        app.advance(6 * HOUR);
        let bodies = shown(&app).await;
        assert_eq!(bodies.len(), 2, "the template is not needed any more");
        assert!(bodies.iter().all(|body| body.contains("Good day, Jo")));
        app.advance(6 * HOUR);
        assert_eq!(shown(&app).await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn texts_of_messages_are_escaped() {
    on_each_database(async |app| {
        let message = json!({"title": "For {{NAME}}", "body": "<h1>{{NAME}}</h1>"});
        let mut template = greeting();
        template["push"]["message"] = message;
        let id = create(&app, template).await;
        let mut later = usage(&id, &json!({"NAME": "<Jo>"}));
        later["device_types"] = json!(["ios"]);
        later["schedule"] = json!({"scheduled_time": "2024-05-01T18:00"});
        let created = app.master().post("/api/templates/schedules", later).await.expect(201);
        let push = &created["schedules"][0]["push"];
        assert_eq!(push["message"], json!({"title": "For <Jo>", "body": "<h1>&lt;Jo&gt;</h1>"}));
        assert_eq!(push["notification"]["alert"], "Good day, <Jo>");
    })
    .await;
}

#[tokio::test]
async fn one_that_cannot_be_read_does_not_hide_the_others() {
    on_each_database(async |app| {
        let bad = create(&app, greeting()).await;
        let good = create(&app, greeting()).await;
        let now = app.engine().clock().now();
        let spoil = move |tx: &mut store::Tx<'_>| documents::put(tx, AppId(1), DocumentKind::Template, &bad, "{}", now);
        app.engine().store().write(AppId(1), spoil).await.unwrap();
        let listed = app.master().get("/api/templates").await.expect(200);
        assert_eq!((&listed["count"], &listed["templates"][0]["id"]), (&json!(1), &json!(good)));
    })
    .await;
}

#[tokio::test]
async fn one_that_would_be_refused_today_is_still_listed_changed_and_sent() {
    on_each_database(async |app| {
        register(&app).await;
        let id = create(&app, greeting()).await;
        let in_app = r#"{"alert":"Hi","display_type":"banner"}"#;
        let (old, now) = (id.clone(), app.engine().clock().now());
        let rewrite = move |tx: &mut store::Tx<'_>| {
            let stored = documents::get(tx, AppId(1), DocumentKind::Template, &old)?.unwrap();
            let twice = format!(r#""in_app":{in_app},"notification":{{"in_app":{in_app},"#);
            let body = stored.body.replace(r#""notification":{"#, &twice);
            documents::put(tx, AppId(1), DocumentKind::Template, &old, &body, now)
        };
        app.engine().store().write(AppId(1), rewrite).await.unwrap();
        let app = app.restart().await;
        let old = look_up(&app, &id).await;
        let mut today = greeting();
        today["push"] = old["push"].clone();
        let refused = app.master().post("/api/templates", today).await.expect(400);
        assert_eq!(refused["details"]["path"], "push.notification.in_app", "{refused}");
        assert_eq!(app.master().get("/api/templates").await.expect(200)["count"], 1);
        app.master().post(&format!("/api/templates/{id}"), json!({"name": "Hello"})).await.expect(200);
        app.master().post("/api/templates/push", usage(&id, &json!({"NAME": "Jo"}))).await.expect(200);
        let [body] = &shown(&app).await[..] else { panic!() };
        assert!(body.contains("Good day, Jo"), "{body}");
        let mut elsewhere = usage(&id, &json!({"NAME": "Jo"}));
        elsewhere["audience"] = json!({"ios_channel": UNKNOWN});
        elsewhere["device_types"] = json!(["android"]);
        app.master().post("/api/templates/push", elsewhere).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn a_template_has_a_size() {
    on_each_database(async |app| {
        let id = create(&app, greeting()).await;
        let mut large = greeting();
        large["variables"][1]["default_value"] = json!("x".repeat(limits::TEMPLATE_BYTES));
        let refused = app.master().post("/api/templates", &large).await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains("524288"), "{refused}");
        let change = json!({"variables": large["variables"]});
        app.master().post(&format!("/api/templates/{id}"), change).await.expect(400);
        assert_eq!(look_up(&app, &id).await["variables"], greeting()["variables"]);
    })
    .await;
}

#[tokio::test]
async fn a_template_that_is_used_is_not_written_again() {
    on_each_database(async |app| {
        let id = create(&app, greeting()).await;
        app.advance(HOUR);
        app.master().post("/api/templates/push", usage(&id, &json!({"NAME": "Jo"}))).await.expect(200);
        let stored = id.clone();
        let read = move |tx: &mut store::Tx<'_>| {
            documents::get(tx, AppId(1), DocumentKind::Template, &stored).map(Option::unwrap)
        };
        let document = app.engine().store().read(read).await.unwrap();
        assert_eq!(document.modified, document.created);
        let before = row_counts(app.engine().store()).await["document"];
        app.master().delete(&format!("/api/templates/{id}")).await.expect(200);
        assert_eq!(row_counts(app.engine().store()).await["document"], before - 2, "when it was used is gone as well");
    })
    .await;
}
