//! Named users: associations of every kind, what users bring to their channels, lookups and listings, and the end.

use std::time::Duration;

use model::ids::AppId;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel;
use testkit::rows::row_counts;

use crate::crowd::Crowd;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

async fn call(app: &TestApp, path: &str, body: Value) {
    let reply = app.master().post(&format!("/api/named_users/{path}"), body).await;
    reply.expect_done(200);
}

pub(crate) async fn associate(app: &TestApp, channel: &str, user: &str) {
    call(app, "associate/", json!({"channel_id": channel, "device_type": "ios", "named_user_id": user})).await;
}

async fn tag(app: &TestApp, user: &str, operation: &str, sets: Value) {
    call(app, "tags", json!({"audience": {"named_user_id": user}, operation: sets})).await;
}

async fn look_up(app: &TestApp, user: &str) -> Value {
    let reply = app.master().get(&format!("/api/named_users/?id={user}")).await;
    assert_eq!(reply.header("data-attribute"), Some("named_user"));
    let body = reply.expect(200);
    assert!(body.get("next_page").is_none(), "{body}");
    body["named_user"].clone()
}

/// The ids of the channels of a user.
pub(crate) async fn channels(app: &TestApp, user: &str) -> Vec<String> {
    let user = look_up(app, user).await;
    user["channels"].as_array().unwrap().iter().map(|it| it["channel_id"].as_str().unwrap().to_owned()).collect()
}

fn gold() -> Value {
    json!({"tag": "gold", "group": "loyalty"})
}

#[tokio::test]
async fn users_are_looked_up_with_all_that_is_theirs() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "web"), ("c", "open::tv")]).await;
        associate(&app, crowd.id("a"), "kim").await;
        call(&app, "associate", json!({"channel_id": crowd.id("b"), "named_user_id": "kim"})).await;
        call(&app, "associate", json!({"channel_id": crowd.id("c"), "device_type": "open", "named_user_id": "kim"}))
            .await;
        app.advance(Duration::from_secs(60));
        tag(&app, "kim", "add", json!({"loyalty": "gold", "interests": ["tea", "cats"]})).await;
        let kim = look_up(&app, "kim").await;
        assert_eq!((&kim["named_user_id"], &kim["created"]), (&json!("kim"), &json!("2024-05-01T12:00:00")));
        assert_eq!(kim["last_modified"], "2024-05-01T12:01:00");
        assert_eq!(kim["tags"], json!({"loyalty": ["gold"], "interests": ["cats", "tea"]}));
        assert_eq!((&kim["attributes"], &kim["subscription_lists"]), (&json!({}), &json!([])));
        assert_eq!(kim["user_attributes"], json!({}));
        for (shown, name) in kim["channels"].as_array().unwrap().iter().zip(["a", "b", "c"]) {
            assert_eq!(*shown, crowd.look_up(&app, name).await);
            assert_eq!(shown["named_user_id"], "kim");
        }
        assert_eq!(crowd.look_up(&app, "a").await["tag_groups"].get("loyalty"), None, "a user's tags are the user's");
        assert_eq!(crowd.reached(&app, &json!({"named_user": "kim"})).await, "a b c");
        assert_eq!(crowd.reached(&app, &gold()).await, "a b c");

        let told = json!({"channel": {"device_type": "ios", "locale_country": "NO", "locale_language": "nb",
                          "timezone": "Europe/Oslo"}});
        app.device().put(&format!("/api/channels/{}", crowd.id("a")), told).await.expect(200);
        let told = json!({"ua_country": "NO", "ua_language": "nb", "ua_tz": "Europe/Oslo"});
        assert_eq!(look_up(&app, "kim").await["user_attributes"], told);

        let unknown = app.master().get("/api/named_users?id=nobody").await.expect(404);
        assert_eq!(unknown["error_code"], 40401);
        let bad = app.master().get(&format!("/api/named_users?id={}", "x".repeat(129))).await.expect(400);
        assert_eq!(bad["details"]["path"], "id");
        let app = app.restart().await;
        assert_eq!(look_up(&app, "kim").await["channels"].as_array().unwrap().len(), 3);
        assert_eq!(crowd.reached(&app, &gold()).await, "a b c");
    })
    .await;
}

#[tokio::test]
async fn tags_of_a_user_follow_the_associations() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        let (a, b) = (crowd.id("a"), crowd.id("b"));
        // Tagged before anything is associated: the user is made by it.
        tag(&app, "kim", "add", json!({"loyalty": ["gold"]})).await;
        assert_eq!(crowd.reached(&app, &gold()).await, "");
        associate(&app, a, "kim").await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a");
        associate(&app, b, "kim").await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a b");
        // A channel that has the tag itself keeps it when it leaves.
        let own = json!({"audience": {"ios_channel": a}, "add": {"loyalty": "gold"}});
        app.master().post("/api/channels/tags", own).await.expect(200);
        call(&app, "disassociate", json!({"channel_id": a, "named_user_id": "kim"})).await;
        call(&app, "disassociate", json!({"channel_id": b})).await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a");
        assert_eq!(channels(&app, "kim").await, Vec::<String>::new());
        // Moving to another user takes the one's tags away and brings the other's.
        tag(&app, "lee", "set", json!({"loyalty": ["silver"]})).await;
        associate(&app, b, "kim").await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a b");
        associate(&app, b, "lee").await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a");
        assert_eq!(crowd.reached(&app, &json!({"tag": "silver", "group": "loyalty"})).await, "b");
        assert_eq!((channels(&app, "kim").await.len(), channels(&app, "lee").await), (0, vec![b.to_owned()]));
        // So does changing the user's tags.
        tag(&app, "lee", "add", json!({"loyalty": ["gold"]})).await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a b");
        tag(&app, "lee", "remove", json!({"loyalty": ["gold"]})).await;
        tag(&app, "kim", "set", json!({"loyalty": []})).await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a");
        // A channel that is uninstalled is nobody's.
        tag(&app, "lee", "add", json!({"loyalty": ["gold"]})).await;
        crowd.uninstall(&app, "b").await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a");
        assert_eq!(channels(&app, "lee").await, Vec::<String>::new());
        let app = app.restart().await;
        assert_eq!(crowd.reached(&app, &gold()).await, "a");
    })
    .await;
}

#[tokio::test]
async fn disassociating_what_is_not_associated_does_nothing() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        associate(&app, crowd.id("a"), "kim").await;
        for body in [
            json!({"channel_id": crowd.id("a"), "named_user_id": "lee"}),
            json!({"channel_id": crowd.id("b"), "named_user_id": "kim"}),
            json!({"channel_id": UNKNOWN, "named_user_id": "kim"}),
            json!({"channel_id": UNKNOWN}),
        ] {
            call(&app, "disassociate", body).await;
        }
        assert_eq!(channels(&app, "kim").await, [crowd.id("a")]);
        app.master().get("/api/named_users?id=lee").await.expect(404);
        // Nor does associating a channel that is uninstalled. Wrong types are in a file of their own.
        crowd.uninstall(&app, "b").await;
        associate(&app, crowd.id("b"), "kim").await;
        assert_eq!(channels(&app, "kim").await, [crowd.id("a")]);
        // Email addresses are not channels here.
        for path in ["associate", "disassociate"] {
            let body = json!({"email_address": "kim@example.com", "named_user_id": "kim"});
            let refused = app.master().post(&format!("/api/named_users/{path}"), body).await.expect(400);
            assert_eq!(refused["details"]["path"], "email_address");
        }
    })
    .await;
}

#[tokio::test]
async fn associations_wait_for_channels_that_have_not_registered() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios")]).await;
        tag(&app, "kim", "add", json!({"loyalty": ["gold"]})).await;
        let ids: Vec<String> = (1..=4).map(|n| format!("{n}0000000-0000-4000-8000-000000000000")).collect();
        for id in &ids {
            associate(&app, id, "kim").await;
        }
        associate(&app, &ids[1], "lee").await;
        call(&app, "disassociate", json!({"channel_id": ids[2]})).await;
        call(&app, "disassociate", json!({"channel_id": ids[3], "named_user_id": "lee"})).await;
        let app = app.restart().await;
        for id in &ids {
            let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": id}});
            app.device().put(&format!("/api/channels/{id}"), device).await.expect(200);
        }
        assert_eq!(channels(&app, "kim").await, [ids[0].as_str(), ids[3].as_str()]);
        assert_eq!(channels(&app, "lee").await, [ids[1].as_str()]);
        assert_eq!(row_counts(app.engine().store()).await["pending_association"], 0);
        let push = json!({"audience": gold(), "device_types": "all", "notification": {"alert": "Hi"}});
        let push = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let status =
            app.master().get(&format!("/api/push/{}", push["push_ids"][0].as_str().unwrap())).await.expect(200);
        assert_eq!(status["push"]["platforms"]["ios"]["delivered"], 2);
        assert_eq!(crowd.reached(&app, &gold()).await, "");
    })
    .await;
}

#[tokio::test]
async fn a_user_is_updated_in_one_request() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios"), ("c", "web")]).await;
        associate(&app, crowd.id("a"), "kim @ home/1").await;
        let update = json!({
            "associate": [{"channel_id": crowd.id("b"), "device_type": "ios"}, {"channel_id": crowd.id("c")}],
            "disassociate": [{"channel_id": crowd.id("a")}],
            "tags": {"add": {"loyalty": "gold"}},
            "attributes": [{"action": "set", "key": "city", "value": "Oslo"}],
        });
        call(&app, "kim%20%40%20home%2F1", update).await;
        assert_eq!(channels(&app, "kim%20@%20home/1").await, [crowd.id("b"), crowd.id("c")]);
        assert_eq!(crowd.reached(&app, &gold()).await, "b c");
        assert_eq!(look_up(&app, "kim%20@%20home/1").await["attributes"], json!({"city": "Oslo"}));

        let before = row_counts(app.engine().store()).await;
        let both = json!({"associate": [{"channel_id": UNKNOWN}], "disassociate": [{"channel_id": UNKNOWN}]});
        for (body, path) in [
            (json!({}), ""),
            (both, "disassociate"),
            (json!({"associate": [{"email_address": "a@example.com"}]}), "associate[0].email_address"),
            (json!({"tags": {}}), "tags"),
            (json!({"tags": {"add": {"g": "t"}}, "named_user_id": "kim"}), "named_user_id"),
        ] {
            let refused = app.master().post("/api/named_users/new", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{body}: {refused}");
        }
        let body = json!({"tags": {"add": {"ua_opt_in": "true"}}});
        app.master().post("/api/named_users/new", body).await.expect(403);
        let good = json!({"tags": {"add": {"g": "t"}}});
        app.master().post(&format!("/api/named_users/{}", "x".repeat(129)), &good).await.expect(400);
        app.master().post("/api/named_users/%20x", &good).await.expect(400);
        // Words of the API cannot be ids in a path.
        app.master().post("/api/named_users/scoped", &good).await.expect(404);
        for word in ["associate", "disassociate", "tags", "uninstall"] {
            app.master().post(&format!("/api/named_users/{word}"), &good).await.expect(400);
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
    })
    .await;
}

#[tokio::test]
async fn a_user_has_a_hundred_channels_at_most() {
    on_each_database(async |app| {
        let mut ids = Vec::new();
        for n in 0..102 {
            let device = json!({"channel": {"device_type": "ios", "push_address": n.to_string()}});
            let id = app.device().post("/api/channels", device).await.expect(201);
            ids.push(json!({"channel_id": id["channel_id"]}));
        }
        let too_many = app.master().post("/api/named_users/kim", json!({"associate": ids[..101]})).await.expect(400);
        assert!(too_many["error"].as_str().unwrap().contains("100"), "{too_many}");
        app.master().get("/api/named_users?id=kim").await.expect(404);
        call(&app, "kim", json!({"associate": ids[..100]})).await;
        let one_more = json!({"channel_id": ids[100]["channel_id"], "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", &one_more).await.expect(400);
        // One that is there already may be associated again, and room can be made.
        associate(&app, ids[0]["channel_id"].as_str().unwrap(), "kim").await;
        call(&app, "disassociate", ids[0].clone()).await;
        call(&app, "associate", one_more).await;
        // A device that says whose it is registers all the same.
        let path = format!("/api/channels/{}", ids[101]["channel_id"].as_str().unwrap());
        let device = json!({"channel": {"device_type": "ios", "named_user_id": "kim"}});
        app.device().put(&path, device).await.expect(200);
        let waiting = "10000000-0000-4000-8000-000000000000";
        associate(&app, waiting, "kim").await;
        let device = json!({"channel": {"device_type": "ios"}});
        app.device().put(&format!("/api/channels/{waiting}"), device).await.expect(200);
        assert_eq!(channels(&app, "kim").await.len(), 100);
    })
    .await;
}

#[tokio::test]
async fn a_page_ends_early_when_users_have_many_channels() {
    on_each_database(async |app| {
        let users: Vec<String> = (0..24).map(|n| format!("user-{n:02}")).collect();
        for user in &users {
            let device = json!({"channel": {"device_type": "ios", "named_user_id": user, "push_address": user}});
            let id = app.device().post("/api/channels", device).await.expect(201)["channel_id"].clone();
            let set = json!([{"action": "set", "key": "of", "value": user}]);
            let attributes = json!({"audience": {"ios_channel": [id]}, "attributes": set});
            app.master().post("/api/channels/attributes", attributes).await.expect(200);
            copy_channel(app.engine().store(), AppId(1), id.as_str().unwrap().parse().unwrap(), 99).await;
        }
        let (mut seen, mut pages) = (Vec::new(), Vec::new());
        let mut next = Some("/api/named_users?limit=1000".to_owned());
        while let Some(path) = next {
            let page = app.master().get(&path).await.expect(200);
            let listed = page["named_users"].as_array().unwrap();
            pages.push(listed.len());
            for user in listed {
                assert_eq!(user["channels"].as_array().unwrap().len(), 100);
                assert_eq!(user["channels"][0]["attributes"], json!({"of": user["named_user_id"]}));
                seen.push(user["named_user_id"].as_str().unwrap().to_owned());
            }
            next = page["next_page"].as_str().map(|url| url[url.find("/api/").unwrap()..].to_owned());
        }
        assert_eq!((seen, pages), (users, vec![20, 4]));
    })
    .await;
}

#[tokio::test]
async fn listings_have_pages() {
    on_each_database(async |app| {
        let empty = app.master().get("/api/named_users").await;
        assert_eq!(empty.expect(200), json!({"ok": true, "named_users": []}));
        assert_eq!(empty.header("data-attribute"), Some("named_users"));
        let ids = ["Zoe", "a b&c", "kim", "lee", "ärger"];
        for id in ids {
            tag(&app, id, "add", json!({"g": "t"})).await;
        }
        let mut path = "/api/named_users/?limit=2".to_owned();
        let mut seen = Vec::new();
        loop {
            let reply = app.master().get(&path).await;
            let page = reply.expect(200);
            seen.extend(page["named_users"].as_array().unwrap().iter().map(|it| it["named_user_id"].clone()));
            let Some(next) = page.get("next_page") else {
                assert_eq!(reply.header("link"), None);
                break;
            };
            let next = next.as_str().unwrap();
            assert_eq!(reply.header("link"), Some(format!("<{next}>; rel=next").as_str()));
            path = next.strip_prefix(&app.url("")).unwrap().to_owned();
        }
        assert_eq!(seen, ids);
        let from = app.master().get("/api/named_users?start=b").await.expect(200);
        assert_eq!(from["named_users"][0]["named_user_id"], "kim", "an id that nobody has is a place as well");
        for query in ["limit=0", "limit=1001", "limit=x", "start=%20x", "id=", "id=%20"] {
            let refused = app.master().get(&format!("/api/named_users?{query}")).await.expect(400);
            assert_eq!(refused["details"]["path"], query.split('=').next().unwrap());
        }
    })
    .await;
}

#[tokio::test]
async fn uninstalling_users_uninstalls_their_channels_and_forgets_them() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "web"), ("c", "ios")]).await;
        associate(&app, crowd.id("a"), "kim").await;
        call(&app, "associate", json!({"channel_id": crowd.id("b"), "named_user_id": "kim"})).await;
        associate(&app, crowd.id("c"), "lee").await;
        tag(&app, "kim", "add", json!({"loyalty": ["gold"]})).await;
        associate(&app, UNKNOWN, "kim").await;
        app.device().post("/api/named_users/uninstall", json!({"named_user_id": ["kim"]})).await.expect(401);
        call(&app, "uninstall/", json!({"named_user_id": ["kim", "nobody"]})).await;
        app.master().get("/api/named_users?id=kim").await.expect(404);
        assert_eq!(crowd.look_up(&app, "a").await["installed"], false);
        assert_eq!(crowd.look_up(&app, "b").await["installed"], false);
        assert_eq!(crowd.reached(&app, &json!("all")).await, "c");
        // The name can be used again, and has nothing of before.
        let device = json!({"channel": {"device_type": "ios", "opt_in": true}});
        app.device().put(&format!("/api/channels/{UNKNOWN}"), device).await.expect(200);
        tag(&app, "kim", "add", json!({"g": ["t"]})).await;
        let kim = look_up(&app, "kim").await;
        assert_eq!((&kim["tags"], &kim["channels"]), (&json!({"g": ["t"]}), &json!([])));
        call(&app, "uninstall", json!({"named_user_id": "lee"})).await;
        let app = app.restart().await;
        assert_eq!(crowd.reached(&app, &json!("all")).await, "");
        for body in [json!({}), json!({"named_user_id": []}), json!({"named_user_id": vec!["x"; 101]})] {
            app.master().post("/api/named_users/uninstall", body).await.expect(400);
        }
    })
    .await;
}
