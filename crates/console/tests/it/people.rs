//! Finding people, the page of a person and of a device, and exporting and erasing them.

use std::time::Duration;

use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

const PHONE: &str = "10000000-0000-4000-8000-000000000000";
const TABLET: &str = "20000000-0000-4000-8000-000000000000";
const TOKEN: &str = "ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789";

/// Kim has a phone with notifications and a tablet without; the id of a push that both were meant to get.
async fn prepare(app: &TestApp) -> String {
    for (channel, kind, opt_in, address) in [(PHONE, "ios", true, TOKEN), (TABLET, "android", false, "a-token")] {
        let body =
            json!({"channel": {"device_type": kind, "opt_in": opt_in, "push_address": address, "tags": ["news"]}});
        app.device().put(&format!("/api/channels/{channel}"), body).await.expect(200);
        let of = json!({"channel_id": channel, "named_user_id": "kim-7"});
        app.master().post("/api/named_users/associate", of).await.expect(200);
    }
    let about = json!({"tags": {"add": {"loyalty": ["gold"]}},
                       "attributes": [{"action": "set", "key": "plan", "value": "platinum"}]});
    app.master().post("/api/named_users/kim-7", about).await.expect(200);
    app.master().post("/api/named_users/kim-8", json!({"tags": {"add": {"loyalty": ["gold"]}}})).await.expect(200);
    let bought = json!([{"occurred": "2024-05-01T11:00:00", "user": {"named_user_id": "kim-7"},
                         "body": {"name": "bought", "value": 12.5, "interaction_type": "url"}}]);
    app.master().post("/api/custom-events", bought).await.expect(200);
    let push = json!({"audience": {"tag": "news"}, "device_types": "all", "notification": {"alert": "Hello Kim"}});
    let sent = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    sent["push_ids"][0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn people_are_found_by_all_that_is_known_of_them() {
    on_each_database(async |app| {
        let home = format!("/console/{}/people", app.app.key);
        let support = Visitor::with_role(&app, "support").await;
        support.get(&home).await.shows("No device has a named user yet");
        support.get(&format!("{home}?show=devices")).await.shows("No device has registered yet");
        prepare(&app).await;
        let find = async |text: &str| support.get(&format!("{home}?q={text}")).await;
        let (user, phone) = (format!("{home}/user?id=kim-7"), format!("{home}/channels/{PHONE}"));
        find("kim-7").await.expect_to(&user);
        find(PHONE).await.expect_to(&phone);
        find(TOKEN).await.expect_to(&phone);
        find(&TOKEN.to_lowercase()).await.expect_to(&phone);
        find("a-token").await.expect_to(&format!("{home}/channels/{TABLET}"));
        let several = find("ki").await;
        for words in ["kim-7", "kim-8", "2 devices: Android, iOS"] {
            several.shows(words);
        }
        find("im").await.shows("Nobody was found");
        find("%00").await.expect(400);
        let long = "x".repeat(200);
        find(&long).await.shows("Nobody was found");
        let all = support.get(&home).await;
        all.shows("kim-7");
        all.shows("kim-8");
        support.get(&format!("{home}?show=devices")).await.shows(PHONE);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_person_has_devices_a_past_and_reasons() {
    on_each_database(async |app| {
        let push = prepare(&app).await;
        let support = Visitor::with_role(&app, "support").await;
        let home = format!("/console/{}", app.app.key);
        let user = format!("{home}/people/user?id=kim-7");
        let page = support.get(&user).await;
        for words in
            ["2 devices", "loyalty: gold", "plan = platinum", "opted in", "opted out", TOKEN, "Hello Kim", "bought"]
        {
            page.shows(words);
        }
        page.shows("became the device of");
        assert!(!page.text.contains("Erase"), "support erases nobody");
        let timeline = async |kind: &str| {
            let page = support.get(&format!("{user}&kind={kind}")).await;
            page.expect(200).split_once("id=\"timeline\"").unwrap().1.to_owned()
        };
        let messages = timeline("send").await;
        assert!(messages.contains("Hello Kim") && !messages.contains("bought"), "{messages}");
        let events = timeline("event").await;
        assert!(events.contains("bought") && !events.contains("Hello Kim"), "{events}");
        let why = support.get(&format!("{user}&push={push}")).await;
        why.shows("The provider took the message.");
        why.shows("had not opted in to notifications");
        why.shows(">people who are tagged news<");
        // It is chosen from a list; an older one is named by its id.
        page.shows(&format!("<option value=\"{push}\">2024-05-01 12:00 · Hello Kim"));
        support.get(&format!("{user}&older={push}")).await.shows("The provider took the message.");
        support.get(&format!("{user}&older=nonsense")).await.shows("This is no id of a message");
        let unknown = "00000000-0000-4000-8000-000000000000";
        support.get(&format!("{user}&push={unknown}")).await.expect(200);
        let tablet = support.get(&format!("{home}/people/channels/{TABLET}?push={push}")).await;
        tablet.shows("Android device");
        tablet.shows("had not opted in to notifications");
        support.get(&format!("{home}/people/channels/{unknown}")).await.expect(404);
        support.get(&format!("{home}/people/user?id=nobody")).await.expect(404);
        support.get(&format!("{home}/people/user")).await.expect_to(&format!("{home}/people"));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_past_is_paged_to_and_fro() {
    on_each_database(async |app| {
        prepare(&app).await;
        let bought = |n: usize| {
            json!({"occurred": "2024-05-01T11:00:00", "user": {"named_user_id": "kim-7"},
                   "body": {"name": format!("event-{n:03}"), "interaction_type": "url"}})
        };
        // Each is an event of both devices, and a page has fifty.
        let many: Vec<_> = (0..40).map(bought).collect();
        app.master().post("/api/custom-events", json!(many)).await.expect(200);
        let support = Visitor::with_role(&app, "support").await;
        let user = format!("/console/{}/people/user?id=kim-7&kind=event", app.app.key);
        let first = support.get(&user).await;
        first.shows("event-039");
        let link = |text: &str, rel: &str| {
            let (_, rest) = text.split_once(&format!("rel=\"{rel}\" href=\"")).unwrap();
            rest.split_once('"').unwrap().0.replace("&amp;", "&")
        };
        let second = support.get(&link(&first.text, "next")).await;
        second.shows("event-000");
        assert!(!second.text.contains("event-039"));
        support.get(&link(&second.text, "prev")).await.shows("event-039");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn administrators_export_and_erase_people() {
    on_each_database(async |app| {
        prepare(&app).await;
        let admin = Visitor::with_role(&app, "admin").await;
        let people = format!("/console/{}/people", app.app.key);
        admin.get(&format!("{people}/user?id=kim-7")).await.shows("Erase");
        let kim = ("named_user_id", "kim-7");
        let asked = admin.post(&format!("{people}/export"), &[kim]).await;
        let export = asked.location().to_owned();
        assert!(export.starts_with(&format!("{people}/requests/")), "{export}");
        admin.get(&export).await.shows("being collected");
        admin.get(&format!("{export}/result")).await.expect_to(&export);
        app.step_all().await;
        admin.get(&export).await.shows("Download");
        let lines = admin.get(&format!("{export}/result")).await;
        assert!(lines.expect(200).contains("platinum"));
        assert!(lines.headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
        admin.get(&format!("{people}/erase?named_user_id=kim-7")).await.shows("There is no way back");
        let refused = admin.post(&format!("{people}/erase"), &[kim, ("confirm", "kim-8")]).await;
        assert!(refused.expect(400).contains("nobody was erased"));
        admin.get(&format!("{people}/user?id=kim-7")).await.expect(200);
        let erased = admin.post(&format!("{people}/erase"), &[kim, ("confirm", "kim-7")]).await;
        let erasure = erased.location().to_owned();
        admin.get(&erasure).await.shows("within some minutes");
        for _ in 0..10 {
            app.step_all().await;
            app.advance(Duration::from_secs(120));
        }
        let receipt = admin.get(&erasure).await;
        receipt.shows("The person is erased");
        receipt.shows("named_user");
        admin.get(&format!("{people}/user?id=kim-7")).await.expect(404);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_people_of_a_message_are_listed_with_reasons() {
    on_each_database(async |app| {
        let push = prepare(&app).await;
        let support = Visitor::with_role(&app, "support").await;
        let message = format!("/console/{}/messages/{push}", app.app.key);
        support.get(&message).await.shows("people?outcome=delivered");
        let viewer = Visitor::with_role(&app, "viewer").await;
        assert!(!viewer.get(&message).await.expect(200).contains("people?outcome"), "offered to nobody who may not");
        let all = support.get(&format!("{message}/people")).await;
        for words in ["kim-7", "delivered", "opted out", "had not opted in to notifications"] {
            all.shows(words);
        }
        let delivered = support.get(&format!("{message}/people?outcome=delivered")).await;
        delivered.shows(PHONE);
        assert!(!delivered.text.contains(TABLET));
        support.get(&format!("{message}/people?outcome=failed")).await.shows("Nobody: failed");
        support.get(&format!("{message}/people?outcome=nonsense")).await.expect(400);
        let csv = support.get(&format!("{message}/people/csv?outcome=opted_out")).await;
        assert!(csv.expect(200).starts_with("channel_id,") && csv.text.contains(TABLET) && !csv.text.contains(PHONE));
        assert!(csv.headers["content-type"].to_str().unwrap().starts_with("text/csv"));
        viewer.get(&format!("{message}/people/csv")).await.expect(403);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn senders_change_what_is_known_and_send_a_test() {
    on_each_database(async |app| {
        prepare(&app).await;
        let (sender, support) = (Visitor::with_role(&app, "sender").await, Visitor::with_role(&app, "support").await);
        let people = format!("/console/{}/people", app.app.key);
        let (user, phone) = (format!("{people}/user?id=kim-7"), format!("{people}/channels/{PHONE}"));
        assert!(!support.get(&user).await.expect(200).contains("Send a test"), "offered to nobody who may not");
        let (kim, own) = (("named_user_id", "kim-7"), ("channel_id", PHONE));
        support.post(&format!("{people}/change"), &[kim, ("do", "set")]).await.expect(403);
        let change = async |fields: &[(&str, &str)], page: &str| {
            sender.post(&format!("{people}/change"), fields).await.expect_to(page);
        };
        change(&[kim, ("do", "add-tag"), ("group", "loyalty"), ("tag", "silver")], &user).await;
        change(&[kim, ("do", "remove-tag"), ("group", "loyalty"), ("tag", "gold")], &user).await;
        change(&[kim, ("do", "set"), ("attribute", "points"), ("value", "42")], &user).await;
        change(&[kim, ("do", "unset"), ("attribute", "plan")], &user).await;
        change(&[kim, ("do", "subscribe"), ("list", "weekly"), ("scope", "app")], &user).await;
        change(&[own, ("do", "add-tag"), ("tag", "vip")], &phone).await;
        change(&[own, ("do", "set"), ("attribute", "color"), ("value", "red")], &phone).await;
        change(&[own, ("do", "subscribe"), ("list", "daily")], &phone).await;
        let shown = sender.get(&user).await;
        for words in ["loyalty: silver", "points = 42", "weekly (app)", "color = red", "vip", "daily"] {
            shown.shows(words);
        }
        // The timeline still tells of them.
        for gone in ["loyalty: gold", "plan = platinum"] {
            assert!(!shown.text.contains(&format!("chip\">{gone}")), "{}", shown.text);
        }
        sender.post(&format!("{people}/change"), &[kim, ("do", "set"), ("attribute", "x")]).await.expect(400);
        let sent = sender.post(&format!("{people}/test"), &[own, ("text", "Only you")]).await;
        app.step_all().await;
        sender.get(sent.location()).await.shows("Test: Only you");
        let list = sender.get(&format!("/console/{}/messages?origin=test", app.app.key)).await;
        assert!(list.expect(200).contains("Only you") && !list.text.contains("Hello Kim"), "{}", list.text);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_inbox_of_a_person_has_what_they_read() {
    on_each_database(async |app| {
        prepare(&app).await;
        let made = app.device().post("/api/user", json!({"ios_channels": [PHONE]})).await.expect(201);
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        for title in ["A letter", "Another <b>letter</b>"] {
            let push = json!({"audience": {"channel": PHONE}, "device_types": "all", "message": {"title": title, "body": "x"}});
            app.master().post("/api/push", push).await.expect(200);
            app.step_all().await;
        }
        let (sender, support) = (Visitor::with_role(&app, "sender").await, Visitor::with_role(&app, "support").await);
        let people = format!("/console/{}/people", app.app.key);
        let user = format!("{people}/user?id=kim-7");
        for page in [&user, &format!("{people}/channels/{PHONE}")] {
            let shown = support.get(page).await;
            for words in ["A letter", "Another &lt;b&gt;letter", "2 messages, 2 unread"] {
                shown.shows(words);
            }
            assert!(!shown.text.contains("Delete it everywhere"), "{}", shown.text);
        }
        support.get(&format!("{people}/channels/{TABLET}")).await.shows("Messages with a part for the inbox");
        let inbox = app.nobody().basic(&text("user_id"), &text("password"));
        let path = format!("/api/user/{}/messages", text("user_id"));
        let listed = inbox.get(&path).await.expect(200);
        let (id, push) = (&listed["messages"][1]["message_id"], &listed["messages"][1]["message_reporting"]["push_id"]);
        inbox.post(&format!("{path}/message/{}/read", id.as_str().unwrap()), "").await.expect(200);
        support.get(&user).await.shows("2 messages, 1 unread");
        let delete = format!("{people}/inbox/{}/delete", push.as_str().unwrap());
        support.post(&delete, &[("named_user_id", "kim-7")]).await.expect(403);
        sender.post(&delete, &[("named_user_id", "kim-7")]).await.expect_to(&format!("{user}#inbox"));
        sender.get(&user).await.shows("1 message, 1 unread");
        app.stop().await;
    })
    .await;
}
