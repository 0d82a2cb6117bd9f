//! Create and send: recipients that a push brings along are registered and sent to, now or at the time of a schedule.

use std::time::Duration;

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::receiver::OpenReceiver;
use testkit::rows::row_counts;

use crate::personalization::register as attributed;
use crate::push_account::recipients;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A push that greets everybody by their name.
fn greeting(recipients: &Value) -> Value {
    let template = json!({
        "fields": {"alert": "Hi {{name}}", "title": "{{ day }}"},
        "variable_defaults": [{"key": "day", "default_value": "Today"}],
    });
    json!({
        "audience": {"create_and_send": recipients}, "device_types": ["open::kiosk"],
        "notification": {"open::kiosk": {"template": template, "extra": {"a": "b"}}},
        "campaigns": {"categories": ["welcome"]},
    })
}

fn plain(recipients: &Value) -> Value {
    json!({"audience": {"create_and_send": recipients}, "device_types": ["open::kiosk"],
        "notification": {"alert": "Hi {{name}}"}})
}

async fn register(app: &TestApp, address: &str, opt_in: bool, tags: Value) -> String {
    let open = json!({"open_platform_name": "kiosk", "identifiers": {"room": "7"}});
    let channel = json!({"type": "open", "opt_in": opt_in, "address": address, "open": open, "tags": tags});
    let reply = app.master().post("/api/channels/open", json!({"channel": channel})).await.expect(200);
    reply["channel_id"].as_str().unwrap().to_owned()
}

/// What was sent to which address, in the order of the addresses.
async fn sent(app: &TestApp) -> Vec<(String, Value)> {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    let value = |delivery: &Value| {
        let value = &delivery["request"]["body"]["values"][0];
        (value["target"]["address"].as_str().unwrap().to_owned(), value["payload"].clone())
    };
    let mut sent: Vec<_> = sandbox["deliveries"].as_array().unwrap().iter().map(value).collect();
    sent.sort_by(|one, other| one.0.cmp(&other.0));
    sent
}

async fn open_channels(app: &TestApp) -> Vec<Value> {
    let page = app.master().get("/api/channels").await.expect(200);
    page["channels"].as_array().unwrap().clone()
}

#[tokio::test]
async fn recipients_are_registered_and_everybody_gets_their_own_text() {
    on_each_database(async |app| {
        let known = register(&app, "known", true, json!(["old"])).await;
        register(&app, "opted-out", false, json!([])).await;
        let recipients = json!([
            {"ua_address": "known", "name": "Kim"},
            {"ua_address": "new \"1\"", "name": "Zo\u{eb} \\ \"Z\"", "day": "Monday"},
            {"ua_address": "opted-out", "name": "Nobody"},
        ]);
        let reply = app.master().post("/api/create-and-send/", greeting(&recipients)).await;
        let accepted = reply.expect(202);
        assert_eq!(reply.header("data-attribute"), Some("push_ids"));
        assert_eq!(accepted["ok"], true);
        let payload = |alert: &str, title: &str| json!({"alert": alert, "title": title, "extra": {"a": "b"}});
        let expected = [
            ("known".to_owned(), payload("Hi Kim", "Today")),
            ("new \"1\"".to_owned(), payload("Hi Zo\u{eb} \\ \"Z\"", "Monday")),
        ];
        assert_eq!(sent(&app).await, expected);

        let channels = open_channels(&app).await;
        assert_eq!(channels.len(), 3, "one of them is new");
        let new = channels.iter().find(|channel| channel["address"] == "new \"1\"").unwrap();
        assert_eq!((&new["opt_in"], &new["open"]["open_platform_name"]), (&json!(true), &json!("kiosk")));
        let old = channels.iter().find(|channel| channel["channel_id"] == json!(known)).unwrap();
        assert_eq!((&old["tags"], &old["open"]["identifiers"]["room"]), (&json!(["old"]), &json!("7")));
        let opted_out = channels.iter().find(|channel| channel["address"] == "opted-out").unwrap();
        assert_eq!(opted_out["opt_in"], false, "nobody is opted in against their will");

        let push = accepted["push_ids"][0].as_str().unwrap();
        let status = app.master().get(&format!("/api/push/{push}")).await.expect(200);
        assert_eq!(status["push"]["push_type"], "CREATE_AND_SEND_PUSH");
        assert_eq!((&status["push"]["state"], &status["push"]["total"]["delivered"]), (&json!("done"), &json!(2)));
        let report = app.master().get(&format!("/api/reports/responses/{push}")).await.expect(200);
        assert_eq!(report["push_type"], "CREATE_AND_SEND_PUSH");

        // All of them are known now.
        let again = app.master().post("/api/create-and-send", plain(&json!([{"ua_address": "new \"1\""}]))).await;
        again.expect(202);
        assert_eq!(sent(&app).await.len(), 3);
        assert_eq!(open_channels(&app).await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn texts_of_a_template_are_in_the_language_of_personalization() {
    on_each_database(async |app| {
        attributed(&app, "open::kiosk", "known", json!({"first_name": "Kim"})).await;
        let alert = "{{#if vip}}VIP{{else}}Hello{{/if}}, {{$def first_name \"you\"}} at {{shop}}: \
                     {{#each items}}{{name}}{{#unless @last}}, {{/unless}}{{/each}}{{missing}}";
        let mut push = greeting(&json!([{"ua_address": "known", "vip": "yes"}, {"ua_address": "new"}]));
        push["notification"]["open::kiosk"]["template"] = json!({"fields": {"alert": alert}});
        push["global_attributes"] = json!({"shop": "the harbour", "items": [{"name": "tea"}, {"name": "cake"}]});
        app.master().post("/api/create-and-send/validate", push.clone()).await.expect(200);
        let accepted = app.master().post("/api/create-and-send", push.clone()).await.expect(202);
        let alerts: Vec<Value> = sent(&app).await.into_iter().map(|(_, payload)| payload["alert"].clone()).collect();
        assert_eq!(alerts, ["VIP, Kim at the harbour: tea, cake", "Hello, you at the harbour: tea, cake"]);
        let id = accepted["push_ids"][0].as_str().unwrap();
        let status = app.master().get(&format!("/api/push/{id}")).await.expect(200);
        assert_eq!(status["push"]["total"]["delivered"], 2);

        // Only what says that it cannot do without a value keeps a device from getting the push.
        push["notification"]["open::kiosk"]["template"]["fields"]["alert"] = json!("{{$required first_name}}");
        let accepted = app.master().post("/api/create-and-send", push.clone()).await.expect(202);
        app.step_all().await;
        let failed = recipients(&app, accepted["push_ids"][0].as_str().unwrap(), "outcome=failed", 10).await;
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert!(failed[0]["reason"].as_str().unwrap().contains("'first_name'"), "{failed:?}");
        push["notification"]["open::kiosk"]["template"]["fields"]["alert"] = json!("{{#if vip}}");
        let refused = app.master().post("/api/create-and-send", push).await.expect(400);
        assert_eq!(refused["details"]["path"], "notification.open::kiosk.template.fields.alert");
    })
    .await;
}

#[tokio::test]
async fn values_stay_what_they_are() {
    on_each_database(async |app| {
        let alert = "{{#if vip}}VIP {{/if}}{{#if n}}{{add n 1}} {{/if}}{{#eq vip true}}yes {{/eq}}\
                     {{#each items}}{{name}} {{/each}}{{vip}} {{n}}";
        let recipients = json!([
            {"ua_address": "a", "vip": false, "n": 0}, {"ua_address": "b", "vip": true, "n": 1.5},
            {"ua_address": "c", "vip": "false", "items": [{"name": "tea"}, {"name": "cake"}]}, {"ua_address": "d", "vip": null},
        ]);
        let mut push = greeting(&recipients);
        push["notification"]["open::kiosk"]["template"] = json!({"fields": {"alert": alert}});
        app.master().post("/api/create-and-send", push.clone()).await.expect(202);
        let alerts = async || -> Vec<Value> {
            sent(&app).await.into_iter().map(|(_, payload)| payload["alert"].clone()).collect()
        };
        let expected = ["false 0", "VIP 2.5 yes true 1.5", "VIP tea cake false ", " "];
        assert_eq!(alerts().await, expected);
        // A schedule keeps them, too.
        app.master().delete("/api/sandbox").await.expect(204);
        let scheduled = json!({"schedule": {"scheduled_time": "2024-05-01T13:00:00"}, "push": push});
        app.master().post("/api/schedules/create-and-send", scheduled).await.expect(202);
        let app = app.restart().await;
        app.advance(HOUR);
        let again: Vec<Value> = sent(&app).await.into_iter().map(|(_, payload)| payload["alert"].clone()).collect();
        assert_eq!(again, expected);
    })
    .await;
}

#[tokio::test]
async fn a_thousand_recipients_with_texts_of_their_own_are_one_request() {
    on_each_database(async |app| {
        let receiver = OpenReceiver::start().await;
        let live = app.another_app(Mode::Production).await;
        let servers = app.nobody().basic(&live.key, &live.master_secret);
        let path = format!("/operator/apps/{}/platforms/open::kiosk", live.key);
        let config = json!({"url": receiver.url(), "auth": {"type": "none"}, "validate": false});
        app.operator().put(&path, config).await.expect(200);
        let recipients = (0..1000).map(|n| json!({"ua_address": format!("a{n}"), "name": n}));
        let body = greeting(&recipients.collect());
        servers.post("/api/create-and-send", body).await.expect(202);
        app.step_all().await;
        assert_eq!(receiver.received().len(), 1);
        let values = receiver.values();
        assert_eq!(values.len(), 1000);
        for value in values {
            let address = value["target"]["address"].as_str().unwrap();
            assert_eq!(value["payload"]["alert"], format!("Hi {}", &address[1..]));
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_refused_leaves_nothing_behind() {
    on_each_database(async |app| {
        let before = row_counts(app.engine().store()).await;
        let good = greeting(&json!([{"ua_address": "a", "name": "Kim"}]));
        app.master().post("/api/create-and-send/validate/", good.clone()).await.expect(200);
        for path in ["/api/create-and-send", "/api/create-and-send/validate"] {
            let reply = app.master().post(path, greeting(&json!([{"ua_address": "a"}, {"ua_msisdn": "1"}]))).await;
            let refused = reply.expect(400).to_string();
            for part in ["create_and_send[1].ua_address", "create_and_send[1].ua_msisdn"] {
                assert!(refused.contains(part), "{refused}");
            }
            for name in ["email", "sms", "mms"] {
                let mut body = good.clone();
                body["device_types"] = json!([name]);
                let refused = app.master().post(path, body).await.expect(400);
                assert!(refused["details"].to_string().contains("Nothing can be sent to"), "{refused}");
            }
            app.master().post(path, json!([good])).await.expect(400);
            let mut stored = good.clone();
            let id = "00000000-0000-4000-8000-000000000000";
            stored["notification"]["open::kiosk"]["template"] = json!({"template_id": id});
            let refused = app.master().post(path, stored).await.expect(400);
            assert!(refused["details"].to_string().contains("open::kiosk.template"), "{refused}");
        }
        for path in ["/api/push", "/api/push/validate"] {
            app.master().post(path, good.clone()).await.expect(400);
        }
        let scheduled = json!({"schedule": {"scheduled_time": "2024-05-01T13:00:00"}, "push": good});
        app.master().post("/api/schedules", scheduled).await.expect(400);
        assert_eq!(row_counts(app.engine().store()).await, before);
    })
    .await;
}

#[tokio::test]
async fn a_scheduled_one_registers_its_recipients_when_it_is_sent() {
    on_each_database(async |app| {
        let push = greeting(&json!([{"ua_address": "a", "name": "Kim"}, {"ua_address": "b", "name": "Lou"}]));
        let body = json!({"name": "Later", "schedule": {"scheduled_time": "2024-05-01T13:00:00"}, "push": push});
        let reply = app.master().post("/api/schedules/create-and-send/", body.clone()).await;
        let created = reply.expect(202);
        assert_eq!(reply.header("data-attribute"), Some("schedule_urls"));
        let id = created["schedule_ids"][0].as_str().unwrap().to_owned();
        assert_eq!(created["schedule_urls"], json!([app.url(&format!("/api/schedules/{id}"))]));
        let path = format!("/api/schedules/{id}");
        assert_eq!(app.master().get(&path).await.expect(200), body);
        // The call for recipients that were uploaded takes those that are given as well.
        let other =
            app.master().post("/api/schedules/bulk-send", json!([body.clone(), body.clone()])).await.expect(202);
        for url in other["schedule_ids"].as_array().unwrap() {
            app.master().delete(&format!("/api/schedules/{}", url.as_str().unwrap())).await.expect(204);
        }
        let mut changed = body.clone();
        changed["push"]["audience"]["create_and_send"][1]["name"] = json!("Max");
        app.master().put(&path, changed).await.expect(200);
        assert!(sent(&app).await.is_empty());
        assert!(open_channels(&app).await.is_empty(), "nobody is registered for what may never be sent");

        let app = app.restart().await;
        app.advance(HOUR - Duration::from_millis(1));
        assert!(sent(&app).await.is_empty());
        app.advance(Duration::from_millis(1));
        let alerts: Vec<_> = sent(&app).await.into_iter().map(|(to, payload)| (to, payload["alert"].clone())).collect();
        assert_eq!(alerts, [("a".to_owned(), json!("Hi Kim")), ("b".to_owned(), json!("Hi Max"))]);
        assert_eq!(open_channels(&app).await.len(), 2);
        let pushes = app.master().get("/api/reports/responses/list?start=2024-05-01&end=2024-05-02").await.expect(200);
        assert_eq!(pushes["pushes"].as_array().unwrap().len(), 1);
        assert_eq!(pushes["pushes"][0]["push_type"], "CREATE_AND_SEND_PUSH");
        assert_eq!(pushes["pushes"][0]["group_id"], json!(id));
        let app = app.restart().await;
        app.advance(24 * HOUR);
        assert_eq!(sent(&app).await.len(), 2, "it is sent once");
    })
    .await;
}

#[tokio::test]
async fn whoever_has_moved_since_is_not_taken_for_another() {
    on_each_database(async |app| {
        register(&app, "old-address", true, json!([])).await;
        let recipients = json!([{"ua_address": "old-address", "name": "Kim"}, {"ua_address": "b", "name": "Lou"}]);
        let accepted = app.master().post("/api/create-and-send", greeting(&recipients)).await.expect(202);
        let push = accepted["push_ids"][0].as_str().unwrap();
        app.master().post(&format!("/api/push/{push}/pause"), "").await.expect(200);
        app.step_all().await;
        let open = json!({"open_platform_name": "kiosk", "old_address": "old-address"});
        let channel = json!({"type": "open", "opt_in": true, "address": "new-address", "open": open});
        app.master().post("/api/channels/open", json!({"channel": channel})).await.expect(200);
        app.master().post(&format!("/api/push/{push}/resume"), "").await.expect(200);
        let addresses: Vec<_> = sent(&app).await.into_iter().map(|(address, _)| address).collect();
        assert_eq!(addresses, ["b"]);
    })
    .await;
}
