//! Listing the attributes that there are, with their types and frequent values.

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::attributes::{change, remove, set};
use crate::crowd::Crowd;

async fn list(app: &TestApp, query: &str) -> Vec<Value> {
    let found = app.master().get(&format!("/api/attributes?{query}")).await.expect(200);
    found["attributes"].as_array().unwrap().clone()
}

#[tokio::test]
async fn attributes_are_listed_with_their_types_and_most_frequent_values() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "web")]).await;
        assert_eq!(list(&app, "").await, Vec::<Value>::new());
        change(&app, &crowd, "a", json!([set("plan", "gold"), set("age", 30), set("gone", 1)])).await;
        change(&app, &crowd, "b", json!([set("plan", "silver"), set("age", "unknown")])).await;
        change(&app, &crowd, "c", json!([set("joined", "2024-05-01T10:00:00"), set("notes", "\"".repeat(255))])).await;
        change(&app, &crowd, "c", json!([set("order#1", json!({"total": 2}))])).await;
        change(&app, &crowd, "a", remove("gone")).await;
        let user = json!({"attributes": [set("plan", "gold")]});
        app.master().post("/api/named_users/kim/attributes", user).await.expect(200);

        let one = |value: Value, count: usize| json!({"value": value, "count": count});
        let all = list(&app, "").await;
        let [age, joined, notes, order, plan] = &all[..] else { panic!("five attributes: {all:?}") };
        let values = json!([one(json!("unknown"), 1), one(json!(30), 1)]);
        let types = json!(["text", "number"]);
        let whole = json!({"name": "age", "types": types, "values": values, "sampled": 2, "complete": true});
        assert_eq!(age, &whole);
        assert_eq!(
            (&joined["types"], &joined["values"][0]["value"]),
            (&json!(["date"]), &json!("2024-05-01T10:00:00"))
        );
        assert_eq!((&notes["types"], &notes["values"]), (&json!(["text"]), &json!([])), "too long to be shown");
        assert_eq!(
            (&order["name"], &order["types"], &order["values"]),
            (&json!("order#1"), &json!(["json"]), &json!([]))
        );
        let values = json!([one(json!("gold"), 2), one(json!("silver"), 1)]);
        assert_eq!((&plan["values"], &plan["sampled"]), (&values, &json!(3)));

        let names = async |query: &str| -> Vec<Value> {
            list(&app, query).await.into_iter().map(|attribute| attribute["name"].clone()).collect()
        };
        assert_eq!(names("prefix=pl").await, ["plan"]);
        assert_eq!(names("prefix=PL").await, Vec::<Value>::new());
        assert_eq!(names("start=notes").await, ["notes", "order#1", "plan"]);
        let mut path = "/api/attributes?limit=2".to_owned();
        let mut found = Vec::new();
        loop {
            let page = app.master().get(&path).await.expect(200);
            found.extend(page["attributes"].as_array().unwrap().iter().map(|attribute| attribute["name"].clone()));
            let Some(next) = page.get("next_page").and_then(Value::as_str) else { break };
            path = next[next.find("/api").unwrap()..].to_owned();
        }
        assert_eq!(found, ["age", "joined", "notes", "order#1", "plan"]);
    })
    .await;
}

/// A hundred names share what a call looks at: a hundred values of each.
#[tokio::test]
async fn of_very_many_values_some_are_looked_at() {
    on_each_database(async |app| {
        for some in 0..2 {
            let users: Vec<String> = (0..60).map(|number| format!("user-{some}-{number}")).collect();
            let body = json!({"audience": {"named_user_id": users}, "attributes": [set("plan", some)]});
            app.master().post("/api/channels/attributes", body).await.expect(200);
        }
        let [all] = &list(&app, "limit=50").await[..] else { panic!("one attribute") };
        assert_eq!((&all["sampled"], &all["complete"]), (&json!(120), &json!(true)));
        let [some] = &list(&app, "limit=100").await[..] else { panic!("one attribute") };
        assert_eq!((&some["sampled"], &some["complete"]), (&json!(100), &json!(false)));
        assert_eq!(some["values"][0], json!({"value": 0, "count": 60}));
    })
    .await;
}

#[tokio::test]
async fn attributes_of_other_apps_are_not_listed_and_control_characters_are_refused() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        change(&app, &crowd, "a", set("plan", "gold")).await;
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        assert_eq!(stranger.get("/api/attributes").await.expect(200)["attributes"], json!([]));
        app.device().get("/api/attributes").await.expect(401);
        for wrong in ["prefix", "start"] {
            let refused = app.master().get(&format!("/api/attributes?{wrong}=a%00")).await.expect(400);
            assert_eq!(refused["details"]["path"], wrong);
        }
    })
    .await;
}
