//! Who may say whose a channel is, and associations that wait for their channel to register.

use std::time::Duration;

use serde_json::json;
use testkit::app::on_each_engine;
use testkit::rows::row_counts;

use crate::crowd::Crowd;
use crate::named_users::{associate, channels};

#[tokio::test]
async fn associations_do_not_wait_forever() {
    on_each_engine(async |app| {
        let [old, new] = [1, 2].map(|n| format!("{n}0000000-0000-4000-8000-000000000000"));
        associate(&app, &old, "kim").await;
        let week = Duration::from_secs(7 * 24 * 60 * 60);
        app.advance(7 * week);
        associate(&app, &new, "kim").await;
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["pending_association"], 2);
        app.advance(week + Duration::from_secs(1));
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["pending_association"], 1);
        for id in [&old, &new] {
            app.device()
                .put(&format!("/api/channels/{id}"), json!({"channel": {"device_type": "ios"}}))
                .await
                .expect(200);
        }
        assert_eq!(channels(&app, "kim").await, [new]);
    })
    .await;
}

#[tokio::test]
async fn a_device_knows_better_than_an_association_that_waits() {
    on_each_engine(async |app| {
        let ids: Vec<String> = (1..=3).map(|n| format!("{n}0000000-0000-4000-8000-000000000000")).collect();
        for id in &ids {
            associate(&app, id, "kim").await;
        }
        let app = app.restart().await;
        for (id, said) in ids.iter().zip([json!({"named_user_id": "lee"}), json!({"named_user_id": null}), json!({})]) {
            let mut device = json!({"channel": {"device_type": "ios"}});
            device["channel"].as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
            app.device().put(&format!("/api/channels/{id}"), device).await.expect(200);
        }
        assert_eq!(channels(&app, "lee").await, [ids[0].as_str()]);
        assert_eq!(channels(&app, "kim").await, [ids[2].as_str()]);
        assert_eq!(row_counts(app.engine().store()).await["pending_association"], 0, "none of them waits any longer");
    })
    .await;
}

#[tokio::test]
async fn with_the_app_secret_one_channel_is_associated_at_a_time() {
    on_each_engine(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        let [a, b] = ["a", "b"].map(|name| json!({"channel_id": crowd.id(name)}));
        for many in [
            json!({"associate": [a, b]}),
            json!({"disassociate": [a, b]}),
            json!({"associate": [a], "disassociate": [b]}),
        ] {
            app.device().post("/api/named_users/kim", &many).await.expect(401);
        }
        app.device().post("/api/named_users/kim", json!({"associate": [a]})).await.expect(200);
        assert_eq!(channels(&app, "kim").await, [crowd.id("a")]);
        app.device().post("/api/named_users/kim", json!({"disassociate": [a]})).await.expect(200);
        assert_eq!(channels(&app, "kim").await, Vec::<String>::new());
    })
    .await;
}
