//! What became of a push for everybody: by the account of the service, and by the books of the simulated providers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::event::RecordKind;
use model::ids::AppId;
use serde_json::{Value, json};
use sim::{Fate, Faults, Protocol, SimSettings, Simulator};
use store::log::{self, NewRecord};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel_to;
use testkit::receiver::OpenReceiver;

use crate::logs::Log;
use crate::platform_credentials::body;

/// Of each platform.
const N_IOS: u64 = 4_000;
const N_ANDROID: u64 = 4_000;
const N_KIOSKS: u64 = 1_000;
const N_BROWSERS: u64 = 1_000;
const HOUR: Duration = Duration::from_secs(60 * 60);

/// The channels that the service knows, by their ids: device type and address.
async fn channels(app: &TestApp) -> BTreeMap<String, (String, Option<String>)> {
    let mut all = BTreeMap::new();
    let mut path = Some("/api/channels?limit=1000".to_owned());
    while let Some(next) = path {
        let page = app.master().get(&next).await.expect(200);
        for channel in page["channels"].as_array().unwrap() {
            let id = channel["channel_id"].as_str().unwrap().to_owned();
            let address = channel["push_address"].as_str().or(channel["address"].as_str());
            let device_type = channel["device_type"].as_str().unwrap().to_owned();
            all.insert(id, (device_type, address.map(str::to_owned)));
        }
        path = page["next_page"].as_str().map(|url| url[url.find("/api").unwrap()..].to_owned());
    }
    all
}

/// Everybody with an outcome, page by page.
pub(crate) async fn recipients(app: &TestApp, push: &str, query: &str, limit: u32) -> Vec<Value> {
    let mut all = Vec::new();
    let mut path = Some(format!("/api/push/{push}/recipients?limit={limit}&{query}"));
    while let Some(next) = path {
        let page = app.master().get(&next).await.expect(200);
        all.extend(page["recipients"].as_array().unwrap().iter().cloned());
        path = page["next_page"].as_str().map(|url| url[url.find("/api").unwrap()..].to_owned());
    }
    all
}

async fn ids(app: &TestApp, push: &str, outcome: &str) -> BTreeSet<String> {
    let found = recipients(app, push, &format!("outcome={outcome}"), 1000).await;
    let ids: BTreeSet<String> = found.iter().map(|one| one["channel_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), found.len(), "nobody is listed twice");
    ids
}

async fn register(app: &TestApp, channel: Value, tag: Option<&str>) -> String {
    let reply = app.master().post("/api/channels", json!({ "channel": channel })).await;
    let id = reply.json()["channel_id"].as_str().unwrap().to_owned();
    if let Some(tag) = tag {
        let body = json!({"audience": {"channel": id}, "add": {"device": [tag]}});
        app.master().post("/api/channels/tags", body).await.expect(200);
    }
    id
}

async fn copies(app: &TestApp, original: &str, addresses: &[String]) {
    copy_channel_to(app.engine().store(), AppId(1), original.parse().unwrap(), addresses).await;
}

async fn send(app: &TestApp, push: Value) -> String {
    app.master().post("/api/push", push).await.expect(200)["push_ids"][0].as_str().unwrap().to_owned()
}

pub(crate) async fn why(app: &TestApp, push: &str, who: &str) -> Value {
    let found = app.master().get(&format!("/api/push/{push}/why?{who}")).await.expect(200);
    assert_eq!(found["devices"].as_array().unwrap().len(), 1, "{found}");
    found["devices"][0].clone()
}

fn text_of<'w>(why: &'w Value, step: &str) -> &'w str {
    let steps = why["steps"].as_array().unwrap();
    steps.iter().find(|one| one["step"] == step).and_then(|one| one["text"].as_str()).unwrap_or_default()
}

async fn lines(app: &TestApp) -> Vec<String> {
    let reply = app.master().get("/api/events?follow=false").await;
    reply.text().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn the_account_of_a_push_is_what_providers_say_of_it() {
    on_each_database(async |app| {
        let settings = SimSettings { clock: app.clock().clone(), keep: 20_000, ..SimSettings::default() };
        let (sim, kiosks) = (Simulator::start(settings).await.unwrap(), OpenReceiver::start().await);
        let operator = app.operator();
        let platform = |name: &str| format!("/operator/apps/{}/platforms/{name}", app.app.key);
        for name in ["apns", "fcm", "webpush"] {
            operator.put(&platform(name), body(&sim, name)).await.expect(200);
        }
        operator.put(&platform("open::kiosk"), json!({"url": kiosks.url(), "validate": false})).await.expect(200);

        let apple = |n: u64| sim.device(Protocol::Apns, n);
        let google = |n: u64| sim.device(Protocol::Fcm, n);
        let ios = register(&app, json!({"device_type": "ios", "opt_in": true, "push_address": apple(0)}), Some("news"));
        let ios = ios.await;
        copies(&app, &ios, &(1..N_IOS).map(apple).collect::<Vec<_>>()).await;
        let made_up: Vec<String> = (0..40_u64).map(|n| format!("bad0{n:060x}")).collect();
        copies(&app, &ios, &made_up).await;
        let android = json!({"device_type": "android", "opt_in": true, "push_address": google(0)});
        let android = register(&app, android, Some("news")).await;
        copies(&app, &android, &(1..N_ANDROID).map(google).collect::<Vec<_>>()).await;
        let (endpoint, keys) = sim.web_subscription(0);
        let web =
            json!({"device_type": "web", "opt_in": true, "push_address": endpoint, "web": {"subscription": keys}});
        let web = register(&app, web, Some("news")).await;
        let browsers: Vec<String> = (1..N_BROWSERS).map(|n| sim.device(Protocol::WebPush, n)).collect();
        copies(&app, &web, &browsers).await;
        let open = json!({"channel": {"type": "open", "opt_in": true, "address": "kiosk-0", "tags": ["news"],
                                      "open": {"open_platform_name": "kiosk"}}});
        let kiosk = app.master().post("/api/channels/open", open).await.expect(200)["channel_id"].clone();
        copies(&app, kiosk.as_str().unwrap(), &(1..N_KIOSKS).map(|n| format!("kiosk-{n}")).collect::<Vec<_>>()).await;

        let quiet = json!({"device_type": "ios", "opt_in": false, "push_address": apple(100_000)});
        let quiet = register(&app, quiet, Some("news")).await;
        copies(&app, &quiet, &(100_001..100_030).map(apple).collect::<Vec<_>>()).await;
        let silent = register(&app, json!({"device_type": "android", "opt_in": true}), Some("news")).await;
        let amazon = json!({"device_type": "amazon", "opt_in": true, "push_address": "amzn-1"});
        let amazon = register(&app, amazon, Some("news")).await;
        let stranger = json!({"device_type": "ios", "opt_in": true, "push_address": apple(200_000)});
        let stranger = register(&app, stranger, None).await;

        let known = channels(&app).await;
        let by_address = |address: &str| {
            let found = known.iter().find(|(_, (_, known))| known.as_deref() == Some(address));
            found.unwrap_or_else(|| panic!("{address}")).0.clone()
        };
        let gone_addresses: BTreeSet<String> = (10..30).map(apple).chain((10..25).map(google)).collect();
        let faults =
            Faults { gone_addresses: gone_addresses.clone(), unknown_prefix: "bad0".to_owned(), ..Faults::default() };
        sim.set_faults(faults);

        // The browsers are held until it is too late.
        operator.post(&platform("webpush/pause"), json!({"reason": "Being rebuilt."})).await.expect(200);
        let push = json!({
            "audience": {"and": [{"tag": "news"}, {"not": {"tag": "quiet"}}]}, "notification": {"alert": "Hello"},
            "device_types": ["ios", "android", "web", "open::kiosk"], "options": {"expiry": 3600},
        });
        let push = send(&app, push).await;
        let undecided = why(&app, &push, &format!("channel_id={ios}")).await;
        assert_eq!(undecided["outcome"], "undecided", "{undecided}");
        assert!(app.engine().worker().step().await.unwrap(), "the recipients are chosen");
        let uninstalled = [by_address(&apple(50)), by_address(&apple(51))];
        let uninstalls: Vec<Value> =
            uninstalled.iter().map(|id| json!({"channel_id": id, "device_type": "ios"})).collect();
        app.master().post("/api/channels/uninstall", json!(uninstalls)).await.expect(202);
        let left = by_address(&google(60));
        let opted_out = json!({"channel": {"device_type": "android", "opt_in": false, "push_address": google(60)}});
        app.master().put(&format!("/api/channels/{left}"), opted_out).await.expect(200);
        app.advance(Duration::from_secs(30));
        app.step_all().await;
        assert_eq!(ids(&app, &push, "pending").await.len() as u64, N_BROWSERS);
        let late = json!({"device_type": "ios", "opt_in": true, "push_address": apple(300_000)});
        let late = register(&app, late, Some("news")).await;
        app.advance(HOUR);
        app.step_all().await;

        // The books of the providers.
        let taken = sim.deliveries(usize::MAX).into_iter().filter(|delivery| delivery.fate == Fate::Accepted);
        let mut delivered: BTreeSet<String> = taken.map(|delivery| by_address(&delivery.address)).collect();
        delivered
            .extend(kiosks.values().iter().map(|message| by_address(message["target"]["address"].as_str().unwrap())));
        let gone: BTreeSet<String> = gone_addresses.iter().map(|address| by_address(address)).collect();
        let missing: BTreeSet<String> = uninstalled.iter().cloned().chain([left.clone()]).collect();
        let failed: BTreeSet<String> = made_up.iter().map(|address| by_address(address)).collect();
        let browsers = known.iter().filter(|(_, (device_type, _))| device_type == "web").map(|(id, _)| id.clone());
        let browsers: BTreeSet<String> = browsers.collect();
        assert_eq!(ids(&app, &push, "delivered").await, delivered);
        assert_eq!(delivered.len() as u64, N_IOS + N_ANDROID + N_KIOSKS - (gone.len() + missing.len()) as u64);
        assert_eq!(ids(&app, &push, "gone").await, &gone | &missing);
        assert_eq!(ids(&app, &push, "failed").await, failed);
        assert_eq!(ids(&app, &push, "expired").await, browsers);
        assert_eq!(ids(&app, &push, "opted_out").await.len(), 30);
        assert_eq!(ids(&app, &push, "no_address").await, BTreeSet::from([silent.clone()]));
        assert_eq!(ids(&app, &push, "not_addressed").await, BTreeSet::from([amazon.clone()]));
        assert_eq!(ids(&app, &push, "not_matched").await, BTreeSet::from([stranger.clone()]));
        assert!(ids(&app, &push, "pending").await.is_empty());
        let everybody = recipients(&app, &push, "", 77).await;
        assert_eq!(everybody.len() as u64, N_IOS + 40 + N_ANDROID + N_KIOSKS + N_BROWSERS + 30 + 1 + 1);
        let csv = app.master().get(&format!("/api/push/{push}/recipients/csv")).await;
        assert_eq!(csv.text().lines().count(), everybody.len() + 1, "a header, and a row for each");
        let status = app.master().get(&format!("/api/push/{push}")).await.expect(200)["push"]["total"].clone();
        let counted = |key: &str| usize::try_from(status[key].as_u64().unwrap()).unwrap();
        assert_eq!([counted("delivered"), counted("failed")], [delivered.len(), failed.len()], "{status}");
        assert_eq!([counted("gone"), counted("expired")], [gone.len() + missing.len(), 1_000], "{status}");

        // Why, for one of each.
        let told = [
            (&ios, "delivered", "took the message"),
            (failed.first().unwrap(), "failed", "BadDeviceToken"),
            (gone.first().unwrap(), "gone", "does not know the device any more"),
            (&uninstalled[0], "gone", "was uninstalled after"),
            (&left, "gone", "opted out after"),
            (&web, "expired", "Being rebuilt."),
            (&quiet, "opted_out", "had not opted in"),
            (&silent, "no_address", "no address"),
            (&amazon, "not_addressed", "'device_types'"),
        ];
        for (channel, outcome, words) in told {
            let found = why(&app, &push, &format!("channel_id={channel}")).await;
            assert_eq!(found["outcome"], outcome, "{found:#}");
            assert!(text_of(&found, "outcome").contains(words), "{found:#}");
            assert_eq!(text_of(&found, "audience"), "The device was in the audience.", "{found:#}");
        }
        let found = why(&app, &push, &format!("address={}", apple(200_000))).await;
        assert_eq!((&found["channel_id"], &found["outcome"]), (&json!(stranger), &json!("not_matched")), "{found:#}");
        let audience = found["steps"].as_array().unwrap().iter().find(|step| step["step"] == "audience").unwrap();
        let clause = &audience["clause"];
        let tagged = &clause["clauses"][0];
        assert_eq!([&clause["matched"], &tagged["as_of"]], [&json!(false), &json!("then")], "{found:#}");
        assert_eq!(tagged["path"], "audience.and[0]", "{found:#}");
        assert_eq!(clause["clauses"][1]["as_of"], "now", "nobody knows of such a tag");
        assert_eq!([&clause["clauses"][0]["matched"], &clause["clauses"][1]["matched"]], [&json!(false), &json!(true)]);
        let found = why(&app, &push, &format!("channel_id={late}")).await;
        assert_eq!(found["outcome"], "not_matched");
        assert!(text_of(&found, "registered").contains("after the recipients were chosen"), "{found:#}");

        // The past stays as it was, whatever becomes of the devices.
        let before = (recipients(&app, &push, "", 1000).await, lines(&app).await);
        let rejected = before.1.iter().filter(|line| line.contains("\"SEND_REJECTED\"")).count();
        assert_eq!(rejected, failed.len() + gone.len());
        let tagged =
            json!({"audience": {"channel": ios}, "add": {"device": ["quiet"]}, "remove": {"device": ["news"]}});
        app.master().post("/api/channels/tags", tagged).await.expect(200);
        for (n, id) in delivered.iter().enumerate().take(200) {
            if n % 2 == 0 && known[id].0 == "ios" {
                let body = json!([{"channel_id": id, "device_type": "ios"}]);
                app.master().post("/api/channels/uninstall", body).await.expect(202);
            }
        }
        app.step_all().await;
        let app = app.restart().await;
        assert_eq!(recipients(&app, &push, "", 1000).await, before.0);
        assert_eq!(lines(&app).await[..before.1.len()], before.1);
        let found = why(&app, &push, &format!("channel_id={ios}")).await;
        let audience = found["steps"].as_array().unwrap().iter().find(|step| step["step"] == "audience").unwrap();
        let clause = &audience["clause"];
        assert_eq!([&clause["matched"], &clause["as_of"]], [&json!(true), &json!("then")], "as it was: {found:#}");
    })
    .await;
}

#[tokio::test]
async fn each_device_of_a_user_is_explained_as_it_was() {
    on_each_database(async |app| {
        let mut devices = Vec::new();
        for (n, tag) in [Some("news"), None, Some("news")].into_iter().enumerate() {
            let channel = json!({"device_type": "ios", "opt_in": true, "push_address": format!("ABCDEF012{n}")});
            let id = register(&app, channel, tag).await;
            let user = json!({"channel_id": id, "device_type": "ios", "named_user_id": "kim"});
            app.master().post("/api/named_users/associate", user).await.expect(200);
            devices.push(id);
        }
        let audience = json!({"or": [{"tag": "news"}, {"tag": "sports"}]});
        let body = json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hi"},
                          "message": {"title": "T", "body": "B", "content_type": "text/plain"}});
        let push = send(&app, body).await;
        app.step_all().await;
        // Afterwards they change places.
        let change = |id: &String, verb: &str| json!({"audience": {"channel": id}, verb: {"device": ["news"]}});
        app.master().post("/api/channels/tags", change(&devices[0], "remove")).await.expect(200);
        app.master().post("/api/channels/tags", change(&devices[1], "add")).await.expect(200);
        let found = app.master().get(&format!("/api/push/{push}/why?named_user_id=kim")).await.expect(200);
        let found = found["devices"].as_array().unwrap();
        assert_eq!(found.len(), 3);
        for (device, (id, is_met)) in found.iter().zip(devices.iter().zip([true, false, true])) {
            assert_eq!(device["channel_id"], *id, "{device:#}");
            let outcome = if is_met { "delivered" } else { "not_matched" };
            assert_eq!(device["outcome"], outcome, "{device:#}");
            let steps = device["steps"].as_array().unwrap();
            let clause = &steps.iter().find(|step| step["step"] == "audience").unwrap()["clause"];
            assert_eq!([&clause["matched"], &clause["clauses"][0]["matched"]], [is_met, is_met], "{device:#}");
            assert_eq!(clause["clauses"][0]["as_of"], "then", "{device:#}");
        }
        let read: Vec<bool> =
            recipients(&app, &push, "", 2).await.iter().map(|one| one["read"] == json!(false)).collect();
        assert_eq!(read, [true, true], "both have the message and have not read it");
    })
    .await;
}

#[tokio::test]
async fn a_change_that_cannot_be_read_keeps_no_push_from_being_explained() {
    on_each_database(async |app| {
        let kept = Log::begin();
        let channel = json!({"device_type": "ios", "opt_in": true, "push_address": "ABCDEF0120"});
        let id = register(&app, channel, Some("news")).await;
        let audience = json!({"or": [{"tag": "news"}, {"tag": "sports"}]});
        let push = json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hi"}});
        let push = send(&app, push).await;
        app.step_all().await;
        let now = app.engine().clock().now();
        let remove = json!({"audience": {"channel": id}, "remove": {"device": ["news"]}});
        app.master().post("/api/channels/tags", remove).await.expect(200);
        let spoil = move |tx: &mut store::Tx<'_>| {
            let record = NewRecord { kind: RecordKind::Terms, ordinal: None, body: vec![0xff] };
            log::append(tx, AppId(1), now, vec![record])
        };
        app.engine().store().write(AppId(1), spoil).await.unwrap();
        let add = json!({"audience": {"channel": id}, "add": {"device": ["sports"]}});
        app.master().post("/api/channels/tags", add).await.expect(200);
        for _ in 0..2 {
            let found = why(&app, &push, &format!("channel_id={id}")).await;
            let steps = found["steps"].as_array().unwrap();
            let clause = &steps.iter().find(|step| step["step"] == "audience").unwrap()["clause"];
            let told = clause["clauses"].as_array().unwrap();
            let told: Vec<_> = told.iter().map(|part| [&part["matched"], &part["as_of"]]).collect();
            assert_eq!(told[0], [&json!(true), &json!("then")], "it changed before: {found:#}");
            assert_eq!(told[1], [&json!(true), &json!("now")], "it may have changed twice: {found:#}");
        }
        let lines = kept.events("record.unreadable");
        let told = lines.iter().filter(|line| line["fields"]["reader"] == "explanations");
        assert_eq!(told.count(), 1, "however often it is asked: {lines:?}");
    })
    .await;
}
