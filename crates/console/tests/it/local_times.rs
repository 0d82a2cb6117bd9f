//! What is sent at everybody's own time of day: who has no time zone gets nothing, and the console says so before.

use serde_json::json;

use crate::visitor::{Visitor, on_each_database};

#[tokio::test]
async fn devices_without_a_time_zone_are_counted_before_anything_is_sent() {
    on_each_database(async |app| {
        let devices = [
            ("one", json!("Europe/Berlin"), json!(["a", "b"])),
            ("two", json!(null), json!(["b", "c"])),
            ("three", json!(null), json!(["c"])),
        ];
        for (address, zone, tags) in devices {
            let mut channel =
                json!({"device_type": "android", "opt_in": true, "push_address": address, "set_tags": true, "tags": tags});
            if zone.is_string() {
                channel["timezone"] = zone;
            }
            app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        }
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let all = [("who", "all"), ("text", "Lunch"), ("at", "2030-01-31T12:00")];
        let review = async |more: &[(&str, &str)]| {
            let page = sender.post(&compose, &[&all[..], more, &[("do", "review")]].concat()).await;
            page.expect(200);
            page
        };
        let everybody = review(&[("when", "local")]).await;
        everybody.shows("3 devices, when it is 2030-01-31 12:00 where they are.");
        everybody.shows("2 of them have no time zone and get nothing.");
        let tagged = async |tag: &str, when: &str| {
            let whom = [("who", "some"), ("kind0", "tag"), ("value0", tag), ("when", when), ("do", "review")];
            let page = sender.post(&compose, &[&whom[..], &all[1..]].concat()).await;
            page.expect(200);
            page
        };
        tagged("b", "local").await.shows("1 of them has no time zone and gets nothing.");
        for none in [tagged("a", "local").await, tagged("b", "at").await, review(&[("when", "at")]).await] {
            assert!(!none.text.contains("time zone and get"), "{}", none.text);
        }
        // Who approves a draft is told as well.
        let saved = sender.post(&compose, &[&all[..], &[("when", "local"), ("do", "save")]].concat()).await;
        let id = saved.location().rsplit('=').next().unwrap().to_owned();
        let draft = sender.get(&format!("/console/{}/drafts/{id}", app.app.key)).await;
        draft.shows("2 of them have no time zone and get nothing.");
        app.stop().await;
    })
    .await;
}
