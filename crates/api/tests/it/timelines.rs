//! What happened to one channel or named user, newest first.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::app::Mode;
use model::event::RecordKind;
use model::ids::{AppId, Ordinal};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use store::log::{self, NewRecord};
use store::postings;
use testkit::app::{TestApp, on_each_database};

const APP: AppId = AppId(1);
const CHANNELS: [&str; 3] = [
    "10000000-0000-4000-8000-000000000000",
    "20000000-0000-4000-8000-000000000000",
    "30000000-0000-4000-8000-000000000000",
];
const USERS: [&str; 2] = ["ann", "bob"];

async fn register(app: &TestApp, channel: &str, opt_in: bool, version: &str) {
    let body = json!({"channel": {
        "device_type": "ios", "opt_in": opt_in, "push_address": format!("address of {channel}"), "app_version": version,
    }});
    app.device().put(&format!("/api/channels/{channel}"), body).await;
}

async fn associate(app: &TestApp, channel: &str, user: &str) {
    let body = json!({"channel_id": channel, "named_user_id": user});
    app.master().post("/api/named_users/associate", body).await;
}

async fn tag(app: &TestApp, channel: &str, tag: &str) {
    let body = json!({"audience": {"channel": channel}, "add": {"crew": [tag]}});
    app.master().post("/api/channels/tags", body).await;
}

async fn push(app: &TestApp, audience: &Value, alert: &str) -> Value {
    let body = json!({"audience": audience, "device_types": "all", "notification": {"alert": alert}});
    let accepted = app.master().post("/api/push", body).await.expect(200);
    app.step_all().await;
    accepted["push_ids"][0].clone()
}

async fn upload(app: &TestApp, channel: &str, number: usize, kind: &str, data: &Value) {
    let event = json!([{
        "type": kind, "event_id": format!("00000000-0000-4000-8000-{number:012}"),
        "time": format!("{}.000", app.clock().now().0 / 1000), "data": data,
    }]);
    let request = app.nobody().request(Method::POST, "/warp9/");
    let request = request.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", channel);
    app.nobody().send(request.body(Bytes::from(event.to_string())).unwrap()).await.expect(200);
}

async fn uninstall(app: &TestApp, channel: &str) {
    let body = json!([{"channel_id": channel, "device_type": "ios"}]);
    app.master().post("/api/channels/uninstall", body).await.expect(202);
}

/// All entries of a timeline, by pages of a size.
async fn timeline(app: &TestApp, of: &str, limit: usize, filter: &str) -> Vec<Value> {
    let (mut entries, mut before) = (Vec::new(), String::new());
    loop {
        let page = app.master().get(&format!("/api/{of}/timeline?limit={limit}{filter}{before}")).await.expect(200);
        let shown = page["entries"].as_array().unwrap();
        assert!(shown.len() <= limit, "{page}");
        entries.extend(shown.iter().cloned());
        match page["before"].as_str() {
            Some(offset) => before = format!("&before={offset}"),
            None => return entries,
        }
    }
}

fn named(entry: &Value) -> String {
    let words = ["kind", "type", "what", "outcome"].map(|key| entry[key].as_str().unwrap_or_default().to_owned());
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The event of an entry, as the stream shows it.
fn event_of(entry: &Value) -> Value {
    let mut event = entry.as_object().unwrap().clone();
    for head in ["at", "kind", "channel_id", "push_id", "title", "alert", "outcome", "reason", "opened", "what"] {
        event.remove(head);
    }
    Value::Object(event)
}

async fn stream(app: &TestApp) -> Vec<Value> {
    let reply = app.master().get("/api/events?follow=false").await;
    let is_in_timelines = |event: &Value| event["type"] != "CONTACT_CHANGE";
    reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).filter(is_in_timelines).collect()
}

#[tokio::test]
async fn a_timeline_tells_the_story_of_a_channel() {
    on_each_database(async |app| {
        let channel = CHANNELS[0];
        register(&app, channel, true, "1").await;
        associate(&app, channel, "ann").await;
        tag(&app, channel, "pilot").await;
        let sent = push(&app, &json!("all"), "Hello").await;
        upload(&app, channel, 1, "app_foreground", &json!({"session_id": "s", "push_id": sent})).await;
        upload(&app, channel, 2, "enhanced_custom_event", &json!({"event_name": "bought"})).await;
        upload(&app, channel, 3, "app_background", &json!({"session_id": "s"})).await;
        register(&app, channel, true, "2").await;
        register(&app, channel, false, "2").await;
        uninstall(&app, channel).await;

        let entries = timeline(&app, &format!("channels/{channel}"), 50, "").await;
        let expected = [
            "change UNINSTALL uninstalled",
            "change opt_in",
            "change device",
            "event CLOSE",
            "event CUSTOM",
            "event OPEN",
            "send SEND delivered",
            "change TAG_CHANGE tags",
            "change named_user",
            "change FIRST_OPEN registered",
        ];
        assert_eq!(entries.iter().map(named).collect::<Vec<_>>(), expected);
        let send = &entries[6];
        assert_eq!(send.get("title"), None);
        assert_eq!((&send["push_id"], &send["alert"], &send["opened"]), (&sent, &json!("Hello"), &json!(true)));
        assert_eq!(entries[1]["before"], json!({"push_opt_in": "true"}));
        assert_eq!(entries[1]["after"], json!({"push_opt_in": "false"}));
        assert_eq!(
            (&entries[2]["before"], &entries[2]["after"]),
            (&json!({"app_version": "1"}), &json!({"app_version": "2"}))
        );
        assert_eq!((&entries[8]["before"], &entries[8]["after"]), (&json!({}), &json!({"named_user_id": "ann"})));
        assert!(entries.iter().all(|entry| entry["channel_id"] == channel), "{entries:?}");

        let kinds = async |filter: &str| {
            let entries = timeline(&app, &format!("channels/{channel}"), 2, filter).await;
            entries.iter().map(named).collect::<Vec<_>>()
        };
        assert_eq!(kinds("&kind=send").await, [expected[6]]);
        assert_eq!(kinds("&kind=event").await, expected[3..6]);
        assert_eq!(kinds("&kind=change").await, [&expected[..3], &expected[7..]].concat());
        assert_eq!(kinds("&types=OPEN,tag_change").await, [expected[5], expected[7]]);
        assert_eq!(kinds("&types=OPEN&kind=change").await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn a_message_is_called_what_the_list_of_messages_calls_it() {
    on_each_database(async |app| {
        let channel = CHANNELS[0];
        register(&app, channel, true, "1").await;
        let notification = json!({"alert": "Half price", "ios": {"title": "Sale"}});
        let titled = json!({"audience": "all", "device_types": "all", "notification": notification});
        let mut named = titled.clone();
        named["name"] = json!("Spring");
        for body in [titled, named] {
            app.master().post("/api/push", body).await.expect(200);
            app.step_all().await;
        }
        let entries = timeline(&app, &format!("channels/{channel}"), 50, "&kind=send").await;
        let shown: Vec<_> = entries.iter().map(|entry| (&entry["title"], &entry["alert"])).collect();
        assert_eq!(shown, [(&json!("Spring"), &json!("Half price")), (&json!("Sale"), &json!("Half price"))]);
    })
    .await;
}

#[tokio::test]
async fn a_user_has_the_story_of_all_channels_while_they_were_theirs() {
    on_each_database(async |app| {
        for channel in &CHANNELS[..2] {
            register(&app, channel, true, "1").await;
            associate(&app, channel, "ann").await;
        }
        upload(&app, CHANNELS[0], 1, "enhanced_custom_event", &json!({"event_name": "one"})).await;
        upload(&app, CHANNELS[1], 2, "enhanced_custom_event", &json!({"event_name": "two"})).await;
        push(&app, &json!("all"), "Hello").await;
        associate(&app, CHANNELS[0], "bob").await;
        upload(&app, CHANNELS[0], 3, "enhanced_custom_event", &json!({"event_name": "three"})).await;
        let nobody = json!([{"occurred": "2024-05-01T12:00:00", "user": {"named_user_id": "cleo"},
                             "body": {"name": "called", "interaction_type": "phone"}}]);
        app.master().post("/api/named_users/cleo", json!({"tags": {"add": {"crew": ["a"]}}})).await.expect(200);
        app.master().post("/api/custom-events", nobody).await.expect(200);

        let told = async |user: &str| {
            let entries = timeline(&app, &format!("named_users/{user}"), 3, "").await;
            let told = |entry: &Value| {
                let channel = CHANNELS.iter().position(|channel| entry["channel_id"] == *channel);
                format!("{} {:?} {}", named(entry), channel, entry["body"]["name"].as_str().unwrap_or_default())
            };
            entries.iter().map(told).collect::<Vec<_>>()
        };
        let of_ann = [
            "change named_user Some(0) ",
            "send SEND delivered Some(1) ",
            "send SEND delivered Some(0) ",
            "event CUSTOM Some(1) two",
            "event CUSTOM Some(0) one",
            "change named_user Some(1) ",
            "change named_user Some(0) ",
        ];
        assert_eq!(told("ann").await, of_ann);
        assert_eq!(told("bob").await, ["event CUSTOM Some(0) three", "change named_user Some(0) "]);
        assert_eq!(told("cleo").await, ["event CUSTOM None called"]);
    })
    .await;
}

#[tokio::test]
async fn changes_of_many_channels_come_in_pages_of_any_size() {
    on_each_database(async |app| {
        let channels: Vec<String> = (0..9).map(|n| format!("{n:08}-0000-4000-8000-000000000000")).collect();
        for version in ["1", "2", "3"] {
            for channel in &channels {
                register(&app, channel, true, version).await;
                associate(&app, channel, "ann").await;
            }
            push(&app, &json!({"named_user": "ann"}), version).await;
        }
        let whole = timeline(&app, "named_users/ann", 100, "").await;
        let n_changes = whole.iter().filter(|entry| entry["kind"] == "change").count();
        assert_eq!((n_changes, whole.len()), (9 * 3, 9 * 3 + 9 * 3), "{whole:#?}");
        for limit in [1, 2, 5, 17] {
            assert_eq!(timeline(&app, "named_users/ann", limit, "").await, whole, "by {limit}");
        }
        let changes = timeline(&app, "named_users/ann", 4, "&kind=change").await;
        assert_eq!(changes.len(), n_changes);
    })
    .await;
}

#[tokio::test]
async fn others_and_unknown_ids_have_no_timeline() {
    on_each_database(async |app| {
        register(&app, CHANNELS[0], true, "1").await;
        associate(&app, CHANNELS[0], "ann").await;
        let other = app.another_app(Mode::Production).await;
        let stranger = app.nobody().basic(&other.key, &other.master_secret);
        let of = [format!("channels/{}", CHANNELS[0]), "named_users/ann".to_owned()];
        for (caller, of) in [(&stranger, &of[0]), (&stranger, &of[1])] {
            caller.get(&format!("/api/{of}/timeline")).await.expect(404);
        }
        for (of, error) in [
            (format!("channels/{}", CHANNELS[1]), "There is no such channel."),
            ("channels/nothing".to_owned(), "There is no such channel."),
            ("named_users/nobody".to_owned(), "There is no such named user."),
        ] {
            let refused = app.master().get(&format!("/api/{of}/timeline")).await.expect(404);
            assert_eq!(refused["error"], error);
        }
        app.device().get(&format!("/api/{}/timeline", of[0])).await.expect(401);
        for wrong in ["before=x", "before=-1", "kind=all", "types=NOTHING", "types=PUSH_BODY", "limit=0", "limit=1001"]
        {
            app.master().get(&format!("/api/{}/timeline?{wrong}", of[0])).await.expect(400);
        }
    })
    .await;
}

/// Records of other channels, which fill sections of the log.
pub(crate) async fn fill(app: &TestApp, n: usize) {
    let record =
        |n: u32| NewRecord { kind: RecordKind::Close, ordinal: Some(Ordinal(1_000 + n)), body: b"{}".to_vec() };
    let now = app.clock().now();
    let append = move |tx: &mut store::Tx<'_>| log::append(tx, APP, now, (0..).take(n).map(record).collect());
    app.engine().store().write(APP, append).await.unwrap_or_else(|error: store::Error| panic!("{error}"));
}

#[tokio::test]
async fn paging_has_no_gaps_and_no_doubles_while_more_happens() {
    on_each_database(async |app| {
        let channel = CHANNELS[0];
        register(&app, channel, true, "1").await;
        for n in 0..20 {
            upload(&app, channel, n, "enhanced_custom_event", &json!({"event_name": "bought"})).await;
        }
        let of = format!("channels/{channel}");
        let all = timeline(&app, &of, 1000, "").await;
        assert_eq!(all.len(), 21);
        let (mut seen, mut before) = (Vec::new(), String::new());
        for n in 20.. {
            let page = app.master().get(&format!("/api/{of}/timeline?limit=3{before}")).await.expect(200);
            seen.extend(page["entries"].as_array().unwrap().clone());
            let Some(offset) = page["before"].as_str() else { break };
            before = format!("&before={offset}");
            upload(&app, channel, n, "enhanced_custom_event", &json!({"event_name": "bought"})).await;
            register(&app, channel, true, &n.to_string()).await;
        }
        assert_eq!(seen, all);
    })
    .await;
}

/// Something that happens to an app.
#[derive(Clone, Debug)]
enum Step {
    Register { channel: &'static str, opt_in: bool, version: u8 },
    Associate { channel: &'static str, user: &'static str },
    Tag(&'static str),
    Uninstall(&'static str),
    Upload(&'static str),
    PushToAll,
    PushTo(&'static str),
    Others(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let channel = || prop::sample::select(&CHANNELS[..]);
    prop_oneof![
        5 => (channel(), any::<bool>(), 0..3_u8)
            .prop_map(|(channel, opt_in, version)| Step::Register { channel, opt_in, version }),
        4 => (channel(), prop::sample::select(&USERS[..])).prop_map(|(channel, user)| Step::Associate { channel, user }),
        2 => channel().prop_map(Step::Tag),
        1 => channel().prop_map(Step::Uninstall),
        6 => channel().prop_map(Step::Upload),
        2 => Just(Step::PushToAll),
        2 => channel().prop_map(Step::PushTo),
        1 => (1..3_000_usize).prop_map(Step::Others),
    ]
}

async fn take(app: &TestApp, number: usize, step: &Step) {
    match step {
        Step::Register { channel, opt_in, version } => register(app, channel, *opt_in, &version.to_string()).await,
        Step::Associate { channel, user } => associate(app, channel, user).await,
        Step::Tag(channel) => tag(app, channel, &number.to_string()).await,
        Step::Uninstall(channel) => uninstall(app, channel).await,
        Step::Upload(channel) => {
            upload(app, channel, number, "enhanced_custom_event", &json!({"event_name": "bought"})).await
        }
        Step::PushToAll => drop(push(app, &json!("all"), "Hello").await),
        Step::PushTo(channel) => drop(push(app, &json!({"channel": channel}), "You").await),
        Step::Others(n) => fill(app, *n).await,
    }
}

#[tokio::test]
async fn a_timeline_is_the_stream_of_its_channel_backwards_in_any_history() {
    on_each_database(async |app| {
        let mut runner = TestRunner::deterministic();
        // More channels than a record about few has, so that pushes to all are records of a block.
        register(&app, CHANNELS[0], true, "0").await;
        let original = CHANNELS[0].parse().unwrap();
        testkit::bulk::copy_channel(app.engine().store(), APP, original, 100).await;
        for (history, noted) in [false, true, true].into_iter().enumerate() {
            let steps = prop::collection::vec(step(), 40).new_tree(&mut runner).unwrap().current();
            for (number, step) in steps.iter().enumerate() {
                take(&app, 1_000 * history + number, step).await;
                if number % 10 == 0 {
                    fill(&app, 3_000).await;
                }
            }
            if noted {
                // The sweep finds the log long enough.
                app.advance(Duration::from_secs(10 * 60));
                app.step_all().await;
                let noted = app.engine().store().read(|tx| postings::last(tx, APP)).await;
                assert!(noted.is_ok_and(|noted| noted.is_some()), "{steps:?}");
            }
            let all = stream(&app).await;
            for limit in [1, 7, 1_000] {
                for channel in CHANNELS {
                    let of_channel = |event: &&Value| event["device"]["channel"] == channel;
                    let mut expected: Vec<Value> = all.iter().filter(of_channel).cloned().collect();
                    expected.reverse();
                    check(&app, &format!("channels/{channel}"), limit, &expected, &steps).await;
                }
                for user in USERS {
                    let of_user = |event: &&Value| event["user"]["named_user_id"] == user;
                    let mut expected: Vec<Value> = all.iter().filter(of_user).cloned().collect();
                    expected.reverse();
                    check(&app, &format!("named_users/{user}"), limit, &expected, &steps).await;
                }
            }
        }
    })
    .await;
}

async fn check(app: &TestApp, of: &str, limit: usize, expected: &[Value], steps: &[Step]) {
    let reply = app.master().get(&format!("/api/{of}/timeline")).await;
    if reply.status.as_u16() == 404 {
        assert_eq!(expected, [] as [Value; 0], "{of}, {steps:?}");
        return;
    }
    let entries = timeline(app, of, limit, "").await;
    let offsets: Vec<i64> = entries.iter().map(|entry| entry["offset"].as_str().unwrap().parse().unwrap()).collect();
    assert!(offsets.is_sorted_by(|one, next| one > next), "{of} by {limit}: {offsets:?}, {steps:?}");
    let events: Vec<Value> = entries.iter().filter(|entry| entry.get("id").is_some()).map(event_of).collect();
    assert_eq!(events, expected, "{of} by {limit}, {steps:?}");
    let unique: BTreeSet<i64> = offsets.iter().copied().collect();
    assert_eq!(unique.len(), entries.len());
}
