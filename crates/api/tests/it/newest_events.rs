//! The newest events first: the same as the stream, backwards, in pages of any size.

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

async fn register(app: &TestApp, n: usize) -> String {
    let channel = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": format!("token-{n}"),
                                     "tags": [format!("t{n}")]}});
    app.device().post("/api/channels", channel).await.expect(201)["channel_id"].as_str().unwrap().to_owned()
}

async fn streamed(app: &TestApp, query: &str) -> Vec<Value> {
    let reply = app.master().get(&format!("/api/events?start=earliest&follow=false&{query}")).await;
    reply.text().lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// All pages of a size, put together.
async fn paged(app: &TestApp, query: &str, limit: usize) -> Vec<Value> {
    let (mut all, mut before) = (Vec::new(), String::new());
    loop {
        let page = app.master().get(&format!("/api/events/newest?limit={limit}{before}&{query}")).await.expect(200);
        let events = page["events"].as_array().unwrap();
        assert!(events.len() <= limit);
        all.extend(events.iter().cloned());
        let Some(next) = page["before"].as_str() else { return all };
        before = format!("&before={next}");
    }
}

#[tokio::test]
async fn pages_of_any_size_are_the_stream_backwards() {
    on_each_database(async |app| {
        assert_eq!(paged(&app, "", 50).await, [Value::Null; 0]);
        let mut channels = Vec::new();
        for n in 0..5 {
            channels.push(register(&app, n).await);
        }
        let mut of_push = String::new();
        for alert in ["one", "two"] {
            let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}});
            let answer = app.master().post("/api/push", push).await.expect(200);
            of_push = format!("push={}", answer["push_ids"][0].as_str().unwrap());
            app.step_all().await;
        }
        let device = json!({"channel_id": channels[0], "device_type": "android"});
        app.master().post("/api/channels/uninstall", device).await.expect(202);
        let of_one = format!("channel={}", channels[3]);
        for query in ["", "types=SEND", "types=PUSH_BODY,UNINSTALL", "types=CUSTOM", &of_one, &of_push] {
            let mut expected = streamed(&app, query).await;
            expected.reverse();
            assert_eq!(expected.is_empty(), query == "types=CUSTOM", "{query}");
            assert!(query != of_push || expected.len() == 6, "its body and five sends: {expected:?}");
            for limit in [1, 2, 3, 7, 1000] {
                assert_eq!(paged(&app, query, limit).await, expected, "{query} by {limit}");
            }
        }
        for wrong in [
            "before=x",
            "types=NOTHING",
            "push=x",
            "channel=x",
            "channel=00000000-0000-4000-8000-000000000000",
            "limit=0",
        ] {
            app.master().get(&format!("/api/events/newest?{wrong}")).await.expect(400);
        }
        app.device().get("/api/events/newest").await.expect(401);
        let other = app.another_app(Mode::Production).await;
        let theirs = app.nobody().basic(&other.key, &other.master_secret).get("/api/events/newest").await.expect(200);
        assert_eq!(theirs["events"], json!([]));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn channels_are_found_by_their_address() {
    on_each_database(async |app| {
        let android = register(&app, 1).await;
        let token = "ABCDEF0123456789";
        let ios = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": token}});
        let ios = app.device().post("/api/channels", ios).await.expect(201)["channel_id"].clone();
        let kiosk = json!({"channel": {"type": "open", "opt_in": true, "address": "token-1",
                                       "open": {"open_platform_name": "kiosk"}}});
        app.master().post("/api/channels/open", kiosk).await.expect(200);
        let found = async |address: &str| -> Vec<Value> {
            let found = app.master().get(&format!("/api/channels?address={address}")).await.expect(200);
            found["channels"].as_array().unwrap().iter().map(|channel| channel["channel_id"].clone()).collect()
        };
        assert_eq!(found(token).await, std::slice::from_ref(&ios));
        assert_eq!(found(&token.to_lowercase()).await, [ios]);
        let same = found("token-1").await;
        assert_eq!((same.len(), &same[0]), (2, &json!(android)), "one of each device type");
        assert_eq!(found("token").await, [Value::Null; 0]);
        app.master().get("/api/channels?address=%00").await.expect(400);
        let other = app.another_app(Mode::Production).await;
        let other = app.nobody().basic(&other.key, &other.master_secret);
        assert_eq!(other.get(&format!("/api/channels?address={token}")).await.expect(200)["channels"], json!([]));
        app.stop().await;
    })
    .await;
}
