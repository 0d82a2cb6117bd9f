//! Tests of pushes: they go to the test group, and to nobody else.

use serde_json::{Value, json};
use testkit::app::on_each_database;

#[tokio::test]
async fn a_test_goes_to_the_test_group_whatever_its_audience_is() {
    on_each_database(async |app| {
        for (address, tags) in [("tester", json!(["test"])), ("customer", json!([]))] {
            let device = json!({"channel": {
                "device_type": "android", "opt_in": true, "push_address": address, "set_tags": true, "tags": tags,
            }});
            app.device().post("/api/channels", device).await.expect(201);
        }
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}, "name": "Spring"});
        let test = json!({"push": push});
        let refused = app.master().post("/api/push/test", &test).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("no test group"), "{refused}");
        assert_eq!(app.master().get("/api/push/test-group").await.expect(200)["audience"], Value::Null);
        let group = json!({"audience": {"tag": "test"}});
        app.master().put("/api/push/test-group", &group).await.expect(200);
        assert_eq!(app.master().get("/api/push/test-group").await.expect(200)["audience"], group["audience"]);
        app.master().post("/api/push/test", &test).await.expect(200);
        app.step_all().await;
        let pushes = app.master().get("/api/pushes").await.expect(200);
        let [sent] = &pushes["pushes"].as_array().unwrap()[..] else { panic!("{pushes}") };
        assert_eq!((&sent["name"], &sent["total"]["targeted"]), (&json!("Test: Spring"), &json!(1)));
        app.master().put("/api/push/test-group", json!({"audience": null})).await.expect(200);
        app.master().post("/api/push/test", &test).await.expect(409);
        app.master().put("/api/push/test-group", json!({"audience": "all"})).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn a_group_that_is_a_crowd_is_refused() {
    on_each_database(async |app| {
        for n in 0..101 {
            let channel = json!({"device_type": "android", "opt_in": true, "push_address": format!("a{n}")});
            app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        }
        let everybody = json!({"audience": {"not": {"tag": "nobody-has-this"}}});
        app.master().put("/api/push/test-group", everybody).await.expect(200);
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        let refused = app.master().post("/api/push/test", json!({"push": push})).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("101 devices"), "{refused}");
    })
    .await;
}
