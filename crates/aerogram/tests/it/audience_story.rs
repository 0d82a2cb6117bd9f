//! Whom an app talks to, from the command line: channels, named users, their tags and attributes, and places.

use serde_json::{Value, json};

use crate::operator_story::{Story, register};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

#[test]
fn channels_are_listed_and_found_by_their_address() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    let listed = story.says(&["channel", "list"]);
    let rows: Vec<&str> = listed.lines().collect();
    assert!(rows[0].starts_with("CHANNEL_ID") && rows.len() == 2, "{listed}");
    assert!(rows[1].starts_with(&channel) && rows[1].contains("android") && rows[1].ends_with("news"), "{listed}");
    let found = story.json(&["channel", "list", "--address", "address"]);
    assert_eq!(found["channels"][0]["channel_id"], channel.as_str());
    assert_eq!(story.json(&["channel", "list", "--address", "another"])["channels"], json!([]));
    assert!(story.says(&["channel", "show", &channel]).contains("registered"));
}

#[test]
fn channels_come_to_named_users_and_leave_them() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    assert_eq!(story.says(&["user", "associate", "jo, the first", &channel]), "accepted\n");
    let listed = story.says(&["user", "list"]);
    let row = listed.lines().nth(1).unwrap();
    assert!(row.starts_with("jo, the first") && row.ends_with('1'), "{listed}");
    assert!(story.says(&["channel", "list"]).contains("jo, the first"));
    assert_eq!(story.says(&["user", "disassociate", "jo, the first", &channel]), "accepted\n");
    assert_eq!(story.json(&["user", "show", "jo, the first"])["named_user"]["channels"], json!([]));
    let misused = story.command(&["user", "associate", "jo"]).output().unwrap();
    assert_eq!(misused.status.code(), Some(2));
}

#[test]
fn tags_are_given_taken_and_counted() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    story.says(&["user", "associate", "jo", &channel]);
    assert_eq!(story.says(&["tag", "add", "vip", "early", "--channel", &channel]), "accepted\n");
    let listed = story.says(&["tag", "list"]);
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["CHANNELS", "TAG"]);
    assert!(rows.contains(&vec!["1", "vip"]) && rows.contains(&vec!["1", "news"]) && rows.len() == 4, "{listed}");
    story.says(&["tag", "remove", "early", "--channel", &channel]);
    assert_eq!(story.json(&["tag", "list", "--prefix", "ea"])["terms"], json!([]));
    story.says(&["tag", "set", "gold", "--group", "crm", "--user", "jo"]);
    story.says(&["tag", "set", "silver", "--group", "crm", "--user", "jo"]);
    assert_eq!(story.json(&["user", "show", "jo"])["named_user"]["tags"], json!({"crm": ["silver"]}));
    assert_eq!(story.json(&["tag", "list", "--group", "crm"])["terms"], json!([{"tag": "silver", "channels": 1}]));
    let groups = story.says(&["tag", "groups"]);
    assert!(groups.lines().any(|line| line.split_whitespace().eq(["crm", "1", "false"])), "{groups}");
    let warned = story.command(&["tag", "add", "vip", "--channel", &channel, "--group", "timezone"]).output().unwrap();
    assert_eq!(warned.status.code(), Some(1), "{warned:?}");
    for wrong in [&["tag", "add", "vip"][..], &["tag", "add", "vip", "--user", "jo", "--channel", NOBODY]] {
        assert_eq!(story.command(wrong).output().unwrap().status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn attributes_are_set_removed_and_listed() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    let values = ["city=Oslo", "visits=7", "is=true", r#"order#1={"total": 5}"#];
    assert_eq!(story.says(&[&["attribute", "set", "--channel", &channel], &values[..]].concat()), "accepted\n");
    let set = &story.json(&["channel", "show", &channel])["channel"]["attributes"];
    assert_eq!((&set["city"], &set["visits"], &set["is"]), (&json!("Oslo"), &json!(7), &json!("true")), "{set}");
    story.says(&["attribute", "remove", "visits", "--channel", &channel]);
    story.says(&["attribute", "set", "city=Bergen", "--user", "jo"]);
    let listed = story.says(&["attribute", "list", "--prefix", "c"]);
    let row: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..2], ["city", "text"], "{listed}");
    assert!(row[2..].concat().contains("Oslo") && listed.contains("Bergen") && listed.lines().count() == 2, "{listed}");
    assert_eq!(story.command(&["attribute", "set", "city", "--user", "jo"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn places_are_found_by_name_and_by_point() {
    let story = Story::begin();
    let found = story.json(&["location", "search", "Portland, Oregon", "--type", "city"]);
    let place = &found["features"][0];
    assert_eq!(place["properties"]["name"], "Portland", "{found}");
    let table = story.says(&["location", "search", "Portland, Oregon"]);
    assert!(table.starts_with("PLACE_ID") && table.contains("Oregon"), "{table}");
    let at = story.says(&["location", "at", "-33.92,18.42", "--type", "country"]);
    assert!(at.lines().nth(1).is_some_and(|line| line.contains("South Africa")), "{at}");
    let id = place["id"].as_str().unwrap();
    assert_eq!(story.json(&["location", "show", id])["id"], id);
    assert!(story.refused(&["location", "at", "-333,18"]).contains("400"));
}

#[test]
fn events_of_a_push_or_a_channel_are_listed() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    let pushes = ["One", "Two"].map(|text| story.says(&["push", text, "--audience", "all", "--yes"]).trim().to_owned());
    let wait = |push: &str| {
        let of_push = ["events", "tail", "--from", "earliest", "--push", push, "--limit", "2", "--json"];
        let events = story.says(&of_push);
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    for push in &pushes {
        let kinds = wait(push).into_iter().map(|event| event["type"].clone());
        assert_eq!(kinds.collect::<Vec<_>>(), ["PUSH_BODY", "SEND"]);
    }
    let listed = story.says(&["events", "list", "--push", &pushes[0], "--type", "SEND"]);
    assert!(listed.lines().count() == 1 && listed.contains("SEND") && listed.contains(&channel), "{listed}");
    let (_, body) = listed.trim().split_once("{").unwrap();
    let body: Value = serde_json::from_str(&format!("{{{body}")).unwrap();
    assert_eq!(body["push_id"], pushes[0].as_str());
    let newest = story.says(&["events", "list", "--channel", &channel, "--limit", "1", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&newest).unwrap()["body"]["push_id"], pushes[1].as_str());
}
