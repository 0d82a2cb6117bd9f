//! The newest events and segments, and markup in everything that devices and customers write.

use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

const PHONE: &str = "10000000-0000-4000-8000-000000000000";

async fn register(app: &TestApp, tag: &str) {
    let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "AB01", "tags": [tag]}});
    app.device().put(&format!("/api/channels/{PHONE}"), channel).await.expect(200);
}

async fn send(app: &TestApp, title: &str, alert: &str) -> String {
    let push = json!({"audience": "all", "device_types": "all",
                      "notification": {"ios": {"title": title, "alert": alert, "badge": 3}}});
    let sent = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    sent["push_ids"][0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_newest_events_come_first_and_are_filtered() {
    on_each_database(async |app| {
        let support = Visitor::with_role(&app, "support").await;
        let page = format!("/console/{}/events", app.app.key);
        support.get(&page).await.shows("Nothing has happened yet");
        register(&app, "news").await;
        send(&app, "Storm", "A storm is coming").await;
        let all = support.get(&page).await;
        let place = |words: &str| all.text.find(words).unwrap_or_else(|| panic!("{words:?} in {}", all.text));
        assert!(
            place("was handed over") < place("was accepted")
                && place("was accepted") < place("registered for the first")
        );
        all.shows("&quot;device_type&quot;: &quot;IOS&quot;");
        let sends = support.get(&format!("{page}?types=SEND")).await;
        sends.shows("was handed over");
        assert!(!sends.text.contains("registered for the first"));
        support.get(&format!("{page}?channel={PHONE}&types=FIRST_OPEN")).await.shows("registered for the first");
        support.get(&format!("{page}?types=CUSTOM")).await.shows("Nothing of this kind");
        support.get(&format!("{page}?channel=nonsense")).await.expect(400);
        support.get(&format!("{page}?channel=00000000-0000-4000-8000-000000000000")).await.expect(400);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn segments_are_made_counted_and_deleted_by_editors() {
    on_each_database(async |app| {
        register(&app, "news").await;
        let (viewer, editor) = (Visitor::with_role(&app, "viewer").await, Visitor::with_role(&app, "editor").await);
        let page = format!("/console/{}/audience", app.app.key);
        let empty = viewer.get(&page).await;
        empty.shows("There is no segment yet");
        assert!(!empty.text.contains("Make a segment"), "offered to nobody who may not");
        let new = format!("{page}/segments/new");
        let fields = |criteria: &'static str| {
            [("display_name", "Readers"), ("who", "some"), ("kind0", "json"), ("value0", criteria), ("do", "save")]
        };
        for (wrong, words) in [("{", "not complete"), (r#"{"tag": 7}"#, "tag")] {
            let refused = editor.post(&new, &fields(wrong)).await;
            assert!(refused.expect(400).contains(words), "{}", refused.text);
            refused.shows("Readers");
        }
        let made = editor.post(&new, &fields(r#"{"tag": "news"}"#)).await;
        let (_, id) = made.location().split_once("segment=").unwrap();
        let shown = viewer.get(made.location()).await;
        for words in ["Readers", "1 device is in it now", "&quot;news&quot;"] {
            shown.shows(words);
        }
        assert!(!shown.text.contains("/delete"), "offered to nobody who may not");
        viewer.post(&format!("{page}/segments/{id}/delete"), &[]).await.expect(403);
        editor.post(&format!("{page}/segments/{id}/delete"), &[]).await.expect_to(&page);
        viewer.get(&page).await.shows("There is no segment yet");
        viewer.get(&format!("{page}?show=tags")).await.shows("news");
        viewer.get(&format!("{page}?show=lists")).await.expect(200);
        viewer.get(&format!("{page}?show=subscriptions")).await.shows("Nobody has subscribed");
        let wanted =
            json!({"audience": {"channel": PHONE}, "subscription_lists": {"action": "subscribe", "list_id": "weekly"}});
        app.master().post("/api/channels/subscription_lists", wanted).await.expect(202);
        viewer.get(&format!("{page}?show=subscriptions")).await.shows("weekly");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn markup_in_what_devices_and_customers_write_is_text() {
    on_each_database(async |app| {
        let evil = "<script>alert(1)</script>";
        register(&app, evil).await;
        app.master()
            .post("/api/named_users/associate", json!({"channel_id": PHONE, "named_user_id": evil}))
            .await
            .expect(200);
        let about = json!({"audience": {"named_user_id": evil}, "attributes": [{"action": "set", "key": "plan", "value": evil}]});
        app.master().post("/api/channels/attributes", about).await.expect(200);
        let did = json!([{"occurred": "2024-05-01T11:00:00", "user": {"named_user_id": evil},
                          "body": {"name": "bought", "interaction_id": evil, "interaction_type": "url",
                                   "properties": {"what": evil}}}]);
        app.master().post("/api/custom-events", did).await.expect(200);
        let segment = json!({"display_name": evil, "criteria": {"tag": evil}});
        app.master().post("/api/segments", segment).await.expect(201);
        let push = send(&app, evil, evil).await;
        let owner = Visitor::owner(&app).await;
        let home = format!("/console/{}", app.app.key);
        let typed = "%3Cscript%3Ealert(1)%3C%2Fscript%3E";
        for path in [
            format!("/people?q={typed}x"),
            "/people".to_owned(),
            "/people?show=devices".to_owned(),
            format!("/people/user?id={typed}&push={typed}"),
            format!("/people/channels/{PHONE}?push={push}"),
            format!("/people/erase?named_user_id={typed}"),
            format!("/messages/{push}/people"),
            "/sandbox".to_owned(),
            "/events".to_owned(),
            "/audience".to_owned(),
            "/audience?show=tags".to_owned(),
            "/audience?show=attributes".to_owned(),
            "/audience?criteria=%3Cscript%3E".to_owned(),
            format!("/find?q={typed}"),
            "/requests".to_owned(),
            format!("/requests?q={typed}"),
            format!("/sandbox?q={typed}"),
        ] {
            let page = owner.get(&format!("{home}{path}")).await;
            page.expect(200);
            page.shows("&lt;script&gt;");
            assert!(!page.text.contains("<script>"), "{path}: {}", page.text);
        }
        app.stop().await;
    })
    .await;
}
