//! The old tag endpoints: list, create, add and remove, delete, and batches.

use http::Method;
use model::event::RecordKind;
use model::ids::Offset;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::crowd::Crowd;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

fn tag(tag: &str) -> Value {
    json!({ "tag": tag })
}

async fn listed(app: &TestApp) -> Value {
    let reply = app.device().get("/api/tags/").await.expect(200);
    assert_eq!(reply.as_object().unwrap().len(), 1, "{reply}");
    reply["tags"].clone()
}

async fn give(app: &TestApp, name: &str, channels: &[&str]) {
    let body = json!({"channels": {"add": channels}});
    app.master().post(&format!("/api/tags/{name}"), body).await.expect_done(200);
}

/// How many an audience has, without running any job.
async fn matched(app: &TestApp, audience: Value) -> Value {
    let question = json!({"audience": audience, "device_types": "all"});
    app.master().post("/api/audience/explain", question).await.expect(200)["matched"].clone()
}

#[tokio::test]
async fn tags_are_created_listed_and_deleted() {
    on_each_database(async |app| {
        assert_eq!(listed(&app).await, json!([]));
        let created = app.device().put("/api/tags/news", "").await;
        created.expect_done(201);
        app.master().put("/api/tags/news/", "ignored").await.expect(200);
        app.master().put("/api/tags/two%20words%2Fand%20%C3%A9", "").await.expect(201);
        // Tags that devices have are there as well; those of other groups are not.
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let body = json!({"audience": {"channel": crowd.id("a")}, "set": {"device": ["cats", "news"], "g": ["other"]}});
        app.master().post("/api/channels/tags", &body).await.expect(200);
        assert_eq!(listed(&app).await, json!(["cats", "news", "two words/and é"]));
        app.master().put("/api/tags/cats", "").await.expect(200);
        // Now it stays without a device.
        let body = json!({"audience": {"channel": crowd.id("a")}, "set": {"device": []}});
        app.master().post("/api/channels/tags", &body).await.expect(200);
        let app = app.restart().await;
        assert_eq!(listed(&app).await, json!(["cats", "news", "two words/and é"]));
        app.device().delete("/api/tags/cats").await.expect(401);
        assert!(app.master().delete("/api/tags/cats").await.expect(204).is_null());
        assert_eq!(app.master().delete("/api/tags/cats").await.expect(404)["error_code"], 40401);
        app.master().delete("/api/tags/never").await.expect(404);
        assert_eq!(listed(&app).await, json!(["news", "two words/and é"]));
        for name in ["x".repeat(129), "line%0Abreak".to_owned()] {
            let refused = app.master().put(&format!("/api/tags/{name}"), "").await.expect(400);
            assert_eq!(refused["details"]["path"], "tag");
            app.master().post(&format!("/api/tags/{name}"), json!({"channels": {"add": []}})).await.expect(400);
            app.master().delete(&format!("/api/tags/{name}")).await.expect(404);
        }
    })
    .await;
}

#[tokio::test]
async fn the_first_hundred_are_listed_in_order() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        let names = |from: u32, to: u32| (from..to).map(|n| format!("t{n:03}")).collect::<Vec<_>>();
        let body = json!({"audience": {"channel": crowd.id("a")}, "add": {"device": names(20, 120)}});
        app.master().post("/api/channels/tags", body).await.expect(200);
        for name in names(0, 20).iter().chain(&names(110, 130)) {
            app.master().put(&format!("/api/tags/{name}"), "").await;
        }
        assert_eq!(listed(&app).await, json!(names(0, 100)));
    })
    .await;
}

#[tokio::test]
async fn devices_get_and_lose_a_tag_by_any_id_they_ever_had() {
    on_each_database(async |app| {
        let token = "ab".repeat(32);
        let members = [("a", "ios"), ("b", "android"), ("c", "amazon"), ("d", "web")];
        let crowd = Crowd::register(&app, &members).await;
        let path = |name: &str| format!("/api/channels/{}", crowd.id(name));
        let device = json!({"channel": {"device_type": "ios", "push_address": token}});
        app.device().put(&path("a"), device).await.expect(200);
        let device = json!({"channel": {"device_type": "android"}, "identity_hints": {"apid": "old-id"}});
        app.device().put(&path("b"), device).await.expect(200);

        let body = json!({"ios_channels": {"add": [crowd.id("a"), crowd.id("b"), UNKNOWN]},
                          "android_channels": {"add": crowd.id("b")}, "amazon_channels": {"add": [crowd.id("c")]},
                          "channels": {"add": [crowd.id("d")]}, "device_pins": {"add": ["12345678"]}});
        app.master().post("/api/tags/news", body).await.expect(200);
        assert_eq!(crowd.reached(&app, &tag("news")).await, "a b c d");
        let body = json!({"device_tokens": {"remove": [token.to_uppercase()]}, "apids": {"remove": ["old-id"]},
                          "channels": {"remove": [crowd.id("d"), UNKNOWN]}});
        app.master().post("/api/tags/news/", body).await.expect(200);
        assert_eq!(crowd.reached(&app, &tag("news")).await, "c");
        let body = json!({"device_tokens": {"add": [token]}, "amazon_channels": {"remove": [crowd.id("c")]}});
        app.master().post("/api/tags/news", body).await.expect(200);
        assert_eq!(crowd.reached(&app, &tag("news")).await, "a");
        // The tag is there by being named.
        app.master().post("/api/tags/empty", json!({"channels": {"remove": [UNKNOWN]}})).await.expect(200);
        assert_eq!(listed(&app).await, json!(["empty", "news"]));

        app.device().post("/api/tags/news", json!({"channels": {"add": []}})).await.expect(401);
        for (body, path) in [
            (json!({}), ""),
            (json!({"ios_channels": {}}), "ios_channels"),
            (json!({"ios_channels": {"add": ["x"]}}), "ios_channels.add[0]"),
            (json!({"toasters": {"add": []}}), ""),
            (json!({"channels": {"add": [UNKNOWN], "remove": [UNKNOWN]}}), "channels.remove"),
            (json!({"ios_channels": {"add": [UNKNOWN]}, "channels": {"remove": [UNKNOWN]}}), "channels.remove"),
        ] {
            let refused = app.master().post("/api/tags/news", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{body}: {refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_deleted_tag_is_gone_from_all_devices_at_once() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios"), ("c", "ios")]).await;
        give(&app, "news", &[crowd.id("a"), crowd.id("b")]).await;
        give(&app, "cats", &[crowd.id("a")]).await;
        // A user can bring a flat tag as well.
        let user = json!({"audience": {"named_user_id": "kim"}, "add": {"device": "news"}});
        app.master().post("/api/named_users/tags", user).await.expect(200);
        let associate = json!({"channel_id": crowd.id("c"), "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", associate).await.expect(200);
        assert_eq!(crowd.reached(&app, &tag("news")).await, "a b c");

        app.master().delete("/api/tags/news").await.expect(204);
        // No job has run: neither audiences nor lookups nor listings know it any more.
        assert_eq!(matched(&app, tag("news")).await, 0);
        assert_eq!(crowd.look_up(&app, "a").await["tags"], json!(["cats"]));
        assert_eq!(listed(&app).await, json!(["cats"]));
        app.master().delete("/api/tags/news").await.expect(404);
        let app = app.restart().await;
        assert_eq!(matched(&app, tag("news")).await, 0, "an index that is built from the devices says the same");
        // Whoever gets it now has it, whatever the clean-up still finds.
        give(&app, "news", &[crowd.id("b")]).await;
        assert_eq!(matched(&app, tag("news")).await, 1);
        let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let head = app.engine().store().read(move |tx| store::log::head(tx, id)).await;
        let head: Offset = head.map_err(|error: store::Error| error).unwrap();
        assert!(app.step_all().await > 0);
        assert_eq!(crowd.reached(&app, &tag("news")).await, "b");
        assert_eq!(crowd.look_up(&app, "b").await["tags"], json!(["news"]));
        let kim = app.master().get("/api/named_users?id=kim").await.expect(200);
        assert_eq!(kim["named_user"]["tags"], json!({}));

        // The clean-up told of the tag that a and c lost; b has it again and was not told of anything.
        let records = app.engine().store().read(move |tx| store::log::after(tx, id, head, 1000)).await.unwrap();
        let told: Vec<Value> = records
            .iter()
            .filter(|record| record.kind == RecordKind::TagChange)
            .map(|record| serde_json::from_slice(&record.body).unwrap())
            .collect();
        assert_eq!(told.len(), 2, "{told:?}");
        for event in told {
            assert_eq!((&event["body"]["add"], &event["body"]["remove"]), (&json!({}), &json!({"device": ["news"]})));
        }
        let app = app.restart().await;
        assert_eq!(crowd.reached(&app, &tag("news")).await, "b");
        app.master().delete("/api/tags/news").await.expect(204);
        assert_eq!(crowd.reached(&app, &tag("news")).await, "");
        assert_eq!(app.step_all().await, 0, "nothing is left to do");
    })
    .await;
}

#[tokio::test]
async fn a_device_that_is_changed_before_the_clean_up_does_not_bring_the_tag_back() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        give(&app, "news", &[crowd.id("a"), crowd.id("b")]).await;
        app.master().delete("/api/tags/news").await.expect(204);
        // A change of something else, a registration that keeps the tags, and one that sets the tag again.
        let other = json!({"audience": {"channel": crowd.id("a")}, "add": {"device": "cats"}});
        app.master().post("/api/channels/tags", other).await.expect(200);
        let keeps = json!({"channel": {"device_type": "ios", "locale_language": "nb"}});
        app.device().put(&format!("/api/channels/{}", crowd.id("a")), keeps).await.expect(200);
        assert_eq!(crowd.look_up(&app, "a").await["tags"], json!(["cats"]));
        assert_eq!(matched(&app, tag("news")).await, 0);
        let sets = json!({"channel": {"device_type": "ios", "set_tags": true, "tags": ["news"]}});
        app.device().put(&format!("/api/channels/{}", crowd.id("b")), sets).await.expect(200);
        assert_eq!(matched(&app, tag("news")).await, 1);
        app.step_all().await;
        assert_eq!(crowd.reached(&app, &tag("news")).await, "b");
    })
    .await;
}

#[tokio::test]
async fn batches_set_the_tags_of_many_devices() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "android"), ("c", "ios")]).await;
        give(&app, "old", &[crowd.id("a"), crowd.id("b"), crowd.id("c")]).await;
        let rows = json!([{"ios_channel": crowd.id("a"), "tags": ["x", "y"]}, {"android_channel": crowd.id("b"), "tags": []},
                          {"channel": UNKNOWN, "tags": ["x"]}, {"android_channel": crowd.id("c"), "tags": ["x"]}]);
        for (method, path) in [(Method::PUT, "/api/tags/batch"), (Method::POST, "/api/tags//batch/")] {
            let reply = app.master().call(method, path, &rows).await;
            let warnings = reply.expect(200)["warnings"].clone();
            assert!(warnings.as_array().is_some_and(|all| all.len() == 1), "{warnings}");
            assert_eq!(crowd.look_up(&app, "a").await["tags"], json!(["x", "y"]));
            assert_eq!(crowd.look_up(&app, "b").await["tags"], json!([]));
            assert_eq!(crowd.look_up(&app, "c").await["tags"], json!(["old"]), "not an Android channel");
        }
        assert_eq!(crowd.reached(&app, &tag("x")).await, "a");

        // One bad row, and nothing is applied.
        let before = row_counts(app.engine().store()).await;
        let good = json!({"ios_channel": crowd.id("a"), "tags": ["z"]});
        let bad = [
            json!({"ios_channel": crowd.id("c")}),
            json!({"ios_channel": "x", "tags": ["z"]}),
            json!({"tags": ["z"]}),
            json!({"ios_channel": crowd.id("c"), "apid": "x", "tags": ["z"]}),
            json!({"ios_channel": crowd.id("c"), "tags": [""]}),
            json!("row"),
        ];
        let mut rows = vec![good];
        rows.extend(bad.iter().cloned());
        let refused = app.master().put("/api/tags/batch/", json!(rows)).await.expect(400);
        assert_eq!((&refused["ok"], &refused["error_code"]), (&json!(false), &json!(40000)));
        let errors = refused["errors"].as_array().unwrap();
        assert_eq!(errors.len(), bad.len());
        for (error, row) in errors.iter().zip(&bad) {
            assert_eq!(error[0], *row);
            assert!(error[1].as_str().is_some_and(|message| !message.is_empty()), "{error}");
        }
        for body in ["[]", "{}", "nonsense"] {
            let refused = app.master().put("/api/tags/batch", body).await.expect(400);
            assert!(refused.get("errors").is_none(), "{refused}");
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
        assert_eq!(crowd.look_up(&app, "a").await["tags"], json!(["x", "y"]));
    })
    .await;
}
