//! Earlier pushes as audience, what devices did with them, and whom a push leaves out on purpose.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;
use crate::inbox::Phone;
use crate::pipelines::tell;
use crate::push_account::{recipients, why};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn send(app: &TestApp, audience: Value) -> String {
    let push = json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hello"}});
    let id = app.master().post("/api/push", push).await.expect(200)["push_ids"][0].as_str().unwrap().to_owned();
    app.step_all().await;
    id
}

fn by(push: &str, outcome: &str) -> Value {
    json!({"push": {"id": push, "outcome": outcome}})
}

/// How many there are of each reason for being held back.
async fn held_back(app: &TestApp, push: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for one in recipients(app, push, "outcome=held_back", 100).await {
        *counts.entry(one["reason"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

/// The pushes that were accepted, the oldest first.
async fn sent(app: &TestApp) -> Vec<String> {
    let events = app.master().get("/api/events?follow=false&types=PUSH_BODY").await;
    let parse =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["body"]["push_id"].as_str().unwrap().to_owned();
    events.text().lines().map(parse).collect()
}

#[tokio::test]
async fn those_who_did_not_open_can_be_reminded() {
    on_each_database(async |app| {
        let people = Crowd::register(&app, &[("ann", "android"), ("bob", "android"), ("cy", "android")]).await;
        let quiet = json!({"channel": {"device_type": "android", "opt_in": false, "push_address": "dee"}});
        app.device().post("/api/channels", quiet).await.expect(201);
        let push = send(&app, json!("all")).await;
        tell(&app, people.id("ann"), "app_foreground", Duration::ZERO, json!({"push_id": push})).await;
        app.advance(Duration::from_secs(60));
        tell(&app, people.id("bob"), "app_foreground", Duration::ZERO, json!({})).await;
        app.step_all().await;

        for (outcome, names) in [
            ("delivered", "ann bob cy"),
            ("opened", "ann"),
            ("not_opened", "bob cy"),
            ("failed", ""),
            ("not_delivered", ""),
        ] {
            assert_eq!(people.reached(&app, &by(&push, outcome)).await, names, "{outcome}");
        }
        let question = json!({"audience": by(&push, "not_delivered")});
        let explained = app.master().post("/api/audience/explain", question).await.expect(200);
        assert_eq!((&explained["matched"], &explained["reachable"]), (&json!(1), &json!(0)), "{explained}");
        let not = json!({"not": by(&push, "opened")});
        assert_eq!(people.reached(&app, &not).await, "bob cy");
        // In the words of selectors by activity.
        let opened_from = |operator: &str, push: &str| {
            let property = json!({"property": "/_triggering_push/push_id", "operator": "equals", "compare_as": "text", "value": push});
            json!({"activity": "app_open", "metric": "count", "operator": operator, "value": 0, "where": property})
        };
        assert_eq!(people.reached(&app, &opened_from("greater", &push)).await, "ann");
        assert_eq!(people.reached(&app, &opened_from("equals", &push)).await, "bob cy");
        let unknown = opened_from("equals", people.id("ann"));
        let unknown = json!({"audience": {"or": [unknown]}, "device_types": "all", "notification": {"alert": "Hi"}});
        let refused = app.master().post("/api/push", unknown).await.expect(400);
        assert_eq!(refused["details"]["path"], "audience.or[0].where.value", "{refused}");

        let marks = |found: &Value| (found["opened"].clone(), found["influenced"].clone());
        let all = recipients(&app, &push, "", 100).await;
        let marks: Vec<_> = all.iter().map(marks).collect();
        let (yes, no) = (json!(true), json!(false));
        assert_eq!(marks, [(yes.clone(), no.clone()), (no.clone(), yes), (no.clone(), no.clone()), (no.clone(), no)]);
        let told = why(&app, &push, &format!("channel_id={}", people.id("ann"))).await;
        assert!(told.to_string().contains("tapped the notification"), "{told:#}");

        // In a segment, while the push is kept: after 30 days as well, when responses do not count any more.
        let segment = json!({"display_name": "Not opened", "criteria": by(&push, "not_opened")});
        let segment = app.master().post("/api/segments", segment).await.expect(201)["segment_id"].clone();
        app.advance(40 * DAY);
        app.step_all().await;
        assert_eq!(people.reached(&app, &json!({"segment": segment})).await, "bob cy");
        assert_eq!(recipients(&app, &push, "outcome=opened", 100).await.len(), 1);
        assert_eq!(recipients(&app, &push, "outcome=influenced", 100).await.len(), 1);

        // A push that is forgotten is nobody's audience, and nobody's opposite.
        app.advance(400 * DAY);
        app.step_all().await;
        app.master().get(&format!("/api/push/{push}/recipients")).await.expect(404);
        for audience in [by(&push, "opened"), json!({"not": by(&push, "opened")})] {
            let push = json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hi"}});
            let refused = app.master().post("/api/push", push).await.expect(400);
            assert!(refused["details"].to_string().contains("push.id"), "{refused}");
        }
        let body = json!({"audience": {"channel": people.id("cy")}, "add": {"device": ["vip"]}});
        app.master().post("/api/channels/tags", body).await.expect(200);
        for part in [json!({"segment": segment}), json!({"not": {"segment": segment}})] {
            let empty = send(&app, json!({"or": [part, {"tag": "vip"}]})).await;
            let status = app.master().get(&format!("/api/push/{empty}")).await.expect(200)["push"].clone();
            assert_eq!(status["total"]["targeted"], 0, "the rest of the audience was not meant alone");
            assert!(status["total"]["reason"].as_str().unwrap().contains(&format!("no push {push}")), "{status}");
        }
    })
    .await;
}

#[tokio::test]
async fn who_was_left_when_a_push_was_canceled_stays_known() {
    on_each_database(async |app| {
        let people = Crowd::register(&app, &[("ann", "android"), ("bob", "android")]).await;
        let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hello"}});
        let accepted = app.master().post("/api/push", json!([body, body])).await.expect(200);
        let [early, late] = [0, 1].map(|n| accepted["push_ids"][n].as_str().unwrap().to_owned());
        app.master().post(&format!("/api/push/{early}/cancel"), "{}").await.expect(200);
        app.master().post(&format!("/api/push/{late}/pause"), "{}").await.expect(200);
        app.step_all().await;
        app.master().post(&format!("/api/push/{late}/cancel"), "{}").await.expect(200);
        app.step_all().await;
        for time in [Duration::ZERO, 40 * DAY] {
            app.advance(time);
            app.step_all().await;
            assert_eq!(recipients(&app, &late, "outcome=canceled", 1).await.len(), 2);
            let who = format!("channel_id={}", people.id("ann"));
            assert_eq!(why(&app, &late, &who).await["outcome"], "canceled");
            assert_eq!(why(&app, &early, &who).await["outcome"], "undecided", "nobody was chosen");
        }
        assert_eq!(people.reached(&app, &by(&late, "not_delivered")).await, "ann bob");
    })
    .await;
}

#[tokio::test]
async fn whom_an_experiment_holds_back_is_known_of_every_variant() {
    on_each_database(async |app| {
        let names: Vec<String> = (0..60).map(|n| format!("phone-{n}")).collect();
        for name in &names {
            let channel = json!({"device_type": "android", "opt_in": true, "push_address": name});
            app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        }
        let variant = |alert: &str| json!({"push": {"notification": {"alert": alert}}});
        let experiment = json!({"name": "Test", "audience": "all", "device_types": "all", "control": 0.3,
                                "variants": [variant("One"), variant("Two")]});
        let created = app.master().post("/api/experiments/", experiment).await.expect(201);
        let experiment = created["experiment_id"].as_str().unwrap().to_owned();
        app.step_all().await;
        let pushes = sent(&app).await;
        let [one, two] = [held_back(&app, &pushes[0]).await, held_back(&app, &pushes[1]).await];
        let delivered = |push: String| {
            let app = &app;
            async move { recipients(app, &push, "outcome=delivered", 100).await.len() }
        };
        let got = [delivered(pushes[0].clone()).await, delivered(pushes[1].clone()).await];
        assert_eq!(one["control_group"], two["control_group"]);
        assert_eq!(one["control_group"] + got[0] + got[1], 60);
        assert_eq!([one["other_variant"], two["other_variant"]], [got[1], got[0]]);
        let question = json!({"audience": by(&experiment, "delivered")});
        let explained = app.master().post("/api/audience/explain", question).await.expect(200);
        assert_eq!(explained["matched"], got[0] + got[1], "all pushes of the experiment together");
    })
    .await;
}

#[tokio::test]
async fn whom_a_pipeline_holds_back_is_recorded_with_its_push() {
    on_each_database(async |app| {
        let people = Crowd::register(&app, &[("ann", "android"), ("bob", "android"), ("cy", "android")]).await;
        let pipeline = json!({
            "enabled": true, "immediate_trigger": {"tag_added": {"tag": "hot"}},
            "outcome": {"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}}},
            "condition": {"and": [{"tag": {"tag_name": "muted", "negated": true}}]},
            "constraint": [{"rate": {"pushes": 1, "lifetimes": 1}}],
        });
        app.master().post("/api/pipelines/", pipeline).await.expect(201);
        let tag = async |name: &str, operation: &str, tag: &str| {
            let mut body = json!({"audience": {"channel": people.id(name)}});
            body[operation] = json!({"device": [tag]});
            app.master().post("/api/channels/tags", body).await.expect(200);
        };
        tag("ann", "add", "hot").await;
        app.step_all().await;
        tag("ann", "remove", "hot").await;
        tag("cy", "add", "muted").await;
        app.step_all().await;
        app.advance(Duration::from_secs(60));
        let all: Vec<&str> = ["ann", "bob", "cy"].iter().map(|name| people.id(name)).collect();
        let body = json!({"audience": {"channel": all}, "add": {"device": ["hot"]}});
        app.master().post("/api/channels/tags", body).await.expect(200);
        app.step_all().await;
        let push = sent(&app).await.pop().unwrap();
        let counts = held_back(&app, &push).await;
        assert_eq!(counts, BTreeMap::from([("rate_limit".to_owned(), 1), ("conditions".to_owned(), 1)]));
        let told = why(&app, &push, &format!("channel_id={}", people.id("ann"))).await;
        assert!(told.to_string().contains("as many automated messages"), "{told:#}");
        assert_eq!(recipients(&app, &push, "outcome=delivered", 100).await[0]["channel_id"], people.id("bob"));
    })
    .await;
}

#[tokio::test]
async fn each_wave_of_a_schedule_knows_who_waits_for_another() {
    on_each_database(async |app| {
        for zone in ["Asia/Tokyo", "Europe/Berlin", "America/New_York"] {
            let channel = json!({"device_type": "android", "opt_in": true, "push_address": zone, "timezone": zone});
            app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        }
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Good morning"}});
        let schedule = json!({"schedule": {"local_scheduled_time": "2024-05-02T09:00"}, "push": push});
        let created = app.master().post("/api/schedules", schedule).await.expect(201);
        let schedule = created["schedule_ids"][0].as_str().unwrap().to_owned();
        for _ in 0..60 {
            app.advance(Duration::from_secs(30 * 60));
            app.step_all().await;
        }
        let pushes = sent(&app).await;
        let mut n_delivered = 0;
        for push in &pushes {
            let got = recipients(&app, push, "outcome=delivered", 100).await.len();
            let waves = held_back(&app, push).await.values().sum::<usize>();
            assert_eq!(got + waves, 3, "everybody is accounted for in every wave");
            n_delivered += got;
        }
        assert_eq!(n_delivered, 3);
        let question = json!({"audience": by(&schedule, "delivered")});
        assert_eq!(app.master().post("/api/audience/explain", question).await.expect(200)["matched"], 3);
    })
    .await;
}

#[tokio::test]
async fn who_has_read_the_message_is_known() {
    on_each_database(async |app| {
        let reader = Phone::new(&app, "ios", json!({})).await;
        let other = Phone::new(&app, "android", json!({})).await;
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"},
                          "message": {"title": "News", "body": "<p>Hello</p>"}});
        let push = app.master().post("/api/push", push).await.expect(200)["push_ids"][0].as_str().unwrap().to_owned();
        app.step_all().await;
        let url = reader.messages(&app).await[0]["message_url"].as_str().unwrap().to_owned();
        let marked = json!({ "mark_as_read": [url] });
        reader.caller(&app).post(&reader.path("messages/unread/"), marked).await.expect(200);
        let read = recipients(&app, &push, "outcome=read", 100).await;
        let read: Vec<&Value> = read.iter().map(|one| &one["channel_id"]).collect();
        assert_eq!(read, [&json!(reader.channel)]);
        let told = why(&app, &push, &format!("channel_id={}", other.channel)).await;
        assert!(told.to_string().contains("in the inbox and was not read"), "{told:#}");
    })
    .await;
}
