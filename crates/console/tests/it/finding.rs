//! The field that finds everything, and the keys.

use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

const PHONE: &str = "10000000-0000-4000-8000-000000000000";

/// Kim's phone, a segment and two pushes; the ids of the segment and of the first push.
async fn prepare(app: &TestApp) -> (String, String) {
    let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "AB01"}});
    app.device().put(&format!("/api/channels/{PHONE}"), channel).await.expect(200);
    for user in ["kim", "kim-7"] {
        app.master().post("/api/named_users/associate", json!({"channel_id": PHONE, "named_user_id": user})).await;
    }
    let segment = json!({"display_name": "Storm readers", "criteria": {"tag": "news"}});
    let segment = app.master().post("/api/segments", segment).await.expect(201);
    let mut ids = Vec::new();
    for text in ["Storm warning", "Storm is over"] {
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": text}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        ids.push(sent["push_ids"][0].as_str().unwrap().to_owned());
    }
    app.step_all().await;
    (segment["segment_id"].as_str().unwrap().to_owned(), ids.swap_remove(0))
}

#[tokio::test]
async fn everything_is_found_by_id_and_name() {
    on_each_database(async |app| {
        let (segment, push) = prepare(&app).await;
        let (support, viewer) = (Visitor::with_role(&app, "support").await, Visitor::with_role(&app, "viewer").await);
        let home = format!("/console/{}", app.app.key);
        let find = async |visitor: &Visitor, text: &str| visitor.get(&format!("{home}/find?q={text}")).await;
        support.get(&home).await.shows("action=\"/console/");
        // One exact hit is shown at once.
        find(&support, &push).await.expect_to(&format!("{home}/messages/{push}"));
        find(&support, &segment).await.expect_to(&format!("{home}/audience?segment={segment}"));
        find(&support, "Storm+readers").await.expect_to(&format!("{home}/audience?segment={segment}"));
        find(&support, PHONE).await.expect_to(&format!("{home}/people/channels/{PHONE}"));
        find(&support, "ab01").await.expect_to(&format!("{home}/people/channels/{PHONE}"));
        find(&support, "kim-7").await.expect_to(&format!("{home}/people/user?id=kim-7"));
        let several = find(&support, "storm").await;
        for words in [
            "<mark>Storm</mark> readers",
            "<mark>Storm</mark> warning",
            "<mark>Storm</mark> is over",
            "<h2>Messages</h2>",
            "<h2>Segments</h2>",
        ] {
            several.shows(words);
        }
        several.shows("/api/search?q=storm");
        find(&support, "ki").await.shows("kim-7");
        find(&support, "Kim-7").await.expect_to(&format!("{home}/people/user?id=kim-7"));
        support.get(&format!("{home}/people?q=KIM-7")).await.expect_to(&format!("{home}/people/user?id=kim-7"));
        // Who may not see people does not find them.
        for text in ["ki", "kim-7", PHONE, "AB01"] {
            find(&viewer, text).await.shows("Nothing was found");
        }
        find(&viewer, "storm").await.shows("</mark> warning");
        find(&support, "").await.shows("Type what you look for");
        find(&support, "%01").await.expect(400);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_search_leads_to_a_single_schedule_and_automation() {
    on_each_database(async |app| {
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Sale"}});
        let schedule = |name: &str| {
            json!({"name": name, "schedule": {"scheduled_time": "2024-05-11T09:30:00"}, "push": push})
        };
        app.master().post("/api/schedules", schedule("Monday")).await.expect(201);
        app.master().post("/api/schedules", schedule("Weekend")).await.expect(201);
        let pipeline = json!({"name": "Hello", "enabled": true, "immediate_trigger": "first_open",
                              "outcome": {"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}}}});
        app.master().post("/api/pipelines", pipeline).await.expect(201);
        let template = json!({"name": "Greeting", "variables": [], "push": {"notification": {"alert": "Hi"}}});
        let template = app.master().post("/api/templates", template).await.expect(201);
        let viewer = Visitor::with_role(&app, "viewer").await;
        let home = format!("/console/{}", app.app.key);
        let found = viewer.get(&format!("{home}/find?q=Weekend")).await;
        assert!(found.location().starts_with(&format!("{home}/schedules/")), "{}", found.text);
        let one = viewer.get(found.location()).await;
        one.shows("Weekend");
        assert!(!one.expect(200).contains("Monday"));
        let found = viewer.get(&format!("{home}/find?q=Hello")).await;
        assert!(found.location().starts_with(&format!("{home}/automation?id=")), "{}", found.text);
        viewer.get(found.location()).await.shows("Hello");
        // Who may not open a template sees that there is one.
        viewer.get(&format!("{home}/find?q=Greeting")).await.shows("<h2>Templates</h2>");
        let page = format!("{home}/templates/{}", template["template_id"].as_str().unwrap());
        Visitor::with_role(&app, "editor").await.get(&format!("{home}/find?q=Greeting")).await.expect_to(&page);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn keys_are_explained_in_a_page() {
    on_each_database(async |app| {
        let viewer = Visitor::with_role(&app, "viewer").await;
        let page = viewer.get("/console/-/help").await;
        for words in ["compose a message", "<kbd>/</kbd>", "data-help"] {
            page.shows(words);
        }
        viewer.get_with("/console/-/help", &[("x-fragment", "content")]).await.shows("id=\"content\"");
        app.stop().await;
    })
    .await;
}
