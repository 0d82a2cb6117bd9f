//! Content templates: by the service's id and by the caller's own.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::on_each_database;

fn template(name: &str, external_id: Option<&str>) -> Value {
    json!({"type": "app", "name": name, "external_id": external_id, "content": {"alert": "Hi {{name}}", "title": name}})
}

#[tokio::test]
async fn content_templates_are_created_listed_replaced_and_deleted() {
    on_each_database(async |app| {
        let master = app.master();
        let created = master.post("/api/content/templates", template("Sale", Some("sale/1"))).await;
        let id = created.expect(201)["template_id"].as_str().unwrap().to_owned();
        assert!(created.header("location").unwrap().ends_with(&format!("/api/content/templates/{id}")));
        app.advance(Duration::from_secs(5));
        master.post("/api/content/templates", template("News", None)).await.expect(201);
        let refused = master.post("/api/content/templates", template("Other", Some("sale/1"))).await.expect(400);
        assert_eq!(refused["details"]["path"], "external_id", "{refused}");
        let own = "/api/content/templates/external/app/sale%2F1";
        let shown = master.get(own).await.expect(200)["content_template"].clone();
        assert_eq!(
            (&shown["id"], &shown["name"], &shown["created_at"]),
            (&json!(id), &json!("Sale"), &json!("2024-05-01T12:00:00Z"))
        );
        assert_eq!(shown["content"], json!({"alert": "Hi {{name}}", "title": "Sale"}));
        assert_eq!(master.get(&format!("/api/content/templates/{id}")).await.expect(200)["content_template"], shown);
        master.get("/api/content/templates/external/web/sale%2F1").await.expect(404);
        master.get("/api/content/templates/external/email/sale%2F1").await.expect(404);

        // What was shown can be sent back.
        let mut changed = shown.clone();
        changed["name"] = json!("Summer sale");
        master.put(own, &changed).await.expect(200);
        changed["type"] = json!("web");
        master.put(own, &changed).await.expect(400);
        let page = master.get("/api/content/templates?page_size=1&sort=modified_at&order=asc").await.expect(200);
        assert_eq!((&page["count"], &page["total_count"]), (&json!(1), &json!(2)));
        assert_eq!(page["content_templates"][0]["name"], "Summer sale");
        assert!(page["next_page"].as_str().unwrap().contains("page=2"), "{page}");
        assert_eq!(page.get("prev_page"), None);

        master.delete(own).await.expect(200);
        master.get(&format!("/api/content/templates/{id}")).await.expect(404);
        master.delete(&format!("/api/content/templates/{id}")).await.expect(404);
        let email =
            json!({"type": "email", "name": "x", "content": {"subject": "x", "html_body": "x", "plaintext_body": "x"}});
        assert_eq!(master.post("/api/content/templates", email).await.expect(400)["details"]["path"], "type");
    })
    .await;
}
