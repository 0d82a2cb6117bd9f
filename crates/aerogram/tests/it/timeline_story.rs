//! Somebody asks what happened to a person: the commands that answer, against a running server.

use serde_json::json;
use testkit::client::Caller;

use crate::operator_story::{APP_SECRET, KEY, MASTER_SECRET, Story};

#[tokio::test]
async fn a_channel_and_its_user_are_shown_with_what_happened_to_them() {
    let story = Story::begin();
    let device = Caller::new(story.server.url.clone()).basic(KEY, APP_SECRET);
    let body = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "AB01"}});
    let channel = device.post("/api/channels", body).await.expect(201)["channel_id"].as_str().unwrap().to_owned();
    let server = Caller::new(story.server.url.clone()).basic(KEY, MASTER_SECRET);
    let association = json!({"channel_id": channel, "named_user_id": "ann/1"});
    server.post("/api/named_users/associate", association).await.expect(200);

    let shown = story.says(&["channel", "show", &channel]);
    for part in ["device type   ios", "opted in      true", "named user    ann/1", "changed   registered"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let of_user = story.says(&["user", "show", "ann/1"]);
    for part in ["named user    ann/1", &channel] {
        assert!(of_user.contains(part), "{part} in {of_user}");
    }
    let all = story.json(&["channel", "show", &channel, "--limit", "1"]);
    assert_eq!((&all["channel"]["channel_id"], all["entries"].as_array().unwrap().len()), (&json!(channel), 1));
    assert!(story.refused(&["user", "show", "nobody"]).contains("There is no such named user."));
}
