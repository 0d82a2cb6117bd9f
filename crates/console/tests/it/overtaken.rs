//! Forms that somebody else's change has overtaken: whoever saves one is told first, and nothing that was typed is lost.

use std::time::Duration;

use serde_json::{Value, json};

use crate::visitor::{Page, Visitor, on_each_database};

/// What a form takes along of what was saved when it was opened.
fn seen(page: &Page) -> String {
    let field = page.hidden_fields().into_iter().find(|(name, _)| name == "seen");
    field.unwrap_or_else(|| panic!("{}", page.text)).1
}

/// A form, from the page that opens it to what is saved by it under the name "Mine".
struct Overtaken<'t> {
    opens: &'t str,
    takes: &'t str,
    fields: &'t [(&'t str, &'t str)],
    /// What is typed, as the page shows it.
    shown: &'t [&'t str],
}

impl Overtaken<'_> {
    /// Opens it, has something else saved under the name "Theirs" in the same second, and saves it.
    async fn check(&self, visitor: &Visitor, kind: &str, change: impl AsyncFn(), name: impl AsyncFn() -> Value) {
        let opened = seen(&visitor.get(self.opens).await);
        let save = async |seen: &str| visitor.post(self.takes, &[self.fields, &[("seen", seen)][..]].concat()).await;
        change().await;
        let refused = save(&opened).await;
        refused.expect(409);
        refused.shows(&format!("This {kind} is no longer as you opened it, so this click has saved nothing"));
        refused.shows("See what is saved");
        for words in self.shown {
            refused.shows(words);
        }
        assert_eq!(name().await, "Theirs");
        // Who has been told replaces it, and a second click is none the worse.
        let told = seen(&refused);
        for _ in 0..2 {
            save(&told).await.expect(303);
            assert_eq!(name().await, "Mine");
        }
    }
}

#[tokio::test]
async fn an_automation_that_was_changed_meanwhile_is_not_overwritten_unseen() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let outcome =
            json!({"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Hello"}}});
        let mut body =
            json!({"name": "Welcome", "enabled": true, "immediate_trigger": "first_open", "outcome": outcome});
        let made = app.master().post("/api/pipelines", &body).await.expect(201);
        let id = made["pipeline_ids"][0].as_str().unwrap();
        let (path, edit) = (format!("/api/pipelines/{id}"), format!("/console/{}/automation/{id}/edit", app.app.key));
        body["name"] = json!("Theirs");
        let change = async || drop(app.master().put(&path, &body).await.expect(200));
        let name = async || app.master().get(&path).await.expect(200)["pipeline"]["name"].clone();
        let fields =
            [("name", "Mine"), ("enabled", "yes"), ("trigger0", "first_open"), ("text", "Good day"), ("do", "save")];
        let shown = [r#"value="Mine""#, "Good day"];
        let form = Overtaken { opens: &edit, takes: &edit, fields: &fields, shown: &shown };
        form.check(&sender, "automation", change, name).await;
        // Another row is no other look.
        let opened = seen(&sender.get(&edit).await);
        let row = [("trigger0", "first_open"), ("seen", &*opened), ("do", "add-trigger")];
        assert_eq!(seen(&sender.post(&edit, &row).await), opened);
        // A second click is known if it is typed as JSON that the form would have otherwise, too.
        let push = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Later"}});
        let rest = json!({"outcome": [{"push": push, "delay": 60}]}).to_string();
        let fields = [("name", "As JSON"), ("enabled", "yes"), ("trigger0", "first_open"), ("rest", &*rest)];
        for _ in 0..2 {
            sender.post(&edit, &[&fields[..], &[("seen", &*opened), ("do", "save")]].concat()).await.expect(303);
            assert_eq!(app.master().get(&path).await.expect(200)["pipeline"]["name"], "As JSON");
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nor_is_a_segment() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let mut body = json!({"display_name": "News", "criteria": {"tag": "news"}});
        let made = app.master().post("/api/segments", &body).await.expect(201);
        let id = made["segment_id"].as_str().unwrap();
        let path = format!("/api/segments/{id}");
        let edit = format!("/console/{}/audience/segments/{id}", app.app.key);
        body["display_name"] = json!("Theirs");
        let change = async || drop(app.master().put(&path, &body).await.expect(200));
        let name = async || app.master().get(&path).await.expect(200)["display_name"].clone();
        let criteria = r#"{"OR": [{"tag": "sports"}, {"tag": ["mine"]}]}"#;
        let fields =
            [("display_name", "Mine"), ("who", "some"), ("kind0", "json"), ("value0", criteria), ("do", "save")];
        let shown = [r#"value="Mine""#, "sports"];
        let form = Overtaken { opens: &edit, takes: &edit, fields: &fields, shown: &shown };
        form.check(&editor, "segment", change, name).await;
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nor_is_a_template_and_to_use_it_changes_nothing() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let body = json!({"name": "Welcome", "description": "", "variables": [{"key": "name", "default_value": "guest"}],
                          "push": {"notification": {"alert": "Hi {{name}}"}}});
        let made = app.master().post("/api/templates", body).await.expect(201);
        let id = made["template_id"].as_str().unwrap();
        let (path, edit) = (format!("/api/templates/{id}"), format!("/console/{}/templates/{id}", app.app.key));
        let change = async || drop(app.master().post(&path, r#"{"name": "Theirs"}"#).await.expect(200));
        let name = async || app.master().get(&path).await.expect(200)["template"]["name"].clone();
        let fields = [
            ("name", "Mine"),
            ("text", "Dear {{name}}, {{more}}"),
            ("variable0", "name"),
            ("usual0", "you"),
            ("variable1", "more"),
            ("usual1", ""),
            ("do", "save"),
        ];
        let shown = [r#"value="Mine""#, "Dear {{name}}, {{more}}"];
        let form = Overtaken { opens: &edit, takes: &edit, fields: &fields, shown: &shown };
        form.check(&editor, "template", change, name).await;
        let opened = seen(&editor.get(&edit).await);
        app.advance(Duration::from_secs(60));
        let sent = json!({"audience": "all", "device_types": "all",
                          "merge_data": {"template_id": id, "substitutions": {"more": "come in"}}});
        app.master().post("/api/templates/push", sent).await.expect(200);
        let fields = [&fields[1..], &[("name", "Used"), ("seen", &*opened)]].concat();
        editor.post(&edit, &fields).await.expect(303);
        assert_eq!(app.master().get(&path).await.expect(200)["template"]["name"], "Used");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nor_is_a_schedule_in_compose_or_as_json() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "The news"}});
        let mut body = json!({"name": "Soon", "push": push, "schedule": {"scheduled_time": "2024-06-01T09:00:00"}});
        let made = app.master().post("/api/schedules", &body).await.expect(201);
        let id = made["schedule_ids"][0].as_str().unwrap();
        let (path, page) = (format!("/api/schedules/{id}"), format!("{home}/schedules/{id}"));
        body["name"] = json!("Theirs");
        let change = async || drop(app.master().put(&path, &body).await.expect(200));
        let name = async || app.master().get(&path).await.expect(200)["name"].clone();
        let fields = [
            ("schedule", id),
            ("who", "all"),
            ("name", "Mine"),
            ("text", "The better news"),
            ("when", "at"),
            ("at", "2024-06-02T09:00"),
            ("do", "send"),
            ("once", "1"),
            ("expected", "0"),
        ];
        let (opens, takes) = (format!("{home}/compose?schedule={id}"), format!("{home}/compose"));
        let shown = ["You change", r#"value="Mine""#, ">The better news</textarea>"];
        let form = Overtaken { opens: &opens, takes: &takes, fields: &fields, shown: &shown };
        form.check(&sender, "schedule", &change, &name).await;
        // The page before sending takes it along, too.
        let opened = seen(&sender.get(&opens).await);
        let review = [&fields[..6], &[("do", "review"), ("seen", &*opened)]].concat();
        assert_eq!(seen(&sender.post(&takes, &review).await), opened);
        // The API writes times in one form, and always says whether something is paused.
        let recurring = json!({"cadence": {"type": "hourly", "count": 5}});
        let mine = json!({"name": "Mine", "push": push,
                          "schedule": {"scheduled_time": "2024-06-03T09:00", "recurring": recurring}});
        let mine = mine.to_string();
        let (fields, shown) = ([("document", &*mine)], ["&quot;Mine&quot;"]);
        let form = Overtaken { opens: &page, takes: &page, fields: &fields, shown: &shown };
        form.check(&sender, "schedule", &change, &name).await;
        // One that was paused meanwhile stays so.
        let opened = seen(&sender.get(&page).await);
        app.master().post(&format!("{path}/pause"), "").await.expect(204);
        sender.post(&page, &[("document", &*mine), ("seen", &*opened)]).await.expect(409);
        assert_eq!(app.master().get(&path).await.expect(200)["schedule"]["recurring"]["paused"], true);
        app.stop().await;
    })
    .await;
}
