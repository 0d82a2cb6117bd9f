//! Credentials of providers over the operator API: set, shown without secrets, proven to the provider, rotated, deleted.

use std::time::Duration;

use model::app::Mode;
use model::ids::AppId;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use sim::{Protocol, SimSettings, Simulator, keys};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Caller;

const PLATFORMS: [&str; 5] = ["apns", "fcm", "adm", "wns", "webpush"];

async fn simulator(app: &TestApp) -> Simulator {
    let clock = app.engine().clock().clone();
    Simulator::start(SimSettings { clock, ..SimSettings::default() }).await.unwrap()
}

/// What an operator would send for each platform, so that it leads to the simulator.
pub(crate) fn body(sim: &Simulator, platform: &str) -> Value {
    let endpoint = |protocol| json!({"url": sim.url(protocol), "ca": sim.ca_pem()});
    match platform {
        "apns" => json!({
            "topic": sim.topic(), "environment": "sandbox", "team_id": keys::APNS_TEAM_ID, "key_id": keys::APNS_KEY_ID,
            "key": sim.apns_key(), "endpoint": endpoint(Protocol::Apns),
        }),
        "fcm" => {
            let account: Value = serde_json::from_str(&sim.service_account(true)).unwrap();
            json!({"service_account": account, "endpoint": endpoint(Protocol::Fcm)})
        }
        "adm" => json!({
            "client_id": keys::ADM_CLIENT_ID, "client_secret": keys::CLIENT_SECRET, "endpoint": endpoint(Protocol::Adm),
        }),
        "wns" => json!({
            "package_sid": keys::WNS_PACKAGE_SID, "client_secret": keys::CLIENT_SECRET,
            "endpoint": endpoint(Protocol::Wns),
        }),
        "webpush" => json!({"subject": "mailto:push@example.com", "endpoint": endpoint(Protocol::WebPush)}),
        other => panic!("{other}"),
    }
}

pub(crate) fn certificate(year: i32, month: u8) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["com.example.app".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(year, month, 1));
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

fn path(key: &str, platform: &str) -> String {
    format!("/operator/apps/{key}/platforms/{platform}")
}

/// Lines that must be in no answer: those of the keys, and client secrets.
fn secrets(body: &Value) -> Vec<String> {
    let texts = [&body["key"], &body["client_secret"], &body["private_key"], &body["service_account"]["private_key"]];
    let lines = texts.iter().filter_map(|text| text.as_str()).flat_map(str::lines);
    lines.filter(|line| !line.starts_with("-----")).map(str::to_owned).collect()
}

async fn id_of(app: &TestApp, key: &str) -> AppId {
    app.engine().tenancy().app(key).await.unwrap().id
}

#[tokio::test]
async fn every_provider_is_configured_shown_proven_and_deleted() {
    on_each_database(async |app| {
        let (operator, sim) = (app.operator(), simulator(&app).await);
        let key = app.app.key.as_str();
        for platform in PLATFORMS {
            let (path, body) = (path(key, platform), body(&sim, platform));
            operator.get(&path).await.expect(404);
            operator.post(&format!("{path}/test"), "").await.expect(404);
            let replies = [operator.put(&path, &body).await, operator.get(&path).await];
            let shown = replies[0].expect(200);
            assert_eq!(replies[1].expect(200)["keys"], shown["keys"]);
            assert_eq!((&shown["platform"], &shown["modified"]), (&json!(platform), &json!("2024-05-01T12:00:00")));
            assert_eq!(shown["keys"].as_array().unwrap().len(), 1, "{shown}");
            assert_eq!(shown["keys"][0]["fingerprint"].as_str().unwrap().len(), 16, "{shown}");
            assert!(body["endpoint"]["url"].as_str().unwrap().starts_with("https://127.0.0.1:"), "{body}");
            assert!(shown["keys"][0]["endpoint"].as_str().unwrap().starts_with("https://127.0.0.1:"), "{shown}");

            let tested = operator.post(&format!("{path}/test"), "").await;
            assert_eq!(tested.status, 200, "{platform}: {}", tested.text());
            let listed = operator.get(&format!("/operator/apps/{key}/platforms")).await;
            let names = listed.expect(200)["platforms"].as_array().unwrap().clone();
            assert_eq!(names.iter().filter(|view| view["platform"] == platform).count(), 1);
            for secret in secrets(&body) {
                for reply in [&replies[0], &replies[1], &tested, &listed] {
                    assert!(!reply.text().contains(&secret), "{}", reply.text());
                }
            }
        }
        assert!(sim.deliveries(1).is_empty(), "a test sends nothing");
        for platform in PLATFORMS {
            operator.delete(&path(key, platform)).await.expect(204);
            operator.delete(&path(key, platform)).await.expect(404);
        }
        assert_eq!(operator.get(&format!("/operator/apps/{key}/platforms")).await.expect(200)["platforms"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn credentials_the_provider_refuses_are_found_out() {
    on_each_database(async |app| {
        let (operator, sim) = (app.operator(), simulator(&app).await);
        for (platform, field, value) in [
            ("apns", "key_id", json!("UNKNOWN001")),
            ("apns", "key", json!(KeyPair::generate().unwrap().serialize_pem())),
            ("adm", "client_secret", json!("wrong")),
            ("wns", "client_secret", json!("wrong")),
        ] {
            let mut body = body(&sim, platform);
            body[field] = value;
            let path = path(&app.app.key, platform);
            operator.put(&path, &body).await.expect(200);
            let refused = operator.post(&format!("{path}/test"), "").await.expect(409);
            assert!(refused["error"].as_str().unwrap().ends_with('.'), "{refused}");
        }
        // Among several keys, the one that is refused is named.
        let mut wrong = body(&sim, "adm");
        wrong["client_secret"] = json!("wrong");
        let path = path(&app.app.key, "adm");
        let shown = operator.put(&path, json!({"keys": [body(&sim, "adm"), wrong]})).await.expect(200);
        let refused = operator.post(&format!("{path}/test"), "").await.expect(409);
        let names =
            |i: usize| refused["error"].as_str().unwrap().contains(shown["keys"][i]["fingerprint"].as_str().unwrap());
        assert_eq!((names(0), names(1)), (false, true), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn every_problem_has_its_path_and_repeats_no_secret() {
    on_each_database(async |app| {
        let sim = simulator(&app).await;
        let (expired, key) = certificate(2024, 4);
        let secret = "hunter2hunter2";
        let table = [
            ("apns", json!({"topic": "a b", "environment": "x", "team_id": 1, "key_id": "short", "key": secret}), 5),
            ("apns", json!({"topic": "a", "certificate": secret, "key": secret}), 2),
            ("apns", json!({"topic": "a", "certificate": expired, "key": key}), 1),
            ("fcm", json!({"service_account": {"type": "user", "private_key": secret}}), 5),
            ("fcm", json!({"service_account": secret}), 1),
            ("adm", json!({"client_secret": secret, "endpoint": {"url": "nowhere", "ca": secret}, "x": 1}), 4),
            ("adm", json!({"keys": [{"client_id": "", "client_secret": secret}, {}]}), 3),
            ("wns", json!({"package_sid": secret, "client_secret": ""}), 2),
            ("webpush", json!({"subject": secret}), 1),
            ("webpush", json!({"subject": "mailto:a@b.c", "private_key": secret}), 1),
            ("webpush", json!([]), 1),
        ];
        for (platform, body, n_problems) in table {
            let path = path(&app.app.key, platform);
            let refused = app.operator().put(&path, &body).await;
            let answer = refused.expect(400);
            assert_eq!(refused.header("aerogram-problems"), Some(n_problems.to_string().as_str()), "{answer}");
            // A webhook's contact is no secret, and a message may quote it.
            assert!(!refused.text().contains(secret) || !body["subject"].is_null(), "{answer}");
            assert!(body.is_array() || !answer["details"]["path"].as_str().unwrap().is_empty(), "{answer}");
            app.operator().get(&path).await.expect(404);
        }
        let body_with_expired = json!({"topic": "a", "certificate": expired, "key": key});
        let refused = app.operator().put(&path(&app.app.key, "apns"), body_with_expired).await;
        assert_eq!(refused.expect(400)["details"]["path"], "certificate");
        // What is wrong takes the place of nothing.
        let path = path(&app.app.key, "adm");
        app.operator().put(&path, body(&sim, "adm")).await.expect(200);
        app.operator().put(&path, json!({})).await.expect(400);
        app.operator().post(&format!("{path}/test"), "").await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn what_is_stored_is_encrypted_and_belongs_to_one_app() {
    on_each_database(async |app| {
        let sim = simulator(&app).await;
        let another = app.another_app(Mode::Development).await;
        for platform in PLATFORMS {
            app.operator().put(&path(&app.app.key, platform), body(&sim, platform)).await.expect(200);
            app.operator().get(&path(&another.key, platform)).await.expect(404);
            app.operator().delete(&path(&another.key, platform)).await.expect(404);
        }
        let (id, other) = (id_of(&app, &app.app.key).await, id_of(&app, &another.key).await);
        let stored =
            app.engine().store().read(move |tx| documents::list(tx, id, DocumentKind::Provider)).await.unwrap();
        assert_eq!(stored.len(), PLATFORMS.len());
        for (document, platform) in stored.iter().flat_map(|document| PLATFORMS.map(|platform| (document, platform))) {
            for secret in secrets(&body(&sim, platform)) {
                assert!(!document.body.contains(&secret), "{}", document.body);
            }
            assert!(!document.body.contains("mailto") && !document.body.contains('{'), "{}", document.body);
        }
        // Sealed for one place, it cannot be opened in another.
        let moved = stored[0].clone();
        let now = app.engine().clock().now();
        let write = move |tx: &mut store::Tx<'_>| {
            documents::put(tx, other, DocumentKind::Provider, &moved.id, &moved.body, now)
        };
        app.engine().store().write(other, write).await.unwrap();
        let shown = app.operator().get(&path(&another.key, &stored[0].id)).await.expect(200);
        assert_eq!((&shown["unreadable"], &shown["keys"]), (&json!(true), &Value::Null));
    })
    .await;
}

#[tokio::test]
async fn keys_are_rotated_one_by_one() {
    on_each_database(async |app| {
        let operator = app.operator();
        let path = path(&app.app.key, "adm");
        let key = |n: u32| json!({"client_id": format!("client {n}"), "client_secret": "s"});
        let ids = |shown: &Value| {
            let keys = shown["keys"].as_array().unwrap().iter();
            keys.map(|key| key["client_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        // The first key may be added as well.
        let shown = operator.post(&format!("{path}/keys"), key(1)).await.expect(200);
        assert_eq!(ids(&shown), ["client 1"]);
        let shown = operator.post(&format!("{path}/keys"), key(2)).await.expect(200);
        assert_eq!(ids(&shown), ["client 1", "client 2"]);
        let again = operator.post(&format!("{path}/keys"), key(1)).await.expect(200);
        assert_eq!(ids(&again), ["client 1", "client 2"]);

        let fingerprint = |i: usize| shown["keys"][i]["fingerprint"].as_str().unwrap();
        operator.delete(&format!("{path}/keys/{}", "0".repeat(16))).await.expect(404);
        operator.delete(&format!("{path}/keys/{}", fingerprint(0))).await.expect(204);
        assert_eq!(ids(&operator.get(&path).await.expect(200)), ["client 2"]);
        operator.delete(&format!("{path}/keys/{}", fingerprint(1))).await.expect(409);
        operator.delete(&format!("{path}/keys/{}", fingerprint(0))).await.expect(404);
        let ten: Vec<Value> = (0..10).map(key).collect();
        operator.put(&path, json!({"keys": ten})).await.expect(200);
        operator.post(&format!("{path}/keys"), key(11)).await.expect(409);

        let open = format!("/operator/apps/{}/platforms/open::fridge/keys", app.app.key);
        assert_eq!(operator.post(&open, key(1)).await.expect(400)["details"]["path"], "platform");
    })
    .await;
}

#[tokio::test]
async fn every_app_has_a_key_pair_for_browsers_from_the_beginning() {
    on_each_database(async |app| {
        const VAPID: &str = "/api/platforms/web/vapid";
        let public_key = async || app.device().get(VAPID).await.expect(200)["public_key"].as_str().unwrap().to_owned();
        let is_configured = async |caller: &Caller| caller.get(VAPID).await.expect(200)["configured"] == true;
        let own = public_key().await;
        assert_eq!((own.len(), &own[..1]), (87, "B"), "an uncompressed point of P-256 in base64url");
        assert_eq!(public_key().await, own);
        let another = app.another_app(Mode::Production).await;
        let device = app.nobody().basic(&another.key, &another.app_secret);
        let of_another = device.get(VAPID).await.expect(200)["public_key"].clone();
        assert_ne!(of_another, own);
        assert_eq!((is_configured(&app.device()).await, is_configured(&device).await), (false, false));

        // Another pair would be of no use to those who have subscribed, so that it has to be set on purpose.
        let another_pair =
            json!({"subject": "mailto:a@b.c", "private_key": KeyPair::generate().unwrap().serialize_pem()});
        let webpush = path(&app.app.key, "webpush");
        let refused = app.operator().post(&format!("{webpush}/keys"), &another_pair).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("one key pair"), "{refused:?}");
        assert_eq!(public_key().await, own);

        // A local server has no contact that push services would take, so that the operator has to name one in production as
        // well; in development there is the sandbox until then.
        for key in [&another.key, &app.app.key] {
            app.operator().get(&path(key, "webpush")).await.expect(404);
        }
        let contact = json!({"subject": "mailto:push@example.com"});
        let shown = app.operator().put(&path(&another.key, "webpush"), contact).await.expect(200);
        assert_eq!(shown["keys"][0]["public_key"], of_another);
        assert_eq!((is_configured(&app.device()).await, is_configured(&device).await), (false, true));
        let set = app.operator().put(&webpush, json!({"subject": "mailto:push@example.com"})).await.expect(200);
        assert_eq!(
            (&set["keys"][0]["public_key"], &set["keys"][0]["subject"]),
            (&json!(own), &json!("mailto:push@example.com"))
        );

        // A pair of the operator's own takes its place, and keeps it when only the contact changes.
        let pair = KeyPair::generate().unwrap().serialize_pem();
        let brought = app.operator().put(&webpush, json!({"subject": "mailto:a@b.c", "private_key": pair})).await;
        let brought = brought.expect(200)["keys"][0]["public_key"].as_str().unwrap().to_owned();
        assert_ne!(brought, own);
        assert_eq!(public_key().await, brought);
        app.operator().put(&webpush, json!({"subject": "https://example.com"})).await.expect(200);
        assert_eq!(public_key().await, brought);
        assert!(is_configured(&app.device()).await);
        app.operator().delete(&webpush).await.expect(204);
        assert_eq!((public_key().await, is_configured(&app.device()).await), (own, false));
    })
    .await;
}

#[tokio::test]
async fn apps_older_than_key_pairs_get_theirs_when_it_is_asked_for() {
    on_each_database(async |app| {
        let id = id_of(&app, &app.app.key).await;
        let forget = move |tx: &mut store::Tx<'_>| documents::delete(tx, id, DocumentKind::WebKeys, "own");
        assert!(app.engine().store().write(id, forget).await.unwrap());
        let device = app.device();
        let ask = || async { device.get("/api/platforms/web/vapid").await.expect(200)["public_key"].clone() };
        let (first, second) = tokio::join!(ask(), ask());
        assert_eq!(first, second);
        assert_eq!(ask().await, first);
    })
    .await;
}

#[tokio::test]
async fn the_operator_hears_of_what_runs_out_and_what_is_paused() {
    on_each_database(async |app| {
        let key = app.app.key.clone();
        let (certificate, private_key) = certificate(2024, 6);
        let body = json!({"topic": "com.example.app", "certificate": certificate, "key": private_key});
        let apns = path(&key, "apns");
        let shown = app.operator().put(&apns, &body).await.expect(200);
        assert_eq!(shown["keys"][0]["expires"], "2024-06-01T00:00:00");
        pause(&app, "ios").await;
        pause(&app, "open::fridge").await;

        let notices = app.operator().get("/operator/platforms/notices").await.expect(200)["notices"].clone();
        let paused = |platform: &str| {
            json!({
                "app": key, "platform": platform, "type": "paused", "by": "provider", "reason": "No.",
                "since": "2024-05-01T12:00:00",
            })
        };
        let expires = json!({"app": key, "platform": "apns", "type": "expires", "at": "2024-06-01T00:00:00"});
        assert_eq!(notices, json!([expires, paused("apns"), paused("open::fridge")]));
        assert_eq!(app.operator().get(&apns).await.expect(200)["paused"]["reason"], "No.");
        let metrics = app.operator().get("/metrics").await.text().to_owned();
        for line in [
            format!(
                "aerogram_platform_credentials_expire_timestamp_seconds{{app=\"{key}\",platform=\"apns\"}} 1717200000"
            ),
            format!("aerogram_platform_paused_since_timestamp_seconds{{app=\"{key}\",platform=\"apns\"}} 1714564800"),
        ] {
            assert!(metrics.lines().any(|known| known == line), "{line}\n{metrics}");
        }

        // New credentials are worth a try.
        app.operator().put(&apns, &body).await.expect(200);
        assert_eq!(app.operator().get(&apns).await.expect(200)["paused"], Value::Null);
        app.operator().delete(&apns).await.expect(204);
        let notices = app.operator().get("/operator/platforms/notices").await.expect(200)["notices"].clone();
        assert_eq!(notices, json!([paused("open::fridge")]));
        // Credentials are looked at once a minute.
        app.advance(Duration::from_secs(60));
        assert!(!app.operator().get("/metrics").await.text().contains("platform=\"apns\""));
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_read_is_told_and_hides_nothing_else() {
    on_each_database(async |app| {
        let key = app.app.key.clone();
        app.operator().put(&path(&key, "adm"), json!({"client_id": "c", "client_secret": "s"})).await.expect(200);
        let (id, now) = (id_of(&app, &key).await, app.engine().clock().now());
        // As if the key of the installation had been lost.
        let write = move |tx: &mut store::Tx<'_>| {
            documents::put(tx, id, DocumentKind::Provider, "fcm", "sealed", now)?;
            documents::put(tx, id, DocumentKind::Platform, "fridge", "sealed", now)
        };
        app.engine().store().write(id, write).await.unwrap();

        let list = app.operator().get(&format!("/operator/apps/{key}/platforms")).await.expect(200);
        let shown = |one: &Value| json!([one["platform"], one["unreadable"]]);
        let shown: Vec<Value> = list["platforms"].as_array().unwrap().iter().map(shown).collect();
        assert_eq!(json!(shown), json!([["fcm", true], ["adm", null], ["open::fridge", true]]));
        assert_eq!(app.operator().get(&path(&key, "fcm")).await.expect(200)["unreadable"], true);
        let notices = app.operator().get("/operator/platforms/notices").await.expect(200)["notices"].clone();
        let unreadable = |platform: &str| json!({"app": key, "platform": platform, "type": "unreadable"});
        assert_eq!(notices, json!([unreadable("fcm"), unreadable("open::fridge")]));
    })
    .await;
}

/// As the engine does when a provider refuses everything.
async fn pause(app: &TestApp, device_type: &'static str) {
    let (id, now) = (id_of(app, &app.app.key).await, app.engine().clock().now());
    let health = json!({"hindrance": "refused", "reason": "No.", "since": now, "probe_at": now}).to_string();
    let write =
        move |tx: &mut store::Tx<'_>| documents::put(tx, id, DocumentKind::PlatformHealth, device_type, &health, now);
    app.engine().store().write(id, write).await.unwrap();
}
