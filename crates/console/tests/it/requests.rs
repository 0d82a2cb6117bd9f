//! The latest requests of an app, with what was wrong, and how the page hears of new ones.

use model::app::Mode;
use serde_json::json;

use crate::visitor::{Visitor, on_each_database};

#[tokio::test]
async fn a_refused_request_is_shown_with_its_problem_and_as_a_line_for_a_shell() {
    on_each_database(async |app| {
        let support = Visitor::with_role(&app, "support").await;
        let page = format!("/console/{}/requests", app.app.key);
        // What pages ask for is nothing that a developer has written, even if it is refused.
        support.get(&format!("/console/{}/people/user?id=nobody", app.app.key)).await.expect(404);
        support.get(&page).await.shows("Nobody has asked this node for anything");
        let wrong = json!({"audience": "all", "device_types": "all", "notification": {"ios": {"badge": "it's <b>"}}});
        app.master().post("/api/push", wrong).await.expect(400);
        app.device().get("/api/tags").await.expect(200);
        let all = support.get(&page).await;
        for words in
            ["notification.ios.badge", "POST", "/api/push", "it'\\''s &lt;b&gt;", "AEROGRAM_MASTER_SECRET", "/api/tags"]
        {
            all.shows(words);
        }
        all.shows("data-stream=\"/console/");
        all.shows("/live?of=requests\"");
        for (query, shown) in [("by=device", false), ("refused=true", true), ("q=BADGE", true), ("q=tags", false)] {
            let found = support.get(&format!("{page}?{query}")).await;
            assert_eq!(found.expect(200).contains("notification.ios.badge"), shown, "{query}");
        }
        support.get(&format!("{page}?q=nothing-like-it")).await.shows("No request fits");
        support.get(&format!("{page}?by=nobody")).await.expect(400);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn requests_of_a_production_app_are_shown_when_they_are_refused() {
    on_each_database(async |app| {
        let made = app.another_app(Mode::Production).await;
        let support = Visitor::with_role_in(&app, &made.key, "support").await;
        let page = format!("/console/{}/requests", made.key);
        support.get(&page).await.shows("Of a production app only refused requests are kept");
        let master = app.nobody().basic(&made.key, &made.master_secret);
        master.get("/api/named_users?id=kim-7").await.expect(404);
        let shown = support.get(&page).await;
        shown.shows("/api/named_users");
        assert!(!shown.text.contains("kim-7") && !shown.text.contains("Try it"), "{}", shown.text);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_hears_of_every_request_if_its_visitor_may() {
    on_each_database(async |app| {
        let (support, viewer) = (Visitor::with_role(&app, "support").await, Visitor::with_role(&app, "viewer").await);
        let live = format!("/console/{}/live?of=requests", app.app.key);
        assert_eq!(viewer.follow(&live).await.0, 403);
        let (status, mut next) = support.follow(&live).await;
        assert_eq!(status, 200);
        let mut heard = String::new();
        while !heard.contains("hello") {
            heard += &next().await;
        }
        // The page asks for itself, which is no news to it.
        support.get(&format!("/console/{}/requests", app.app.key)).await.expect(200);
        app.master().get("/api/tags").await.expect(200);
        while !heard.contains("changed") {
            heard += &next().await;
        }
        drop(next);
        app.stop().await;
    })
    .await;
}
