//! Who finds a message in their inbox, in which language, for how long, and what is told about it.

use std::time::Duration;

use model::event::{Event, Many, RecordKind, RichMessage};
use model::ids::{AppId, Offset};
use roaring::RoaringBitmap;
use serde_json::{Value, json};
use store::counters::{self, Metric, Pushes, Total};
use store::log;
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::inbox::{MINUTE, Phone, send};

const APP: AppId = AppId(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Records of one kind, oldest first, with the channel each is about.
async fn records(app: &TestApp, kind: RecordKind) -> Vec<(Option<u32>, Vec<u8>)> {
    let all = app.engine().store().read(|tx| log::after(tx, APP, Offset(0), 10_000)).await.unwrap();
    let of_kind = all.into_iter().filter(|record| record.kind == kind);
    of_kind.map(|record| (record.ordinal.map(|ordinal| ordinal.0), record.body)).collect()
}

/// The counts of the app and of the push; they have to agree.
async fn count(app: &TestApp, push: &str, metric: Metric, family: &str) -> i64 {
    let push = push.parse().unwrap();
    let read = app.engine().store().read(move |tx| {
        let of_app = counters::totals_until(tx, APP, &[metric], i64::MAX)?;
        Ok::<_, store::Error>((of_app, counters::totals_of_pushes(tx, APP, Pushes::One(push), &[metric])?))
    });
    let (of_app, of_push) = read.await.unwrap();
    let on = |totals: &[Total]| -> i64 {
        totals.iter().filter(|total| total.device_type.family() == family).map(|total| total.n).sum()
    };
    assert_eq!(on(&of_app), on(&of_push));
    on(&of_push)
}

#[tokio::test]
async fn a_message_reaches_those_who_opted_out_and_is_told_about() {
    on_each_database(async |app| {
        let quiet = Phone::new(&app, "ios", json!({})).await;
        let loud = Phone::new(&app, "ios", json!({"opt_in": true, "push_address": "AB01"})).await;
        let robot = Phone::new(&app, "android", json!({})).await;
        let fridge = json!({"channel": {"type": "open", "opt_in": true, "address": "f",
            "open": {"open_platform_name": "fridge"}}});
        app.master().post("/api/channels/open", fridge).await.expect(200);
        let origin = json!({"notification": {"alert": "Look"}, "campaigns": {"categories": ["c"]}});
        let (push, id) = send(&app, "News", origin).await;
        for phone in [&quiet, &loud, &robot] {
            assert_eq!(phone.titles(&app).await, ["News"]);
        }
        let sandbox = app.master().get("/api/sandbox").await.expect(200);
        let sent = sandbox["deliveries"].as_array().unwrap();
        let with_id: Vec<bool> = sent.iter().map(|it| it["request"].to_string().contains(&id)).collect();
        assert_eq!(with_id.len(), 2, "the opted-in phone and the fridge are notified");
        assert_eq!(with_id.iter().filter(|with_id| **with_id).count(), 1, "the phone with the id of the message");

        let deliveries = records(&app, RecordKind::RichDelivery).await;
        assert_eq!(deliveries.len(), 1, "one record for the block");
        let many: Many = postcard::from_bytes(&deliveries[0].1).unwrap();
        assert_eq!(many.push.push_id.to_string(), push);
        assert_eq!(RoaringBitmap::deserialize_from(&many.ordinals[..]).unwrap().len(), 3);
        assert_eq!(count(&app, &push, Metric::RichSends, "ios").await, 2);
        assert_eq!(count(&app, &push, Metric::RichSends, "android").await, 1);

        let marks = json!({"messages": [{"message_id": id}]});
        for _ in 0..2 {
            robot.caller(&app).post(&robot.path("messages/unread"), &marks).await.expect(200);
            quiet.caller(&app).post(&quiet.path("messages/delete"), &marks).await.expect(200);
        }
        for (kind, metric, platform, ordinal) in [
            (RecordKind::RichRead, Metric::RichReads, "android", 2),
            (RecordKind::RichDelete, Metric::RichDeletions, "ios", 0),
        ] {
            let told = records(&app, kind).await;
            assert_eq!((told.len(), told[0].0), (1, Some(ordinal)), "{kind:?}");
            let event: Event<RichMessage> = serde_json::from_slice(&told[0].1).unwrap();
            assert_eq!(event.body.push.push_id.to_string(), push);
            assert_eq!(event.body.push.campaigns.unwrap().categories, ["c"]);
            assert_eq!(count(&app, &push, metric, platform).await, 1);
        }
        let viewed = app.master().get("/api/lists/ua_message_center_view_last_7_days").await.expect(200);
        assert_eq!(viewed["channel_count"], 1);
        let sent = app.master().get("/api/lists/ua_message_center_sent_last_7_days").await.expect(200);
        assert_eq!(sent["channel_count"], 3);
    })
    .await;
}

#[tokio::test]
async fn only_the_audience_holds_a_message() {
    on_each_database(async |app| {
        let tagged = Phone::new(&app, "ios", json!({"tags": ["vip"], "set_tags": true})).await;
        let other = Phone::new(&app, "ios", json!({})).await;
        let robot = Phone::new(&app, "android", json!({"tags": ["vip"], "set_tags": true})).await;
        send(&app, "vip", json!({"audience": {"tag": "vip"}, "device_types": ["ios"]})).await;
        let limits = json!({"options": {"audience_limits": {"max_recipients": 1}}});
        send(&app, "limited", limits).await;
        assert_eq!(other.titles(&app).await, Vec::<String>::new());
        let everybody = [tagged.titles(&app).await, robot.titles(&app).await].concat();
        assert_eq!(everybody.iter().filter(|title| *title == "limited").count(), 1);
        assert_eq!(everybody.iter().filter(|title| *title == "vip").count(), 1);
        // Uninstalled: nothing new comes, what was there stays until its end.
        let uninstall = json!({"channel_id": tagged.channel, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        send(&app, "later", json!({})).await;
        assert!(tagged.titles(&app).await.contains(&"vip".to_owned()));
        assert!(!tagged.titles(&app).await.contains(&"later".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn everybody_reads_their_own_language() {
    on_each_database(async |app| {
        let locale = |language: &str, country: &str| json!({"locale_language": language, "locale_country": country});
        let german = Phone::new(&app, "ios", locale("de", "DE")).await;
        let austrian = Phone::new(&app, "ios", locale("de", "AT")).await;
        let english = Phone::new(&app, "ios", locale("en", "US")).await;
        let message = |title: &str| json!({"title": title, "body": title});
        let alert = json!({"alert": "a"});
        let localized = json!([{"language": "de", "message": message("Hallo")},
            {"language": "de", "country": "AT", "notification": alert}]);
        send(&app, "Hello", json!({"localizations": localized})).await;
        let push =
            json!({"audience": "all", "device_types": ["ios"], "notification": alert, "localizations": localized});
        app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        assert_eq!(german.titles(&app).await, ["Hallo", "Hallo"]);
        assert_eq!(austrian.titles(&app).await, ["Hello"], "the closer localization has no message");
        assert_eq!(english.titles(&app).await, ["Hello"], "and the second push none for them");
        let held: Vec<u64> = records(&app, RecordKind::RichDelivery)
            .await
            .iter()
            .map(|(_, body)| {
                let many: Many = postcard::from_bytes(body).unwrap();
                RoaringBitmap::deserialize_from(&many.ordinals[..]).unwrap().len()
            })
            .collect();
        assert_eq!(held, [3, 1]);
        // Whoever changes the language gets the other text.
        let change = json!({"channel": {"device_type": "ios", "locale_language": "de", "locale_country": "DE"}});
        app.device().put(&format!("/api/channels/{}", english.channel), change).await.expect(200);
        assert_eq!(english.titles(&app).await, ["Hallo"]);
    })
    .await;
}

#[tokio::test]
async fn what_a_localized_message_says_to_the_app_is_told_with_whoever_reads_it() {
    on_each_database(async |app| {
        let german = Phone::new(&app, "ios", json!({"locale_language": "de"})).await;
        let message = json!({"title": "Hallo", "body": "x", "extra": {"k": "w"}});
        let localizations = json!([{"language": "de", "message": message}]);
        let (_, id) = send(&app, "Hello", json!({"device_types": ["ios"], "localizations": localizations})).await;
        let marks = json!({"messages": [{"message_id": id}]});
        german.caller(&app).post(&german.path("messages/unread"), &marks).await.expect(200);
        let told = app.master().get("/api/events?follow=false&types=RICH_DELIVERY,RICH_READ").await;
        let told: Vec<Value> = told.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let contexts: Vec<_> = told.iter().map(|event| event["body"].get("context")).collect();
        assert_eq!(contexts, [None, Some(&json!({"extra": {"k": "w"}}))], "the first is of all languages together");
    })
    .await;
}

#[tokio::test]
async fn whoever_holds_a_localized_message_can_read_it() {
    on_each_database(async |app| {
        let locale = |language: &str, country: &str| json!({"locale_language": language, "locale_country": country});
        let old_code = Phone::new(&app, "android", locale("iw", "il")).await;
        let new_code = Phone::new(&app, "android", locale("he", "IL")).await;
        let filipino = Phone::new(&app, "android", locale("fil", "PH")).await;
        let message = |title: &str| json!({"title": title, "body": title});
        let push = |localizations: Value| {
            json!({"audience": "all", "device_types": ["android"], "notification": {"alert": "a"},
                "localizations": localizations})
        };
        for code in ["iw", "he"] {
            let localized = json!([{"language": code, "message": message(code)}]);
            app.master().post("/api/push", push(localized)).await.expect(200);
            app.step_all().await;
        }
        for phone in [&old_code, &new_code] {
            assert_eq!(phone.titles(&app).await, ["he", "iw"]);
        }
        assert_eq!(filipino.titles(&app).await, Vec::<String>::new());
        assert_eq!(records(&app, RecordKind::RichDelivery).await.len(), 2);

        // Nobody is found by a code of three letters, so it can only say which text of a message for all is theirs.
        let localized =
            json!([{"country": "PH", "message": message("x")}, {"language": "fil", "notification": {"alert": "b"}}]);
        let refused = app.master().post("/api/push", push(localized)).await.expect(400);
        assert_eq!(refused["details"]["path"], "localizations[1].language");
        send(&app, "Hello", json!({"localizations": [{"language": "fil", "message": message("Kumusta")}]})).await;
        assert_eq!(filipino.titles(&app).await, ["Kumusta"]);
        assert_eq!(new_code.titles(&app).await, ["Hello", "he", "iw"]);
    })
    .await;
}

#[tokio::test]
async fn messages_expire_and_are_forgotten() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({})).await;
        let (_, short) = send(&app, "short", json!({"message": {"expiry": 60}})).await;
        send(&app, "dated", json!({"message": {"expiry": "2024-05-02T12:00:00"}})).await;
        send(&app, "forever", json!({"message": {"expiry": 0}})).await;
        send(&app, "too late", json!({"message": {"expiry": "2024-05-01T11:00:00"}})).await;
        let listed = phone.messages(&app).await;
        let expiries: Vec<Value> = listed.iter().map(|message| message["message_expiry"].clone()).collect();
        assert_eq!(expiries, [Value::Null, json!("2024-05-02T12:00:00"), json!("2024-05-01T12:01:00")]);
        app.advance(MINUTE);
        assert_eq!(phone.titles(&app).await, ["forever", "dated"]);
        phone.caller(&app).get(&phone.path(&format!("messages/message/{short}/body"))).await.expect(404);
        let app = app.restart().await;
        app.advance(DAY);
        assert_eq!(phone.titles(&app).await, ["forever"]);
        app.advance(DAY + 2 * 60 * MINUTE);
        app.step_all().await;
        let rows = row_counts(app.engine().store()).await;
        assert_eq!((rows["message"], rows["message_text"], rows["inbox_message"]), (1, 1, 1), "{rows:?}");
        assert_eq!(phone.titles(&app).await, ["forever"]);
        app.advance(365 * DAY);
        assert_eq!(phone.titles(&app).await, Vec::<String>::new(), "nothing is kept for longer than a year");
    })
    .await;
}

#[tokio::test]
async fn servers_delete_messages_everywhere() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({})).await;
        let (_, by_message) = send(&app, "one", json!({})).await;
        let (by_push, id) = send(&app, "two", json!({})).await;
        send(&app, "stays", json!({})).await;
        let listed = phone.messages(&app).await;
        app.master().delete(&format!("/api/user/messages/{by_message}")).await.expect_done(202);
        app.master().delete(&format!("/api/user/messages/{by_push}/")).await.expect_done(202);
        app.master().delete(&format!("/api/user/messages/{by_push}")).await.expect_done(202);
        assert_eq!(phone.titles(&app).await, ["stays"]);
        // A device that still shows it gets no more of it, and its reports change nothing.
        let body = listed[1]["message_body_url"].as_str().unwrap().strip_prefix(&app.url("")).unwrap().to_owned();
        phone.caller(&app).get(&body).await.expect(404);
        let marks = json!({"messages": [{"message_id": id}]});
        phone.caller(&app).post(&phone.path("messages/unread"), marks).await.expect(200);
        assert!(records(&app, RecordKind::RichRead).await.is_empty());
        assert_eq!(row_counts(app.engine().store()).await["message_text"], 1, "the texts are gone at once");
        // Before the audience is chosen: the push goes out without it.
        let push = json!({"audience": "all", "device_types": ["ios"], "message": {"title": "never", "body": "b"}});
        let accepted = app.master().post("/api/push", push).await.expect(200);
        let id = accepted["message_ids"][0].as_str().unwrap();
        app.master().delete(&format!("/api/user/messages/{id}")).await.expect_done(202);
        let app = app.restart().await;
        app.step_all().await;
        assert_eq!(phone.titles(&app).await, ["stays"]);
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "a"}});
        let without = app.master().post("/api/push", push).await.expect(200)["push_ids"][0].clone();
        for unknown in [without.as_str().unwrap(), "x", "00000000-0000-4000-8000-000000000000"] {
            app.master().delete(&format!("/api/user/messages/{unknown}")).await.expect(404);
        }
        app.device().delete(&format!("/api/user/messages/{id}")).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn nobody_is_woken_for_a_message_that_has_ended() {
    on_each_database(async |app| {
        Phone::new(&app, "ios", json!({"opt_in": true, "background": true, "push_address": "AB01"})).await;
        let push = |more: Value| {
            let mut push = json!({"audience": "all", "device_types": ["ios"],
                "message": {"title": "never", "body": "b", "expiry": 60}});
            push.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            push
        };
        for more in [json!({}), json!({"notification": {"alert": "deleted"}})] {
            let accepted = app.master().post("/api/push", push(more)).await.expect(200);
            let id = accepted["message_ids"][0].as_str().unwrap();
            app.master().delete(&format!("/api/user/messages/{id}")).await.expect_done(202);
        }
        app.step_all().await;
        for more in [json!({}), json!({"notification": {"alert": "expired"}})] {
            app.master().post("/api/push", push(more)).await.expect(200);
        }
        app.advance(MINUTE);
        app.step_all().await;
        let sandbox = app.master().get("/api/sandbox").await.expect(200);
        let mut requests: Vec<String> =
            sandbox["deliveries"].as_array().unwrap().iter().map(|it| it["request"].to_string()).collect();
        requests.sort_unstable_by_key(|request| request.contains("expired"));
        assert_eq!(requests.len(), 2, "{requests:?}");
        assert!(requests[0].contains("deleted") && requests[1].contains("expired"), "{requests:?}");
        assert!(requests.iter().all(|request| !request.contains("_uamid")), "{requests:?}");
    })
    .await;
}

#[tokio::test]
async fn messages_without_texts_are_refused() {
    on_each_database(async |app| {
        let id = "00000000-0000-4000-8000-000000000000";
        let fields = json!({"fields": {"title": "t", "body": "<p>b</p>"}});
        for (template, status) in [(json!({"template_id": id}), 400), (json!({"external_id": "x"}), 400), (fields, 200)]
        {
            let push = json!({"audience": "all", "device_types": ["ios"], "message": {"template": template}});
            let answer = app.master().post("/api/push", push).await.expect(status);
            if status == 400 {
                assert_eq!(answer["details"]["path"], "message.template");
            }
        }
    })
    .await;
}

/// A schedule by local time sends one push per clock; whoever moves meanwhile must not find the message twice.
#[tokio::test]
async fn the_parts_of_a_run_share_its_holders() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({"timezone": "Asia/Tokyo"})).await;
        let push = json!({"audience": "all", "device_types": ["ios"], "message": {"title": "noon", "body": "b"}});
        let schedule = json!({"schedule": {"local_scheduled_time": "2024-05-05T12:00"}, "push": push});
        app.master().post("/api/schedules", schedule).await.expect(201);
        app.advance(3 * DAY + 16 * 60 * MINUTE);
        app.step_all().await;
        assert_eq!(phone.titles(&app).await, ["noon"], "it is noon in Tokyo");
        let moves = json!({"channel": {"device_type": "ios", "timezone": "Europe/Berlin"}});
        app.device().put(&format!("/api/channels/{}", phone.channel), moves).await.expect(200);
        let app = app.restart().await;
        app.advance(DAY);
        app.step_all().await;
        assert_eq!(phone.titles(&app).await, ["noon"], "noon in Berlin brings no second one");
    })
    .await;
}
