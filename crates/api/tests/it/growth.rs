//! What devices can create is bounded, for each app alone, and servers are not limited by it.

use std::time::Duration;

use engine::{GrowthLimits, Quota};
use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{Caller, Reply};
use testkit::store::databases;

const MINUTE: Duration = Duration::from_secs(60);

async fn on_each(limits: GrowthLimits, test: impl AsyncFn(&TestApp)) {
    for database in databases() {
        let app = Box::pin(TestApp::with_growth(database, limits)).await;
        Box::pin(test(&app)).await;
        Box::pin(app.stop()).await;
    }
}

async fn register(caller: &Caller, tags: &[String]) -> Reply {
    let channel = json!({"device_type": "ios", "opt_in": true, "set_tags": true, "tags": tags});
    caller.post("/api/channels", json!({ "channel": channel })).await
}

fn tags(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|n| format!("{prefix}{n}")).collect()
}

/// Checks that a rate is refused, and that the caller may come back.
#[track_caller]
fn expect_too_fast(reply: &Reply, setting: &str) {
    let refused = reply.expect(429);
    assert_eq!(refused["error_code"], 42901);
    assert!(refused["error"].as_str().unwrap().contains(setting), "{refused}");
    let seconds: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
}

/// Checks that a total is refused with a sentence that names the setting.
#[track_caller]
fn expect_full(reply: &Reply, setting: &str) {
    let refused = reply.expect(403);
    assert!(refused["error"].as_str().unwrap().contains(&format!("'{setting}'")), "{refused}");
}

fn id(reply: &Reply) -> String {
    let body: Value = reply.json();
    body["channel_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn registrations_by_devices_have_a_rate_and_a_total() {
    let channels = Quota { per_minute: 3, in_all: 5 };
    on_each(GrowthLimits { channels, ..GrowthLimits::NONE }, async |app| {
        let first = register(&app.device(), &[]).await;
        first.expect(201);
        for _ in 0..2 {
            register(&app.device(), &[]).await.expect(201);
        }
        expect_too_fast(&register(&app.device(), &[]).await, "device_channels_per_minute");
        // What exists is updated, servers register, and other apps have their own.
        let update = json!({"channel": {"device_type": "ios", "opt_in": false}});
        app.device().put(&format!("/api/channels/{}", id(&first)), &update).await.expect(200);
        for _ in 0..4 {
            register(&app.master(), &[]).await.expect(201);
        }
        let other = app.another_app(Mode::Development).await;
        register(&app.nobody().basic(&other.key, &other.app_secret), &[]).await.expect(201);

        app.advance(MINUTE);
        for _ in 0..2 {
            register(&app.device(), &[]).await.expect(201);
        }
        expect_full(&register(&app.device(), &[]).await, "device_channels");
        app.advance(MINUTE);
        expect_full(&register(&app.device(), &[]).await, "device_channels");
        register(&app.master(), &[]).await.expect(201);
        app.device().put(&format!("/api/channels/{}", id(&first)), &update).await.expect(200);
        let metrics = app.operator().get("/metrics").await;
        for limit in ["minute", "total"] {
            let line = format!("aerogram_growth_refused_total{{what=\"channels\",limit=\"{limit}\"}}");
            assert!(metrics.text().contains(&line), "{limit}");
        }
    })
    .await;
}

#[tokio::test]
async fn new_tags_of_devices_have_a_rate_and_a_total_and_known_ones_are_free() {
    let tag_quota = Quota { per_minute: 10, in_all: 15 };
    on_each(GrowthLimits { tags: tag_quota, ..GrowthLimits::NONE }, async |app| {
        register(&app.master(), &tags("of-server-", 100)).await.expect(201);
        register(&app.device(), &tags("of-server-", 100)).await.expect(201);
        let device = register(&app.device(), &tags("a", 10)).await;
        device.expect(201);
        expect_too_fast(&register(&app.device(), &tags("b", 1)).await, "device_tags_per_minute");
        // Refused as a whole: there is neither a channel nor a tag of it.
        let listed = app.device().get("/api/tags").await.expect(200);
        assert!(!listed["tags"].as_array().unwrap().contains(&json!("b0")), "{listed}");
        register(&app.device(), &tags("a", 10)).await.expect(201);

        app.advance(MINUTE);
        register(&app.device(), &tags("b", 5)).await.expect(201);
        expect_full(&register(&app.device(), &tags("c", 1)).await, "device_tags");
        let tagging = json!({"audience": {"ios_channel": id(&device)}, "add": {"device": ["c0"]}});
        expect_full(&app.device().post("/api/channels/tags", &tagging).await, "device_tags");
        expect_full(&app.device().put("/api/tags/c0", "").await, "device_tags");
        app.master().post("/api/channels/tags", &tagging).await.expect(200);
        app.device().post("/api/channels/tags", &tagging).await.expect(200);
        register(&app.master(), &tags("d", 50)).await.expect(201);
    })
    .await;
}

#[tokio::test]
async fn tag_groups_properties_and_users_of_devices_are_bounded() {
    let two = Quota { per_minute: u64::MAX, in_all: 2 };
    let properties = Quota { per_minute: u64::MAX, in_all: 20 };
    let limits = GrowthLimits { tag_groups: two, named_users: two, properties, ..GrowthLimits::NONE };
    on_each(limits, async |app| {
        let device = id(&register(&app.device(), &[]).await);
        let tag = async |caller: &Caller, group: &str, tag: &str| {
            let body = json!({"audience": {"ios_channel": device}, "add": {group: [tag]}});
            caller.post("/api/channels/tags", body).await
        };
        for name in ["a", "b", "c"] {
            tag(&app.device(), "one", name).await.expect(200);
        }
        tag(&app.device(), "two", "a").await.expect(200);
        expect_full(&tag(&app.device(), "three", "a").await, "device_tag_groups");
        tag(&app.device(), "one", "d").await.expect(200);
        tag(&app.master(), "three", "a").await.expect(200);
        tag(&app.device(), "three", "b").await.expect(200);

        let attribute = json!({"attributes": [{"action": "set", "key": "a", "value": 1}]});
        let name = async |caller: &Caller, user: &str| {
            caller.post(&format!("/api/named_users/{user}/attributes"), &attribute).await
        };
        for user in ["kim", "sam", "kim"] {
            name(&app.device(), user).await.expect(200);
        }
        expect_full(&name(&app.device(), "lee").await, "device_named_users");
        name(&app.master(), "lee").await.expect(200);
        name(&app.device(), "lee").await.expect(200);

        let mut refused = 0;
        for n in 0..25 {
            let ios = json!({"app_version": format!("1.{n}")});
            let channel = json!({"device_type": "ios", "opt_in": true, "app_version": format!("1.{n}"), "ios": ios});
            let reply = app.device().put(&format!("/api/channels/{device}"), json!({ "channel": channel })).await;
            if reply.status.as_u16() == 403 {
                expect_full(&reply, "device_properties");
                refused += 1;
            }
        }
        assert!(refused > 0, "made-up versions have no end");
    })
    .await;
}

#[tokio::test]
async fn attributes_events_and_uploads_have_rates() {
    let limits = GrowthLimits { attributes: 3, events: 5, uploads: 3, ..GrowthLimits::NONE };
    on_each(limits, async |app| {
        let device = id(&register(&app.device(), &[]).await);
        let attributes = |n: usize| {
            let set = |n: usize| json!({"action": "set", "key": format!("key{n}"), "value": 1});
            json!({"attributes": (0..n).map(set).collect::<Vec<_>>()})
        };
        let path = format!("/api/channels/{device}/attributes?platform=ios");
        app.device().post(&path, attributes(3)).await.expect(200);
        expect_too_fast(&app.device().post(&path, attributes(1)).await, "device_attributes_per_minute");
        app.master().post(&path, attributes(3)).await.expect(200);

        let upload = async |caller: &Caller, n: usize| {
            let events = json!(vec![json!({"type": "app_background", "data": {}}); n]);
            let request = caller.request(http::Method::POST, "/warp9").header("x-ua-channel-id", &device);
            caller.send(request.body(events.to_string().into()).unwrap()).await
        };
        upload(&app.device(), 4).await.expect(200);
        expect_too_fast(&upload(&app.device(), 2).await, "device_events_per_minute");
        upload(&app.device(), 1).await.expect(200);
        expect_too_fast(&upload(&app.device(), 0).await, "device_uploads_per_minute");
        upload(&app.master(), 9).await.expect(200);
        app.advance(MINUTE);
        upload(&app.device(), 5).await.expect(200);
        app.device().post(&path, attributes(1)).await.expect(200);
    })
    .await;
}
