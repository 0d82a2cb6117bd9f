//! Tag lists and attribute lists: files whose rows change the tags or attributes of channels and named users.

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;
use testkit::rows::row_counts;

use crate::list_uploads::{end, send_in_chunks};
use crate::lists::packed;

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

async fn channel(app: &TestApp, token: &str) -> String {
    let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": token}});
    app.master().post("/api/channels", device).await.expect(201)["channel_id"].as_str().unwrap().to_owned()
}

async fn upload(app: &TestApp, list: &str, file: impl Into<Bytes>) -> Reply {
    let request = app.master().request(Method::PUT, &format!("/api/{list}/csv/"));
    // What a client says about the body counts for nothing.
    let request = request.header("content-type", "text/csv").header("content-encoding", "true");
    app.master().send(request.body(file.into()).unwrap()).await
}

/// The only list of a kind.
async fn shown(app: &TestApp, kind: &str) -> Value {
    let lists = app.master().get(&format!("/api/{kind}/")).await.expect(200)["lists"].clone();
    assert_eq!(lists.as_array().unwrap().len(), 1, "{lists}");
    lists[0].clone()
}

async fn errors(app: &TestApp, list: &str) -> String {
    let reply = app.master().get(&format!("/api/{list}/errors/")).await;
    assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, Some("text/csv; charset=utf-8")));
    reply.text().to_owned()
}

#[tokio::test]
async fn a_tag_list_changes_everybody_in_its_file() {
    on_each_database(async |app| {
        let master = app.master();
        let body = json!({"name": "ua_tags_gold", "description": "Gold", "extra": {"k": "v"},
                          "add": {"loyalty": ["gold"]}, "remove": {"loyalty": ["silver"]}, "set": {"plan": ["new"]}});
        let created = master.post("/api/tag-lists/", &body).await;
        created.expect(201);
        assert!(created.header("location").unwrap().ends_with("/api/tag-lists/ua_tags_gold"));
        let again = master.post("/api/tag-lists", &body).await.expect(409);
        assert!(again["error"].as_str().unwrap().contains("already"), "{again}");
        let list = shown(&app, "tag-lists").await;
        assert_eq!(
            (&list["status"], &list["error_path"], &list["channel_count"]),
            (&json!("ready"), &json!(""), &json!(0))
        );
        assert_eq!((&list["add"], &list["set"]), (&body["add"], &body["set"]));

        let own = channel(&app, "one").await;
        let tags = json!({"audience": {"channel": own}, "add": {"loyalty": ["silver", "old"], "plan": ["old"]}});
        master.post("/api/channels/tags", tags).await.expect(200);
        let file = format!("channel_id,firstName\r\n{own},Kim\r\n{NOBODY},Lee\r\nnobody,Mo\r\n{own},Kim\r\n");
        upload(&app, "tag-lists/ua_tags_gold", packed(file.as_bytes())).await.expect(202);
        assert_eq!(shown(&app, "tag-lists").await["status"], "processing");
        app.step_all().await;
        let groups = master.get(&format!("/api/channels/{own}")).await.expect(200)["channel"]["tag_groups"].clone();
        assert_eq!((&groups["loyalty"], &groups["plan"]), (&json!(["gold", "old"]), &json!(["new"])));
        let list = shown(&app, "tag-lists").await;
        assert_eq!(
            (&list["status"], &list["channel_count"], &list["named_user_count"]),
            (&json!("ready"), &json!(2), &json!(0))
        );
        assert_eq!((&list["mutation_success_count"], &list["mutation_error_count"]), (&json!(2), &json!(2)));
        assert!(list["error_path"].as_str().unwrap().ends_with("/api/tag-lists/ua_tags_gold/errors"), "{list}");
        let expected = format!(
            "\"nobody\",ERROR,\"Line 4: The id of a channel is a UUID.\"\r\n\
             \"{NOBODY}\",ERROR,\"Line 3: There is no such channel, or it was uninstalled.\"\r\n"
        );
        assert_eq!(errors(&app, "tag-lists/ua_tags_gold").await, expected);

        // The next file is of named users, who are made, and its errors replace those of the last.
        upload(&app, "tag-lists/ua_tags_gold", "named_user\nkim\n").await.expect(202);
        app.step_all().await;
        let user = master.get("/api/named_users?id=kim").await.expect(200);
        assert_eq!(user["named_user"]["tags"]["loyalty"], json!(["gold"]));
        assert_eq!(shown(&app, "tag-lists").await["named_user_count"], 1);
        assert_eq!(errors(&app, "tag-lists/ua_tags_gold").await, "");
        assert_eq!(row_counts(app.engine().store()).await["list_change"], 0);

        master.delete("/api/tag-lists/ua_tags_gold").await.expect(204);
        app.step_all().await;
        upload(&app, "tag-lists/ua_tags_gold", "named_user\nkim\n").await.expect(404);
        master.delete("/api/tag-lists/ua_tags_gold").await.expect(404);
        master.post("/api/tag-lists", &body).await.expect(201);
        let user = master.get("/api/named_users?id=kim").await.expect(200);
        assert_eq!(user["named_user"]["tags"]["loyalty"], json!(["gold"]), "what was changed stays");
    })
    .await;
}

#[tokio::test]
async fn an_attribute_list_sets_attributes_and_a_snapshot_removes_them_too() {
    on_each_database(async |app| {
        let master = app.master();
        let own = channel(&app, "one").await;
        for name in ["ua_attributes_crm", "ua_attributes_snapshot_crm"] {
            master.post("/api/attribute-lists/", json!({"name": name, "description": "CRM"})).await.expect(201);
        }
        let file = "named_user,plan,seats,since\nkim,\"gold, plus\",12,2030-05-01T08:00:00\nlee,,7,\nmo,x\n=1+1,x\n";
        upload(&app, "attribute-lists/ua_attributes_crm", file).await.expect(202);
        app.step_all().await;
        let of = async |user: &str| {
            let found = master.get(&format!("/api/named_users?id={user}")).await.expect(200);
            found["named_user"]["attributes"].clone()
        };
        assert_eq!(of("kim").await, json!({"plan": "gold, plus", "seats": 12, "since": "2030-05-01T08:00:00"}));
        assert_eq!(of("lee").await, json!({"seats": 7}));
        let problems = "\"mo\",ERROR,\"Line 4: The row has 2 cells, and none for 'seats'.\"\r\n\
                        \"'=1+1\",ERROR,\"Line 5: The row has 2 cells, and none for 'seats'.\"\r\n";
        assert_eq!(errors(&app, "attribute-lists/ua_attributes_crm").await, problems, "none is a formula");
        upload(&app, "attribute-lists/ua_attributes_crm", "named_user,plan\nkim,\n").await.expect(202);
        app.step_all().await;
        assert_eq!(of("kim").await["plan"], "gold, plus", "an empty cell leaves the attribute alone");
        upload(&app, "attribute-lists/ua_attributes_snapshot_crm", "named_user,plan\nkim,\n").await.expect(202);
        app.step_all().await;
        assert_eq!(of("kim").await.get("plan"), None);
        upload(&app, "attribute-lists/ua_attributes_crm", format!("channel_id,plan\n{own},silver\n")).await.expect(202);
        app.step_all().await;
        let shown = master.get(&format!("/api/channels/{own}")).await.expect(200);
        assert_eq!(shown["channel"]["attributes"], json!({"plan": "silver"}));
    })
    .await;
}

#[tokio::test]
async fn codes_that_look_like_numbers_stay_as_they_are() {
    on_each_database(async |app| {
        let master = app.master();
        master.post("/api/attribute-lists", json!({"name": "crm"})).await.expect(201);
        // Programs that write spreadsheets begin files with a mark.
        let file = "\u{feff}named_user,code,version,card,price,n\nkim,12E5,1.10,12345678901234567890123,19.90,12\n";
        upload(&app, "attribute-lists/crm", file).await.expect(202);
        app.step_all().await;
        let kim = master.get("/api/named_users?id=kim").await.expect(200)["named_user"]["attributes"].clone();
        let expected =
            json!({"code": "12E5", "version": "1.10", "card": "12345678901234567890123", "price": "19.90", "n": 12});
        assert_eq!(kim, expected);
        // They are compared with numbers all the same.
        let own = channel(&app, "one").await;
        master.post("/api/named_users/associate", json!({"channel_id": own, "named_user_id": "kim"})).await.expect(200);
        let asks = [("code", "12E5", true), ("code", "1200000.0", false), ("version", "1.1", false)];
        let equal = asks.map(|(name, value, is_meant)| (name, "equals", json!(value), is_meant));
        let less = [("price", "less", json!(20), true), ("price", "greater", json!("19.9"), false)];
        for (attribute, operator, value, is_meant) in equal.into_iter().chain(less) {
            let audience = json!({"attribute": attribute, "operator": operator, "value": value});
            let explained = master.post("/api/audience/explain", json!({"audience": audience})).await.expect(200);
            assert_eq!(explained["matched"], u32::from(is_meant), "{audience}");
        }
    })
    .await;
}

#[tokio::test]
async fn files_that_cannot_be_used_are_refused_and_change_nothing() {
    on_each_database(async |app| {
        let master = app.master();
        master.post("/api/tag-lists", json!({"name": "idle"})).await.expect(201);
        let refused = upload(&app, "tag-lists/idle", "named_user\nkim\n").await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains("changes no tags"), "{refused}");
        let derived = json!({"name": "derived", "add": {"ua_locale_country": ["no"]}});
        master.post("/api/tag-lists", derived).await.expect(403);
        master.post("/api/attribute-lists", json!({"name": "crm"})).await.expect(201);
        let many = (0..101).map(|n| format!("a{n}")).collect::<Vec<_>>().join(",");
        for (file, code) in [
            (String::new(), 40013),
            ("kim\n".to_owned(), 40013),
            ("email_address\nkim@example.com\n".to_owned(), 40013),
            (format!("named_user,{many}\n"), 40003),
            ("named_user,a,a\n".to_owned(), 40017),
            ("named_user,a#b\n".to_owned(), 40000),
        ] {
            let refused = upload(&app, "attribute-lists/crm", file.clone()).await.expect(400);
            assert_eq!(refused["error_code"], code, "{file}: {refused}");
        }
        app.step_all().await;
        assert_eq!(shown(&app, "attribute-lists").await["status"], "failure");
        assert_eq!(row_counts(app.engine().store()).await["named_user"], 0);
        upload(&app, "attribute-lists/none", "named_user\n").await.expect(404);
        master.get("/api/attribute-lists/none/errors").await.expect(404);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_file_survives_restarts_at_every_step() {
    on_each_database(async |app| {
        const N_ROWS: usize = 25_000;
        app.master().post("/api/tag-lists", json!({"name": "crowd", "add": {"g": ["t"]}})).await.expect(201);
        let row = |n: usize| if n == 0 { "named_user\r\n".to_owned() } else { format!("{n:0>100}\r\n") };
        let chunks = (0..=N_ROWS / 100).map(|chunk| {
            (chunk * 100..((chunk + 1) * 100).min(N_ROWS + 1)).flat_map(|n| row(n).into_bytes()).collect()
        });
        let stream = tokio::task::block_in_place(|| send_in_chunks(&app, "/api/tag-lists/crowd/csv", chunks));
        let answer = tokio::task::block_in_place(|| end(stream));
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        let mut app = app;
        let mut n_steps = 0;
        while app.engine().worker().step().await.unwrap() {
            n_steps += 1;
            app = app.restart().await;
        }
        assert!(n_steps > 1, "other jobs get their turn");
        let list = shown(&app, "tag-lists").await;
        assert_eq!((&list["status"], &list["named_user_count"]), (&json!("ready"), &json!(N_ROWS)));
        let counts = row_counts(app.engine().store()).await;
        assert_eq!((counts["named_user"], counts["list_change"]), (i64::try_from(N_ROWS).unwrap(), 0));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_outlives_its_list_does_not_get_into_a_new_one_of_that_name() {
    on_each_database(async |app| {
        let body = json!({"name": "gold", "add": {"g": ["t"]}});
        // More rows than are stored at once: the rest is stored at the end.
        let begin = async |who: &str| {
            app.master().post("/api/tag-lists", &body).await.expect(201);
            let rows = (0..3000).map(|n| format!("{who}-{n}\n")).collect::<String>();
            let file = format!("named_user\n{rows}").into_bytes();
            let path = "/api/tag-lists/gold/csv";
            let stream = tokio::task::block_in_place(|| send_in_chunks(&app, path, std::iter::once(file)));
            while row_counts(app.engine().store()).await["list_change"] < 2000 {
                tokio::task::yield_now().await;
            }
            stream
        };
        let early = begin("early").await;
        app.master().delete("/api/tag-lists/gold").await.expect(204);
        app.step_all().await;
        assert_eq!(row_counts(app.engine().store()).await["list_change"], 0);
        let late = begin("late").await;
        let answer = tokio::task::block_in_place(|| end(early));
        assert!(answer.starts_with("HTTP/1.1 409"), "{answer}");
        let answer = tokio::task::block_in_place(|| end(late));
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        app.step_all().await;
        assert_eq!(shown(&app, "tag-lists").await["named_user_count"], 3000);
        assert_eq!(row_counts(app.engine().store()).await["named_user"], 3000);
    })
    .await;
}

#[tokio::test]
async fn an_upload_behind_another_has_its_own_counts_and_errors() {
    on_each_database(async |app| {
        app.master().post("/api/tag-lists", json!({"name": "gold", "add": {"g": ["t"]}})).await.expect(201);
        let early = format!("channel_id\n{NOBODY}\nearly\n");
        upload(&app, "tag-lists/gold", early).await.expect(202);
        let own = channel(&app, "one").await;
        upload(&app, "tag-lists/gold", format!("channel_id\nlate\n{own}\n")).await.expect(202);
        upload(&app, "tag-lists/gold", format!("channel_id\nlast\n{own}\n{own}\n")).await.expect(202);
        let waits = "\"early\",ERROR,\"Line 3: The id of a channel is a UUID.\"\r\n";
        assert_eq!(errors(&app, "tag-lists/gold").await, waits);
        app.step_all().await;
        let list = shown(&app, "tag-lists").await;
        assert_eq!((&list["channel_count"], &list["mutation_error_count"]), (&json!(2), &json!(1)));
        let last = "\"last\",ERROR,\"Line 2: The id of a channel is a UUID.\"\r\n";
        assert_eq!(errors(&app, "tag-lists/gold").await, last);
    })
    .await;
}

#[tokio::test]
async fn the_rows_of_an_erased_person_are_not_applied() {
    on_each_database(async |app| {
        let master = app.master();
        master.post("/api/tag-lists", json!({"name": "gold", "add": {"g": ["t"]}})).await.expect(201);
        upload(&app, "tag-lists/gold", "named_user\nkim\nlee\n").await.expect(202);
        let asked = master.post("/api/privacy/erase", json!({"named_user_id": "kim"})).await;
        assert!(asked.status.is_success(), "{}", asked.text());
        app.step_all().await;
        master.get("/api/named_users?id=lee").await.expect(200);
        let list = shown(&app, "tag-lists").await;
        assert_eq!(list["status"], "ready");
    })
    .await;
}
