//! A form that survives: whatever happens to somebody who writes, what was typed is not lost.

use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{PASSWORD, Page, Visitor, on_each_database};

const TYPED: [(&str, &str); 5] =
    [("who", "some"), ("kind0", "tag"), ("value0", "news & more"), ("title", "Spring"), ("text", "It is <here>")];

fn with<'f>(more: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    [&TYPED[..], more].concat()
}

/// Whether all that was typed is in the form.
#[track_caller]
fn has_all(page: &Page) {
    for words in [r#"value="news &amp; more""#, r#"value="Spring""#, "It is &lt;here&gt;"] {
        page.shows(words);
    }
}

fn compose(app: &TestApp) -> String {
    format!("/console/{}/compose", app.app.key)
}

#[tokio::test]
async fn who_is_logged_out_while_writing_logs_in_again_and_goes_on() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let email = format!("editor-{}@example.com", &app.app.key[..6].to_lowercase());
        editor.post("/console/logout", &[]).await.expect(303);
        let login = editor.post(&compose(&app), &with(&[("do", "review"), ("keep", "yes")])).await;
        login.expect(401);
        login.shows("what you have written is kept");
        let hidden = |page: &Page, name: &str| {
            let (_, rest) = page.text.split_once(&format!(r#"name="{name}" value=""#)).unwrap();
            rest.split_once('"').unwrap().0.replace("&amp;", "&")
        };
        let (kept, next) = (hidden(&login, "kept"), hidden(&login, "next"));
        assert_eq!(next, compose(&app));
        let fields = |password| [("email", &*email), ("password", password), ("next", &*next), ("kept", &*kept)];
        let wrong = editor.post("/console/login", &fields("wrong password")).await;
        assert_eq!(hidden(&wrong, "kept"), kept, "a mistake loses nothing either");
        let back = editor.post("/console/login", &fields(PASSWORD)).await;
        back.expect(200);
        for words in ["Go on with what you have written", &format!(r#"action="{next}""#), r#"name="do" value="check""#]
        {
            back.shows(words);
        }
        has_all(&editor.press(&back, &next).await);
        // Forms that would do something at once are not kept.
        let stranger = Visitor::stranger(&app);
        let refused = stranger.post(&format!("/console/{}/sandbox/faults", app.app.key), &[("do", "add")]).await;
        assert!(!refused.expect(401).contains("kept"), "{}", refused.text);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn refusals_keep_what_was_typed() {
    on_each_database(async |app| {
        let (editor, sender) = (Visitor::with_role(&app, "editor").await, Visitor::with_role(&app, "sender").await);
        let compose = compose(&app);
        // Not allowed, no test group, a time in the past.
        let refused = editor.post(&compose, &with(&[("do", "send"), ("once", "a"), ("expected", "0")])).await;
        refused.expect(403);
        has_all(&refused);
        let refused = editor.post(&compose, &with(&[("do", "test")])).await;
        refused.expect(409);
        has_all(&refused);
        let past = [("when", "at"), ("at", "2020-01-31T12:00")];
        for step in [&[("do", "review")][..], &[("do", "send"), ("once", "b"), ("expected", "0")]] {
            let refused = sender.post(&compose, &with(&[&past[..], step].concat())).await;
            refused.expect(400);
            refused.shows("This time has passed");
            has_all(&refused);
        }
        assert_eq!(app.master().get("/api/schedules").await.expect(200)["schedules"], json!([]));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_too_long_can_be_shortened() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let compose = compose(&app);
        let long = format!("<p>{}</p>", "long ".repeat(60_000));
        let typed = with(&[("keep", "yes"), ("inbox_title", "More"), ("inbox_body", &long), ("do", "save")]);
        let refused = editor.post(&compose, &typed).await;
        refused.expect(413);
        for words in
            ["more than 256 KiB", "The longest field is “inbox body”, with 293 KiB", r#"name="do" value="check""#]
        {
            refused.shows(words);
        }
        has_all(&refused);
        assert!(refused.text.contains(&long.replace('<', "&lt;").replace('>', "&gt;")), "it is there to be shortened");
        assert_eq!(app.master().get("/api/drafts").await.expect(200)["drafts"], json!([]));
        // The rest goes on as it was.
        has_all(&editor.press(&refused, &compose).await);
        // A form that cannot be shown again, and one that is too long to be read.
        let faults = format!("/console/{}/audience/segments/new", app.app.key);
        let refused = editor.post(&faults, &[("display_name", &long)]).await;
        assert!(!refused.expect(413).contains("textarea"), "{}", refused.text);
        let refused = editor.post(&compose, &with(&[("keep", "yes"), ("inbox_body", &long.repeat(4))])).await;
        refused.expect(413);
        refused.shows("your browser still has it");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_draft_is_kept_while_somebody_writes_and_a_second_tab_is_told() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let compose = compose(&app);
        let autosave =
            async |fields: &[(&str, &str)]| editor.post(&compose, &[fields, &[("do", "autosave")]].concat()).await;
        // Nothing is worth nothing.
        let empty = autosave(&[("who", "all"), ("text", " ")]).await;
        empty.expect(200);
        assert!(!empty.text.contains("data-page") && !empty.text.contains(r#"name="version""#), "{}", empty.text);
        let first = autosave(&TYPED).await;
        for words in [r#"id="saved""#, "Draft, version 1", "saved <time", "/compose?draft="] {
            first.shows(words);
        }
        assert!(!first.text.contains("Preview"), "only the line is drawn");
        let list = app.master().get("/api/drafts").await.expect(200);
        let id = list["drafts"][0]["draft_id"].as_str().unwrap();
        has_all(&editor.get(&format!("{compose}?draft={id}")).await);
        let second = [("draft", id), ("version", "1"), ("who", "all"), ("text", "Second")];
        autosave(&second).await.shows("version 2");
        // The other tab still has the first version.
        let late = autosave(&with(&[("draft", id), ("version", "1")])).await;
        late.expect(409);
        for words in ["changed meanwhile", "data-stopped", "See what is saved", "Save yours as another draft"] {
            late.shows(words);
        }
        let copy = editor.post(&compose, &with(&[("draft", id), ("version", "1"), ("do", "save-as-new")])).await;
        has_all(&editor.get(copy.location()).await);
        assert_eq!(app.master().get("/api/drafts").await.expect(200)["drafts"].as_array().unwrap().len(), 2);
        // What is incomplete is kept, and can be sent by nobody.
        let unfinished = [("who", "some"), ("kind0", "segment"), ("value0", ""), ("text", "Half"), ("when", "at")];
        let kept = autosave(&unfinished).await;
        kept.expect(200);
        let (_, rest) = kept.text.split_once(r#"name="draft" value=""#).unwrap();
        let id = rest.split_once('"').unwrap().0;
        let draft = app.master().get(&format!("/api/drafts/{id}")).await.expect(200);
        assert!(draft["draft"]["document"].get("audience").is_none(), "{draft}");
        app.master().post(&format!("/api/drafts/{id}/send"), json!({"version": 1})).await.expect(400);
        editor.get(&format!("{compose}?draft={id}")).await.shows("there is none yet");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_review_says_whom_how_many_and_how() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        for (kind, address) in [("android", "one"), ("android", "two"), ("amazon", "three")] {
            let channel =
                json!({"device_type": kind, "opt_in": true, "push_address": address, "set_tags": true, "tags": ["news"]});
            app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        }
        let compose = compose(&app);
        let fields = [("who", "some"), ("kind0", "tag"), ("value0", "news"), ("kind1", "tag"), ("value1", "quiet"),
            ("not1", "not"), ("text", "A"), ("b_text", "B"), ("control", "50"), ("do", "review")];
        let review = sender.post(&compose, &fields).await;
        for words in ["people who are tagged news, and are not tagged quiet", "3 devices", "Android <strong>2</strong>",
            "50 percent get nothing, to compare with: about 2 devices"] {
            review.shows(words);
        }
        // The call that sends it, complete.
        let page = sender.post(&compose, &[("who", "all"), ("text", "It's here"), ("do", "check")]).await;
        for words in ["/api/push&quot; -u &quot;$AEROGRAM_APP_KEY:$AEROGRAM_MASTER_SECRET&quot;", "data-copy", "curl &quot;http://"] {
            page.shows(words);
        }
        app.stop().await;
    })
    .await;
}
