//! Whom pushes to uploaded lists and to lifecycle lists reach.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn register(app: &TestApp, device_type: &str, address: &str, user: Option<&str>) -> String {
    let mut channel = json!({"device_type": device_type, "opt_in": true, "push_address": address});
    if let Some(user) = user {
        channel["named_user_id"] = json!(user);
    }
    let reply = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
    reply["channel_id"].as_str().unwrap().to_owned()
}

async fn give_to(app: &TestApp, channel: &str, user: &str) {
    let body = json!({"channel": {"device_type": "ios", "named_user_id": user}});
    app.device().put(&format!("/api/channels/{channel}"), body).await.expect(200);
}

async fn send(app: &TestApp, audience: Value, more: Value) -> String {
    let mut push = json!({"audience": audience, "device_types": "all", "notification": {"alert": "x"}});
    push.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let accepted = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    accepted["push_ids"][0].as_str().unwrap().to_owned()
}

/// The channels that a push to an audience reaches.
async fn reached(app: &TestApp, audience: Value) -> BTreeSet<String> {
    let id = send(app, audience, json!({})).await;
    let found = app.master().get(&format!("/api/sandbox?limit=1000&push_id={id}")).await.expect(200);
    let channels = found["deliveries"].as_array().unwrap().iter();
    channels.map(|delivery| delivery["channel_id"].as_str().unwrap().to_owned()).collect()
}

/// Makes rows the content of a list without running its job.
async fn store(app: &TestApp, list: &str, rows: &[(&str, &str)]) {
    let file: String = rows.iter().map(|(kind, identifier)| format!("{kind},{identifier}\n")).collect();
    app.master().put(&format!("/api/lists/{list}/csv"), file).await.expect(202);
}

/// Makes rows the content of a list and puts everybody on it.
async fn upload(app: &TestApp, list: &str, rows: &[(&str, &str)]) {
    store(app, list, rows).await;
    app.step_all().await;
}

async fn channel_count(app: &TestApp, list: &str) -> u64 {
    app.master().get(&format!("/api/lists/{list}")).await.expect(200)["channel_count"].as_u64().unwrap()
}

fn set(channels: &[&String]) -> BTreeSet<String> {
    channels.iter().map(|channel| (*channel).clone()).collect()
}

#[tokio::test]
async fn a_list_reaches_its_channels_and_the_channels_of_its_users() {
    on_each_database(async |app| {
        let vip = || json!({"static_list": "vip"});
        let phone = register(&app, "ios", "A1", None).await;
        let of_kim = register(&app, "ios", "A2", Some("kim")).await;
        let other = register(&app, "ios", "A3", None).await;
        let later = register(&app, "ios", "A4", None).await;
        let android = register(&app, "android", "B1", None).await;
        app.master().post("/api/lists", json!({"name": "vip"})).await.expect(201);
        assert_eq!(reached(&app, vip()).await, set(&[]));
        // The last two mean nobody: a type the channel does not have, and a channel that does not exist.
        let nobody = "00000000-0000-4000-8000-000000000000";
        let rows = [("ios_channel", phone.as_str()), ("named_user", "kim"), ("named_user", "jo"), ("alias", "kim")];
        upload(&app, "vip", &[&rows[..], &[("ios_channel", &android), ("web_channel", nobody)]].concat()).await;
        assert_eq!(reached(&app, vip()).await, set(&[&phone, &of_kim]));
        assert_eq!(channel_count(&app, "vip").await, 2);
        let not_vip = json!({"and": [{"not": vip()}, {"tag": "ios", "group": "ua_nothing"}]});
        assert_eq!(reached(&app, not_vip).await, set(&[]));
        assert_eq!(reached(&app, json!({"not": vip()})).await, set(&[&other, &later, &android]));

        // Users bring the list to channels they get later, and take it with them.
        give_to(&app, &later, "jo").await;
        assert_eq!(reached(&app, vip()).await, set(&[&phone, &of_kim, &later]));
        give_to(&app, &of_kim, "somebody else").await;
        assert_eq!(reached(&app, vip()).await, set(&[&phone, &later]));
        give_to(&app, &of_kim, "kim").await;

        let app = app.restart().await;
        assert_eq!(reached(&app, vip()).await, set(&[&phone, &of_kim, &later]));
        let gone = json!({"channel_id": phone, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", gone).await.expect(202);
        assert_eq!(reached(&app, vip()).await, set(&[&of_kim, &later]));
        assert_eq!(channel_count(&app, "vip").await, 2);

        upload(&app, "vip", &[("named_user", "jo"), ("ios_channel", &other), ("android_channel", &android)]).await;
        assert_eq!(reached(&app, vip()).await, set(&[&later, &other, &android]));
        // A channel that is on the list itself stays on it when its user is not any more.
        upload(&app, "vip", &[("ios_channel", &later), ("ios_channel", &other)]).await;
        assert_eq!(reached(&app, vip()).await, set(&[&later, &other]));
        let app = app.restart().await;
        assert_eq!(reached(&app, vip()).await, set(&[&later, &other]));
        assert_eq!(reached(&app, json!({"static_list": ["nobody-has-this", "vip"]})).await, set(&[&later, &other]));
    })
    .await;
}

#[tokio::test]
async fn rows_of_several_types_for_one_channel_mean_it_by_the_type_it_has() {
    on_each_database(async |app| {
        let vip = || json!({"static_list": "vip"});
        let ios = register(&app, "ios", "A1", None).await;
        let android = register(&app, "android", "B1", None).await;
        let gone = register(&app, "ios", "A2", None).await;
        let nobody = "00000000-0000-4000-8000-000000000000";
        let uninstall = json!({"channel_id": gone, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        app.master().post("/api/lists", json!({"name": "vip"})).await.expect(201);
        let mut rows = Vec::new();
        for kind in ["amazon_channel", "android_channel", "ios_channel", "open_channel"] {
            rows.extend([&ios, &android, &gone, nobody].map(|id| (kind, id)));
        }
        upload(&app, "vip", &rows).await;
        assert_eq!(reached(&app, vip()).await, set(&[&ios, &android]));
        // By the types they do not have, they are not on the list any more.
        let wrong = [("ios_channel", android.as_str()), ("android_channel", &ios), ("web_channel", &ios)];
        upload(&app, "vip", &wrong).await;
        assert_eq!(reached(&app, vip()).await, set(&[]));
    })
    .await;
}

#[tokio::test]
async fn a_deleted_list_reaches_nobody_at_once_and_its_name_stays_used() {
    on_each_database(async |app| {
        let phone = register(&app, "ios", "A1", Some("kim")).await;
        app.master().post("/api/lists", json!({"name": "vip"})).await.expect(201);
        upload(&app, "vip", &[("named_user", "kim"), ("ios_channel", &phone)]).await;
        let audience = || json!({"static_list": "vip"});
        let push = json!({"audience": audience(), "device_types": "all", "notification": {"alert": "x"}});
        app.master().delete("/api/lists/vip").await.expect(204);
        // The oldest job is first: the push is resolved before or after the list has been taken from everybody.
        let accepted = app.master().post("/api/push", push).await.expect(200);
        let status = format!("/api/push/{}", accepted["push_ids"][0].as_str().unwrap());
        let app = app.restart().await;
        app.step_all().await;
        assert_eq!(app.master().get(&status).await.expect(200)["push"]["platforms"], json!({}));
        assert_eq!(testkit::rows::row_counts(app.engine().store()).await["list_member"], 0);
        assert_eq!(reached(&app, audience()).await, set(&[]));
        assert_eq!(reached(&app, json!({"not": audience()})).await, set(&[&phone]));
        let app = app.restart().await;
        assert_eq!(reached(&app, json!({"not": audience()})).await, set(&[&phone]));
    })
    .await;
}

#[tokio::test]
async fn uploads_that_follow_each_other_closely_leave_the_last_one() {
    on_each_database(async |app| {
        let phones = [
            register(&app, "ios", "A0", Some("u0")).await,
            register(&app, "ios", "A1", Some("u1")).await,
            register(&app, "ios", "A2", Some("u2")).await,
        ];
        app.master().post("/api/lists", json!({"name": "vip"})).await.expect(201);
        let many: Vec<String> = (0..12_000).map(|n| format!("x{n}")).collect();
        let mut rows: Vec<(&str, &str)> = many.iter().map(|user| ("named_user", user.as_str())).collect();
        rows.extend([("named_user", "u0"), ("ios_channel", &phones[1])]);
        store(&app, "vip", &rows).await;
        // The job has got halfway when the next upload replaces what it applies.
        assert!(app.engine().worker().step().await.unwrap());
        let app = app.restart().await;
        store(&app, "vip", &[("named_user", "u1")]).await;
        upload(&app, "vip", &[("named_user", "u2")]).await;
        assert_eq!(reached(&app, json!({"static_list": "vip"})).await, set(&[&phones[2]]));
        assert_eq!(testkit::rows::row_counts(app.engine().store()).await["list_member"], 1);
        assert_eq!(channel_count(&app, "vip").await, 1);
    })
    .await;
}

#[tokio::test]
async fn lifecycle_lists_follow_the_calendar() {
    on_each_database(async |app| {
        let list = |name: &str| json!({ "static_list": format!("ua_{name}") });
        let old = register(&app, "ios", "A1", None).await;
        app.advance(DAY);
        let new = register(&app, "android", "B1", None).await;
        let other = register(&app, "wns", "C1", None).await;
        // Today counts in addition to the days a list looks back.
        assert_eq!(reached(&app, list("first_app_open_last_1_day")).await, set(&[&old, &new, &other]));
        app.advance(DAY);
        assert_eq!(reached(&app, list("first_app_open_last_1_day")).await, set(&[&new, &other]));
        assert_eq!(reached(&app, list("has_not_opened_last_1_day")).await, set(&[&old]));
        assert_eq!(reached(&app, list("app_open_last_7_days")).await, set(&[&old, &new, &other]));
        assert_eq!(reached(&app, list("uninstalls_last_7_days")).await, set(&[]));
        assert_eq!(reached(&app, list("direct_open_last_30_days")).await, set(&[]));
        assert_eq!(reached(&app, list("no_such_list")).await, set(&[]));

        // Everybody has been sent something. After a month of silence that is forgotten.
        let app = app.restart().await;
        assert_eq!(channel_count(&app, "ua_message_sent_last_30_days").await, 3);
        app.advance(DAY * 31);
        app.step_all().await;
        assert_eq!(channel_count(&app, "ua_message_sent_last_30_days").await, 0);
        assert_eq!(testkit::rows::row_counts(app.engine().store()).await["term_set"], 0, "old days are dropped");
        assert_eq!(reached(&app, list("message_sent_last_30_days")).await, set(&[]));
        assert_eq!(reached(&app, list("first_app_open_last_30_days")).await, set(&[]));
        assert_eq!(reached(&app, list("has_not_opened_last_30_days")).await, set(&[&old, &new, &other]));

        send(&app, json!({ "channel": old }), json!({})).await;
        app.advance(DAY * 7);
        let message = json!({"title": "t", "body": "b"});
        send(&app, json!({"channel": [new, other]}), json!({ "message": message })).await;
        let counts = async |app: &TestApp| {
            let mut counts = Vec::new();
            for name in ["message_sent_last_1_day", "message_sent_last_7_days", "message_center_sent_last_7_days"] {
                counts.push(channel_count(app, &format!("ua_{name}")).await);
            }
            counts
        };
        // Windows gets the notification without the message.
        assert_eq!(counts(&app).await, [2, 3, 1]);
        let gone = json!({"channel_id": new, "device_type": "android"});
        app.master().post("/api/channels/uninstall", gone).await.expect(202);
        assert_eq!(counts(&app).await, [1, 2, 0]);
        let app = app.restart().await;
        assert_eq!(counts(&app).await, [1, 2, 0]);
        app.advance(DAY);
        assert_eq!(counts(&app).await, [1, 1, 0]);
    })
    .await;
}
