//! Conditions by what devices tell and by attributes: nothing is read of channels that nobody asks about.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use super::{HOUR, create, delayed, pipeline, shown, tag};
use crate::attributes::{change, is, set};
use crate::crowd::Crowd;
use crate::device_attributes::{spoil, tell};

/// Of these, `a` and `d` are meant by [`condition`].
async fn furnish(app: &TestApp) -> Crowd {
    let members = ["a", "b", "c", "d"].map(|name| (name, "android"));
    let crowd = Crowd::register(app, &members).await;
    for (name, model, plan) in
        [("a", "Pixel 8", "gold"), ("b", "Pixel 9", "gold"), ("c", "Pixel 8", "silver"), ("d", "Pixel 8", "gold")]
    {
        tell(app, &crowd, name, "android", json!({"device_model": model})).await;
        change(app, &crowd, name, json!([set("plan", plan)])).await;
    }
    crowd
}

fn condition() -> Value {
    let model = json!({"attribute": "ua_device_model", "operator": "equals", "value": "Pixel 8"});
    json!({"and": [{"segmentation": {"audience": {"and": [model, {"not": is("plan", "silver")}]}}}]})
}

#[tokio::test]
async fn what_is_due_is_checked_without_reading_of_anybody_else() {
    on_each_database(async |app| {
        let crowd = furnish(&app).await;
        let mut body = delayed(json!({"tag_added": "x"}), "One", HOUR);
        body["condition"] = condition();
        create(&app, body).await;
        for name in ["a", "b", "c"] {
            tag(&app, crowd.id(name), "add", "x").await;
        }
        app.step_all().await;
        spoil(&app, &crowd, "d", "plan").await;
        app.advance(HOUR);
        let a = crowd.id("a");
        assert_eq!(json!(shown(&app).await), json!({a: ["One"]}));
    })
    .await;
}

#[tokio::test]
async fn what_happens_is_checked_without_reading_of_anybody_else() {
    on_each_database(async |app| {
        let crowd = furnish(&app).await;
        create(&app, pipeline(json!({"tag_added": "x", "condition": condition()}), "One")).await;
        spoil(&app, &crowd, "d", "plan").await;
        // All of it is read together, and then some of them again.
        for name in ["a", "b", "c"] {
            tag(&app, crowd.id(name), "add", "x").await;
        }
        let a = crowd.id("a");
        assert_eq!(json!(shown(&app).await), json!({a: ["One"]}));
        for name in ["a", "b"] {
            tag(&app, crowd.id(name), "remove", "x").await;
            tag(&app, crowd.id(name), "add", "x").await;
        }
        assert_eq!(json!(shown(&app).await), json!({a: ["One", "One"]}));
    })
    .await;
}

#[tokio::test]
async fn a_pipeline_that_is_changed_while_somebody_waits_checks_what_it_says_now() {
    on_each_database(async |app| {
        let crowd = furnish(&app).await;
        let mut body = delayed(json!({"tag_added": "x"}), "One", HOUR);
        body["condition"] = condition();
        let path = create(&app, body.clone()).await;
        for name in ["a", "b", "c"] {
            tag(&app, crowd.id(name), "add", "x").await;
        }
        app.step_all().await;
        body["condition"] = json!({"and": [{"segmentation": {"audience": is("plan", "silver")}}]});
        app.master().put(&path, &body).await.expect(200);
        app.advance(HOUR);
        let c = crowd.id("c");
        assert_eq!(json!(shown(&app).await), json!({c: ["One"]}));
        // One that is disabled has nothing to check.
        tag(&app, crowd.id("d"), "add", "x").await;
        app.step_all().await;
        body["enabled"] = json!(false);
        app.master().put(&path, &body).await.expect(200);
        app.advance(HOUR);
        assert_eq!(json!(shown(&app).await), json!({c: ["One"]}));
    })
    .await;
}
