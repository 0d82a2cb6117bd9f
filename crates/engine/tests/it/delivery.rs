//! What becomes of a push: counts, content, expiry, reachability, and what is left of it in the API.

use std::collections::BTreeSet;
use std::time::Duration;

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::devices::{deliveries, push, reached, register, status};

fn hello(device_types: &Value) -> Value {
    json!({"audience": "all", "device_types": device_types, "notification": {"alert": "Hello"}})
}

#[tokio::test]
async fn a_push_is_counted_by_device_type() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        register(&app, "ios", "A2", json!({})).await;
        register(&app, "android", "A3", json!({})).await;
        let id = push(&app, hello(&json!("all"))).await;
        assert_eq!(status(&app, &id).await["state"], "accepted");
        app.step_all().await;
        let counts = |n: u64| json!({"targeted": n, "delivered": n, "gone": 0, "failed": 0, "expired": 0, "canceled": 0, "pending": 0});
        let done = status(&app, &id).await;
        assert_eq!(done["state"], "done");
        assert_eq!(done["push_type"], "BROADCAST_PUSH");
        assert_eq!(done["platforms"], json!({"ios": counts(2), "android": counts(1)}));
        assert_eq!(app.step_all().await, 0, "a push is delivered once");
    })
    .await;
}

#[tokio::test]
async fn a_push_to_nobody_is_done_at_once() {
    on_each_database(async |app| {
        let id = push(&app, hello(&json!("all"))).await;
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["platforms"]), (&json!("done"), &json!({})));
    })
    .await;
}

#[tokio::test]
async fn the_sandbox_shows_the_request_of_the_provider() {
    on_each_database(async |app| {
        let token = "FE66489F304DC75B8D6E8200DFF8A456E8DAEACEC428B427E9518741C92C6660";
        let channel = register(&app, "ios", token, json!({})).await;
        let body = json!({
            "audience": {"ios_channel": channel}, "device_types": ["ios"],
            "notification": {"alert": "Hello", "ios": {"badge": 3, "extra": {"story": "7"}}},
        });
        let id = push(&app, body).await;
        app.step_all().await;
        let deliveries = deliveries(&app, &id).await;
        let [delivery] = deliveries.as_slice() else { panic!("{deliveries:?}") };
        assert_eq!(delivery["channel_id"], json!(channel));
        assert_eq!(delivery["transport"], "apns");
        assert_eq!(delivery["device_type"], "ios");
        let request = &delivery["request"];
        assert_eq!(request["method"], "POST");
        assert_eq!(request["url"], format!("https://api.push.apple.com/3/device/{token}"));
        assert_eq!(request["headers"]["apns-id"], delivery["delivery_id"]);
        assert_eq!(request["body"]["aps"], json!({"alert": "Hello", "badge": 3}));
        assert_eq!(request["body"]["story"], "7");
        assert_eq!(request["body"]["_"], json!(id));
    })
    .await;
}

/// What is sent again after a crash is shown once, and every time that a schedule comes round is a push of its own.
#[tokio::test]
async fn iphones_show_repeats_of_a_push_once_and_two_pushes_twice() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        register(&app, "ios", "A2", json!({"locale_language": "de"})).await;
        let collapse_ids = async |id: &str| {
            let ids = deliveries(&app, id).await;
            let ids = ids.iter().map(|delivery| delivery["request"]["headers"]["apns-collapse-id"].clone());
            ids.collect::<Vec<_>>()
        };
        let mut body = hello(&json!(["ios"]));
        body["localizations"] = json!([{"language": "de", "notification": {"alert": "Hallo"}}]);
        for _ in 0..2 {
            let id = push(&app, body.clone()).await;
            app.step_all().await;
            assert_eq!(collapse_ids(&id).await, [json!(id), json!(id)]);
        }

        let cadence = json!({"cadence": {"type": "daily", "count": 1}});
        let daily = json!({"scheduled_time": "2024-05-01T13:00:00", "recurring": cadence});
        app.master().post("/api/schedules", json!({"schedule": daily, "push": body})).await.expect(201);
        let mut shown_as = BTreeSet::new();
        for hours in [1, 24] {
            app.advance(Duration::from_secs(hours * 3600));
            app.step_all().await;
            let sandbox = app.master().get("/api/sandbox?limit=2").await.expect(200)["deliveries"].clone();
            for delivery in sandbox.as_array().unwrap() {
                assert_eq!(delivery["request"]["headers"]["apns-collapse-id"], delivery["push_id"]);
                shown_as.insert(delivery["push_id"].to_string());
            }
        }
        assert_eq!(shown_as.len(), 2, "{shown_as:?}");

        body["notification"]["ios"] = json!({"collapse_id": "score"});
        body.as_object_mut().unwrap().remove("localizations");
        let id = push(&app, body).await;
        app.step_all().await;
        assert_eq!(collapse_ids(&id).await, ["score", "score"]);
    })
    .await;
}

#[tokio::test]
async fn each_device_gets_its_language() {
    on_each_database(async |app| {
        let locale = |language: &str, country: &str| json!({"locale_language": language, "locale_country": country});
        let austrian = register(&app, "ios", "A1", locale("de", "AT")).await;
        let german = register(&app, "ios", "A2", locale("de", "DE")).await;
        let swede = register(&app, "ios", "A3", locale("sv", "SE")).await;
        let mut body = hello(&json!(["ios"]));
        body["localizations"] = json!([
            {"language": "de", "notification": {"alert": "Hallo"}},
            {"language": "de", "country": "AT", "notification": {"alert": "Servus"}},
        ]);
        let id = push(&app, body).await;
        app.step_all().await;
        for delivery in deliveries(&app, &id).await {
            let wanted = match delivery["channel_id"].as_str().unwrap() {
                id if id == austrian => "Servus",
                id if id == german => "Hallo",
                id if id == swede => "Hello",
                other => panic!("{other}"),
            };
            assert_eq!(delivery["request"]["body"]["aps"]["alert"], wanted);
        }
        assert_eq!(reached(&app, &id).await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn opting_out_is_respected_unless_the_push_asks_for_everybody() {
    on_each_database(async |app| {
        let opted_out = json!({"opt_in": false, "background": true});
        let android = register(&app, "android", "A1", opted_out.clone()).await;
        let iphone = register(&app, "ios", "A2", opted_out).await;
        register(&app, "ios", "A3", json!({"opt_in": false, "background": false})).await;
        let id = push(&app, hello(&json!("all"))).await;
        let mut everybody = hello(&json!(["android"]));
        everybody["notification"]["android"] = json!({"deliver_to": "all"});
        let everybody = push(&app, everybody).await;
        let silent = json!({"audience": "all", "device_types": ["ios"],
            "notification": {"ios": {"content_available": true, "extra": {"sync": "1"}}}});
        let silent = push(&app, silent).await;
        app.step_all().await;
        assert_eq!(reached(&app, &id).await, BTreeSet::new());
        assert_eq!(reached(&app, &everybody).await, BTreeSet::from([android]));
        assert_eq!(reached(&app, &silent).await, BTreeSet::from([iphone]));
    })
    .await;
}

#[tokio::test]
async fn nothing_is_sent_after_its_expiry() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let mut body = hello(&json!(["ios"]));
        body["options"] = json!({"expiry": 60});
        let late = push(&app, body.clone()).await;
        app.advance(Duration::from_secs(61));
        let in_time = push(&app, body).await;
        app.step_all().await;
        assert_eq!(reached(&app, &late).await.len(), 0);
        assert_eq!(status(&app, &late).await["platforms"]["ios"]["expired"], 1);
        assert_eq!(status(&app, &late).await["state"], "done");
        assert_eq!(reached(&app, &in_time).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_production_app_does_not_pretend() {
    on_each_database(async |app| {
        let production = app.another_app(Mode::Production).await;
        let device = app.nobody().basic(&production.key, &production.app_secret);
        let master = app.nobody().basic(&production.key, &production.master_secret);
        let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "A1".repeat(32)}});
        device.post("/api/channels", channel).await.expect(201);
        let id = master.post("/api/push", hello(&json!(["ios"]))).await.expect(200)["push_ids"][0].clone();
        app.step_all().await;
        let status = master.get(&format!("/api/push/{}", id.as_str().unwrap())).await.expect(200);
        let ios = &status["push"]["platforms"]["ios"];
        assert_eq!((&ios["failed"], &ios["delivered"]), (&json!(1), &json!(0)));
        assert!(ios["reason"].as_str().unwrap().contains("no credentials"), "{ios}");
        assert_eq!(master.get("/api/sandbox").await.expect(200)["deliveries"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn a_device_that_leaves_in_between_is_counted_as_gone() {
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1", json!({})).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        let worker = app.engine().worker();
        assert!(worker.step().await.unwrap(), "the audience is resolved");
        let uninstall = json!([{"channel_id": channel, "device_type": "ios"}]);
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        app.step_all().await;
        let ios = status(&app, &id).await["platforms"]["ios"].clone();
        assert_eq!((&ios["targeted"], &ios["gone"], &ios["delivered"]), (&json!(1), &json!(1), &json!(0)));
    })
    .await;
}

#[tokio::test]
async fn accepted_pushes_survive_a_restart_at_every_step() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        let mut app = app.restart().await;
        for _ in 0..2 {
            app.engine().worker().step().await.unwrap();
            app = app.restart().await;
        }
        app.step_all().await;
        assert_eq!(reached(&app, &id).await.len(), 1);
        assert_eq!(status(&app, &id).await["state"], "done");
    })
    .await;
}

#[tokio::test]
async fn a_message_center_push_carries_its_message() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let mut body = hello(&json!(["ios"]));
        body["message"] = json!({"title": "News", "body": "<p>Hi</p>"});
        let answer = app.master().post("/api/push", &body).await.expect(200);
        let message = answer["message_ids"][0].as_str().unwrap();
        assert_eq!(message.len(), 22);
        app.step_all().await;
        let delivered = deliveries(&app, answer["push_ids"][0].as_str().unwrap()).await;
        assert_eq!(delivered[0]["request"]["body"]["_uamid"], json!(message));
        body["device_types"] = json!(["ios", "wns"]);
        let refused = app.master().post("/api/push", &body).await.expect(400);
        assert_eq!(refused["details"]["path"], "device_types[1]");
    })
    .await;
}

#[tokio::test]
async fn the_number_of_recipients_can_be_limited() {
    on_each_database(async |app| {
        for i in 0..4 {
            register(&app, "ios", &format!("A{i}"), json!({})).await;
            register(&app, "android", &format!("B{i}"), json!({})).await;
        }
        let mut body = hello(&json!("all"));
        body["options"] = json!({"audience_limits": {"max_recipients": 5}});
        let id = push(&app, body).await;
        app.step_all().await;
        assert_eq!(reached(&app, &id).await.len(), 5);
    })
    .await;
}

#[tokio::test]
async fn landing_pages_that_come_in_a_push_are_hosted() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let mut body = hello(&json!(["ios"]));
        let page = json!({"body": "PGgxPkhpPC9oMT4=", "content_type": "text/html", "content_encoding": "base64"});
        body["notification"]["actions"] = json!({"open": {"type": "landing_page", "content": page}});
        let answer = app.master().post("/api/push", &body).await.expect(200);
        let [url] = answer["content_urls"].as_array().unwrap().as_slice() else { panic!("{answer}") };
        app.step_all().await;
        let delivered = deliveries(&app, answer["push_ids"][0].as_str().unwrap()).await;
        assert_eq!(delivered[0]["request"]["body"]["^p"]["url"], *url);
        let path = url.as_str().unwrap().strip_prefix(&app.url("")).unwrap();
        let reply = app.nobody().get(path).await;
        assert_eq!((reply.status.as_u16(), reply.text()), (200, "<h1>Hi</h1>"));
        assert_eq!(reply.header("content-type"), Some("text/html"));
        assert!(reply.header("content-security-policy").unwrap().starts_with("sandbox"));
        app.nobody().get(&path.replace("/0", "/1")).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn a_redacted_payload_is_gone_when_the_push_is_done() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let page = json!({"body": "<h1>Classified</h1>", "content_type": "text/html"});
        let mut body = hello(&json!(["ios"]));
        body["notification"] =
            json!({"alert": "Classified", "actions": {"open": {"type": "landing_page", "content": page}}});
        body["options"] = json!({"redact_payload": true});
        let answer = app.master().post("/api/push", &body).await.expect(200);
        let url = answer["content_urls"][0].as_str().unwrap().to_owned();
        let path = url.strip_prefix(&app.url("")).unwrap();
        let mut to_nobody = body.clone();
        to_nobody["audience"] = json!({"tag": "nobody has it"});
        push(&app, to_nobody).await;
        assert_eq!(app.nobody().get(path).await.status, 200, "needed until it is sent");
        assert_eq!(kept(&app).await, (2, 0), "only the pushes themselves have it");
        app.step_all().await;
        assert_eq!(kept(&app).await, (0, 0));
        app.nobody().get(path).await.expect(404);
        let id = answer["push_ids"][0].as_str().unwrap();
        let done = status(&app, id).await;
        assert_eq!((&done["state"], &done["platforms"]["ios"]["delivered"]), (&json!("done"), &json!(1)));
        // The sandbox is there to be looked at.
        assert_eq!(deliveries(&app, id).await[0]["request"]["body"]["aps"]["alert"], "Classified");
    })
    .await;
}

/// How many pushes and how many log records contain the word.
async fn kept(app: &TestApp) -> (usize, usize) {
    let read = app.engine().store().read(|tx| {
        let pushes: Vec<Option<String>> = tx.query("select payload from push", &[], |row| row.get(0))?;
        let records: Vec<Vec<u8>> = tx.query("select body from log", &[], |row| row.get(0))?;
        Ok::<_, store::Error>((pushes, records))
    });
    let (pushes, records) = read.await.unwrap();
    let pushes = pushes.iter().flatten().filter(|payload| payload.contains("Classified"));
    let records = records.iter().filter(|body| body.windows(10).any(|some| some == b"Classified"));
    (pushes.count(), records.count())
}

#[tokio::test]
async fn the_sandbox_can_be_waited_for() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        let master = app.master();
        let path = format!("/api/sandbox?push_id={id}&wait=30");
        let (reply, _) = tokio::join!(master.get(&path), app.step_all());
        assert_eq!(reply.expect(200)["deliveries"].as_array().unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_profile_that_cannot_be_read_fails_nobody_else() {
    on_each_database(async |app| {
        let by = json!({"android": {"delivery_type": "fcm"}});
        let broken = register(&app, "android", "A1", by.clone()).await;
        register(&app, "android", "A2", by).await;
        let app_id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let spoil = "update channel set profile = 'spoiled' where app = $1 and address = 'A1'";
        let write = app.engine().store().write(app_id, move |tx| tx.execute(spoil, &[app_id.into()]));
        assert_eq!(write.await.unwrap_or_else(|error: store::Error| panic!("{error}")), 1);
        let id = push(&app, hello(&json!(["android"]))).await;
        app.step_all().await;
        let done = status(&app, &id).await;
        let (total, reason) = (&done["total"], &done["platforms"]["android"]["reason"]);
        assert_eq!((&total["delivered"], &total["failed"]), (&json!(1), &json!(1)), "{done}");
        assert!(reason.as_str().unwrap().contains("cannot be read"), "{done}");
        assert!(!reached(&app, &id).await.contains(&broken));
    })
    .await;
}
