//! Forms that somebody else's change has overtaken: whoever saves one is told first, and nothing that was typed is lost.

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
        refused.shows(&format!("This {kind} was changed since you opened it, so nothing was saved."));
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
