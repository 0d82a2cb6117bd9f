//! What is accepted is sent as it was meant, and what cannot be done is refused at the value to change.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

async fn register(app: &TestApp, device_type: &str, address: &str, more: &[(&str, Value)]) {
    let mut channel = json!({"device_type": device_type, "opt_in": true, "push_address": address});
    channel.as_object_mut().unwrap().extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
}

async fn register_browser(app: &TestApp) {
    // The keys of the example in RFC 8291.
    let keys = json!({
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    });
    let web = json!({"subscription": keys});
    register(app, "web", "https://updates.push.services.mozilla.com/wpush/v2/A1", &[("web", web)]).await;
}

fn push(device_types: &Value, notification: &Value) -> Value {
    json!({"audience": "all", "device_types": device_types, "notification": notification})
}

/// The bodies that the providers would have got.
async fn sent(app: &TestApp, push: &Value) -> Vec<Value> {
    let accepted = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    let path = format!("/api/sandbox?push_id={}", accepted["push_ids"][0].as_str().unwrap());
    let deliveries = app.master().get(&path).await.expect(200)["deliveries"].clone();
    deliveries.as_array().unwrap().iter().map(|delivery| delivery["request"]["body"].clone()).collect()
}

async fn refused(app: &TestApp, path: &str, body: Value) -> Value {
    app.master().post(path, body).await.expect(400)["details"]["path"].clone()
}

#[tokio::test]
async fn one_message_per_person_is_refused_wherever_a_push_is_written() {
    on_each_database(async |app| {
        let mut one = push(&json!("all"), &json!({"alert": "Hi"}));
        one["orchestration"] = json!({"type": "last_active"});
        assert_eq!(refused(&app, "/api/push", one.clone()).await, "orchestration.type");
        assert_eq!(refused(&app, "/api/push/validate", json!([one])).await, "[0].orchestration.type");
        let scheduled = json!({"schedule": {"scheduled_time": "2030-01-01T00:00:00"}, "push": one});
        assert_eq!(refused(&app, "/api/schedules", scheduled).await, "push.orchestration.type");
        // The channel that set off a pipeline is all of its audience.
        let happens = json!([{"custom_event": {"key": "name", "value": {"equals": "sale"}}}]);
        let mut triggered = push(&json!("all"), &json!({"alert": "Hi"}));
        (triggered["audience"], triggered["orchestration"]) =
            (json!("triggered"), json!({"type": "triggering_channel"}));
        let pipeline = json!({"enabled": false, "immediate_trigger": happens, "outcome": {"push": triggered}});
        app.master().post("/api/pipelines/validate", pipeline).await.expect(200);
        one["orchestration"] = json!({"type": "fan_out"});
        app.master().post("/api/push", one).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn texts_that_cannot_be_filled_in_are_refused() {
    on_each_database(async |app| {
        let mut personal = push(&json!("all"), &json!({"alert": "Hi {{#if name}}"}));
        personal["global_attributes"] = json!({"name": "Kim"});
        assert_eq!(refused(&app, "/api/push", personal).await, "notification.alert");
        let mut inline = json!({"template": {"fields": {"alert": "Hi {{name"}}});
        let mut personal = push(&json!(["ios"]), &json!({"ios": inline}));
        personal["options"] = json!({"personalization": true});
        let path = "notification.ios.template.fields.alert";
        assert_eq!(refused(&app, "/api/push", personal.clone()).await, path);
        inline["template"]["fields"]["alert"] = json!("Hi {{name}}");
        inline["template"]["variable_defaults"] = json!([{"key": "name", "default_value": "you"}]);
        personal["notification"]["ios"] = inline;
        app.master().post("/api/push/validate", personal).await.expect(200);
        let template = json!({
            "name": "welcome", "variables": [{"key": "name", "name": "Name", "default_value": "you"}],
            "push": {"notification": {"alert": "Hi {{name}}"}, "options": {"personalization": true}},
        });
        app.master().post("/api/templates", template).await.expect(201);
    })
    .await;
}

#[tokio::test]
async fn texts_of_a_message_of_its_own_template_are_filled_in() {
    on_each_database(async |app| {
        let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "A1"}});
        let channel = app.device().post("/api/channels", channel).await.expect(201)["channel_id"].clone();
        let user = app.device().post("/api/user", json!({"ios_channels": [channel]})).await.expect(201);
        let template = json!({
            "fields": {"title": "Hi {{name}}", "body": "<p>{{name}}</p>"},
            "variable_defaults": [{"key": "name", "default_value": "you"}],
        });
        let push = json!({"audience": "all", "device_types": ["ios"], "message": {"template": template}});
        sent(&app, &push).await;
        let (id, password) = (user["user_id"].as_str().unwrap(), user["password"].as_str().unwrap());
        let inbox = app.nobody().basic(id, password).get(&format!("/api/user/{id}/messages")).await.expect(200);
        assert_eq!(inbox["messages"][0]["title"], "Hi you");
        let url = inbox["messages"][0]["message_body_url"].as_str().unwrap().to_owned();
        let body = app.nobody().basic(id, password).get(&url[url.find("/api").unwrap()..]).await;
        assert_eq!(body.text(), "<p>you</p>");
    })
    .await;
}

#[tokio::test]
async fn scenes_are_refused() {
    on_each_database(async |app| {
        let id = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
        let scene = json!({"open": {"type": "scene", "content": {"template": {"template_id": id}}}});
        let scene = json!({"alert": "Hi", "actions": scene});
        assert_eq!(refused(&app, "/api/push", push(&json!("all"), &scene)).await, "notification.actions.open.type");
    })
    .await;
}

#[tokio::test]
async fn a_title_alone_can_be_urgent() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", &[]).await;
        let bodies = sent(&app, &push(&json!(["ios"]), &json!({"ios": {"title": "Hi", "priority": 10}}))).await;
        assert_eq!(bodies[0]["aps"]["alert"], json!({"title": "Hi"}));
        let silent = push(&json!(["ios"]), &json!({"ios": {"content_available": true, "priority": 10}}));
        assert_eq!(refused(&app, "/api/push", silent).await, "notification.ios.priority");
    })
    .await;
}

#[tokio::test]
async fn in_app_messages_carry_any_json() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", &[("background", json!(true))]).await;
        register(&app, "android", "A2", &[]).await;
        let extra = json!({"count": 3, "nested": {"yes": true}, "text": "x"});
        let in_app = json!({"alert": "Psst", "display_type": "banner", "extra": extra});
        let push = json!({"audience": "all", "device_types": ["ios", "android"], "in_app": in_app});
        let bodies = sent(&app, &push).await;
        let key = "com.urbanairship.in_app";
        let apple = bodies.iter().find_map(|body| body.get(key)).unwrap();
        let google = bodies.iter().find_map(|body| body["message"]["data"][key].as_str()).unwrap();
        let google: Value = serde_json::from_str(google).unwrap();
        assert_eq!((&apple["extra"], &google["extra"]), (&extra, &extra));
    })
    .await;
}

#[tokio::test]
async fn browsers_get_fallbacks_and_buttons() {
    on_each_database(async |app| {
        register_browser(&app).await;
        let open = json!({"type": "deep_link", "content": "shop://sale", "fallback_url": "https://example.com/sale"});
        let buttons = json!({"type": "ua_like", "button_actions": {"like": {"open": open}}});
        let notification = json!({"alert": "Hi", "actions": {"open": open}, "interactive": buttons});
        let bodies = sent(&app, &push(&json!(["web"]), &notification)).await;
        let fallback = json!({"^u": "https://example.com/sale"});
        assert_eq!(bodies[0]["actions"], fallback);
        assert_eq!(
            bodies[0]["buttons"],
            json!([{"id": "like", "label": "Like", "actions": fallback, "background": true}])
        );
        let own_type = push(&json!(["web"]), &json!({"alert": "Hi", "interactive": {"type": "my_type"}}));
        assert_eq!(refused(&app, "/api/push", own_type).await, "notification.interactive");
        let own_buttons = json!([{"id": "buy", "label": "Buy"}]);
        let both = json!({"alert": "Hi", "interactive": {"type": "my_type"}, "web": {"buttons": own_buttons}});
        assert_eq!(sent(&app, &push(&json!(["web"]), &both)).await[0]["buttons"], own_buttons);
        let unknown = push(&json!(["web"]), &json!({"alert": "Hi", "web": {"interactive": {"type": "my_type"}}}));
        assert_eq!(refused(&app, "/api/push", unknown).await, "notification.web.interactive");
    })
    .await;
}

#[tokio::test]
async fn problems_of_audiences_and_platforms_are_at_their_place() {
    on_each_database(async |app| {
        let nowhere = json!({"location": {"id": "nowhere", "date": {"recent": {"days": 3}}}});
        let audience = json!({"AND": [{"tag": "a"}, nowhere]});
        let push = json!({"audience": audience, "device_types": ["ios"], "notification": {"alert": "Hi"}});
        assert_eq!(refused(&app, "/api/push", push.clone()).await, "audience.AND[1].location.id");
        let scheduled = json!({"schedule": {"scheduled_time": "2030-01-01T00:00:00"}, "push": push});
        assert_eq!(refused(&app, "/api/schedules", scheduled).await, "push.audience.AND[1].location.id");
        let segment = json!({"display_name": "S", "criteria": {"or": [audience]}});
        assert_eq!(refused(&app, "/api/segments", segment).await, "criteria.or[0].AND[1].location.id");
        let unknown =
            json!({"audience": "all", "device_types": ["ios", "open::nope"], "notification": {"alert": "Hi"}});
        assert_eq!(refused(&app, "/api/push", unknown).await, "device_types[1]");
    })
    .await;
}
