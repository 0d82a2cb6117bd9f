//! Searching an app: by ids of every kind, by names, by addresses and by the beginnings of named users.

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Caller;

use crate::crowd::Crowd;

async fn search(caller: &Caller, text: &str) -> Value {
    let found = caller.get(&format!("/api/search?q={}", text.replace(' ', "%20"))).await.expect(200);
    assert_eq!(found["complete"], json!(true));
    found["results"].clone()
}

/// Something of every kind, all of it with "storm" in its name: the kinds and ids.
async fn storms(app: &TestApp) -> Vec<(&'static str, String)> {
    let crowd = Crowd::register(app, &[("storm-token", "ios")]).await;
    crowd.associate(app, "storm-token", Some("storm-7")).await;
    let master = app.master();
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "A Storm comes"}});
    let content = json!({"notification": {"alert": "x"}});
    let made = master.post("/api/push", &push).await.expect(200);
    let mut found = vec![("push", made["push_ids"][0].clone())];
    found.push(("channel", json!(crowd.id("storm-token"))));
    found.push(("named_user", json!("storm-7")));
    let segment = json!({"display_name": "Before the STORM", "criteria": {"tag": "x"}});
    found.push(("segment", master.post("/api/segments", segment).await.expect(201)["segment_id"].clone()));
    master.post("/api/lists", json!({"name": "storm-list"})).await.expect(201);
    found.push(("list", json!("storm-list")));
    let schedule = json!({"name": "Storm later", "schedule": {"scheduled_time": "2030-01-01T00:00"},
                          "push": {"audience": "all", "device_types": "all", "notification": {"alert": "x"}}});
    let made = master.post("/api/schedules", schedule).await.expect(201);
    found.push(("schedule", made["schedule_ids"][0].clone()));
    let template = json!({"name": "Storm of the day", "variables": [], "push": &content});
    found.push(("template", master.post("/api/templates", template).await.expect(201)["template_id"].clone()));
    let outcome = json!({"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "x"}}});
    let pipeline = json!({"name": "After the storm", "enabled": false, "outcome": outcome,
                          "immediate_trigger": {"tag_added": "nobody-has-this"}});
    let made = master.post("/api/pipelines", pipeline).await.expect(201);
    found.push(("pipeline", made["pipeline_ids"][0].clone()));
    let variant = json!({"push": content, "schedule": {"scheduled_time": "2030-01-01T00:00"}});
    let experiment =
        json!({"name": "Which storm", "audience": "all", "device_types": "all", "variants": [variant, variant]});
    let made = master.post("/api/experiments", experiment).await.expect(201);
    found.push(("experiment", made["experiment_id"].clone()));
    found.into_iter().map(|(kind, id)| (kind, id.as_str().unwrap().to_owned())).collect()
}

#[tokio::test]
async fn everything_is_found_by_its_id_and_what_has_a_name_by_a_part_of_it() {
    on_each_database(async |app| {
        let storms = storms(&app).await;
        for (kind, id) in &storms {
            let found = search(&app.master(), id).await;
            let ids: Vec<_> = found.as_array().unwrap().iter().map(|it| (&it["kind"], &it["id"])).collect();
            assert!(ids.contains(&(&json!(kind), &json!(id))), "{kind} {id}: {found}");
        }
        let titles = |found: &Value| -> Vec<(String, Value)> {
            let all = found.as_array().unwrap().iter();
            all.map(|it| (it["kind"].as_str().unwrap().to_owned(), it["title"].clone())).collect()
        };
        let expected = [
            ("push", json!("A Storm comes")),
            ("named_user", Value::Null),
            ("segment", json!("Before the STORM")),
            ("list", json!("storm-list")),
            ("schedule", json!("Storm later")),
            ("template", json!("Storm of the day")),
            ("pipeline", json!("After the storm")),
            ("experiment", json!("Which storm")),
        ];
        let named = search(&app.master(), "storm").await;
        assert_eq!(titles(&named), expected.map(|(kind, title)| (kind.to_owned(), title)));
        let device = search(&app.master(), "storm-token").await;
        assert_eq!(titles(&device), [("channel".to_owned(), json!("ios of storm-7"))], "by its address");
        let upper = search(&app.master(), &storms[3].1.to_uppercase()).await;
        assert_eq!(upper[0]["kind"], "segment", "ids are read in letters of either case");
        assert_eq!(search(&app.master(), "the storm").await.as_array().unwrap().len(), 2);
        assert_eq!(search(&app.master(), "nothing of the kind").await, json!([]));
    })
    .await;
}

#[tokio::test]
async fn at_most_ten_of_a_kind_are_shown() {
    on_each_database(async |app| {
        let users: Vec<String> = (10..30).map(|number| format!("kim-{number}")).collect();
        let body = json!({"audience": {"named_user_id": users}, "add": {"loyalty": "gold"}});
        app.master().post("/api/named_users/tags", body).await.expect(200);
        let found = app.master().get("/api/search?q=kim-").await.expect(200);
        let ids: Vec<_> = found["results"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
        assert_eq!((ids.len(), ids[0], &found["complete"]), (10, "kim-10", &json!(false)));
        assert_eq!(search(&app.master(), "kim-2").await.as_array().unwrap().len(), 10);
        assert_eq!(search(&app.master(), "kim-29").await[0]["id"], "kim-29");
        assert_eq!(search(&app.master(), "im-29").await, json!([]), "only the beginning of a named user counts");
        for typed in ["Kim-29", "KIM-29"] {
            assert_eq!(search(&app.master(), typed).await[0]["id"], "kim-29", "{typed}");
        }
        let body = json!({"audience": {"named_user_id": ["Ada-1", "ADA-2", "ada-3"]}, "add": {"loyalty": "gold"}});
        app.master().post("/api/named_users/tags", body).await.expect(200);
        let found = search(&app.master(), "ada").await;
        let ids: Vec<_> = found.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["ada-3", "Ada-1", "ADA-2"], "as it was typed comes first");
    })
    .await;
}

#[tokio::test]
async fn nothing_of_another_app_is_found_and_a_search_for_nothing_is_refused() {
    on_each_database(async |app| {
        let storms = storms(&app).await;
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        for text in storms.iter().map(|(_, id)| id.as_str()).chain(["storm", "storm-token"]) {
            assert_eq!(search(&stranger, text).await, json!([]), "{text}");
        }
        for (wrong, kind) in [("", 400), ("?q=", 400), ("?q=a%00b", 400)] {
            let refused = app.master().get(&format!("/api/search{wrong}")).await.expect(kind);
            assert_eq!(refused["details"]["path"], "q");
        }
        app.device().get("/api/search?q=storm").await.expect(401);
    })
    .await;
}
