//! The menu beside the pages of an app: it stays wherever somebody gets to, and shows where that is.

use serde_json::json;

use crate::visitor::{Visitor, on_each_database};

#[tokio::test]
async fn the_menu_marks_what_a_page_belongs_to() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        let message = format!("/messages/{}", sent["push_ids"][0].as_str().unwrap());
        for (page, entry, how) in [
            ("/messages", "/messages", "page"),
            (message.as_str(), "/messages", "true"),
            ("/drafts", "/messages", "true"),
            ("/templates/new", "/templates", "true"),
            ("/audience/segments/new", "/audience", "true"),
            ("", "", "page"),
        ] {
            let text = sender.get(&format!("{home}{page}")).await.expect(200).to_owned();
            let (_, menu) = text.split_once("<nav class=\"side\"").unwrap();
            let (menu, _) = menu.split_once("</nav>").unwrap();
            assert_eq!(menu.matches("aria-current").count(), 1, "{page}: {menu}");
            assert!(menu.contains(&format!("href=\"{home}{entry}\" aria-current=\"{how}\"")), "{page}: {menu}");
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_not_there_keeps_the_menu_of_its_app() {
    on_each_database(async |app| {
        let (viewer, stranger) = (Visitor::with_role(&app, "viewer").await, Visitor::stranger(&app));
        let home = format!("/console/{}", app.app.key);
        for path in ["/nothing", "/nothing/at/all", "/messages/a/b/c"] {
            let missing = viewer.get(&format!("{home}{path}")).await;
            missing.expect(404);
            missing.shows("There is no such page.");
            missing.shows(&format!("href=\"{home}/messages\""));
            let unknown = stranger.get(&format!("{home}{path}")).await;
            assert!(unknown.location().starts_with("/console/login"), "{}", unknown.text);
        }
        // What is no app has none, and nobody learns which there are.
        for path in
            ["/console/-/nothing", "/console/login/nothing", "/console/logout/nothing", "/console/start/nothing"]
        {
            let missing = viewer.get(path).await;
            missing.expect(404);
            missing.shows("There is no such page.");
        }
        assert!(viewer.get("/console/no-such-app/nothing").await.expect(404).contains("no such app"));
        app.stop().await;
    })
    .await;
}
