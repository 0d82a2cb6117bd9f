//! Previews of pushes: the very requests that the sandbox gets later, without sending anything.

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;

async fn preview(app: &TestApp, body: Value) -> Value {
    let answer = app.master().post("/api/push/preview", body).await.expect(200);
    assert_eq!(answer["problems"], json!([]));
    answer["previews"].clone()
}

fn of_type<'p>(previews: &'p Value, device_type: &str) -> Vec<&'p Value> {
    previews.as_array().unwrap().iter().filter(|preview| preview["device_type"] == device_type).collect()
}

fn push() -> Value {
    json!({
        "audience": "all", "device_types": ["ios", "android", "web", "amazon"],
        "notification": {
            "alert": "A storm comes", "ios": {"title": "Weather", "badge": "+1"},
            "interactive": {"type": "ua_yes_no_foreground"},
        },
        "localizations": [{"language": "de", "notification": {"alert": "Ein Sturm zieht auf"}}],
    })
}

#[tokio::test]
async fn every_device_type_is_previewed_with_every_content() {
    on_each_database(async |app| {
        let previews = preview(&app, json!({"push": push()})).await;
        assert_eq!(previews.as_array().unwrap().len(), 8);
        let [ios, german] = of_type(&previews, "ios")[..] else { panic!("two contents") };
        assert_eq!((&ios["locale"], &german["locale"]["language"]), (&Value::Null, &json!("de")));
        assert_eq!((&ios["shown"]["title"], &ios["shown"]["body"]), (&json!("Weather"), &json!("A storm comes")));
        assert_eq!(ios["shown"]["buttons"][0], json!({"id": "yes", "label": "Yes"}));
        assert_eq!(
            (&german["shown"]["title"], &german["shown"]["body"]),
            (&Value::Null, &json!("Ein Sturm zieht auf"))
        );
        let body = &ios["request"]["body"];
        assert_eq!(body["aps"]["alert"], json!({"title": "Weather", "body": "A storm comes"}));
        assert_eq!(ios["bytes"], json!(body.to_string().len()), "{body}");
        assert_eq!((&ios["limit"], &ios["transport"]), (&json!(4096), &json!("apns")));
        let web = of_type(&previews, "web")[0];
        assert_eq!((&web["shown"]["body"], &web["transport"]), (&json!("A storm comes"), &json!("webpush")));

        let one = preview(&app, json!({"push": push(), "locale": "de-AT"})).await;
        assert_eq!(one.as_array().unwrap().len(), 4);
        assert!(one.as_array().unwrap().iter().all(|it| it["locale"]["language"] == "de"), "{one}");
        let other = preview(&app, json!({"push": push(), "locale": "fr"})).await;
        assert!(other.as_array().unwrap().iter().all(|it| it["locale"].is_null()), "{other}");
        app.step_all().await;
        assert_eq!(app.master().get("/api/pushes").await.expect(200)["pushes"], json!([]), "nothing is sent");
    })
    .await;
}

#[tokio::test]
async fn the_preview_for_a_channel_is_what_it_then_gets() {
    on_each_database(async |app| {
        let channel = json!({"device_type": "ios", "opt_in": true, "push_address": "AB01", "ios": {"badge": 6},
                             "locale_language": "de", "locale_country": "AT"});
        let channel = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        let crowd = Crowd::register(&app, &[("tv-1", "open::tv"), ("android", "android")]).await;
        let mut push = push();
        push["device_types"] = json!(["ios", "android", "open::tv"]);
        push["localizations"][0]["notification"]["ios"] = json!({"badge": "+1"});
        let mut previewed = Vec::new();
        for id in [channel["channel_id"].as_str().unwrap(), crowd.id("tv-1"), crowd.id("android")] {
            let one = preview(&app, json!({"push": push, "channel": id})).await;
            assert_eq!(one.as_array().unwrap().len(), 1);
            previewed.push((id.to_owned(), one[0].clone()));
        }
        assert_eq!(previewed[0].1["shown"]["body"], "Ein Sturm zieht auf");
        assert_eq!(previewed[0].1["request"]["body"]["aps"]["badge"], 7, "one more than the device has");
        let sent = app.master().post("/api/push", &push).await.expect(200)["push_ids"][0].clone();
        app.step_all().await;
        let sandbox = app.master().get("/api/sandbox").await.expect(200);
        for delivery in sandbox["deliveries"].as_array().unwrap() {
            let (_, preview) = previewed.iter().find(|(id, _)| delivery["channel_id"] == **id).unwrap();
            assert_eq!(preview["transport"], delivery["transport"]);
            assert_eq!(shape(&preview["request"]), shape(&delivery["request"]));
        }
        assert_eq!(sandbox["deliveries"].as_array().unwrap().len(), 3, "{sent}");
    })
    .await;
}

/// The request without what differs from push to push: ids, times, and what is made of them.
fn shape(request: &Value) -> Value {
    fn without_ids(value: &Value) -> Value {
        match value {
            Value::Object(object) => {
                let own = [
                    "_",
                    "push_id",
                    "send_id",
                    "apns-id",
                    "apns-collapse-id",
                    "com.urbanairship.metadata",
                    "com.urbanairship.push.PUSH_ID",
                    "com.urbanairship.push.CANONICAL_PUSH_ID",
                ];
                let kept = object.iter().filter(|(key, _)| !own.contains(&key.as_str()));
                kept.map(|(key, value)| (key.clone(), without_ids(value))).collect()
            }
            Value::Array(items) => items.iter().map(without_ids).collect(),
            other => other.clone(),
        }
    }
    without_ids(request)
}

#[tokio::test]
async fn problems_are_told_beside_the_previews_and_what_devices_do_not_get() {
    on_each_database(async |app| {
        let mut large = push();
        large["notification"]["alert"] = json!("x".repeat(5000));
        large["device_types"] = json!(["ios", "open::unheard"]);
        let answer = app.master().post("/api/push/preview", json!({ "push": large })).await.expect(200);
        let paths: Vec<_> = answer["problems"].as_array().unwrap().iter().map(|it| it["path"].clone()).collect();
        assert_eq!(paths, ["push.notification.alert", "push.device_types[1]"]);
        let [ios, _] = of_type(&answer["previews"], "ios")[..] else { panic!("two contents") };
        assert!(ios["bytes"].as_u64() > ios["limit"].as_u64(), "{ios}");

        let message = json!({"title": "Inbox", "body": "<p>"});
        let banner = json!({"alert": "Look", "display_type": "banner"});
        let rich = json!({"audience": "all", "device_types": "all", "notification": {"alert": "x"},
                          "message": message, "in_app": banner});
        let previews = preview(&app, json!({ "push": rich })).await;
        let left_out = |device_type: &str| -> Vec<Value> {
            let parts = of_type(&previews, device_type)[0]["left_out"].as_array().unwrap().clone();
            parts.into_iter().map(|one| one["part"].clone()).collect()
        };
        assert_eq!(left_out("ios"), Vec::<Value>::new());
        assert_eq!(left_out("web"), ["in_app"]);
        assert_eq!(left_out("wns"), ["in_app", "message"]);
        let banner_only = json!({"audience": "all", "device_types": "all", "in_app": banner});
        let previews = preview(&app, json!({ "push": banner_only })).await;
        let web = of_type(&previews, "web")[0];
        assert_eq!((&web["request"], &web["bytes"]), (&Value::Null, &Value::Null));
        assert_eq!(web["reason"], "The push has nothing to say on this platform.");
    })
    .await;
}

#[tokio::test]
async fn wrong_questions_and_channels_of_others_are_refused() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        for (body, path) in [
            (json!({}), "push"),
            (json!({"push": {"audience": "all", "device_types": "all"}}), "push.notification"),
            (json!({"push": push(), "locale": "german"}), "locale"),
            (json!({"push": push(), "channel": "x"}), "channel"),
            (json!({"push": push(), "channel": crowd.id("a"), "locale": "de"}), "locale"),
            (json!({"push": push(), "other": 1}), "other"),
        ] {
            let refused = app.master().post("/api/push/preview", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{body}");
        }
        let of_one = json!({"push": push(), "channel": crowd.id("a")});
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        stranger.post("/api/push/preview", &of_one).await.expect(404);
        app.device().post("/api/push/preview", &of_one).await.expect(401);
        crowd.uninstall(&app, "a").await;
        let refused = app.master().post("/api/push/preview", &of_one).await.expect(400);
        assert_eq!(refused["details"]["path"], "channel");
    })
    .await;
}
