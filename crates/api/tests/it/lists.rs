//! Uploaded lists: the rules of the resource, and files as clients send them.

use std::collections::BTreeSet;
use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Method;
use model::ids::AppId;
use serde_json::{Value, json};
use store::Tx;
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;
use testkit::rows::row_counts;

const SOMEBODY: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

pub(crate) async fn create(app: &TestApp, name: &str) {
    app.master().post("/api/lists", json!({ "name": name })).await.expect(201);
}

pub(crate) async fn list(app: &TestApp, name: &str) -> Value {
    app.master().get(&format!("/api/lists/{name}")).await.expect(200)
}

pub(crate) async fn upload(app: &TestApp, name: &str, file: impl Into<Bytes>) -> Reply {
    let request = app.master().request(Method::PUT, &format!("/api/lists/{name}/csv/"));
    // What a client says about the body counts for nothing.
    let request = request.header("content-type", "text/csv").header("content-encoding", "gzip");
    app.master().send(request.body(file.into()).unwrap()).await
}

pub(crate) async fn download(app: &TestApp, name: &str) -> BTreeSet<String> {
    let reply = app.master().get(&format!("/api/lists/{name}/csv")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("content-type"), Some("text/csv; charset=utf-8"));
    let lines: Vec<String> = reply.text().split_terminator("\r\n").map(str::to_owned).collect();
    let distinct: BTreeSet<String> = lines.iter().cloned().collect();
    assert_eq!(distinct.len(), lines.len(), "every row comes once");
    distinct
}

pub(crate) fn lines(text: &[&str]) -> BTreeSet<String> {
    text.iter().map(|line| (*line).to_owned()).collect()
}

pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn lists_are_created_described_and_looked_up() {
    on_each_database(async |app| {
        let master = app.master();
        let body = json!({"name": "vip-1", "description": "Very important", "extra": {"campaign": "spring"}});
        let created = master.post("/api/lists/", body).await;
        created.expect_done(201);
        assert_eq!(created.header("location"), Some(app.url("/api/lists/vip-1").as_str()));
        let expected = json!({"ok": true, "name": "vip-1", "description": "Very important", "extra": {"campaign": "spring"},
            "created": "2024-05-01T12:00:00", "last_updated": "2024-05-01T12:00:00", "channel_count": 0, "status": "ready"});
        let found = master.get("/api/lists/vip-1").await;
        assert_eq!((found.expect(200), found.header("data-attribute")), (expected.clone(), Some("static_list")));
        assert_eq!(download(&app, "vip-1").await, BTreeSet::new());

        app.advance(std::time::Duration::from_secs(60));
        let changed = master.put("/api/lists/vip-1", json!({"name": "vip-1", "description": "Changed"})).await;
        changed.expect_done(200);
        let changed = list(&app, "vip-1").await;
        assert_eq!((&changed["description"], &changed["extra"]), (&json!("Changed"), &json!({"campaign": "spring"})));
        assert_eq!((&changed["created"], &changed["last_updated"]), (&expected["created"], &json!("2024-05-01T12:01:00")));

        create(&app, "another").await;
        let names = |reply: Value| {
            let lists = reply["lists"].as_array().unwrap().clone();
            lists.iter().map(|list| list["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for path in ["/api/lists", "/api/lists/?type=user"] {
            assert_eq!(names(master.get(path).await.expect(200)), ["another", "vip-1"], "{path}");
        }
        let lifecycle = names(master.get("/api/lists?type=lifecycle").await.expect(200));
        assert!(lifecycle.len() > 20 && lifecycle.iter().all(|name| name.starts_with("ua_")), "{lifecycle:?}");
        assert_eq!(names(master.get("/api/lists?type=ALL").await.expect(200)).len(), lifecycle.len() + 2);
        master.get("/api/lists?type=other").await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn the_rules_about_names() {
    on_each_database(async |app| {
        let master = app.master();
        create(&app, "taken").await;
        let code = |reply: Reply, status| reply.expect(status)["error_code"].clone();
        let name = |name: &str| json!({ "name": name });
        assert_eq!(code(master.post("/api/lists", name("taken")).await, 409), 40900);
        assert_eq!(code(master.post("/api/lists", name("ua_mine")).await, 403), 40300);
        for bad in ["", "a b", "é", &"x".repeat(65)] {
            assert_eq!(code(master.post("/api/lists", name(bad)).await, 400), 40000, "{bad}");
        }
        assert_eq!(code(master.put("/api/lists/taken", name("other")).await, 400), 40001);
        for path in ["/api/lists/unknown", "/api/lists/a%20b", "/api/lists/ua_unknown"] {
            assert_eq!(code(master.get(path).await, 404), 40401, "{path}");
        }
        for path in ["/api/lists/unknown", "/api/lists/a%20b"] {
            assert_eq!(code(master.put(path, "{}").await, 404), 40401, "{path}");
            assert_eq!(code(master.delete(path).await, 404), 40401, "{path}");
            assert_eq!(code(master.put(&format!("{path}/csv"), "named_user,kim").await, 404), 40401, "{path}");
            assert_eq!(code(master.get(&format!("{path}/csv")).await, 404), 40401, "{path}");
            assert_eq!(code(master.get(&format!("{path}/errors")).await, 404), 40401, "{path}");
        }
        let lifecycle = "/api/lists/ua_message_sent_last_7_days";
        assert_eq!(master.get(lifecycle).await.expect(200)["status"], "ready");
        assert_eq!(code(master.put(lifecycle, "{}").await, 403), 40300);
        assert_eq!(code(master.put(&format!("{lifecycle}/csv"), "named_user,kim").await, 403), 40300);
        assert_eq!(code(master.delete(lifecycle).await, 403), 40300);
        for rows in ["csv", "errors"] {
            let refused = master.get(&format!("{lifecycle}/{rows}")).await.expect(403);
            assert!(refused["error"].as_str().unwrap().contains("cannot be downloaded"), "{refused}");
        }

        assert_eq!(master.delete("/api/lists/taken").await.status, 204);
        assert_eq!(code(master.get("/api/lists/taken").await, 404), 40401);
        assert_eq!(code(master.post("/api/lists", name("taken")).await, 409), 40900);
        app.step_all().await;
        assert_eq!(code(master.post("/api/lists", name("taken")).await, 409), 40900);
    })
    .await;
}

#[tokio::test]
async fn an_app_has_a_hundred_lists_at_most() {
    on_each_database(async |app| {
        for n in 0..100 {
            create(&app, &format!("list-{n}")).await;
        }
        app.master().post("/api/lists", json!({"name": "one-more"})).await.expect(409);
        app.master().delete("/api/lists/list-7").await.expect(204);
        create(&app, "one-more").await;
    })
    .await;
}

#[tokio::test]
async fn files_in_every_form_and_what_they_replace() {
    on_each_database(async |app| {
        create(&app, "vip").await;
        let first = format!(
            "identifier_type,identifier\r\nnamed_user,kim\nalias,jo\r\nios_channel,{SOMEBODY}\nnamed_user,kim\n"
        );
        let rows = lines(&["alias,jo", &format!("ios_channel,{SOMEBODY}"), "named_user,kim"]);
        for file in [first.clone().into_bytes(), packed(first.as_bytes())] {
            upload(&app, "vip", file).await.expect_done(202);
            assert_eq!(download(&app, "vip").await, rows);
            assert_eq!(list(&app, "vip").await["status"], "processing");
            app.step_all().await;
            assert_eq!(list(&app, "vip").await["status"], "ready");
            assert_eq!(download(&app, "vip").await, rows);
        }
        let quoted = "\u{feff}\"named_user\",\"O\"\"Hara, Kim\"\r\nnamed_user,Zoë";
        upload(&app, "vip", quoted.to_owned()).await.expect(202);
        let rows = lines(&["named_user,\"O\"\"Hara, Kim\"", "named_user,Zoë"]);
        assert_eq!(download(&app, "vip").await, rows);
        let again = app.master().get("/api/lists/vip/csv").await.text().to_owned();
        upload(&app, "vip", again).await.expect(202);
        app.step_all().await;
        assert_eq!(download(&app, "vip").await, rows, "what is downloaded can be uploaded");
        assert_eq!(row_counts(app.engine().store()).await["list_member"], 2, "nothing is left of what was replaced");
        upload(&app, "vip", Bytes::new()).await.expect(202);
        app.step_all().await;
        assert_eq!(download(&app, "vip").await, BTreeSet::new());
        assert_eq!(row_counts(app.engine().store()).await["list_member"], 0);
    })
    .await;
}

#[tokio::test]
async fn files_that_are_refused_change_nothing() {
    on_each_database(async |app| {
        create(&app, "vip").await;
        upload(&app, "vip", "named_user,kim").await.expect(202);
        app.step_all().await;
        let good: String = (0..3000).map(|n| format!("named_user,{n}\n")).collect();
        let refused = [
            (format!("{good}named_user\n"), 40003, "line 3001", 1),
            (format!("{good}named_user,a,b\nnamed_user\n"), 40003, "line 3001", 2),
            (format!("{good}\n\nhuman,kim\nios_channel,x"), 40004, "line 3003", 2),
            (format!("ios_channel,kim\n{good}"), 40005, "line 1", 1),
            (format!("channel,{SOMEBODY}\n{good}"), 40004, "line 1", 1),
            (format!("Named_User,kim\n{good}"), 40004, "line 1", 1),
            (format!("named_user,a\nnamed_user,\"b\n{good}"), 40000, "line 2", 1),
            (format!("{good}named_user,\"b"), 40000, "line 3001", 1),
            ("named_user,a\rnamed_user,\"b\rnamed_user,c\rnamed_user,d\"\rnamed_user,e".to_owned(), 40000, "line 2", 1),
        ];
        for (file, code, path, n_problems) in refused {
            for file in [file.clone().into_bytes(), packed(file.as_bytes())] {
                let reply = upload(&app, "vip", file).await;
                let body = reply.expect(400);
                assert_eq!((&body["error_code"], &body["details"]["path"]), (&json!(code), &json!(path)));
                assert_eq!(reply.header("aerogram-problems"), Some(n_problems.to_string().as_str()));
                app.step_all().await;
                assert_eq!(list(&app, "vip").await["status"], "failure");
                assert_eq!(download(&app, "vip").await, lines(&["named_user,kim"]));
                assert_eq!(row_counts(app.engine().store()).await["list_member"], 1, "the rows are cleaned up");
            }
        }
        let cut_off = packed(good.as_bytes());
        upload(&app, "vip", cut_off[..cut_off.len() - 9].to_vec()).await.expect(400);
        upload(&app, "vip", "named_user,jo").await.expect(202);
        app.step_all().await;
        assert_eq!(list(&app, "vip").await["status"], "ready");
        assert_eq!(row_counts(app.engine().store()).await["list_member"], 1);
    })
    .await;
}

#[tokio::test]
async fn rows_that_cannot_be_used_are_told_by_line_and_do_not_cost_the_others() {
    on_each_database(async |app| {
        create(&app, "vip").await;
        let mut file =
            format!("named_user,kim\nnamed_user,\nnamed_user, jo\nalias,{}\n", "x".repeat(2000)).into_bytes();
        file.extend(b"named_user,\xff\xfe\nnamed_user,zoe\n");
        let uploaded = upload(&app, "vip", file).await.expect(202);
        assert!(uploaded["warning"].as_str().unwrap().contains(": 4. See /api/lists/vip/errors"), "{uploaded}");
        let keys: Vec<_> = uploaded.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["ok", "operation_id", "warning"], "strict clients know no other keys");
        app.step_all().await;
        assert_eq!(download(&app, "vip").await, lines(&["named_user,kim", "named_user,zoe"]));
        let record = list(&app, "vip").await;
        assert_eq!((&record["error_count"], &record["error_path"]), (&json!(4), &json!("/api/lists/vip/errors")));
        let errors = app.master().get("/api/lists/vip/errors").await;
        assert_eq!(errors.header("content-type"), Some("text/csv; charset=utf-8"));
        let numbers: Vec<&str> = errors.text().lines().map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(numbers, ["line", "2", "3", "4", "5"], "{}", errors.text());
        assert!(errors.text().contains("3,\"A named user id must not begin or end with white space.\"\r\n"));

        upload(&app, "vip", "named_user,kim").await.expect(202);
        assert_eq!(app.master().get("/api/lists/vip/errors").await.text(), "line,error\r\n");
        assert!(list(&app, "vip").await.get("error_count").is_none());
    })
    .await;
}

async fn app_id(app: &TestApp) -> AppId {
    app.engine().tenancy().app(&app.app.key).await.unwrap().id
}

async fn stored(app: &TestApp, kind: DocumentKind, name: &'static str) -> Value {
    let id = app_id(app).await;
    let found = app.engine().store().read(move |tx| documents::get(tx, id, kind, name)).await.unwrap();
    serde_json::from_str(&found.unwrap().body).unwrap()
}

async fn store_list(app: &TestApp, name: &'static str, body: Value) {
    let (id, now) = (app_id(app).await, app.clock().now());
    let write = move |tx: &mut Tx<'_>| documents::put(tx, id, DocumentKind::List, name, &body.to_string(), now);
    app.engine().store().write(id, write).await.unwrap();
}

#[tokio::test]
async fn records_keep_the_form_in_which_earlier_versions_wrote_them() {
    on_each_database(async |app| {
        let now = app.clock().now().0;
        create(&app, "vip").await;
        let half_applied = json!({"details": {"description": "Old"}, "updated": now, "newest": 3,
            "receiving": [{"number": 3, "heard": now}], "content": 2, "replaced": [1], "discarded": [],
            "applied": {"Through": {"kind": "named_user", "identifier": "kim"}},
            "last_failed": true, "n_bad_rows": 7, "is_deleted": false});
        store_list(&app, "vip", half_applied.clone()).await;
        let shown = list(&app, "vip").await;
        assert_eq!((&shown["description"], &shown["status"]), (&json!("Old"), &json!("processing")));
        app.master().put("/api/lists/vip", "{}").await.expect(200);
        assert_eq!(stored(&app, DocumentKind::List, "vip").await, half_applied);

        app.master().delete("/api/lists/vip").await.expect(204);
        let remains = |replaced: Value, discarded: Value| {
            json!({"details": {}, "updated": now, "newest": 3, "receiving": [], "content": null, "applied": "Everything",
                "replaced": replaced, "discarded": discarded, "last_failed": false, "n_bad_rows": 0, "is_deleted": true})
        };
        assert_eq!(stored(&app, DocumentKind::DeletedList, "vip").await, remains(json!([1, 2]), json!([3])));
        app.step_all().await;
        assert_eq!(stored(&app, DocumentKind::DeletedList, "vip").await, remains(json!([]), json!([])));

        // A list without content has nothing to wait for.
        create(&app, "empty").await;
        let mut empty = stored(&app, DocumentKind::List, "empty").await;
        empty["applied"] = json!("Nothing");
        store_list(&app, "empty", empty).await;
        assert_eq!(list(&app, "empty").await["status"], "ready");
    })
    .await;
}

#[tokio::test]
async fn one_that_cannot_be_read_stops_nothing() {
    on_each_database(async |app| {
        create(&app, "vip").await;
        create(&app, "spoiled").await;
        store_list(&app, "spoiled", json!({})).await;
        let listed = app.master().get("/api/lists").await.expect(200);
        let names: Vec<&Value> = listed["lists"].as_array().unwrap().iter().map(|list| &list["name"]).collect();
        assert!(names.contains(&&json!("vip")) && !names.contains(&&json!("spoiled")), "{listed}");
        // What waits for a channel that never registers is forgotten all the same.
        let wish = json!({"channel_id": SOMEBODY, "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", wish).await.expect(200);
        assert_eq!(row_counts(app.engine().store()).await["pending_association"], 1);
        app.advance(std::time::Duration::from_secs(9 * 7 * 24 * 60 * 60));
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["pending_association"], 0);
    })
    .await;
}
