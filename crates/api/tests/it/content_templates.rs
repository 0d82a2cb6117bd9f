//! Content templates: by the service's id and by the caller's own, kept and sent.

use std::time::Duration;

use model::content_template::ContentTemplateId;
use model::ids::AppId;
use model::limits;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};

use crate::inbox::Phone;
use crate::personalization::{kept, register, send};
use crate::pipelines::HOUR;

fn template(name: &str, external_id: Option<&str>) -> Value {
    json!({"type": "app", "name": name, "external_id": external_id, "content": {"alert": "Hi {{name}}", "title": name}})
}

#[tokio::test]
async fn content_templates_are_created_listed_replaced_and_deleted() {
    on_each_database(async |app| {
        let master = app.master();
        let created = master.post("/api/content/templates", template("Sale", Some("sale/1"))).await;
        let id = created.expect(201)["template_id"].as_str().unwrap().to_owned();
        assert!(created.header("location").unwrap().ends_with(&format!("/api/content/templates/{id}")));
        app.advance(Duration::from_secs(5));
        master.post("/api/content/templates", template("News", None)).await.expect(201);
        let refused = master.post("/api/content/templates", template("Other", Some("sale/1"))).await.expect(400);
        assert_eq!(refused["details"]["path"], "external_id", "{refused}");
        let own = "/api/content/templates/external/app/sale%2F1";
        let shown = master.get(own).await.expect(200)["content_template"].clone();
        assert_eq!(
            (&shown["id"], &shown["name"], &shown["created_at"]),
            (&json!(id), &json!("Sale"), &json!("2024-05-01T12:00:00Z"))
        );
        assert_eq!(shown["content"], json!({"alert": "Hi {{name}}", "title": "Sale"}));
        assert_eq!(master.get(&format!("/api/content/templates/{id}")).await.expect(200)["content_template"], shown);
        master.get("/api/content/templates/external/web/sale%2F1").await.expect(404);
        master.get("/api/content/templates/external/email/sale%2F1").await.expect(404);

        // What was shown can be sent back.
        let mut changed = shown.clone();
        changed["name"] = json!("Summer sale");
        master.put(own, &changed).await.expect(200);
        changed["type"] = json!("web");
        master.put(own, &changed).await.expect(400);
        let page = master.get("/api/content/templates?page_size=1&sort=modified_at&order=asc").await.expect(200);
        assert_eq!((&page["count"], &page["total_count"]), (&json!(1), &json!(2)));
        assert_eq!(page["content_templates"][0]["name"], "Summer sale");
        assert!(page["next_page"].as_str().unwrap().contains("page=2"), "{page}");
        assert_eq!(page.get("prev_page"), None);

        master.delete(own).await.expect(200);
        master.get(&format!("/api/content/templates/{id}")).await.expect(404);
        master.delete(&format!("/api/content/templates/{id}")).await.expect(404);
        let email =
            json!({"type": "email", "name": "x", "content": {"subject": "x", "html_body": "x", "plaintext_body": "x"}});
        assert_eq!(master.post("/api/content/templates", email).await.expect(400)["details"]["path"], "type");
    })
    .await;
}

async fn create(app: &TestApp, kind: &str, external_id: &str, content: Value) -> String {
    let template = json!({"type": kind, "name": kind, "external_id": external_id, "content": content});
    let created = app.master().post("/api/content/templates", template).await.expect(201);
    created["template_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn pushes_are_sent_with_the_texts_of_the_content_templates_that_they_name() {
    on_each_database(async |app| {
        let ios = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        let android = register(&app, "android", "F1", json!({})).await;
        let kiosk = register(&app, "open::kiosk", "K1", json!({})).await;
        let phone = Phone::new(&app, "ios", json!({})).await;
        let id = create(&app, "app", "sale", json!({"alert": "Hi {{name}}", "title": "Sale", "summary": "Now"})).await;
        create(&app, "open", "sale-open", json!({"alert": "Everybody", "title": "Sale"})).await;
        create(&app, "message_center", "sale-mc", json!({"title": "In full", "html_body": "<p>Boots</p>"})).await;
        let default = json!([{"key": "name", "default_value": "you"}]);
        let notification = json!({
            "ios": {"template": {"external_id": "sale"}, "badge": 3},
            "android": {"template": {"template_id": id, "variable_defaults": default}},
            "open::kiosk": {"template": {"external_id": "sale-open"}},
        });
        send(&app, json!({"device_types": ["ios", "android", "open::kiosk"], "notification": notification})).await;
        let kept = kept(&app).await;
        assert_eq!(kept[&ios]["aps"]["alert"], json!({"title": "Sale", "body": "Hi Kim"}));
        let data = &kept[&android]["message"]["data"];
        let texts = [&data["com.urbanairship.push.ALERT"], &data["com.urbanairship.summary"]];
        assert_eq!(texts, ["Hi you", "Now"], "{data}");
        assert!(kept[&kiosk].to_string().contains("Everybody"), "{}", kept[&kiosk]);
        let message = json!({"template": {"external_id": "sale-mc"}});
        send(&app, json!({"device_types": ["ios"], "message": message})).await;
        assert_eq!(phone.titles(&app).await, ["In full"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_sent_later_keeps_the_texts_of_the_day_it_was_accepted() {
    on_each_database(async |app| {
        let master = app.master();
        let ios = register(&app, "ios", "A1", json!({})).await;
        let id = create(&app, "app", "sale", json!({"alert": "Before"})).await;
        let named = json!({"ios": {"template": {"template_id": id}}});
        let push =
            |audience: &str| json!({"audience": audience, "device_types": ["ios"], "notification": named.clone()});
        let schedule = json!({"schedule": {"scheduled_time": "2024-05-01T13:00:00"}, "push": push("all")});
        master.post("/api/schedules", &schedule).await.expect(201);
        let pipeline = json!({"enabled": true, "immediate_trigger": "first_open",
            "outcome": {"push": push("triggered"), "delay": 60}});
        let pipelines = master.post("/api/pipelines", &pipeline).await.expect(201);
        let variants = json!([{"push": {"notification": named}}, {"push": {"notification": {"alert": "B"}}}]);
        let experiment = json!({"audience": {"tag": "nobody"}, "device_types": ["ios"], "variants": variants});
        let experiments = master.post("/api/experiments", &experiment).await.expect(201);

        let stored = |texts: &Value| texts["ios"]["template"]["fields"]["alert"].clone();
        let uid = pipelines["pipeline_ids"][0].as_str().unwrap();
        let shown = master.get(&format!("/api/pipelines/{uid}")).await.expect(200);
        assert_eq!(stored(&shown["pipeline"]["outcome"]["push"]["notification"]), "Before", "{shown}");
        assert_eq!(shown["pipeline"]["outcome"]["delay"], 60, "{shown}");
        let experiment_id = experiments["experiment_id"].as_str().unwrap();
        let shown = master.get(&format!("/api/experiments/{experiment_id}")).await.expect(200);
        assert_eq!(stored(&shown["experiment"]["variants"][0]["push"]["notification"]), "Before", "{shown}");

        master.delete(&format!("/api/content/templates/{id}")).await.expect(200);
        app.advance(HOUR);
        app.step_all().await;
        assert_eq!(kept(&app).await[&ios]["aps"]["alert"], "Before");
        for (path, body, blamed) in [
            ("/api/push", push("all"), "notification.ios.template"),
            ("/api/push/validate", push("all"), "notification.ios.template"),
            ("/api/schedules", schedule, "push.notification.ios.template"),
            ("/api/pipelines", pipeline, "outcome.push.notification.ios.template"),
            ("/api/experiments", experiment, "variants[0].push.notification.ios.template"),
        ] {
            let refused = master.post(path, body).await.expect(400);
            assert_eq!(refused["details"]["path"], blamed, "{refused}");
            assert!(refused.to_string().contains("content template"), "{refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn content_templates_of_another_type_or_with_mistakes_are_refused() {
    on_each_database(async |app| {
        let id = create(&app, "web", "sale", json!({"alert": "Hi"})).await;
        for template in [json!({"template_id": id}), json!({"external_id": "sale"})] {
            let push =
                json!({"audience": "all", "device_types": ["ios"], "notification": {"ios": {"template": template}}});
            let refused = app.master().post("/api/push", push).await.expect(400);
            assert_eq!(refused["details"]["path"], "notification.ios.template", "{refused}");
        }
        for path in ["/api/content/templates".to_owned(), format!("/api/content/templates/{id}")] {
            let template = json!({"type": "web", "name": "x", "content": {"alert": "Hi {{uper name}}", "title": "x"}});
            let refused = match path.ends_with("templates") {
                true => app.master().post(&path, template).await.expect(400),
                false => app.master().put(&path, template).await.expect(400),
            };
            assert_eq!(refused["details"]["path"], "content.alert", "{refused}");
        }
    })
    .await;
}

/// A content template that was stored before its texts were read.
async fn store_unread(app: &TestApp, alert: &str) -> String {
    let now = app.engine().clock().now();
    let id = ContentTemplateId::at(now).to_string();
    let (key, body) = (id.clone(), json!({"type": "app", "name": "old", "content": {"alert": alert}}).to_string());
    let write =
        move |tx: &mut store::Tx<'_>| documents::put(tx, AppId(1), DocumentKind::ContentTemplate, &key, &body, now);
    app.engine().store().write(AppId(1), write).await.unwrap();
    id
}

#[tokio::test]
async fn pushes_are_judged_with_the_texts_that_they_get() {
    on_each_database(async |app| {
        let names: String = (0..=limits::NAMES_PER_PUSH).map(|n| format!("{{{{name{n}}}}} ")).collect();
        create(&app, "app", "many", json!({"alert": names})).await;
        create(&app, "app", "good", json!({"alert": "Hi {{name}}"})).await;
        let old = store_unread(&app, "Hi {{uper name}}").await;
        let named = |template: Value| json!({"ios": {"template": template}});
        let push = |audience: &str, notification: &Value| {
            json!({"audience": audience, "device_types": ["ios"], "notification": notification})
        };
        let many = json!({"external_id": "many"});
        for (template, why) in [(many, "different names"), (json!({"template_id": old}), "Column")] {
            let notification = named(template);
            let sent = push("all", &notification);
            let good = push("all", &named(json!({"external_id": "good"})));
            let schedule = json!({"schedule": {"scheduled_time": "2024-05-01T13:00:00"}, "push": sent});
            let pipeline = json!({"enabled": true, "immediate_trigger": "first_open",
                "outcome": {"push": push("triggered", &notification)}});
            let variants = json!([{"push": {"notification": {"alert": "A"}}}, {"push": {"notification": notification}}]);
            let experiment = json!({"audience": {"tag": "nobody"}, "device_types": ["ios"], "variants": variants});
            for (path, body, blamed) in [
                ("/api/push", json!([good, sent]), "[1].notification.ios.template"),
                ("/api/push", sent.clone(), "notification.ios.template"),
                ("/api/push/validate", sent, "notification.ios.template"),
                ("/api/schedules", schedule, "push.notification.ios.template"),
                ("/api/pipelines", pipeline, "outcome.push.notification.ios.template"),
                ("/api/experiments", experiment, "variants[1].push.notification.ios.template"),
            ] {
                let refused = app.master().post(path, body).await.expect(400);
                assert_eq!(refused["details"]["path"], blamed, "{refused}");
                assert!(refused.to_string().contains("In the text 'alert': "), "{refused}");
                assert!(refused.to_string().contains(why), "{refused}");
            }
        }
        // With the content template, tags mean something in the other texts of the push, too.
        let mut beside = push("all", &named(json!({"external_id": "good"})));
        beside["device_types"] = json!(["ios", "android"]);
        beside["notification"]["android"] = json!({"alert": "Hi {{uper name}}"});
        let refused = app.master().post("/api/push", beside).await.expect(400);
        assert_eq!(refused["details"]["path"], "notification.android.alert", "{refused}");
    })
    .await;
}

#[tokio::test]
async fn many_places_of_a_request_name_the_same_content_templates() {
    on_each_database(async |app| {
        let ios = register(&app, "ios", "A1", json!({})).await;
        let android = register(&app, "android", "F1", json!({})).await;
        let id = create(&app, "app", "sale", json!({"alert": "Sale"})).await;
        create(&app, "app", "news", json!({"alert": "News"})).await;
        create(&app, "web", "page", json!({"alert": "Page"})).await;
        let by_id = json!({"template": {"template_id": id}});
        let by_own_id = |id: &str| json!({"template": {"external_id": id}});
        let pushes = json!([
            {"audience": "all", "device_types": ["ios"], "notification": {"ios": by_id},
             "localizations": [{"language": "fr", "notification": {"ios": by_own_id("sale")}},
                               {"language": "de", "notification": {"ios": by_own_id("news")}}]},
            {"audience": "all", "device_types": ["android", "web"],
             "notification": {"android": by_own_id("sale"), "web": by_own_id("page")}},
        ]);
        app.master().post("/api/push", pushes).await.expect(200);
        app.step_all().await;
        let kept = kept(&app).await;
        assert_eq!(kept[&ios]["aps"]["alert"], "News");
        assert_eq!(kept[&android]["message"]["data"]["com.urbanairship.push.ALERT"], "Sale");
    })
    .await;
}
