//! Import of channels: thousands in one call, repeated without duplicates, and bad lines told by their numbers.

mod users;

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Method;
use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

const PATH: &str = "/api/channels/import";
const KNOWN: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
const OTHER: &str = "11111111-2222-4333-8444-555555555555";

fn lines(channels: &[Value]) -> String {
    channels.iter().map(|channel| format!("{channel}\n")).collect()
}

/// The lines of an answer, of which the last is about all.
async fn import(app: &TestApp, text: &str) -> (Vec<Value>, Value) {
    let reply = app.master().post(PATH, text).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("content-type")),
        (200, Some("application/x-ndjson")),
        "{}",
        reply.text()
    );
    let mut answer: Vec<Value> = reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let total = answer.pop().unwrap();
    (answer, total)
}

fn counts(total: &Value) -> [u64; 3] {
    ["created", "updated", "refused"].map(|key| total[key].as_u64().unwrap())
}

async fn channel(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/channels/{id}")).await.expect(200)["channel"].clone()
}

async fn reached(app: &TestApp, audience: Value) -> u64 {
    let asked = json!({"audience": audience, "device_types": "all"});
    app.master().post("/api/audience/explain", asked).await.expect(200)["reachable"].as_u64().unwrap()
}

async fn event_types(app: &TestApp) -> Vec<String> {
    let page = app.master().get("/api/events/newest?limit=100").await.expect(200);
    page["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_channel_comes_with_all_that_is_known_of_it() {
    on_each_database(async |app| {
        let kim = json!({
            "channel_id": KNOWN, "device_type": "ios", "opt_in": true, "background": true, "push_address": "AB12", "named_user_id": "kim",
            "tags": ["news"], "tag_groups": {"loyalty": ["gold", "old"]}, "attributes": {"age": 41, "cart#1": {"total": 7}},
            "subscription_lists": ["weekly"], "timezone": "Europe/Berlin", "locale_language": "de", "locale_country": "DE",
            "app_version": "3.1", "device_model": "iPhone15,2", "ios": {"badge": 2},
        });
        let kiosk = json!({"type": "open", "opt_in": true, "address": "lobby", "named_user_id": "kim", "tags": ["hall"],
            "open": {"open_platform_name": "kiosk", "identifiers": {"floor": "1"}}});
        let (refused, total) = import(&app, &lines(&[kim.clone(), kiosk.clone()])).await;
        assert_eq!((refused.len(), counts(&total), &total["ok"]), (0, [2, 0, 0], &json!(true)));

        let shown = channel(&app, KNOWN).await;
        for key in ["device_type", "opt_in", "background", "push_address", "named_user_id", "tags", "attributes", "subscription_lists"] {
            assert_eq!(shown[key], kim[key], "{key}: {shown}");
        }
        assert_eq!(shown["tag_groups"]["loyalty"], json!(["gold", "old"]));
        assert_eq!(shown["device_attributes"]["ua_local_tz"], "Europe/Berlin");
        assert_eq!(shown["device_attributes"]["ua_app_version"], "3.1");
        assert_eq!(shown["ios"]["badge"], 2);
        let user = app.master().get("/api/named_users?id=kim").await.expect(200);
        assert_eq!(user["named_user"]["channels"].as_array().unwrap().len(), 2, "{user}");
        for audience in [
            json!({"tag": "gold", "group": "loyalty"}),
            json!({"tag": "hall"}),
            json!({"subscription_lists": ["weekly"]}),
            json!({"tag": "3.1", "group": "ua_ios_app_version"}),
            json!({"attribute": "age", "operator": "equals", "value": 41}),
        ] {
            assert_eq!(reached(&app, audience.clone()).await, 1, "{audience}");
        }
        let today = app.clock().now().to_date();
        let devices = app.master().get(&format!("/api/reports/devices?date={today}")).await.expect(200);
        assert_eq!(devices["counts"]["ios"]["unique_devices"], 1, "{devices}");
        // People have had these devices for long.
        assert_eq!(event_types(&app).await, Vec::<String>::new());

        let before = row_counts(app.engine().store()).await;
        let (_, total) = import(&app, &lines(&[kim, kiosk])).await;
        assert_eq!(counts(&total), [0, 2, 0]);
        assert_eq!(row_counts(app.engine().store()).await, before, "a repeat writes nothing");
    })
    .await;
}

#[tokio::test]
async fn what_is_there_is_updated_by_id_or_address() {
    on_each_database(async |app| {
        let registered = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "AB12", "tags": ["a"]}});
        app.master().put(&format!("/api/channels/{KNOWN}"), &registered).await.expect(200);
        app.master().post("/api/channels/tags", json!({"audience": {"channel": KNOWN}, "set": {"kept": ["k"], "loyalty": ["old"]}})).await.expect(200);
        let by_address = json!({"device_type": "ios", "push_address": "ab12", "tag_groups": {"loyalty": ["gold"]}, "attributes": {"age": 7},
            "named_user_id": "kim", "subscription_lists": ["weekly"], "locale_language": "fr"});
        let (refused, total) = import(&app, &lines(&[by_address])).await;
        assert_eq!((refused.len(), counts(&total)), (0, [0, 1, 0]));
        let shown = channel(&app, KNOWN).await;
        assert_eq!((&shown["opt_in"], &shown["tags"], &shown["named_user_id"]), (&json!(true), &json!(["a"]), &json!("kim")));
        assert_eq!((&shown["tag_groups"]["loyalty"], &shown["tag_groups"]["kept"]), (&json!(["gold"]), &json!(["k"])));
        assert_eq!((&shown["attributes"], &shown["subscription_lists"]), (&json!({"age": 7}), &json!(["weekly"])));

        // A new channel under an id takes the address of the one that had it, as a registration does.
        let moved = json!({"channel_id": OTHER, "device_type": "ios", "opt_in": true, "push_address": "AB12"});
        let (_, total) = import(&app, &lines(&[moved])).await;
        assert_eq!(counts(&total), [1, 0, 0]);
        assert_eq!(channel(&app, KNOWN).await["push_address"], Value::Null);
        assert_eq!(channel(&app, OTHER).await["push_address"], "AB12");
    })
    .await;
}

#[tokio::test]
async fn lines_about_one_channel_count_in_their_order() {
    on_each_database(async |app| {
        let line = |address: &str, tag: &str| json!({"device_type": "android", "opt_in": true, "push_address": address, "tags": [tag]});
        let with_id = |address: &str, tag: &str| {
            let mut line = line(address, tag);
            line["channel_id"] = json!(KNOWN);
            line
        };
        let all = [line("a", "first"), line("b", "b"), line("a", "second"), with_id("c", "c"), line("a", "third"), with_id("d", "d")];
        let (refused, total) = import(&app, &lines(&all)).await;
        assert_eq!((refused.len(), counts(&total)), (0, [3, 3, 0]));
        let found = app.master().get("/api/channels?address=a").await.expect(200);
        assert_eq!((found["channels"].as_array().unwrap().len(), &found["channels"][0]["tags"]), (1, &json!(["third"])));
        assert_eq!(channel(&app, KNOWN).await["push_address"], "d");
        // The first line gives up the address that the second is found by.
        let (_, total) = import(&app, &lines(&[with_id("e", "e"), line("d", "new")])).await;
        assert_eq!(counts(&total), [1, 1, 0]);
        assert_eq!(channel(&app, KNOWN).await["push_address"], "e");
        // The first line takes the address of the channel that the second is about.
        let mut taking = line("e", "taking");
        taking["channel_id"] = json!(OTHER);
        let mut without = with_id("e", "without");
        without.as_object_mut().unwrap().remove("push_address");
        let (_, total) = import(&app, &lines(&[taking, without])).await;
        assert_eq!(counts(&total), [1, 1, 0]);
        let robbed = channel(&app, KNOWN).await;
        assert_eq!((&robbed["push_address"], &robbed["tags"]), (&Value::Null, &json!(["without"])));
    })
    .await;
}

#[tokio::test]
async fn bad_lines_are_told_and_keep_nobody_out() {
    on_each_database(async |app| {
        app.master()
            .put(&format!("/api/channels/{KNOWN}"), json!({"channel": {"device_type": "ios"}}))
            .await
            .expect(200);
        app.master().delete(&format!("/api/channels/{KNOWN}")).await.expect(204);
        app.master()
            .put(&format!("/api/channels/{OTHER}"), json!({"channel": {"device_type": "ios"}}))
            .await
            .expect(200);
        let tags: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
        let many =
            json!({"device_type": "ios", "push_address": "A7", "tag_groups": {"a": tags[..600], "b": tags[600..]}});
        let text = format!(
            "{}\n\nno json\n{}\n{}\n{}\n{}\n{}\n{many}\n{}",
            json!({"device_type": "ios", "push_address": "A1"}),
            json!({"device_type": "ios", "push_address": "A2", "opt_in": "yes", "colour": "red"}),
            json!({"device_type": "ios", "opt_in": true}),
            json!({"device_type": "ios", "channel_id": KNOWN}),
            json!({"device_type": "android", "channel_id": OTHER}),
            json!({"device_type": "ios", "push_address": "A6", "tag_groups": {"ua_opt_in": ["true"]}}),
            json!({"device_type": "ios", "push_address": "A9"}),
        );
        let (refused, total) = import(&app, &text).await;
        assert_eq!(counts(&total), [2, 0, 7]);
        let told: Vec<(u64, &str)> =
            refused.iter().map(|line| (line["line"].as_u64().unwrap(), line["path"].as_str().unwrap())).collect();
        let wanted = [
            (3, ""),
            (4, "opt_in"),
            (5, ""),
            (6, "channel_id"),
            (7, "device_type"),
            (8, "tag_groups.ua_opt_in"),
            (9, "tag_groups"),
        ];
        assert_eq!(told, wanted, "{refused:?}");
        let of = |line: u64| refused.iter().find(|one| one["line"] == line).unwrap()["error"].as_str().unwrap();
        assert!(of(4).contains("colour"), "all problems of a line are told: {}", of(4));
        assert!(of(6).contains("uninstalled") && of(7).contains("type ios"), "{refused:?}");
        assert!(of(9).contains("1001"), "{refused:?}");
    })
    .await;
}

/// Bad lines pack well: some megabytes of them could be gigabytes of sentences.
#[tokio::test]
async fn what_is_told_of_bad_lines_takes_only_so_much_room() {
    on_each_database(async |app| {
        let with_keys = |keys: Vec<String>| {
            let mut line = json!({"device_type": "ios", "push_address": "A1"});
            line.as_object_mut().unwrap().extend(keys.into_iter().map(|key| (key, json!(1))));
            line
        };
        let long = with_keys(vec!["x".repeat(500_000)]);
        let wide = with_keys((0..100).map(|n| format!("{n:0120}")).collect());
        let many = with_keys((0..100).map(|n| format!("x{n:02}")).collect());
        let text = lines(&[vec![long, wide], vec![many; 1_200]].concat());
        let (refused, total) = import(&app, &text).await;
        assert_eq!(counts(&total), [0, 0, 1_202], "all are counted");
        let error = |n: usize| refused[n]["error"].as_str().unwrap();
        assert!(error(0).len() < 1_000 && error(0).contains("is not allowed"), "{}", error(0));
        assert!(error(1).len() < 10_000 && error(1).ends_with(" more."), "{}", error(1));
        assert!(error(2).contains("'x00'") && error(2).contains("'x99'"), "{}", error(2));
        let n_bytes: usize = refused.iter().map(|line| line.to_string().len()).sum();
        assert!((3_000_000..5_000_000).contains(&n_bytes), "{n_bytes}");
        assert_eq!(refused.len(), 1_202, "all are named");
        assert!(error(1_201).chars().count() < 110 && error(1_201).contains("'x00'"), "{}", error(1_201));
    })
    .await;
}

/// A caller has to find the lines that were left out: the import of the command line sends 2,000 at once.
#[tokio::test]
async fn every_bad_line_of_some_thousand_is_named_however_bad_it_is() {
    on_each_database(async |app| {
        let mut line = json!({"device_type": "ios", "push_address": "A1"});
        line.as_object_mut().unwrap().extend((0..40).map(|n| (format!("unfamiliar_{n:02}"), json!(1))));
        let (refused, total) = import(&app, &lines(&vec![line; 2_000])).await;
        assert_eq!(counts(&total), [0, 0, 2_000]);
        let told: Vec<u64> = refused.iter().map(|line| line["line"].as_u64().unwrap()).collect();
        assert_eq!(told, (1..=2_000).collect::<Vec<_>>());
        for (line, end) in [(&refused[0], "."), (&refused[1_999], "\u{2026}")] {
            let error = line["error"].as_str().unwrap();
            assert!(error.contains("'unfamiliar_00' is not allowed") && error.ends_with(end), "{error}");
        }
        let nothing = "nothing\n".repeat(10_100);
        let (refused, total) = import(&app, &nothing).await;
        assert_eq!((refused.len(), counts(&total)), (10_000, [0, 0, 10_100]), "more are counted");
    })
    .await;
}

#[tokio::test]
async fn a_dry_run_checks_and_writes_nothing() {
    on_each_database(async |app| {
        let before = row_counts(app.engine().store()).await;
        let text = format!("{}\nnothing\n", json!({"device_type": "ios", "push_address": "A1"}));
        let reply = app.master().post(&format!("{PATH}?dry_run=true"), text).await;
        let answer: Vec<Value> = reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((answer[0]["line"].as_u64(), counts(&answer[1])), (Some(2), [0, 0, 1]));
        assert_eq!(row_counts(app.engine().store()).await, before);
        app.master().post(&format!("{PATH}?dry_run=perhaps"), "").await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn addresses_of_apps_in_production_are_checked() {
    on_each_database(async |app| {
        let app_in_production = app.another_app(Mode::Production).await;
        let app = app.as_app(app_in_production);
        let token = "0f".repeat(32);
        let text = lines(&[
            json!({"device_type": "ios", "push_address": "no token"}),
            json!({"device_type": "ios", "push_address": token}),
        ]);
        let (refused, total) = import(&app, &text).await;
        assert_eq!((counts(&total), &refused[0]["path"]), ([1, 0, 1], &json!("push_address")));
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_was_promised_to_a_user_is_theirs() {
    on_each_database(async |app| {
        let promise = json!({"channel_id": KNOWN, "device_type": "ios", "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", promise).await.expect(200);
        import(&app, &lines(&[json!({"channel_id": KNOWN, "device_type": "ios", "push_address": "A1"})])).await;
        assert_eq!(channel(&app, KNOWN).await["named_user_id"], "kim");
    })
    .await;
}

#[tokio::test]
async fn a_user_has_only_so_many_channels() {
    on_each_database(async |app| {
        let of_kim = |n: usize| json!({"device_type": "ios", "push_address": format!("A{n}"), "named_user_id": "kim"});
        let most = model::limits::CHANNELS_PER_NAMED_USER;
        let all: Vec<Value> = (0..most + 2).map(of_kim).collect();
        let (refused, total) = import(&app, &lines(&all)).await;
        assert_eq!(counts(&total), [most as u64, 0, 2]);
        assert_eq!(refused[0]["path"], "named_user_id");
        // Those that the user has are not too many.
        let (_, total) = import(&app, &lines(&all[..most])).await;
        assert_eq!(counts(&total), [0, most as u64, 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_lines_are_several_transactions_of_one_packed_body() {
    on_each_database(async |app| {
        const N: usize = 5000;
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        for n in 0..N {
            let line = json!({"device_type": "android", "opt_in": true, "push_address": format!("token-{n}"), "tags": [format!("t{}", n % 7)],
                "named_user_id": format!("user-{}", n / 2), "attributes": {"n": n}});
            writeln!(packed, "{line}").unwrap();
        }
        let body = Bytes::from(packed.finish().unwrap());
        for wanted in [[N as u64, 0, 0], [0, N as u64, 0]] {
            let request = app.master().request(Method::POST, PATH).body(body.clone()).unwrap();
            let reply = app.master().send(request).await;
            assert_eq!(counts(&serde_json::from_str(reply.text().trim()).unwrap()), wanted);
        }
        let rows = row_counts(app.engine().store()).await;
        assert_eq!([rows["channel"], rows["named_user"], rows["attribute"]], [5000, 2500, 5000]);
        assert_eq!(reached(&app, json!({"tag": "t0"})).await, N.div_ceil(7) as u64);
        assert_eq!(reached(&app, json!({"named_user": "user-7"})).await, 2);
    })
    .await;
}

#[tokio::test]
async fn an_array_of_channels_is_taken_as_a_whole() {
    on_each_database(async |app| {
        let android = |address: &str| json!({"device_type": "android", "opt_in": true, "push_address": address});
        let known = json!({"channel_id": KNOWN, "device_type": "ios", "opt_in": true, "tags": ["news"]});
        let before = row_counts(app.engine().store()).await;
        let wrong = json!([known, {"device_type": "android", "opt_in": "yes", "push_address": "F1"}]);
        let refused = app.master().post(PATH, wrong).await.expect(400);
        assert_eq!(refused["details"]["path"], "[1].opt_in", "{refused}");
        app.master().post(PATH, format!("[{}]", " ".repeat(6 * 1024 * 1024))).await.expect(413);
        app.master().post(&format!("{PATH}?dry_run=true"), json!([known])).await.expect(202);
        assert_eq!(row_counts(app.engine().store()).await, before);

        let all = format!("\n {}", json!([known, android("F1"), android("F2")]));
        let taken = app.master().post(PATH, all).await.expect(202);
        assert_eq!((&taken["ok"], taken.get("warnings")), (&json!(true), None), "{taken}");
        assert_eq!(channel(&app, KNOWN).await["tags"], json!(["news"]));
        assert_eq!(reached(&app, json!("all")).await, 2, "{taken}");
        // It stays what it is, and the others are imported all the same.
        let other = json!([{"channel_id": KNOWN, "device_type": "android", "opt_in": true}, android("F3")]);
        let taken = app.master().post(PATH, other).await.expect(202);
        assert!(taken["warnings"][0].as_str().unwrap().starts_with("[0]: "), "{taken}");
        assert_eq!(reached(&app, json!("all")).await, 3);
        assert_eq!(event_types(&app).await, Vec::<String>::new());
    })
    .await;
}
