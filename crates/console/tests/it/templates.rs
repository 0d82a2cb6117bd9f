//! Templates: written, previewed with the usual values of their variables, changed and used.

use serde_json::json;

use crate::visitor::{Visitor, on_each_database};

#[tokio::test]
async fn templates_are_written_previewed_and_used() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let list = format!("/console/{}/templates", app.app.key);
        editor.get(&list).await.shows("No template yet");
        let new = format!("{list}/new");
        let fields = [
            ("name", "Welcome"),
            ("title", "Hello"),
            ("text", "Dear {{name}}, come in"),
            ("variable0", "name"),
            ("usual0", "guest"),
        ];
        let with = |more: &[(&'static str, &'static str)]| [&fields[..], more].concat();
        let shown = editor.post(&new, &with(&[("do", "add-variable")])).await;
        for words in ["Dear guest, come in", r#"name="variable1""#] {
            shown.shows(words);
        }
        let undeclared = editor.post(&new, &[("name", "x"), ("text", "Dear {{nobody}}"), ("do", "save")]).await;
        assert!(undeclared.expect(400).contains("Text: {{nobody}} is not among the variables."), "{}", undeclared.text);
        assert!(!undeclared.text.contains("push.notification.alert"), "{}", undeclared.text);
        // What a text names is offered while it is written, and added by one click.
        let order = [("name", "Order"), ("text", "Order {{order}} shipped")];
        let checked = editor.post(&new, &[&order[..], &[("do", "check")]].concat()).await;
        for words in ["Text: {{order}} is not among the variables.", r#"value="add-variable-order""#] {
            checked.shows(words);
        }
        let added = editor.post(&new, &[&order[..], &[("variable0", ""), ("do", "add-variable-order")]].concat()).await;
        for words in [r#"name="variable0" value="order""#, "Order [order] shipped"] {
            added.shows(words);
        }
        assert!(!added.text.contains("is not among the variables"), "{}", added.text);
        editor.post(&new, &with(&[("do", "save")])).await.expect_to(&list);
        let page = editor.get(&list).await;
        for words in ["Welcome", "Use in Compose"] {
            page.shows(words);
        }
        editor.get(&page.link_of("Use in Compose")).await.shows("Dear guest, come in</textarea>");
        let templates = app.master().get("/api/templates").await.expect(200);
        let id = templates["templates"][0]["id"].as_str().unwrap();
        let edit = format!("{list}/{id}");
        editor.get(&edit).await.shows(r#"value="guest""#);
        let changed =
            [("name", "Welcome back"), ("text", "Hi {{name}}"), ("variable0", "name"), ("usual0", ""), ("do", "save")];
        editor.post(&edit, &changed).await.expect_to(&list);
        let kept = app.master().get(&format!("/api/templates/{id}")).await.expect(200);
        assert_eq!(kept["template"]["name"], "Welcome back");
        assert_eq!(kept["template"]["push"], json!({"notification": {"alert": "Hi {{name}}"}}));
        editor.post(&format!("{edit}/delete"), &[]).await.expect_to(&list);
        app.stop().await;
    })
    .await;
}
