//! Who may say whose a channel is, and associations that wait for their channel to register.

use std::time::Duration;

use serde_json::json;
use testkit::app::on_each_database;
use testkit::rows::row_counts;

use crate::crowd::Crowd;
use crate::named_users::{associate, channels};

#[tokio::test]
async fn associations_do_not_wait_forever() {
    on_each_database(async |app| {
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
    on_each_database(async |app| {
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
    on_each_database(async |app| {
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

#[tokio::test]
async fn an_association_waits_for_a_channel_of_the_type_it_names() {
    on_each_database(async |app| {
        let ids: Vec<String> = (1..=4).map(|n| format!("{n}0000000-0000-4000-8000-000000000000")).collect();
        for (id, claimed) in ids.iter().zip([json!("android"), json!("ios"), json!(null), json!("open")]) {
            let body = json!({"channel_id": id, "device_type": claimed, "named_user_id": "kim"});
            app.master().post("/api/named_users/associate", body).await.expect(200);
        }
        // The last wish counts, its type included.
        associate(&app, &ids[0], "lee").await;
        let body = json!({"channel_id": ids[0], "device_type": "android", "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", body).await.expect(200);
        // Nor is it taken back by somebody who means a channel of another type.
        for (id, claimed) in [(&ids[0], "ios"), (&ids[1], "open"), (&ids[3], "amazon")] {
            let body = json!({"channel_id": id, "device_type": claimed});
            app.master().post("/api/named_users/disassociate", body).await.expect(200);
        }
        let app = app.restart().await;
        for id in &ids[..3] {
            let device = json!({"channel": {"device_type": "ios"}});
            app.device().put(&format!("/api/channels/{id}"), device).await.expect(200);
        }
        let open = json!({"channel": {"type": "open", "opt_in": true, "address": "1", "channel_id": ids[3],
                          "open": {"open_platform_name": "tv"}}});
        app.master().post("/api/channels/open", open).await.expect(200);
        assert_eq!(channels(&app, "kim").await, ids[1..]);
        assert_eq!(channels(&app, "lee").await, Vec::<String>::new());
        assert_eq!(row_counts(app.engine().store()).await["pending_association"], 0);

        let waiting = "50000000-0000-4000-8000-000000000000";
        for (claimed, taken_back) in [(json!("open"), "open::tv"), (json!(null), "ios"), (json!("ios"), "ios")] {
            let body = json!({"channel_id": waiting, "device_type": claimed, "named_user_id": "kim"});
            app.master().post("/api/named_users/associate", body).await.expect(200);
            assert_eq!(row_counts(app.engine().store()).await["pending_association"], 1, "{taken_back}");
            let body = json!({"channel_id": waiting, "device_type": taken_back});
            app.master().post("/api/named_users/disassociate", body).await.expect(200);
            assert_eq!(row_counts(app.engine().store()).await["pending_association"], 0, "{taken_back}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_association_waits_no_longer_because_another_is_taken_back() {
    on_each_database(async |app| {
        let id = "10000000-0000-4000-8000-000000000000";
        associate(&app, id, "kim").await;
        let week = Duration::from_secs(7 * 24 * 60 * 60);
        app.advance(7 * week);
        let of_lee = json!({"channel_id": id, "named_user_id": "lee"});
        app.master().post("/api/named_users/disassociate", of_lee).await.expect(200);
        app.advance(week + Duration::from_secs(1));
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["pending_association"], 0);
    })
    .await;
}

#[tokio::test]
async fn what_is_passed_over_makes_no_user() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("gone", "ios")]).await;
        crowd.uninstall(&app, "gone").await;
        let of_another_type = json!({"channel_id": crowd.id("a"), "device_type": "android"});
        associate(&app, crowd.id("gone"), "kim").await;
        for update in [
            json!({"associate": [{"channel_id": crowd.id("gone")}, of_another_type]}),
            json!({"disassociate": [{"channel_id": crowd.id("a")}]}),
        ] {
            app.master().post("/api/named_users/kim", update).await.expect(200);
        }
        app.master().get("/api/named_users?id=kim").await.expect(404);
        associate(&app, crowd.id("a"), "kim").await;
        associate(&app, "10000000-0000-4000-8000-000000000000", "lee").await;
        assert_eq!(channels(&app, "kim").await, [crowd.id("a")]);
        assert_eq!(channels(&app, "lee").await, Vec::<String>::new(), "the user is there, and waits");
    })
    .await;
}
