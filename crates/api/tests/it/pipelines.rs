//! Pipelines: made, shown, replaced, deleted and limited. What they do is in the files beside.

mod asked;
mod firing;
mod lateness;
mod rates;
mod rules;
mod triggers;
mod waiting;

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use engine::PipelineLimits;
use http::Method;
use model::event::{Event, RecordKind};
use model::ids::{AppId, ChannelId, EventId};
use serde_json::{Value, json};
use store::log::{self, NewRecord};
use testkit::app::{TestApp, on_each_database};
use testkit::store::databases;
use uuid::Uuid;

const APP: AppId = AppId(1);
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";
pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn outcome(alert: &str) -> Value {
    json!({"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": alert}}})
}

fn pipeline(trigger: Value, alert: &str) -> Value {
    let mut body = json!({"name": "Automatic", "enabled": true, "outcome": outcome(alert)});
    body["immediate_trigger"] = trigger;
    body
}

fn delayed(trigger: Value, alert: &str, delay: Duration) -> Value {
    let mut body = pipeline(trigger, alert);
    body["outcome"]["delay"] = json!(delay.as_secs());
    body
}

/// Makes a pipeline and answers its path.
pub(crate) async fn create(app: &TestApp, body: Value) -> String {
    let created = app.master().post("/api/pipelines/", body).await.expect(201);
    format!("/api/pipelines/{}", created["pipeline_ids"][0].as_str().unwrap())
}

/// Registers a device and answers its channel id.
async fn register(app: &TestApp, address: &str, tags: &[&str]) -> String {
    let device = json!({"channel": {
        "device_type": "android", "opt_in": true, "push_address": address, "set_tags": true, "tags": tags,
    }});
    let answer = app.device().post("/api/channels", device).await.expect(201);
    answer["channel_id"].as_str().unwrap().to_owned()
}

async fn tag(app: &TestApp, channel: &str, operation: &str, tag: &str) {
    let mut body = json!({"audience": {"android_channel": channel}});
    body[operation] = json!({"device": [tag]});
    app.master().post("/api/channels/tags", body).await.expect(200);
}

/// Adds an event of a channel to the log, as the intake of events does.
async fn happen(app: &TestApp, kind: RecordKind, channel: &str, body: Value) {
    let (channel, now): (ChannelId, _) = (channel.parse().unwrap(), app.engine().clock().now());
    let write = move |tx: &mut store::Tx<'_>| {
        let ordinal = store::channels::ordinal_of(tx, APP, channel)?;
        let event = Event { id: EventId::at(now), occurred: now, body: body.clone() };
        let body = serde_json::to_vec(&event).unwrap();
        log::append(tx, APP, now, vec![NewRecord { kind, ordinal, body }])
    };
    app.engine().store().write(APP, write).await.unwrap();
}

/// A device tells that its app is opened now.
async fn open(app: &TestApp, channel: &str) {
    tell(app, channel, "app_foreground", Duration::ZERO, json!({})).await;
}

/// A device tells of something that happened a while ago.
pub(crate) async fn tell(app: &TestApp, channel: &str, kind: &str, ago: Duration, data: Value) {
    let at = app.engine().clock().now().minus(ago).0;
    let id = Uuid::new_v5(&Uuid::nil(), format!("{channel} {kind} {at} {data}").as_bytes());
    let time = format!("{}.{:03}", at.div_euclid(1000), at.rem_euclid(1000));
    let event = json!({"type": kind, "event_id": id.to_string(), "time": time, "data": data});
    let request = app.nobody().request(Method::POST, "/warp9/");
    let request = request.header("X-UA-App-Key", app.app.key.as_str()).header("X-UA-Channel-ID", channel);
    let body = Bytes::from(json!([event]).to_string());
    app.nobody().send(request.body(body).unwrap()).await.expect(200);
}

/// What every channel was shown, in order.
async fn shown(app: &TestApp) -> BTreeMap<String, Vec<String>> {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    let mut shown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for delivery in sandbox["deliveries"].as_array().unwrap() {
        let body = delivery["request"]["body"].to_string();
        let alert = ["One", "Two", "Three"].into_iter().find(|alert| body.contains(alert)).unwrap_or("?");
        let channel = delivery["channel_id"].as_str().unwrap().to_owned();
        shown.entry(channel).or_default().push(alert.to_owned());
    }
    shown
}

/// How many messages were shown in all, after some time.
async fn count_after(app: &TestApp, wait: Duration) -> usize {
    app.advance(wait);
    shown(app).await.values().map(Vec::len).sum()
}

#[tokio::test]
async fn a_pipeline_is_shown_as_it_was_sent() {
    on_each_database(async |app| {
        let body = json!({
            "name": "Welcome", "enabled": true,
            "immediate_trigger": [{"tag_added": {"tag": "new", "group": "crm"}}, "first_open"],
            "outcome": outcome("One"), "timing": {"delay": {"seconds": 60}},
            "cancellation_trigger": {"tag_added": "bought"},
            "constraint": [{"rate": {"pushes": 1, "days": 7}}],
            "condition": {"and": [{"tag": {"tag_name": "vip", "negated": true}}]},
            "activation_time": "2024-05-01T13:00:00", "deactivation_time": "2024-05-02T13:00:00",
        });
        let reply = app.master().post("/api/pipelines", &body).await;
        let created = reply.expect(201);
        assert_eq!(reply.header("data-attribute"), Some("pipeline_urls"));
        let id = created["pipeline_ids"][0].as_str().unwrap().to_owned();
        let (path, url) = (format!("/api/pipelines/{id}"), app.url(&format!("/api/pipelines/{id}")));
        assert_eq!((&created["ok"], &created["pipeline_urls"]), (&json!(true), &json!([url])));
        let mut record = body.clone();
        record["uid"] = json!(id);
        record["url"] = json!(url);
        record["status"] = json!("pending");
        record["creation_time"] = json!("2024-05-01T12:00:00");
        record["last_modified_time"] = json!("2024-05-01T12:00:00");
        assert_eq!(app.master().get(&path).await.expect(200), json!({"ok": true, "pipeline": record}));
        app.advance(HOUR);
        record["status"] = json!("live");
        let listed = app.master().get("/api/pipelines/?enabled=True&limit=10").await.expect(200);
        assert_eq!(listed, json!({"ok": true, "total_count": 1, "pipelines": [record]}));
        app.advance(DAY);
        assert_eq!(app.master().get(&path).await.expect(200)["pipeline"]["status"], "completed");

        // What is shown can be sent back, and what is left out is gone.
        let mut changed = record.clone();
        for key in ["name", "activation_time", "deactivation_time", "condition"] {
            changed.as_object_mut().unwrap().remove(key);
        }
        changed["enabled"] = json!(false);
        app.master().put(&path, &changed).await.expect_done(200);
        let after = app.master().get(&path).await.expect(200)["pipeline"].clone();
        assert_eq!((&after["status"], after.get("name")), (&json!("disabled"), None));
        assert_eq!(
            (&after["creation_time"], &after["last_modified_time"]),
            (&record["creation_time"], &json!("2024-05-02T13:00:00"))
        );
        for (filter, n) in [("", 1), ("?enabled=true", 0), ("?enabled=false", 1)] {
            let listed = app.master().get(&format!("/api/pipelines{filter}")).await.expect(200);
            assert_eq!(listed["pipelines"].as_array().unwrap().len(), n, "{filter}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_refused_with_its_place() {
    on_each_database(async |app| {
        let good = pipeline(json!("first_open"), "One");
        app.master().post("/api/pipelines/validate", &good).await.expect(200);
        let mut everybody = good.clone();
        everybody["outcome"]["push"]["audience"] = json!("all");
        let mut unknown = good.clone();
        unknown["outcome"] = json!([outcome("One"), outcome("Two")]);
        unknown["outcome"][1]["push"]["device_types"] = json!(["open::nowhere"]);
        let mut large = good.clone();
        large["outcome"]["push"]["notification"]["alert"] = json!("x".repeat(9000));
        let mut refused_trigger = good.clone();
        refused_trigger["immediate_trigger"] = json!("double_opt_in");
        for (body, path) in [
            (everybody.clone(), "outcome.push.audience"),
            (unknown.clone(), "outcome[1].push.device_types[0]"),
            (json!([good, everybody]), "[1].outcome.push.audience"),
            (json!([good, unknown]), "[1].outcome[1].push.device_types[0]"),
            (large, "outcome.push.notification.alert"),
            (refused_trigger, "immediate_trigger"),
        ] {
            for call in ["/api/pipelines", "/api/pipelines/validate"] {
                let refused = app.master().post(call, &body).await.expect(400);
                assert_eq!(refused["details"]["path"], path, "{refused}");
            }
        }
        let push = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "One"}});
        app.master().post("/api/push", push).await.expect(400);
        assert_eq!(app.master().get("/api/pipelines").await.expect(200)["total_count"], 0);
        for path in [format!("/api/pipelines/{UNKNOWN}"), "/api/pipelines/x".to_owned()] {
            app.master().get(&path).await.expect(404);
            app.master().delete(&path).await.expect(404);
            app.master().put(&path, &good).await.expect(404);
        }
    })
    .await;
}

#[tokio::test]
async fn the_operator_limits_how_many_there_are() {
    for database in databases() {
        let app = TestApp::with_pipelines(database, PipelineLimits { total: 5, active: 2 }).await;
        let enabled = pipeline(json!({"tag_added": "x"}), "One");
        let mut disabled = enabled.clone();
        disabled["enabled"] = json!(false);
        create(&app, json!(vec![enabled.clone(); 2])).await;
        let refused = app.master().post("/api/pipelines", &enabled).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("the setting 'enabled_pipelines'"), "{refused}");
        let off = create(&app, json!(vec![disabled.clone(); 3])).await;
        let refused = app.master().post("/api/pipelines", &disabled).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("the setting 'pipelines'"), "{refused}");
        app.master().put(&off, &enabled).await.expect(409);
        assert_eq!(app.master().get(&off).await.expect(200)["pipeline"]["enabled"], false, "nothing has changed");
        let limits = json!({"total_limit": 5, "active_limit": 2, "total_count": 5, "active_count": 2});
        let shown = app.master().get("/api/pipelines/limits").await.expect(200);
        assert_eq!(shown, json!({"ok": true, "limits": limits}));

        // With lower limits than there are pipelines they can be changed and disabled, and nothing is added.
        let app = app.restart_with_pipelines(PipelineLimits { total: 3, active: 0 }).await;
        let listed = app.master().get("/api/pipelines?enabled=true").await.expect(200);
        let on = format!("/api/pipelines/{}", listed["pipelines"][0]["uid"].as_str().unwrap());
        let mut renamed = enabled.clone();
        renamed["name"] = json!("Two");
        app.master().put(&on, &renamed).await.expect(200);
        app.master().put(&on, &disabled).await.expect(200);
        app.master().put(&on, &enabled).await.expect(409);
        app.stop().await;
    }
}

#[tokio::test]
async fn all_of_them_are_listed_and_so_are_deleted_ones() {
    on_each_database(async |app| {
        let enabled = pipeline(json!({"tag_added": "x"}), "One");
        let mut disabled = enabled.clone();
        disabled["enabled"] = json!(false);
        let first = create(&app, json!(vec![enabled.clone(); 21])).await;
        let off = create(&app, json!(vec![disabled.clone(); 30])).await;
        let limits = json!({"total_limit": 1000, "active_limit": 1000, "total_count": 51, "active_count": 21});
        let shown = app.master().get("/api/pipelines/limits").await.expect(200);
        assert_eq!(shown, json!({"ok": true, "limits": limits}), "plenty, unless the operator says otherwise");
        app.master().post("/api/pipelines", json!(vec![disabled.clone(); 101])).await.expect(400);

        let mut seen = Vec::new();
        let mut next = Some(app.url("/api/pipelines?limit=30"));
        while let Some(url) = next {
            let page = app.master().get(url.strip_prefix(&app.url("")).unwrap()).await.expect(200);
            seen.extend(page["pipelines"].as_array().unwrap().iter().map(|one| one["uid"].to_string()));
            next = page["next_page"].as_str().map(str::to_owned);
        }
        let all = app.master().get("/api/pipelines?limit=100").await.expect(200);
        assert_eq!(all["pipelines"].as_array().unwrap().len(), 51, "no more than there are");
        let newest_first = seen.windows(2).all(|pair| pair[0] > pair[1]);
        assert!(seen.len() == 51 && newest_first);
        let some = app.master().get("/api/pipelines?enabled=true&limit=2&offset=20").await.expect(200);
        assert_eq!((&some["total_count"], some["pipelines"].as_array().unwrap().len()), (&json!(21), 1));

        app.advance(HOUR);
        app.master().delete(&first).await.expect(204);
        app.advance(HOUR);
        app.master().delete(&off).await.expect(204);
        app.master().delete(&off).await.expect(404);
        let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        let listed = app.master().get("/api/pipelines/deleted/").await.expect(200);
        let records = json!([
            {"pipeline_id": id(&off), "deletion_time": "2024-05-01T14:00:00"},
            {"pipeline_id": id(&first), "deletion_time": "2024-05-01T13:00:00"},
        ]);
        assert_eq!(listed, json!({"ok": true, "pipelines": records}));
        let before = app.master().get("/api/pipelines/deleted?start=2024-05-01T13:30:00").await.expect(200);
        assert_eq!(before["pipelines"], json!([records[1]]));
        app.master().get("/api/pipelines/deleted?start=yesterday").await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn rates_of_all_pipelines_are_kept() {
    on_each_database(async |app| {
        let path = "/api/pipelines/constraints";
        assert_eq!(app.master().get(path).await.expect(200), json!({"ok": true, "constraints": []}));
        let rates = json!([{"rate": {"pushes": 3, "hours": 72}}, {"rate": {"pushes": 9, "lifetimes": 1}}]);
        app.master().put(path, &rates).await.expect_done(200);
        let shown = app.master().get(path).await.expect(200);
        assert_eq!(shown, json!({"ok": true, "constraints": rates}));
        app.master().put(path, &shown).await.expect(200);
        app.master().put(path, json!({"rate": {"pushes": 1, "days": 1}})).await.expect(200);
        for wrong in [
            json!(vec![rates[0].clone(); 6]),
            json!([{"rate": {"pushes": 0, "days": 1}}]),
            json!([{"rate": {"pushes": 1}}]),
            json!("often"),
        ] {
            app.master().put(path, wrong).await.expect(400);
        }
        let kept = app.master().get(path).await.expect(200);
        assert_eq!(kept["constraints"], json!([{"rate": {"pushes": 1, "days": 1}}]));
    })
    .await;
}
