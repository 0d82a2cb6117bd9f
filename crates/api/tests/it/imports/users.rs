//! Import of what named users hold themselves, in lines between those of channels.

use std::time::Duration;

use model::limits;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::{all_rows, row_counts};

use super::{KNOWN, OTHER, PATH, channel, counts, event_types, import, lines, reached};

fn user(id: &str, mut held: Value) -> Value {
    held["named_user_id"] = json!(id);
    json!({ "named_user": held })
}

async fn shown(app: &TestApp, id: &str) -> Value {
    app.master().get(&format!("/api/named_users?id={id}")).await.expect(200)["named_user"].clone()
}

#[tokio::test]
async fn what_users_hold_counts_for_their_channels() {
    on_each_database(async |app| {
        let registered = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "AB12"}});
        app.master().put(&format!("/api/channels/{KNOWN}"), registered).await.expect(200);
        let given = json!({"channel_id": KNOWN, "device_type": "ios", "named_user_id": "kim"});
        app.master().post("/api/named_users/associate", given).await.expect(200);
        let before = json!({"tags": {"set": {"crm": ["old"], "kept": ["k"]}},
            "attributes": [{"action": "set", "key": "age", "value": 40}, {"action": "set", "key": "kept", "value": 1}]});
        app.master().post("/api/named_users/kim", before).await.expect(200);
        let scoped = json!({"scoped": [{"scope": "web", "subscription_lists": {"subscribe": ["daily"]}}]});
        app.master().post("/api/named_users/scoped/kim", scoped).await.expect(200);
        let events = event_types(&app).await;

        let scopes = json!([{"scope": "app", "list_ids": ["monthly", "weekly"]}]);
        let kim = user("kim", json!({"tags": {"crm": ["vip"]}, "attributes": {"age": 41}, "subscription_lists": scopes}));
        // A user may come before the channels that it has, in one body.
        let jo = user("jo", json!({"tags": {"crm": ["vip"]}}));
        let of_jo = json!({"channel_id": OTHER, "device_type": "android", "opt_in": true, "push_address": "t", "named_user_id": "jo"});
        let all = lines(&[kim, jo, of_jo]);
        let (refused, total) = import(&app, &all).await;
        assert_eq!((refused.len(), counts(&total), &total["named_users"]), (0, [1, 0, 0], &json!(2)));

        let kim = shown(&app, "kim").await;
        assert_eq!(kim["tags"], json!({"crm": ["vip"], "kept": ["k"]}));
        assert_eq!(kim["attributes"], json!({"age": 41, "kept": 1}));
        let held = json!([{"scope": "app", "list_ids": ["monthly", "weekly"]}, {"scope": "web", "list_ids": ["daily"]}]);
        assert_eq!(kim["subscription_lists"], held);
        assert_eq!(channel(&app, OTHER).await["named_user_id"], "jo");
        for (audience, n) in [
            (json!({"tag": "vip", "group": "crm"}), 2),
            (json!({"tag": "old", "group": "crm"}), 0),
            (json!({"subscription_lists": ["monthly"]}), 1),
            (json!({"attribute": "age", "operator": "equals", "value": 41}), 1),
        ] {
            assert_eq!(reached(&app, audience.clone()).await, n, "{audience}");
        }
        assert_eq!(event_types(&app).await, events, "people have had these tags for long");

        app.advance(Duration::from_secs(60));
        let of_users = async || {
            let mut rows = all_rows(app.engine().store()).await;
            ["named_user", "attribute", "term"].map(|table| rows.remove(table).unwrap())
        };
        let rows = of_users().await;
        let (_, total) = import(&app, &all).await;
        assert_eq!((counts(&total), &total["named_users"]), ([0, 1, 0], &json!(2)));
        assert!(of_users().await == rows, "a repeat changes nothing");
    })
    .await;
}

#[tokio::test]
async fn bad_lines_about_users_are_told_and_keep_nobody_out() {
    on_each_database(async |app| {
        let tags: Vec<String> = (0..=limits::TAGS_PER_CHANNEL).map(|n| n.to_string()).collect();
        let (some, others) = tags.split_at(tags.len() / 2);
        let attributes: serde_json::Map<String, Value> =
            (0..limits::ATTRIBUTES_PER_OWNER).map(|n| (format!("a{n}"), json!(n))).collect();
        let full = user("full", json!({ "attributes": attributes }));
        let (_, total) = import(&app, &lines(&[full])).await;
        assert_eq!(total["named_users"], 1);
        let text = format!(
            "{}\n\n{}\n{}\n{}\n{}\n{}\n{}",
            user("kim", json!({"tags": {"crm": ["first"]}})),
            user("no", json!({"channels": []})),
            user("many", json!({"tags": {"a": some, "b": others}, "attributes": {"age": 1}})),
            user("full", json!({"tags": {"crm": ["vip"]}, "attributes": {"one_more": 1}})),
            user(" ", json!({})),
            json!({"device_type": "ios", "push_address": "A1"}),
            user("kim", json!({"tags": {"crm": ["second"]}})),
        );
        let before = row_counts(app.engine().store()).await;
        let dry = app.master().post(&format!("{PATH}?dry_run=true"), text.clone()).await;
        let dry: Vec<Value> = dry.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((dry.len(), counts(&dry[2])), (3, [0, 0, 2]), "{dry:?}");
        assert_eq!(row_counts(app.engine().store()).await, before);

        let (refused, total) = import(&app, &text).await;
        assert_eq!((counts(&total), &total["named_users"]), ([1, 0, 4], &json!(2)));
        let told: Vec<(u64, &str)> =
            refused.iter().map(|line| (line["line"].as_u64().unwrap(), line["path"].as_str().unwrap())).collect();
        let wanted = [
            (3, "named_user.channels"),
            (4, "named_user.tags"),
            (5, "named_user.attributes"),
            (6, "named_user.named_user_id"),
        ];
        assert_eq!(told, wanted, "{refused:?}");
        assert_eq!(shown(&app, "kim").await["tags"], json!({"crm": ["second"]}), "lines about a user keep their order");
        assert_eq!(shown(&app, "full").await["tags"], json!({}), "nothing of a line that is left out is set");
        app.master().get("/api/named_users?id=many").await.expect(404);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_users_come_in_few_transactions() {
    on_each_database(async |app| {
        const N: usize = 2000;
        let of = |n: usize| {
            user(&format!("user-{n}"), json!({"tags": {"crm": [format!("t{}", n % 7)]}, "attributes": {"n": n}}))
        };
        let all: Vec<Value> = (0..N).map(of).collect();
        for _ in 0..2 {
            let (refused, total) = import(&app, &lines(&all)).await;
            assert_eq!((refused.len(), &total["named_users"]), (0, &json!(N)));
        }
        let rows = row_counts(app.engine().store()).await;
        assert_eq!([rows["named_user"], rows["attribute"]], [N as i64, N as i64]);
        assert_eq!(shown(&app, "user-8").await["tags"], json!({"crm": ["t1"]}));
    })
    .await;
}
