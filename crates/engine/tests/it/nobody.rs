//! What the status of a push says when it went to nobody, or to devices that were gone.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_engine};

use crate::devices::{push, register, status};

async fn reason(app: &TestApp, audience: Value, device_types: Value) -> String {
    let body = json!({"audience": audience, "device_types": device_types, "notification": {"alert": "Hi"}});
    let id = push(app, body).await;
    app.step_all().await;
    let done = status(app, &id).await;
    assert_eq!((&done["state"], &done["total"]["targeted"]), (&json!("done"), &json!(0)), "{done}");
    done["total"]["reason"].as_str().unwrap_or_else(|| panic!("{done}")).to_owned()
}

#[tokio::test]
async fn a_push_that_goes_to_nobody_says_why() {
    on_each_engine(async |app| {
        let nobody = "Nobody matches the audience; aerogram audience explain and POST /api/audience/explain show why.";
        assert_eq!(reason(&app, json!("all"), json!("all")).await, nobody);
        let silent = register(&app, "ios", "A0", json!({"opt_in": false})).await;
        register(&app, "ios", "A1", json!({"opt_in": false})).await;
        let unknown = register(&app, "ios", "A2", json!({"push_address": null})).await;
        let all = reason(&app, json!("all"), json!("all")).await;
        assert_eq!(all, "3 match the audience: 2 opted out, 1 without an address.");
        let one = reason(&app, json!({"channel": silent}), json!("all")).await;
        assert_eq!(one, "1 matches the audience: 1 opted out.");
        let other_type = reason(&app, json!({"channel": silent}), json!(["android"])).await;
        assert_eq!(other_type, "1 matches the audience, but not the device types of the push.");
        let uninstall = json!({"channel_id": unknown, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        assert_eq!(reason(&app, json!({"channel": unknown}), json!("all")).await, nobody);

        let segment = json!({"display_name": "Short-lived", "criteria": {"tag": "x"}});
        let segment = app.master().post("/api/segments", segment).await.expect(201)["segment_id"].clone();
        let segment = segment.as_str().unwrap();
        assert_eq!(reason(&app, json!({"segment": segment}), json!("all")).await, nobody);
        let to_it = json!({"audience": {"segment": segment}, "device_types": "all", "notification": {"alert": "Hi"}});
        let id = push(&app, to_it).await;
        app.master().delete(&format!("/api/segments/{segment}")).await.expect(204);
        app.step_all().await;
        let expected = format!("Nobody matches the audience: there is no segment {segment}.");
        assert_eq!(status(&app, &id).await["total"]["reason"], expected);
    })
    .await;
}

#[tokio::test]
async fn a_message_in_inboxes_is_told_of_beside_those_who_were_not_notified() {
    on_each_engine(async |app| {
        register(&app, "ios", "A0", json!({"opt_in": false, "background": false})).await;
        let body = json!({
            "audience": "all", "device_types": "all", "notification": {"alert": "Hi"},
            "message": {"title": "Hi", "body": "Hello"},
        });
        let id = push(&app, body).await;
        app.step_all().await;
        let told = status(&app, &id).await["total"]["reason"].clone();
        assert_eq!(told, "1 matches the audience: 1 opted out. Its message is in the inboxes of 1.");
    })
    .await;
}

#[tokio::test]
async fn a_push_to_devices_that_are_gone_says_what_that_means() {
    on_each_engine(async |app| {
        let device = register(&app, "ios", "A0", json!({})).await;
        let body = json!({"audience": {"channel": device}, "device_types": "all", "notification": {"alert": "Hi"}});
        let id = push(&app, body).await;
        // The audience is chosen; nothing has been sent yet.
        assert!(engine::Worker::new(app.engine().clone()).step().await.unwrap());
        let uninstall = json!({"channel_id": device, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["gone"]), (&json!("done"), &json!(1)), "{done}");
        assert!(done["platforms"]["ios"]["reason"].as_str().unwrap().starts_with("Gone: "), "{done}");
    })
    .await;
}
