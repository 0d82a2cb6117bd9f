//! An erasure takes what is one person's, and nothing of anybody else.

use std::time::Duration;

use serde_json::json;
use testkit::app::on_each_database;

use crate::privacy::{ask, bought, events, look_up, register, upload};

const PHONE: &str = "10000000-0000-4000-8000-0000000000aa";
const LATER: Duration = Duration::from_secs(6 * 60);

#[tokio::test]
async fn a_device_that_changed_hands_is_its_last_users() {
    on_each_database(async |app| {
        register(&app, PHONE, "ios", "FE66489F304DC75B8D6E8200DFF8A456E8DAEACEC428B427E9518741C92C6660").await;
        for (n, user) in (1..).zip(["ann.tanner@example.com", "bob.miller@example.com"]) {
            let body = json!({"channel_id": PHONE, "named_user_id": user});
            app.master().post("/api/named_users/associate", body).await.expect(200);
            app.advance(Duration::from_secs(60));
            upload(&app, PHONE, &bought(&format!("mail of {user}"), n)).await;
        }
        let gone = json!([{"channel_id": PHONE, "device_type": "ios"}]);
        app.master().post("/api/channels/uninstall", gone).await.expect(202);
        let request = ask(&app, "erase", json!({"named_user_id": "ann.tanner@example.com"})).await;
        app.step_all().await;
        app.advance(LATER);
        app.step_all().await;
        assert!(look_up(&app, &request).await["ended"].is_string());
        let left = events(&app).await;
        assert!(!left.contains("ann.tanner@example.com"), "{left}");
        assert!(left.contains("mail of bob.miller@example.com"), "what he did is his: {left}");
    })
    .await;
}

#[tokio::test]
async fn a_device_that_calls_itself_as_a_tag_takes_no_tag_along() {
    on_each_database(async |app| {
        let channel = json!({"device_type": "android", "opt_in": true, "push_address": "news_2024",
                             "alias": "news_2024", "set_tags": true, "tags": ["vip"]});
        let registered = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        let segment = json!({"display_name": "Readers", "criteria": {"tag": "news_2024"}});
        let segment = app.master().post("/api/segments", &segment).await.expect(201)["segment_id"].clone();
        let request = ask(&app, "erase", json!({"channel_id": registered["channel_id"]})).await;
        app.step_all().await;
        app.advance(LATER);
        app.step_all().await;
        assert!(look_up(&app, &request).await["ended"].is_string());
        let path = format!("/api/segments/{}", segment.as_str().unwrap());
        assert_eq!(app.master().get(&path).await.expect(200)["criteria"], json!({"tag": "news_2024"}));
    })
    .await;
}
