//! Exporting and erasing a person: all that is stored is exported, nothing of it is left afterwards, sums stay, and whoever comes
//! back starts afresh.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::event::RecordKind;
use model::ids::{AppId, EventId, Id, Ordinal};
use serde_json::{Value, json};
use store::log::{self, NewRecord};
use store::sandbox::{self, SandboxDelivery};
use store::{DatabaseUrl, Error, Tx, search};
use testkit::app::{START, TestApp, on_each_database};
use testkit::event_receiver::{EventReceiver, Reaction};
use testkit::rows::all_rows;
use testkit::store::{Database, databases};

use crate::webhooks;

const PHONE: &str = "10000000-0000-4000-8000-0000000000aa";
const TABLET: &str = "20000000-0000-4000-8000-0000000000bb";
const OTHER: &str = "30000000-0000-4000-8000-0000000000cc";
const TOKEN: &str = "FE66489F304DC75B8D6E8200DFF8A456E8DAEACEC428B427E9518741C92C6660";
const ADDRESS: &str = "registration:of-the-tablet-7f3a";
const USER: &str = "ann.tanner@example.com";
const CITY: &str = "Llanfairpwllgwyngyll";
const MAIL: &str = "private.mail.of.ann@example.org";
const LATER: Duration = Duration::from_secs(6 * 60);

/// Everything that names her or is hers alone.
fn names(inbox: &str) -> Vec<String> {
    [PHONE, TABLET, TOKEN, ADDRESS, USER, CITY, MAIL, inbox].map(str::to_owned).to_vec()
}

pub(crate) async fn register(app: &TestApp, channel: &str, device_type: &str, address: &str) {
    let body = json!({"channel": {"device_type": device_type, "opt_in": true, "push_address": address,
                      "set_tags": true, "tags": ["vip"], "timezone": "Europe/Berlin"}});
    let reply = app.device().put(&format!("/api/channels/{channel}"), body).await;
    assert!(reply.status.is_success(), "{}", reply.text());
}

pub(crate) async fn upload(app: &TestApp, channel: &str, events: &Value) {
    let request = app.nobody().request(Method::POST, "/warp9/");
    let request = request.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", channel);
    app.nobody().send(request.body(Bytes::from(events.to_string())).unwrap()).await.expect(200);
}

pub(crate) fn bought(mail: &str, n: u32) -> Value {
    json!([{"type": "enhanced_custom_event", "event_id": format!("00000000-0000-4000-8000-{n:012}"),
            "time": "1714564800.000", "data": {"event_name": "bought", "properties": {"mail": mail}}}])
}

async fn push(app: &TestApp, audience: Value, alert: &str, key: &str) -> String {
    let body = json!({"audience": audience, "device_types": "all", "notification": {"alert": alert}});
    let request = app.master().request(Method::POST, "/api/push").header("idempotency-key", key);
    let reply = app.master().send(request.body(Bytes::from(body.to_string())).unwrap()).await.expect(200);
    app.step_all().await;
    reply["push_ids"][0].as_str().unwrap().to_owned()
}

/// A person with two devices who has left traces everywhere, beside another. Answers the inbox of the phone and a push that was
/// sent to both persons.
async fn lead_a_life(app: &TestApp, receiver: &EventReceiver) -> (String, String) {
    receiver.react(|event| match event["device"]["channel"].as_str() {
        Some(OTHER) => Reaction::Status(200),
        Some(_) | None => Reaction::Status(400),
    });
    webhooks::create(app, receiver, &["CUSTOM", "OPEN"]).await;
    register(app, PHONE, "ios", TOKEN).await;
    register(app, TABLET, "android", ADDRESS).await;
    register(app, OTHER, "ios", "address of another").await;
    let inbox = app.device().post("/api/user", json!({"ios_channels": [PHONE]})).await.expect(201);
    let devices = [PHONE, TABLET].map(|channel| json!({"channel_id": channel}));
    let user = json!({"associate": devices, "tags": {"add": {"crm": "gold"}},
                      "attributes": [{"action": "set", "key": "city", "value": CITY}]});
    app.master().post(&format!("/api/named_users/{USER}"), user).await.expect(200);
    let attributes = json!([{"action": "set", "key": "city", "value": CITY}]);
    let of_channel = json!({"audience": {"channel": PHONE}, "attributes": attributes});
    app.master().post("/api/channels/attributes", of_channel).await.expect(200);
    app.master().post("/api/lists", json!({"name": "buyers"})).await.expect(201);
    let rows = format!("named_user,{USER}\nios_channel,{PHONE}\nios_channel,{OTHER}\nalias,{USER}\n");
    app.master().put("/api/lists/buyers/csv", rows).await.expect(202);
    app.step_all().await;

    let time = format!("{}.000", app.clock().now().0 / 1000);
    let events = json!([
        {"type": "app_foreground", "event_id": "00000000-0000-4000-8000-000000000001", "time": time,
         "data": {"session_id": "40000000-0000-4000-8000-000000000001"}},
        {"type": "enhanced_custom_event", "event_id": "00000000-0000-4000-8000-000000000002", "time": time,
         "data": {"event_name": "bought", "properties": {"mail": MAIL}}},
        {"type": "screen_tracking", "event_id": "00000000-0000-4000-8000-000000000003", "time": time,
         "data": {"screen": MAIL, "entered_time": "1", "exited_time": "2", "duration": "1"}},
    ]);
    upload(app, PHONE, &events).await;
    let happened = json!({"user": {"named_user_id": USER}, "body": {"name": "called", "properties": {"from": MAIL}}});
    app.master().post("/api/custom-events", happened).await.expect(200);
    // Nobody takes her events, so that they become dead letters.
    for hour in 0..27_u32 {
        app.step_all().await;
        app.advance(Duration::from_secs(60 * 60));
        upload(app, OTHER, &bought("", 100 + hour)).await;
    }
    app.step_all().await;

    let to_all = push(app, json!("all"), "Hello", "to-all").await;
    let hers = json!({"OR": [{"named_user": USER}, {"ios_channel": [PHONE, OTHER]}]});
    push(app, hers, &format!("For {USER}"), &format!("for-{USER}")).await;
    let message = json!({"audience": {"named_user": USER}, "device_types": ["ios"],
                         "message": {"title": format!("Dear {USER}"), "body": format!("<p>{USER}</p>")}});
    app.master().post("/api/push", message).await.expect(200);
    let later = json!({"schedule": {"scheduled_time": "2030-01-01T00:00"},
                       "push": {"audience": {"named_user": USER}, "device_types": "all", "notification": {"alert": "Hi"}}});
    app.master().post("/api/schedules", later).await.expect(201);
    let segment = json!({"display_name": "Two", "criteria": {"OR": [{"channel": PHONE}, {"channel": OTHER}]}});
    app.master().post("/api/segments", segment).await.expect(201);
    app.step_all().await;
    (inbox["user_id"].as_str().unwrap().to_owned(), to_all)
}

pub(crate) async fn ask(app: &TestApp, what: &str, person: Value) -> String {
    let asked = app.master().post(&format!("/api/privacy/{what}"), person).await.expect(202);
    asked["privacy_id"].as_str().unwrap().to_owned()
}

pub(crate) async fn look_up(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/privacy/{id}")).await.expect(200)
}

/// What was found, by table, without those where nothing was.
fn found(request: &Value) -> BTreeMap<String, u64> {
    let tables = request["receipt"].as_array().unwrap().iter();
    let found = tables.map(|table| (table["table"].as_str().unwrap().to_owned(), table["found"].as_u64().unwrap()));
    found.filter(|(_, n_found)| *n_found > 0).collect()
}

/// What customers count.
pub(crate) async fn sums(app: &TestApp, push: &str) -> Vec<Value> {
    let mut sums = Vec::new();
    let period = "start=2024-04-01&end=2024-06-01&precision=MONTHLY";
    for path in [
        format!("/api/push/{push}"),
        format!("/api/reports/responses/{push}"),
        format!("/api/reports/perpush/detail/{push}"),
        format!("/api/reports/sends?{period}"),
        format!("/api/reports/opens?{period}"),
        format!("/api/reports/events?{period}"),
    ] {
        sums.push(app.master().get(&path).await.expect(200));
    }
    sums
}

/// Where any of the texts is stored: in the bytes of a file, or in the rows of a server, and in the snapshots.
pub(crate) async fn search_all(app: &TestApp, texts: &[String]) -> Vec<String> {
    let mut hits = search::database(app.database(), None, texts).await.unwrap();
    let snapshots = std::fs::read_dir(app.snapshots()).unwrap().map(|entry| entry.unwrap().path()).collect();
    hits.extend(search::files(snapshots, texts).await.unwrap());
    // Once more, in another way.
    match app.database() {
        DatabaseUrl::Sqlite(path) => {
            for path in [path.clone(), path.with_extension("db-wal")] {
                let bytes = std::fs::read(path).unwrap_or_default();
                for text in texts {
                    let is_in = bytes.windows(text.len()).any(|window| window == text.as_bytes());
                    assert!(!is_in || hits.iter().any(|hit| hit.text == *text), "{text} was overlooked");
                }
            }
        }
        DatabaseUrl::Postgres(_) => {
            let rows = format!("{:?}", all_rows(app.engine().store()).await);
            for text in texts {
                assert!(!rows.contains(text) || hits.iter().any(|hit| hit.text == *text), "{text} was overlooked");
            }
        }
    }
    hits.into_iter().map(|hit| format!("{} in {}", hit.text, hit.place)).collect()
}

pub(crate) async fn events(app: &TestApp) -> String {
    app.master().get("/api/events?follow=false").await.text().to_owned()
}

#[tokio::test]
async fn a_person_is_exported_erased_and_starts_afresh() {
    on_each_database(async |app| {
        let receiver = EventReceiver::start().await;
        let (inbox, to_all) = lead_a_life(&app, &receiver).await;
        let names = names(&inbox);
        for name in &names {
            assert!(!search_all(&app, std::slice::from_ref(name)).await.is_empty(), "{name} is nowhere");
        }

        let export = ask(&app, "export", json!({"named_user_id": USER})).await;
        app.master().get(&format!("/api/privacy/{export}/result")).await.expect(409);
        app.step_all().await;
        let shown = look_up(&app, &export).await;
        assert_eq!((&shown["state"], &shown["kind"]), (&json!("done"), &json!("export")));
        let reply = app.master().get(shown["result_path"].as_str().unwrap()).await;
        let lines: Vec<Value> = reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| lines.iter().filter(|line| line["table"] == kind).count() as u64;
        for (table, n_found) in found(&shown) {
            assert_eq!(of(&table), n_found, "{table}");
        }
        let expected = [
            "attribute",
            "channel",
            "channel_key",
            "document",
            "face",
            "idempotency",
            "inbox_channel",
            "inbox_message",
            "inbox_user",
            "list_member",
            "log",
            "message",
            "message_text",
            "named_user",
            "push",
            "sandbox",
            "webhook_dead_letter",
            "webhook_history",
        ];
        for kind in expected {
            assert!(of(kind) > 0, "nothing of {kind} in {:?}", found(&shown));
        }
        for name in &names {
            assert!(reply.text().contains(name.as_str()), "{name} is not in the export");
        }
        for text in ["gold", "vip", "Europe/Berlin", "\"SEND\""] {
            assert!(reply.text().contains(text), "{text} is not in the export");
        }

        let before = sums(&app, &to_all).await;
        let erase = ask(&app, "erase", json!({"named_user_id": USER})).await;
        app.step_all().await;
        assert_eq!(look_up(&app, &erase).await["state"], "running", "work under way may still write");
        app.master().get(&format!("/api/privacy/{export}")).await.expect(404);
        // The job is killed, and has forgotten how far it was; and a delivery that was under way comes to its end.
        let app = app.crash(b"").await;
        begin_anew(&app).await;
        write_late(&app).await;
        app.advance(LATER);
        app.step_all().await;
        app.advance(LATER);
        app.step_all().await;
        let receipt = look_up(&app, &erase).await;
        assert_eq!(receipt["state"], "done");
        let clean_up = if matches!(app.database(), DatabaseUrl::Sqlite(_)) { "complete" } else { "left_to_postgresql" };
        assert_eq!(receipt["clean_up"], clean_up);
        let erased = found(&receipt);
        assert_eq!((erased["channel"], erased["named_user"], erased["attribute"]), (2, 1, 2));
        assert_eq!((erased["list_member"], erased["inbox_user"], erased["privacy_request"]), (3, 1, 1));

        let left = search_all(&app, &names).await;
        assert!(left.is_empty(), "{left:#?}");
        assert_eq!(sums(&app, &to_all).await, before);
        let seen = events(&app).await;
        assert!(seen.contains(OTHER) && !seen.contains("SCREEN_VIEWED"), "{seen}");
        app.master().get(&format!("/api/channels/{PHONE}")).await.expect(404);
        app.master().get(&format!("/api/named_users?id={USER}")).await.expect(404);
        assert_eq!(app.master().get("/api/lists/buyers/csv").await.text(), format!("ios_channel,{OTHER}\r\n"));
        let schedules = app.master().get("/api/schedules").await.expect(200);
        assert_eq!(schedules["schedules"][0]["push"]["audience"], json!({"named_user": "(erased)"}));

        // She comes back, and nothing of old appears.
        register(&app, PHONE, "ios", TOKEN).await;
        let body = json!({"channel_id": PHONE, "named_user_id": USER});
        app.master().post("/api/named_users/associate", body).await.expect(200);
        let channel = app.master().get(&format!("/api/channels/{PHONE}")).await.expect(200)["channel"].clone();
        assert_eq!((&channel["attributes"], &channel["created"]), (&json!({}), &channel["last_registration"]));
        let user = app.master().get(&format!("/api/named_users?id={USER}")).await.expect(200)["named_user"].clone();
        assert_eq!((&user["tags"], user["channels"].as_array().unwrap().len()), (&json!({}), 1));
        let seen = events(&app).await;
        let hers = seen.lines().filter(|line| line.contains(PHONE)).count();
        assert_eq!(hers, 3, "her first opening, her tag and that the channel is hers: {seen}");
        app.advance(Duration::from_secs(91 * 24 * 60 * 60));
        app.step_all().await;
        app.master().get(&format!("/api/privacy/{erase}")).await.expect(404);
        app.master().get(&format!("/api/channels/{PHONE}")).await.expect(200);
    })
    .await;
}

/// Lets the erasure go through all tables once more.
async fn begin_anew(app: &TestApp) {
    let write = |tx: &mut Tx<'_>| {
        let sql = "update privacy_request set progress = $1 where kind = 'erase'";
        tx.execute(sql, &[r#"{"stage":"erase","step":0,"log":0,"n_blocked":0}"#.into()])
    };
    let n_changed = app.engine().store().write(AppId(1), write).await.unwrap_or_else(|error: Error| panic!("{error}"));
    assert_eq!(n_changed, 1);
}

/// What a node writes that had read her channel before it was erased.
async fn write_late(app: &TestApp) {
    let write = |tx: &mut Tx<'_>| {
        let (delivery, push, channel) = (Id::random(), Id::random(), PHONE.parse().unwrap());
        let (device_type, transport) = ("ios".to_owned(), "sandbox".to_owned());
        let request = json!({"url": format!("/3/device/{TOKEN}")}).to_string();
        let delivery = SandboxDelivery { delivery, push, channel, device_type, transport, at: START, request };
        sandbox::add(tx, AppId(1), &[delivery])?;
        let body = json!({"id": EventId::random(), "occurred": 0, "body": {"mail": MAIL}}).to_string().into_bytes();
        let record = NewRecord { kind: RecordKind::Custom, ordinal: Some(Ordinal(0)), body };
        log::append(tx, AppId(1), START, vec![record]).map(drop)
    };
    app.engine().store().write(AppId(1), write).await.unwrap_or_else(|error: Error| panic!("{error}"));
}

#[tokio::test]
async fn other_nodes_forget_what_they_have_in_memory() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let other = app.join(&url).await;
    register(&app, PHONE, "ios", TOKEN).await;
    upload(&app, PHONE, &bought(MAIL, 1)).await;
    let reached = async |node: &TestApp| {
        let body = json!({"audience": {"tag": "vip"}, "device_types": "all"});
        node.master().post("/api/audience/explain", body).await.expect(200)["matched"].clone()
    };
    assert!(events(&other).await.contains(MAIL));
    assert_eq!(reached(&other).await, 1);
    ask(&app, "erase", json!({"channel_id": PHONE})).await;
    app.step_all().await;
    assert_eq!(reached(&other).await, 0);
    let seen = events(&other).await;
    assert!(!seen.contains(MAIL) && !seen.contains(PHONE), "{seen}");
    other.stop().await;
    app.stop().await;
}

#[tokio::test]
async fn a_channel_goes_alone_and_a_shared_device_forgets_one_of_two_users() {
    on_each_database(async |app| {
        register(&app, PHONE, "ios", TOKEN).await;
        register(&app, TABLET, "android", ADDRESS).await;
        for channel in [PHONE, TABLET] {
            let body = json!({"channel_id": channel, "named_user_id": USER});
            app.master().post("/api/named_users/associate", body).await.expect(200);
        }
        upload(&app, TABLET, &bought(MAIL, 1)).await;
        let erase = ask(&app, "erase", json!({"address": TOKEN.to_lowercase()})).await;
        app.step_all().await;
        app.advance(LATER);
        app.step_all().await;
        assert_eq!(look_up(&app, &erase).await["state"], "done");
        assert_eq!(search_all(&app, &[PHONE, TOKEN].map(str::to_owned)).await, Vec::<String>::new());
        let user = app.master().get(&format!("/api/named_users?id={USER}")).await.expect(200)["named_user"].clone();
        assert_eq!(user["channels"].as_array().unwrap().len(), 1, "the user stays, with the other channel");

        // The tablet becomes another's, and then the first user is erased.
        let body = json!({"channel_id": TABLET, "named_user_id": "bob"});
        app.master().post("/api/named_users/associate", body).await.expect(200);
        upload(&app, TABLET, &bought("bob@example.org", 2)).await;
        let erase = ask(&app, "erase", json!({"named_user_id": USER})).await;
        app.step_all().await;
        app.advance(LATER);
        app.step_all().await;
        assert_eq!(look_up(&app, &erase).await["state"], "done");
        assert_eq!(search_all(&app, &[USER, MAIL].map(str::to_owned)).await, Vec::<String>::new());
        let seen = events(&app).await;
        assert!(seen.contains("bob@example.org") && seen.contains(TABLET), "{seen}");
        app.master().get(&format!("/api/channels/{TABLET}")).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn a_request_names_one_person_and_belongs_to_its_app() {
    on_each_database(async |app| {
        for body in [json!({}), json!({"named_user_id": "a", "address": "b"}), json!({"channel_id": "a"})] {
            app.master().post("/api/privacy/erase", body).await.expect(400);
        }
        app.device().post("/api/privacy/erase", json!({"named_user_id": USER})).await.expect(401);
        let id = ask(&app, "export", json!({"named_user_id": USER})).await;
        app.step_all().await;
        assert_eq!(look_up(&app, &id).await["receipt"][0]["done"], "exported");
        let stranger = app.another_app(model::app::Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        stranger.get(&format!("/api/privacy/{id}")).await.expect(404);
        stranger.get(&format!("/api/privacy/{id}/result")).await.expect(404);
        app.advance(Duration::from_secs(4 * 24 * 60 * 60));
        app.step_all().await;
        app.master().get(&format!("/api/privacy/{id}")).await.expect(404);
    })
    .await;
}
