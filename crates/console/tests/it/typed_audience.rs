//! An audience that is typed as JSON below the rows counts, whatever button comes next, and none of it is lost.

use serde_json::{Value, json};
use testkit::app::TestApp;

use crate::visitor::{Page, Visitor, on_each_database};

const BETA: &str = r#"{"tag": "beta"}"#;

/// What the field with the JSON was drawn with.
fn drawn(page: &Page) -> String {
    let field = page.hidden_fields().into_iter().find(|(name, _)| name == "json_drawn");
    field.unwrap_or_else(|| panic!("{}", page.text)).1
}

/// One device that is tagged, and one that is not.
async fn two_phones(app: &TestApp) {
    for (address, tags) in [("one", json!(["beta"])), ("two", json!([]))] {
        let channel =
            json!({"device_type": "android", "opt_in": true, "push_address": address, "set_tags": true, "tags": tags});
        app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
    }
}

async fn draft(app: &TestApp) -> Value {
    let list = app.master().get("/api/drafts").await.expect(200);
    let id = list["drafts"][0]["draft_id"].as_str().unwrap();
    app.master().get(&format!("/api/drafts/{id}")).await.expect(200)["draft"].clone()
}

#[tokio::test]
async fn what_is_typed_in_compose_counts_whatever_button_comes_next() {
    on_each_database(async |app| {
        two_phones(&app).await;
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let mark = drawn(&sender.get(&compose).await);
        let post = async |action: &str, json: &str| {
            let fields = [("who", "all"), ("text", "Hi"), ("json", json), ("json_drawn", &*mark), ("do", action)];
            sender.post(&compose, &fields).await
        };
        let review = post("review", BETA).await;
        review.shows("1 device, now.");
        review.shows("tagged beta");
        // The way back shows what was typed as a condition.
        let mut back = review.hidden_fields();
        back.push(("do".to_owned(), "check".to_owned()));
        let back: Vec<(&str, &str)> = back.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        sender.post(&compose, &back).await.shows(r#"value="beta""#);
        // What only stands there, however it is broken into lines, is nothing that was typed.
        post("review", "\r\n \"all\"\r\n").await.shows("2 devices, now.");
        post("review", "").await.shows("2 devices, now.");
        // A look at the reach counts it, and leaves it where it is typed.
        let looked = post("check", BETA).await;
        looked.shows("<p>device will see it</p>");
        looked.shows("{&quot;tag&quot;: &quot;beta&quot;}</textarea>");
        assert_eq!(drawn(&looked), mark);
        for (wrong, words) in [("{\"tag\": ", "This is no JSON"), (r#"{"tags": "news"}"#, "{&quot;tags&quot;:")] {
            let refused = post("review", wrong).await;
            refused.expect(400);
            refused.shows(words);
        }
        let not_saved = post("autosave", "{").await;
        not_saved.expect(400);
        not_saved.shows("Not saved: This is no JSON");
        assert_eq!(app.master().get("/api/drafts").await.expect(200)["drafts"], json!([]));
        let saved = post("save", BETA).await;
        saved.expect(303);
        assert_eq!(draft(&app).await["document"]["audience"], json!({"tag": "beta"}));
        sender.get(saved.location()).await.shows(r#"value="beta""#);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn rows_that_were_changed_count_and_not_the_json_from_before() {
    on_each_database(async |app| {
        two_phones(&app).await;
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let mark = drawn(&sender.get(&compose).await);
        let review = async |tag: &str, json: &str| {
            let row = [("who", "some"), ("kind0", "tag"), ("value0", tag), ("text", "Hi")];
            let rest = [("json", json), ("json_drawn", &*mark), ("do", "review")];
            sender.post(&compose, &[&row[..], &rest].concat()).await
        };
        review("beta", "\"all\"").await.shows("1 device, now.");
        review("beta", BETA).await.shows("1 device, now.");
        // If both were changed, nobody knows which of them is meant.
        let refused = review("nobody-has-this", BETA).await;
        refused.expect(400);
        for words in
            ["were both changed", r#"value="nobody-has-this""#, "{&quot;tag&quot;: &quot;beta&quot;}</textarea>"]
        {
            refused.shows(words);
        }
        assert_eq!(drawn(&refused), mark);
        review("beta", "").await.shows("1 device, now.");
        let taken = [
            ("who", "some"),
            ("kind0", "tag"),
            ("value0", "x"),
            ("json", BETA),
            ("json_drawn", &*mark),
            ("do", "take"),
        ];
        sender.post(&compose, &taken).await.shows(r#"value="beta""#);
        // No condition at all contradicts nothing.
        let none = [("who", "some"), ("text", "Hi"), ("json", BETA), ("json_drawn", &*mark), ("do", "review")];
        sender.post(&compose, &none).await.shows("1 device, now.");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn rows_that_nothing_is_filled_in_contradict_nothing() {
    on_each_database(async |app| {
        two_phones(&app).await;
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let mark = drawn(&sender.get(&compose).await);
        let post = async |fields: &[(&str, &str)], json: &str, mark: &str, action: &str| {
            let rest = [("text", "Hi"), ("json", json), ("json_drawn", mark), ("do", action)];
            sender.post(&compose, &[fields, &rest].concat()).await
        };
        // Everybody is still chosen, and a row is asked for.
        let added = post(&[("who", "all")], BETA, &mark, "add").await;
        added.expect(200);
        for words in [r#"name="kind0""#, "{&quot;tag&quot;: &quot;beta&quot;}</textarea>", "<p>device will see it</p>"]
        {
            added.shows(words);
        }
        assert_eq!(drawn(&added), mark);
        let empty = [("who", "some"), ("kind0", "tag"), ("was0", "tag"), ("of0", ""), ("value0", "")];
        post(&empty, BETA, &mark, "review").await.shows("1 device, now.");
        let compared = [("who", "some"), ("kind0", "attribute"), ("of0", ""), ("how0", "equals"), ("value0", "")];
        post(&compared, BETA, &mark, "review").await.shows("1 device, now.");
        // Beside a row that is as it was, too.
        let row = [("who", "some"), ("kind0", "tag"), ("value0", "old")];
        let mark = drawn(&post(&row, "", "", "check").await);
        let two = [&row[..], &[("kind1", "tag"), ("value1", "")]].concat();
        assert_eq!(drawn(&post(&two, "", "", "check").await), mark);
        post(&two, BETA, &mark, "review").await.shows("1 device, now.");
        // As soon as one says something, it does.
        let filled = [("who", "some"), ("kind0", "tag"), ("value0", "new")];
        post(&filled, BETA, &mark, "review").await.expect(400);
        // Without anything typed, a row is still to be filled in.
        post(&two, "", &mark, "review").await.shows("Condition 2 is not complete");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn segments_take_what_is_typed_as_well() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let new = format!("/console/{}/audience/segments/new", app.app.key);
        let mark = drawn(&editor.get(&new).await);
        let save = async |page: &str, tag: &str, json: &str, mark: &str| {
            let row = [("who", "some"), ("kind0", "tag"), ("value0", tag), ("display_name", "Beta")];
            let rest = [("json", json), ("json_drawn", mark), ("do", "save")];
            editor.post(page, &[&row[..], &rest].concat()).await
        };
        let refused = save(&new, "", "{", &mark).await;
        assert!(refused.expect(400).contains("This is no JSON"), "{}", refused.text);
        refused.shows(r#"value="Beta""#);
        let made = save(&new, "", BETA, &mark).await;
        made.expect(303);
        let id = made.location().rsplit('=').next().unwrap().to_owned();
        let criteria = async || app.master().get(&format!("/api/segments/{id}")).await.expect(200)["criteria"].clone();
        assert_eq!(criteria().await, json!({"tag": "beta"}));
        let edit = format!("/console/{}/audience/segments/{id}", app.app.key);
        let mark = drawn(&editor.get(&edit).await);
        save(&edit, "rows", r#"{"tag": "json"}"#, &mark).await.expect(400);
        save(&edit, "rows", BETA, &mark).await.expect(303);
        assert_eq!(criteria().await, json!({"tag": "rows"}));
        app.stop().await;
    })
    .await;
}
