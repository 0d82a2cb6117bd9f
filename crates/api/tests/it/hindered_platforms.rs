//! Platforms that take nothing, and platforms that the operator holds: what is told of them, and what becomes of pushes.

use std::time::Duration;

use model::app::Mode;
use model::ids::AppId;
use serde_json::{Value, json};
use store::Tx;
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::receiver::OpenReceiver;

use crate::logs::Log;

pub(crate) fn path(app: &TestApp, platform: &str) -> String {
    format!("/operator/apps/{}/platforms/{platform}", app.app.key)
}

pub(crate) async fn kiosk(app: &TestApp) -> OpenReceiver {
    let receiver = OpenReceiver::start().await;
    let config = json!({"url": receiver.url(), "validate": false});
    app.operator().put(&path(app, "open::kiosk"), config).await.expect(200);
    let open = json!({"channel": {"type": "open", "opt_in": true, "address": "lobby",
                                  "open": {"open_platform_name": "kiosk"}}});
    app.master().post("/api/channels/open", open).await.expect(200);
    receiver
}

async fn phone(app: &TestApp) {
    let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ABCDEF0123"}});
    app.device().post("/api/channels", device).await.expect(201);
}

pub(crate) async fn push(app: &TestApp, device_type: &str, options: Value) -> String {
    let body = json!({
        "audience": "all", "device_types": [device_type], "notification": {"alert": "Hi"}, "options": options,
    });
    app.master().post("/api/push", body).await.expect(200)["push_ids"][0].as_str().unwrap().to_owned()
}

pub(crate) async fn state(app: &TestApp, push: &str) -> Value {
    app.master().get(&format!("/api/push/{push}")).await.expect(200)["push"]["state"].clone()
}

pub(crate) async fn notices(app: &TestApp) -> Value {
    app.operator().get("/operator/platforms/notices").await.expect(200)["notices"].clone()
}

/// The first line of the metrics that begins so.
pub(crate) async fn metric(app: &TestApp, begins: &str) -> Option<String> {
    let text = app.operator().get("/metrics").await.text().to_owned();
    text.lines().find(|line| line.starts_with(begins)).map(str::to_owned)
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_told_of_until_its_address_changes() {
    on_each_database(async |app| {
        let receiver = kiosk(&app).await;
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let config = json!({"url": format!("http://{nobody}/hook"), "validate": false});
        app.operator().put(&path(&app, "open::kiosk"), config).await.expect(200);
        let id = push(&app, "open::kiosk", json!({})).await;
        app.step_all().await;
        for wait in [2, 4] {
            app.advance(Duration::from_secs(wait));
            app.step_all().await;
        }
        assert_eq!(notices(&app).await[0]["type"], "waiting");
        // Another address is worth a try at once.
        let config = json!({"url": receiver.url(), "validate": false});
        app.operator().put(&path(&app, "open::kiosk"), config).await.expect(200);
        assert_eq!(notices(&app).await, json!([]));
        app.step_all().await;
        assert_eq!(state(&app, &id).await, "done");
    })
    .await;
}

#[tokio::test]
async fn a_platform_that_the_operator_holds_gets_nothing_until_it_is_let_go() {
    on_each_database(async |app| {
        let receiver = kiosk(&app).await;
        phone(&app).await;
        let (kiosk, log) = (path(&app, "open::kiosk"), Log::begin());
        app.operator().post(&format!("{kiosk}/pause"), json!({"reason": "Wrong text."})).await.expect(200);
        app.operator().post(&format!("{}/pause", path(&app, "apns")), "").await.expect(200);
        let told = log.events("platform.held");
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!((&told[0]["level"], &told[0]["fields"]["platform"]), (&json!("INFO"), &json!("open::kiosk")));
        assert_eq!(told[0]["fields"]["reason"], "Wrong text.");
        let waits = push(&app, "open::kiosk", json!({})).await;
        let canceled = push(&app, "open::kiosk", json!({})).await;
        let expires = push(&app, "open::kiosk", json!({"expiry": 600})).await;
        let to_phones = push(&app, "ios", json!({})).await;
        app.step_all().await;

        let app = app.restart().await;
        app.advance(Duration::from_secs(60));
        app.step_all().await;
        for id in [&waits, &canceled, &expires, &to_phones] {
            assert_eq!(state(&app, id).await, "sending");
        }
        assert_eq!(app.master().get("/api/sandbox").await.expect(200)["deliveries"], json!([]));
        let held = |platform: &str, reason: &str| {
            json!({
                "app": app.app.key, "platform": platform, "type": "paused", "by": "operator", "reason": reason,
                "since": "2024-05-01T12:00:00",
            })
        };
        let all = json!([held("apns", "The operator paused it."), held("open::kiosk", "Wrong text.")]);
        assert_eq!(notices(&app).await, all);
        assert!(metric(&app, "aerogram_platform_paused_since_timestamp_seconds{").await.is_some());

        // Neither new settings nor a pause once more, which changes the reason, end it or make it younger.
        app.operator().put(&kiosk, json!({"url": receiver.url(), "validate": false})).await.expect(200);
        app.operator().post(&format!("{kiosk}/pause"), json!({"reason": "Still wrong."})).await.expect(200);
        let shown = app.operator().get(&kiosk).await.expect(200)["paused"].clone();
        assert_eq!(shown, json!({"by": "operator", "reason": "Still wrong.", "since": "2024-05-01T12:00:00"}));

        app.master().post(&format!("/api/push/{canceled}/cancel"), "").await.expect(200);
        app.advance(Duration::from_secs(600));
        app.step_all().await;
        assert_eq!(state(&app, &canceled).await, "canceled");
        assert_eq!(state(&app, &expires).await, "done");
        let shown = app.master().get(&format!("/api/push/{expires}")).await.expect(200)["push"].clone();
        assert_eq!(shown["platforms"]["open::kiosk"]["reason"], "Still wrong.");
        assert_eq!(state(&app, &waits).await, "sending");
        assert_eq!(receiver.received().len(), 0);

        app.operator().post(&format!("{kiosk}/resume"), "").await.expect(200);
        app.step_all().await;
        assert_eq!(state(&app, &waits).await, "done");
        assert_eq!(receiver.values().len(), 1, "{:?}", receiver.values());
        assert_eq!(state(&app, &to_phones).await, "sending", "the other platform is still held");
        app.operator().post(&format!("{}/resume", path(&app, "apns")), "").await.expect(200);
        app.operator().post(&format!("{}/resume", path(&app, "apns")), "").await.expect(200);
        app.step_all().await;
        assert_eq!(state(&app, &to_phones).await, "done");
        assert_eq!(notices(&app).await, json!([]));
        assert_eq!(
            (log.events("platform.held").len(), log.events("platform.resumed").len()),
            (2, 2),
            "what changes nothing is not told"
        );
    })
    .await;
}

#[tokio::test]
async fn a_paused_push_does_not_go_on_with_its_platform() {
    on_each_database(async |app| {
        let receiver = kiosk(&app).await;
        let kiosk = path(&app, "open::kiosk");
        let id = push(&app, "open::kiosk", json!({})).await;
        app.operator().post(&format!("{kiosk}/pause"), "").await.expect(200);
        app.step_all().await;
        app.master().post(&format!("/api/push/{id}/pause"), "").await.expect(200);
        app.operator().post(&format!("{kiosk}/resume"), "").await.expect(200);
        app.step_all().await;
        assert_eq!(state(&app, &id).await, "paused");
        app.operator().post(&format!("{kiosk}/pause"), "").await.expect(200);
        app.master().post(&format!("/api/push/{id}/resume"), "").await.expect(200);
        app.step_all().await;
        assert_eq!((state(&app, &id).await, receiver.received().len()), (json!("sending"), 0));
        app.operator().post(&format!("{kiosk}/resume"), "").await.expect(200);
        app.step_all().await;
        assert_eq!((state(&app, &id).await, receiver.received().len()), (json!("done"), 1));
    })
    .await;
}

#[tokio::test]
async fn whoever_sent_a_push_is_told_that_its_platform_is_held() {
    on_each_database(async |app| {
        phone(&app).await;
        let apns = path(&app, "apns");
        let reason = async |push: &str| {
            let shown = app.master().get(&format!("/api/push/{push}")).await.expect(200);
            shown["push"]["platforms"]["ios"]["reason"].clone()
        };
        app.operator().post(&format!("{apns}/pause"), json!({"reason": "Wrong text."})).await.expect(200);
        let id = push(&app, "ios", json!({})).await;
        app.step_all().await;
        assert_eq!(reason(&id).await, "Wrong text.");
        let answer = app.master().post(&format!("/api/push/{id}/pause"), "").await.expect(200);
        assert_eq!(answer["push"]["platforms"]["ios"]["reason"], "Wrong text.");
        app.master().post(&format!("/api/push/{id}/resume"), "").await.expect(200);
        // What a newer version has noted may not be understood, but keeps nobody from asking.
        let now = app.engine().clock().now();
        let spoil = move |tx: &mut Tx<'_>| documents::put(tx, AppId(1), DocumentKind::PlatformHealth, "ios", "{}", now);
        app.engine().store().write(AppId(1), spoil).await.unwrap();
        assert_eq!(reason(&id).await, Value::Null);
        app.operator().get(path(&app, "").trim_end_matches('/')).await.expect(200);
        app.operator().get(&apns).await.expect(404);
        for verb in ["pause", "resume"] {
            app.operator().post(&format!("{apns}/{verb}"), "").await.expect(200);
        }
        assert_eq!(reason(&id).await, Value::Null);
        app.step_all().await;
        // What is through has nothing to do with the platform any more.
        app.operator().post(&format!("{apns}/pause"), "").await.expect(200);
        assert_eq!((state(&app, &id).await, reason(&id).await), (json!("done"), Value::Null));
    })
    .await;
}

#[tokio::test]
async fn a_platform_that_is_held_is_shown_though_nothing_is_configured() {
    on_each_database(async |app| {
        let list = async || {
            let all = app.operator().get(&format!("/operator/apps/{}/platforms", app.app.key)).await.expect(200);
            all["platforms"].clone()
        };
        let one = async |platform: &str| {
            let mut shown = app.operator().get(&path(&app, platform)).await.expect(200);
            shown.as_object_mut().unwrap().remove("ok");
            shown
        };
        for platform in ["webpush", "apns"] {
            app.operator().get(&path(&app, platform)).await.expect(404);
            app.operator().post(&format!("{}/pause", path(&app, platform)), "").await.expect(200);
        }
        kiosk(&app).await;
        app.operator().post(&format!("{}/pause", path(&app, "open::kiosk")), "").await.expect(200);
        assert_eq!(list().await[2], one("open::kiosk").await);
        app.operator().delete(&path(&app, "open::kiosk")).await.expect(204);
        let held = |platform: &str| {
            let paused = json!({"by": "operator", "reason": "The operator paused it.", "since": "2024-05-01T12:00:00"});
            json!({"platform": platform, "paused": paused})
        };
        assert_eq!(list().await, json!([held("apns"), held("webpush"), held("open::kiosk")]));
        for platform in ["apns", "webpush", "open::kiosk"] {
            assert_eq!(one(platform).await, held(platform));
            app.operator().post(&format!("{}/resume", path(&app, platform)), "").await.expect(200);
            app.operator().get(&path(&app, platform)).await.expect(404);
        }
        assert_eq!(list().await, json!([]));
    })
    .await;
}

/// More than an endpoint is sent at once.
const CROWD: usize = 9_000;

#[tokio::test]
async fn holding_a_platform_stops_what_is_being_sent() {
    on_each_database(async |app| {
        let receiver = kiosk(&app).await;
        let channels = app.master().get("/api/channels").await.expect(200)["channels"].clone();
        let original = channels[0]["channel_id"].as_str().unwrap().parse().unwrap();
        let app_id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        testkit::bulk::copy_channel(app.engine().store(), app_id, original, CROWD - 1).await;
        let id = push(&app, "open::kiosk", json!({})).await;
        let worker = app.engine().worker();
        assert!(worker.step().await.unwrap(), "the audience is resolved");
        receiver.hold();
        let (_, ()) = tokio::join!(worker.step(), async {
            receiver.wait_for(1).await;
            app.operator().post(&format!("{}/pause", path(&app, "open::kiosk")), "").await.expect(200);
            receiver.release();
        });
        app.step_all().await;
        let early = receiver.values().len();
        assert!(0 < early && early < CROWD, "{early} were out");
        assert_eq!(state(&app, &id).await, "sending");
        app.operator().post(&format!("{}/resume", path(&app, "open::kiosk")), "").await.expect(200);
        app.step_all().await;
        assert_eq!((state(&app, &id).await, receiver.values().len()), (json!("done"), CROWD));
    })
    .await;
}

#[tokio::test]
async fn one_that_cannot_be_read_does_not_hide_the_others() {
    on_each_database(async |app| {
        app.operator().post(&format!("{}/pause", path(&app, "apns")), json!({"reason": "Not now."})).await.expect(200);
        let now = app.engine().clock().now();
        let spoil = move |tx: &mut Tx<'_>| {
            documents::put(tx, AppId(1), DocumentKind::PlatformHealth, "android", "{}", now)?;
            documents::put(tx, AppId(1), DocumentKind::PlatformHealth, "of a later version", "{}", now)
        };
        app.engine().store().write(AppId(1), spoil).await.unwrap();
        let notices = notices(&app).await;
        assert_eq!((&notices[0]["platform"], &notices[1]), (&json!("apns"), &Value::Null), "{notices}");
    })
    .await;
}

#[tokio::test]
async fn only_platforms_that_there_are_can_be_held() {
    on_each_database(async |app| {
        for action in ["pause", "resume"] {
            app.operator().post(&format!("{}/{action}", path(&app, "open::unheard-of")), "").await.expect(404);
            app.operator().post(&format!("{}/{action}", path(&app, "ios")), "").await.expect(400);
            let of_nobody = format!("/operator/apps/{}/platforms/apns/{action}", "x".repeat(22));
            app.operator().post(&of_nobody, "").await.expect(404);
            app.master().post(&format!("{}/{action}", path(&app, "apns")), "").await.expect(401);
        }
        let pause = format!("{}/pause", path(&app, "apns"));
        let refused = app.operator().post(&pause, json!({"reason": "", "until": 1})).await;
        assert_eq!(refused.header("aerogram-problems"), Some("2"), "{}", refused.text());
        assert_eq!(notices(&app).await, json!([]));
        // One that is deleted while it is held can still be let go.
        kiosk(&app).await;
        let kiosk = path(&app, "open::kiosk");
        app.operator().post(&format!("{kiosk}/pause"), "").await.expect(200);
        app.operator().delete(&kiosk).await.expect(204);
        app.operator().post(&format!("{kiosk}/resume"), "").await.expect(200);
        assert_eq!(notices(&app).await, json!([]));
        app.operator().post(&format!("{kiosk}/resume"), "").await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn the_operator_sees_what_is_on_its_way_in_all_apps_and_why() {
    on_each_database(async |app| {
        let receiver = kiosk(&app).await;
        phone(&app).await;
        let another = app.another_app(Mode::Development).await;
        let others = app.nobody().basic(&another.key, &another.master_secret);
        app.operator().post(&format!("{}/pause", path(&app, "apns")), json!({"reason": "Not now."})).await.expect(200);
        push(&app, "open::kiosk", json!({})).await;
        app.step_all().await;
        assert_eq!(receiver.received().len(), 1, "it is over, and not listed");
        let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        let mixed = app.master().post("/api/push", &body).await.expect(200)["push_ids"][0].clone();
        app.step_all().await;
        app.advance(Duration::from_secs(1));
        let accepted = others.post("/api/push", &body).await.expect(200)["push_ids"][0].clone();
        app.advance(Duration::from_secs(1));
        let paused = push(&app, "ios", json!({})).await;
        app.master().post(&format!("/api/push/{paused}/pause"), "").await.expect(200);

        let list = async |query: &str| {
            let all = app.operator().get(&format!("/operator/pushes{query}")).await.expect(200);
            let ids: Vec<Value> =
                all["pushes"].as_array().unwrap().iter().map(|push| push["push_id"].clone()).collect();
            (json!(ids), all)
        };
        let (ids, all) = list("").await;
        assert_eq!(ids, json!([mixed, accepted, paused]));
        let first = &all["pushes"][0];
        assert_eq!((&first["app"], &first["created"]), (&json!(app.app.key), &json!("2024-05-01T12:00:00")));
        assert_eq!((&first["total"]["delivered"], &first["total"]["pending"]), (&json!(1), &json!(1)));
        assert_eq!(first["platforms"]["apns"]["reason"], "Not now.");
        assert_eq!(first["platforms"]["open::kiosk"].get("reason"), None);
        assert_eq!(all["pushes"][1]["app"], json!(another.key));
        let of_another = format!("/operator/pushes/{}", accepted.as_str().unwrap());
        let of_another = app.operator().get(&of_another).await.expect(200)["push"].clone();
        assert_eq!(of_another, all["pushes"][1]);
        for (state, expected) in [("sending", &mixed), ("accepted", &accepted), ("paused", &json!(paused))] {
            assert_eq!(list(&format!("?state={state}")).await.0, json!([expected]), "{state}");
        }
        let (ids, page) = list("?limit=2").await;
        assert_eq!(ids, json!([mixed, accepted]));
        let next = page["next_page"].as_str().unwrap().split_once("/operator/pushes").unwrap().1;
        let (ids, last) = list(next).await;
        assert_eq!((ids, last.get("next_page")), (json!([paused]), None));
        let refused = app.operator().get("/operator/pushes?state=done&start=x&limit=0").await;
        assert_eq!((refused.status.as_u16(), refused.header("aerogram-problems")), (400, Some("3")));
        app.master().get("/operator/pushes").await.expect(401);
    })
    .await;
}
