//! An erasure while other work is under way that knows the person: deliveries, uploads and downloads; and what that work writes.

use std::time::Duration;

use model::event::RecordKind;
use model::ids::{AppId, Offset, Ordinal};
use sending::{RecipientsQuery, RecipientsStart, WantedRecipients};
use serde_json::{Value, json};
use sim::{Faults, SimSettings, Simulator};
use store::log::{self, NewRecord};
use store::postings::{self, Section};
use store::{DatabaseUrl, Error, Tx};
use testkit::app::{TestApp, on_each_database};
use testkit::receiver::OpenReceiver;
use testkit::store::{Database, databases};

use crate::list_uploads::{end, send_chunk, send_in_chunks, stores_rows};
use crate::platform_credentials;
use crate::privacy::{ask, bought, events, look_up, register, search_all, sums, upload};
use crate::push_account::recipients;
use crate::timelines::fill;

const APP: AppId = AppId(1);
const USER: &str = "ann.tanner@example.com";
const PHONE: &str = "10000000-0000-4000-8000-0000000000aa";
const OTHER: &str = "30000000-0000-4000-8000-0000000000cc";
const TOKEN: &str = "bad0_registration_of_ann_7f3a_which_is_long_enough";
const OTHER_TOKEN: &str = "bad0_registration_of_bob_11e2_which_is_long_enough";
const LATER: Duration = Duration::from_secs(6 * 60);

fn texts<const N: usize>(texts: [&str; N]) -> [String; N] {
    texts.map(str::to_owned)
}

async fn push_to_all(app: &TestApp) -> String {
    let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hello"}});
    app.master().post("/api/push", body).await.expect(200)["push_ids"][0].as_str().unwrap().to_owned()
}

pub(crate) async fn erase(app: &TestApp, person: Value) {
    let request = ask(app, "erase", person).await;
    app.step_all().await;
    app.advance(LATER);
    app.step_all().await;
    assert_eq!(look_up(app, &request).await["state"], "done");
}

#[tokio::test]
async fn the_words_of_a_provider_lose_an_address() {
    on_each_database(async |app| {
        let faults = Faults { unknown_prefix: "bad0".to_owned(), names_address: true, ..Faults::default() };
        let settings = SimSettings { clock: app.clock().clone(), faults, ..SimSettings::default() };
        let sim = Simulator::start(settings).await.unwrap();
        let path = format!("/operator/apps/{}/platforms/fcm", app.app.key);
        app.operator().put(&path, platform_credentials::body(&sim, "fcm")).await.expect(200);
        register(&app, PHONE, "android", TOKEN).await;
        register(&app, OTHER, "android", OTHER_TOKEN).await;
        let push = push_to_all(&app).await;
        app.step_all().await;
        let failed = recipients(&app, &push, "outcome=failed", 100).await;
        let reason = |channel: &str| {
            let found = failed.iter().find(|one| one["channel_id"] == channel).unwrap();
            found["reason"].as_str().unwrap().to_owned()
        };
        assert!(reason(PHONE).contains(TOKEN) && reason(OTHER).contains(OTHER_TOKEN), "{failed:?}");
        assert!(events(&app).await.contains(TOKEN), "a rejected message tells the reason");
        let before = sums(&app, &push).await;

        erase(&app, json!({"channel_id": PHONE})).await;
        assert_eq!(search_all(&app, &texts([PHONE, TOKEN])).await, Vec::<String>::new());
        let left = recipients(&app, &push, "outcome=failed", 100).await;
        assert_eq!(left.len(), 1);
        assert_eq!(left[0]["reason"].as_str().unwrap(), reason(OTHER));
        assert_eq!(sums(&app, &push).await[1..], before[1..], "what was counted stays");
        assert!(events(&app).await.contains(OTHER_TOKEN));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_under_way_leaves_a_person_out_who_is_erased() {
    on_each_database(async |app| {
        register(&app, PHONE, "android", TOKEN).await;
        let body = json!({"channel_id": PHONE, "named_user_id": USER});
        app.master().post("/api/named_users/associate", body).await.expect(200);
        app.master().post("/api/lists", json!({"name": "buyers"})).await.expect(201);
        let hers = format!("named_user,{USER}\r\nandroid_channel,{PHONE}\r\nalias,{USER}\r\n");
        let others: String = (0..2_500).map(|n| format!("named_user,other-{n}\r\n")).collect();
        // Rows are stored by the thousand, so that hers are among the first that are stored, and among the last.
        let first = [hers.clone().into_bytes(), others.into_bytes()].into_iter();
        let mut stream = tokio::task::block_in_place(|| send_in_chunks(&app, "/api/lists/buyers/csv", first));
        stores_rows(&app, 2_000).await;
        let request = ask(&app, "erase", json!({"named_user_id": USER})).await;
        app.step_all().await;
        for _ in 0..3 {
            app.advance(LATER);
            app.step_all().await;
            assert_eq!(look_up(&app, &request).await["state"], "running", "the rest of the file is still to come");
        }
        let answer = tokio::task::block_in_place(|| {
            send_chunk(&mut stream, hers.as_bytes());
            end(stream)
        });
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        app.step_all().await;
        app.advance(LATER);
        app.step_all().await;
        assert_eq!(look_up(&app, &request).await["state"], "done");
        assert_eq!(search_all(&app, &texts([PHONE, TOKEN, USER])).await, Vec::<String>::new());
        app.master().get(&format!("/api/named_users?id={USER}")).await.expect(404);
        app.master().get("/api/named_users?id=other-2499").await.expect(200);
        assert_eq!(app.master().get("/api/lists/buyers/csv").await.text().lines().count(), 2_500);

        // A file of later times may name her: she starts afresh.
        app.master().put("/api/lists/buyers/csv", hers).await.expect(202);
        app.step_all().await;
        app.master().get(&format!("/api/named_users?id={USER}")).await.expect(200);
    })
    .await;
}

async fn register_open(app: &TestApp, platform: &str, address: &str, user: &str) -> String {
    let body = json!({"channel": {"type": "open", "opt_in": true, "address": address,
                      "open": {"open_platform_name": platform}}});
    let registered = app.master().post("/api/channels/open", body).await.json();
    let channel = registered["channel_id"].as_str().unwrap().to_owned();
    let body = json!({"channel_id": channel, "device_type": "open", "named_user_id": user});
    app.master().post("/api/named_users/associate", body).await.expect(200);
    channel
}

#[tokio::test]
async fn two_nodes_deliver_to_a_person_who_is_erased_meanwhile() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let other = app.join(&url).await;
    let receiver = OpenReceiver::start().await;
    let mut hers = texts([USER, "address-of-ann-on-kiosk-0000000001", "address-of-ann-on-screen-000000001"]).to_vec();
    for platform in ["kiosk", "screen"] {
        let path = format!("/operator/apps/{}/platforms/open::{platform}", app.app.key);
        app.operator().put(&path, json!({"url": receiver.url(), "validate": false})).await.expect(200);
        let address = hers.iter().find(|text| text.contains(platform)).unwrap().clone();
        hers.push(register_open(&app, platform, &address, USER).await);
        register_open(&app, platform, &format!("address-of-bob-on-{platform}"), "bob").await;
    }
    app.step_all().await;
    let push = push_to_all(&app).await;
    // One job fixes the audience, and then each node delivers one of the two blocks.
    assert!(app.engine().worker().step().await.unwrap());
    receiver.hold();
    // Both may reach for the same block; who finds it taken looks again.
    let deliver = |engine: &engine::Engine| {
        let worker = engine.worker();
        tokio::spawn(async move {
            while !worker.step().await.unwrap() {
                tokio::task::yield_now().await;
            }
        })
    };
    let (one, two) = (deliver(app.engine()), deliver(other.engine()));
    receiver.wait_for(2).await;
    let request = ask(&other, "erase", json!({"named_user_id": USER})).await;
    other.step_all().await;
    assert_eq!(look_up(&app, &request).await["state"], "running");
    receiver.release();
    one.await.unwrap();
    two.await.unwrap();
    app.step_all().await;
    let sent: Vec<String> =
        receiver.values().iter().map(|message| message["target"]["address"].as_str().unwrap().to_owned()).collect();
    assert_eq!(sent.iter().filter(|address| address.contains("-of-ann-")).count(), 2, "{sent:?}");
    let before = sums(&app, &push).await;
    let counted = before[2]["open_channels_sends"]["platforms"].as_array().unwrap();
    assert!(counted.len() == 2 && counted.iter().all(|platform| platform["sends"] == 2), "{counted:?}");

    for _ in 0..2 {
        app.advance(LATER);
        app.step_all().await;
        other.step_all().await;
    }
    assert_eq!(look_up(&app, &request).await["state"], "done");
    assert_eq!(search_all(&app, &hers).await, Vec::<String>::new());
    assert_eq!(sums(&app, &push).await, before);
    assert_eq!(recipients(&app, &push, "outcome=delivered", 100).await.len(), 2, "those of the other");
    other.stop().await;
    app.stop().await;
}

#[tokio::test]
async fn a_download_of_recipients_goes_on_after_a_channel_that_is_erased() {
    on_each_database(async |app| {
        let channel = |n: u32| format!("10000000-0000-4000-8000-{n:012}");
        for n in 0..5 {
            register(&app, &channel(n), "android", &format!("registration:{n}")).await;
        }
        let push = push_to_all(&app).await;
        app.step_all().await;
        let id = push.parse().unwrap();
        let query = RecipientsQuery { wanted: WantedRecipients::All, start: RecipientsStart::First, at_most: 2 };
        let first = app.engine().sending().recipients(APP, id, query).await.unwrap();
        assert_eq!(first.next.map(|next| next.to_string()), Some(channel(2)));
        erase(&app, json!({"channel_id": channel(2)})).await;
        // By the channel there is no going on, as a caller is told who asks for the next page of a listing.
        app.master().get(&format!("/api/push/{push}/recipients?start={}", channel(2))).await.expect(404);
        let start = RecipientsStart::Ordinal(first.next_ordinal.unwrap());
        let rest = RecipientsQuery { start, at_most: 100, ..query };
        let rest = app.engine().sending().recipients(APP, id, rest).await.unwrap();
        let rest: Vec<String> = rest.recipients.iter().map(|recipient| recipient.channel.to_string()).collect();
        assert_eq!(rest, [channel(3), channel(4)]);
        let csv = app.master().get(&format!("/api/push/{push}/recipients/csv")).await;
        assert_eq!(csv.text().lines().count(), 1 + 4);
    })
    .await;
}

#[tokio::test]
async fn records_that_nobody_can_read_are_passed_over() {
    on_each_database(async |app| {
        register(&app, PHONE, "android", TOKEN).await;
        let body = json!({"channel_id": PHONE, "named_user_id": USER});
        app.master().post("/api/named_users/associate", body).await.expect(200);
        upload(&app, PHONE, &bought("first", 1)).await;
        let now = app.clock().now();
        let damage = move |tx: &mut Tx<'_>| {
            let of_many = [RecordKind::RichDelivery, RecordKind::SendRejected].map(|kind| (kind, None));
            let of_one = [None, None, Some(Ordinal(0))].map(|ordinal| (RecordKind::Custom, ordinal));
            let records = of_many.into_iter().chain(of_one);
            let body = format!("damaged {TOKEN}").into_bytes();
            let record = |(kind, ordinal)| NewRecord { kind, ordinal, body: body.clone() };
            log::append(tx, APP, now, records.map(record).collect())
        };
        let last = app.engine().store().write(APP, damage).await.unwrap_or_else(|error: Error| panic!("{error}"));
        // Of a kind that only a later version knows.
        let sql = "update log set kind = 999 where app = $1 and position = $2";
        let rename = move |tx: &mut Tx<'_>| tx.execute(sql, &[APP.into(), (last.0 - 1).into()]);
        let renamed = app.engine().store().write(APP, rename).await.unwrap_or_else(|error: Error| panic!("{error}"));
        assert_eq!(renamed, 1);
        upload(&app, PHONE, &bought("second", 2)).await;
        // They are in a section whose records are noted, too.
        fill(&app, 9_000).await;
        app.engine().events().ensure_timelines(APP).await.unwrap();
        app.step_all().await;
        let noted = app.engine().store().read(|tx| postings::last(tx, APP)).await.unwrap();
        assert_eq!(noted, Some(Section::of(Offset(0))));
        for of in [format!("channels/{PHONE}"), format!("named_users/{USER}")] {
            let page = app.master().get(&format!("/api/{of}/timeline?limit=100")).await.expect(200).to_string();
            assert!(page.contains("first") && page.contains("second"), "{page}");
        }
        let counted = app.operator().get("/metrics").await;
        let counted = counted.text().lines().find(|line| line.contains("log_records_unreadable_total ")).unwrap();
        assert!(!counted.ends_with(" 0"), "{counted}");

        let export = ask(&app, "export", json!({"named_user_id": USER})).await;
        app.step_all().await;
        let lines = app.master().get(&format!("/api/privacy/{export}/result")).await;
        assert!(lines.text().contains("first") && lines.text().contains("second"), "{}", lines.text());
        let pieces = |tx: &mut Tx<'_>| tx.query("select body from privacy_result", &[], |row| row.get::<Vec<u8>>(0));
        let pieces = app.engine().store().read(pieces).await.unwrap_or_else(|error: Error| panic!("{error}"));
        let is_in = |piece: &Vec<u8>| piece.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        assert!(!pieces.is_empty() && !pieces.iter().any(is_in), "an export is sealed");

        // A name in them is found all the same.
        erase(&app, json!({"named_user_id": USER})).await;
        assert_eq!(search_all(&app, &texts([PHONE, TOKEN, USER])).await, Vec::<String>::new());
    })
    .await;
}
