//! Webhooks through the commands against a running server.

use crate::operator_story::{KEY, Story};

#[test]
fn webhooks_are_managed_without_showing_their_secrets() {
    let story = Story::begin();
    let refused = story.refused(&["webhook", "add", KEY, "http://127.0.0.1:9/", "--types", "OPEN"]);
    assert!(refused.contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"), "{refused}");
    assert!(story.refused(&["webhook", "add", KEY, "https://example.com/", "--types", "NO"]).contains("NO"));
    std::fs::write(story.folder.path().join("token.txt"), "Basic aHVudGVyMg==\n").unwrap();
    std::fs::write(story.folder.path().join("headers.txt"), "X-Tenant: hunter2\n").unwrap();
    let files = ["--authorization-file", "token.txt", "--headers-file", "headers.txt"];
    let add = ["webhook", "add", KEY, "https://events.example.com/in", "--types", "OPEN,CLOSE"];
    let made = story.json(&[&add[..], &files].concat());
    let id = made["webhook"]["webhook_id"].as_str().unwrap().to_owned();
    let list = story.says(&["webhook", "list", KEY]);
    assert!(list.contains(&id) && list.contains("live") && list.contains("events.example.com"), "{list}");
    story.says(&["webhook", "disable", KEY, &id]);
    story.says(&["webhook", "set", KEY, &id, "--name", "warehouse", "--types", "OPEN", "--no-authorization"]);
    let shown = story.says(&["webhook", "show", KEY, &id]);
    assert!(shown.contains("1 event a request"), "{shown}");
    story.says(&["webhook", "set", KEY, &id, "--batch-size", "50"]);
    let shown = story.says(&["webhook", "show", KEY, &id]);
    assert!(shown.contains("up to 50 events a request"), "{shown}");
    assert!(shown.contains("warehouse") && shown.contains("disabled") && shown.contains("x-tenant"), "{shown}");
    assert!(!shown.contains("hunter2") && !shown.contains("CLOSE"), "{shown}");
    assert_eq!(story.json(&["webhook", "show", KEY, &id])["webhook"]["has_authorization"], false);
    story.says(&["webhook", "enable", KEY, &id]);
    assert!(story.says(&["webhook", "history", KEY, &id]).starts_with("AT"));
    story.says(&["webhook", "replay", KEY, &id, "--offset", "0"]);
    assert!(story.says(&["webhook", "dead", KEY, &id]).starts_with("OFFSET"));
    assert!(story.says(&["webhook", "dead", KEY, &id, "--after", "0", "--limit", "7"]).starts_with("OFFSET"));
    assert!(story.refused(&["webhook", "dead", KEY, &id, "--after", "x"]).contains("offset"));
    assert_eq!(story.json(&["webhook", "dead", KEY, &id])["dead_letters"], serde_json::json!([]));
    assert_eq!(story.says(&["webhook", "dead", KEY, &id, "redeliver"]), "0 delivered, 0 not taken.\n");
    let came = story.json(&["webhook", "dead", KEY, &id, "redeliver"]);
    assert_eq!(came, serde_json::json!({"delivered": 0, "failed": 0}));
    for unsure in [["webhook", "dead", KEY, &id, "discard"].as_slice(), &["webhook", "delete", KEY, &id]] {
        let refused = story.refused(unsure);
        assert!(refused.contains(&id) && refused.contains("Repeat it with --yes"), "{refused}");
    }
    assert_eq!(story.says(&["webhook", "dead", KEY, &id, "discard", "--yes"]), "0 events were discarded.\n");
    story.says(&["webhook", "delete", KEY, &id, "--yes"]);
    assert!(story.refused(&["webhook", "show", KEY, &id]).contains("404"));
}
