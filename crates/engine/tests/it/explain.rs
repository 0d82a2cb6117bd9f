//! Explaining an audience: counts that add up, the part each clause plays, and hints about typing mistakes.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::devices::{register, register_open};

async fn explain(app: &TestApp, audience: Value, device_types: Value) -> Value {
    let body = json!({"audience": audience, "device_types": device_types});
    app.master().post("/api/audience/explain", body).await.expect(200)
}

async fn crowd(app: &TestApp) {
    for i in 0..3 {
        register(app, "ios", &format!("A{i}"), json!({"tags": ["news"]})).await;
    }
    register(app, "ios", "A3", json!({"tags": ["news", "sports"], "opt_in": false})).await;
    register(app, "ios", "A4", json!({"tags": ["news"], "push_address": null})).await;
    register(app, "android", "B0", json!({"tags": ["sports"]})).await;
    register_open(app, "kiosk", "lobby", json!({"tags": ["sports"]})).await;
}

#[tokio::test]
async fn platforms_and_losses_add_up() {
    on_each_database(async |app| {
        crowd(&app).await;
        let all = explain(&app, json!("all"), json!("all")).await;
        assert_eq!((&all["matched"], &all["reachable"]), (&json!(7), &json!(5)));
        assert_eq!(
            all["platforms"],
            json!({
                "ios": {"matched": 5, "reachable": 3, "opted_out": 1, "without_address": 1},
                "android": {"matched": 1, "reachable": 1, "opted_out": 0, "without_address": 0},
                "open::kiosk": {"matched": 1, "reachable": 1, "opted_out": 0, "without_address": 0},
            })
        );
        let android = explain(&app, json!({"tag": "sports"}), json!(["android"])).await;
        assert_eq!((&android["matched"], &android["clause"]["matched"]), (&json!(1), &json!(3)));
        assert_eq!(app.step_all().await, 0, "explaining sends nothing");
    })
    .await;
}

#[tokio::test]
async fn every_clause_tells_its_part() {
    on_each_database(async |app| {
        crowd(&app).await;
        let audience =
            json!({"AND": [{"tag": "news"}, {"not": {"tag": "sports"}}, {"group": "ua_opt_in", "tag": "true"}]});
        let clause = explain(&app, audience, json!("all")).await["clause"].clone();
        assert_eq!((&clause["path"], &clause["matched"]), (&json!("audience"), &json!(4)));
        let part = |i: usize| {
            let part = &clause["clauses"][i];
            [&part["path"], &part["matched"], &part["kept"], &part["dropped"]].map(Value::clone)
        };
        assert_eq!(part(0), [json!("audience.AND[0]"), json!(5), json!(5), json!(2)]);
        assert_eq!(part(1), [json!("audience.AND[1]"), json!(4), json!(4), json!(1)]);
        assert_eq!(part(2), [json!("audience.AND[2]"), json!(6), json!(4), json!(0)]);
        assert_eq!(clause["clauses"][1]["clauses"][0]["path"], "audience.AND[1].not");

        let either = json!({"or": [{"tag": "news"}, {"tag": "sports"}]});
        let clause = explain(&app, either, json!("all")).await["clause"].clone();
        assert_eq!((&clause["clauses"][0]["added"], &clause["clauses"][1]["added"]), (&json!(5), &json!(2)));
    })
    .await;
}

/// What the members of AND and OR do, and what becomes of the audience on each platform, has to add up.
fn check_sums(explained: &Value) {
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} in {explained}"));
    for platform in explained["platforms"].as_object().unwrap().values() {
        let parts = ["reachable", "opted_out", "without_address"].map(|part| number(&platform[part]));
        assert_eq!(parts.iter().sum::<u64>(), number(&platform["matched"]), "{platform}");
    }
    let clause = &explained["clause"];
    let members = clause["clauses"].as_array().unwrap();
    if clause["path"] == "audience" && members[0].get("added").is_some() {
        assert_eq!(members.iter().map(|member| number(&member["added"])).sum::<u64>(), number(&clause["matched"]));
        return;
    }
    let mut left = number(&members[0]["kept"]) + number(&members[0]["dropped"]);
    for member in members {
        assert_eq!(number(&member["kept"]) + number(&member["dropped"]), left, "{member}");
        left = number(&member["kept"]);
    }
    assert_eq!(left, number(&clause["matched"]));
}

#[tokio::test]
async fn counts_add_up_while_channels_change() {
    on_each_database(async |app| {
        let mut ids = Vec::new();
        for i in 0..30 {
            ids.push(register(&app, "ios", &format!("A{i}"), json!({})).await);
        }
        let changing = async {
            for round in 0..30 {
                let operation = if round % 2 == 0 { "add" } else { "remove" };
                let body = json!({"audience": {"ios_channel": ids}, operation: {"g": ["seen"]}});
                app.master().post("/api/channels/tags", body).await.expect(200);
                let gone = json!({"channel_id": ids[round], "device_type": "ios"});
                app.master().post("/api/channels/uninstall", gone).await.expect(202);
            }
        };
        let explaining = async || {
            for operator in ["and", "or"].into_iter().cycle().take(30) {
                let members = vec![json!({"tag": "seen", "group": "g"}); 150];
                check_sums(&explain(&app, json!({operator: members}), json!("all")).await);
            }
        };
        tokio::join!(changing, explaining(), explaining());
    })
    .await;
}

#[tokio::test]
async fn names_that_nobody_has_are_pointed_out() {
    on_each_database(async |app| {
        crowd(&app).await;
        let audience = json!({"or": [
            {"tag": ["news", "nwes"]}, {"tag": "x", "group": "ua_optin"}, {"static_list": "ua_app_open_last_7_day"},
            {"segment": "00000000-0000-4000-8000-000000000000"}, {"tag": "completely different"},
        ]});
        let explained = explain(&app, audience, json!("all")).await;
        let warnings: Vec<(&str, &Value)> = explained["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| (w["path"].as_str().unwrap(), &w["near"]))
            .collect();
        assert_eq!(warnings[0], ("audience.or[0].tag", &json!(["news"])));
        assert_eq!(warnings[1], ("audience.or[1].group", &json!(["ua_opt_in"])));
        assert_eq!(warnings[2].0, "audience.or[2].static_list");
        assert_eq!(warnings[2].1[0], "ua_app_open_last_7_days");
        assert_eq!(warnings[3], ("audience.or[3].segment", &json!([])));
        assert_eq!(warnings[4], ("audience.or[4].tag", &json!([])));
        assert_eq!(warnings.len(), 5);
    })
    .await;
}

#[tokio::test]
async fn channels_that_are_uninstalled_or_were_never_there_are_pointed_out() {
    on_each_database(async |app| {
        let here = register(&app, "ios", "A0", json!({})).await;
        let gone = register(&app, "ios", "A1", json!({})).await;
        let uninstall = json!({"channel_id": gone, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        let never = "00000000-0000-4000-8000-000000000000";
        let audience = json!({"or": [{"ios_channel": [here, gone]}, {"channel": never}]});
        let explained = explain(&app, audience, json!("all")).await;
        let expected = json!([
            {"path": "audience.or[0].ios_channel", "message": format!("The channel {gone} is uninstalled."), "near": []},
            {"path": "audience.or[1].channel", "message": format!("There is no channel {never}."), "near": []},
        ]);
        assert_eq!((&explained["matched"], &explained["warnings"]), (&json!(1), &expected));
    })
    .await;
}

#[tokio::test]
async fn only_names_that_somebody_has_are_near() {
    on_each_database(async |app| {
        let tags = ["cabin-0", "cabin-1", "cabin-2", "cabin-3", "cabinet-1"];
        let gone = register(&app, "ios", "A0", json!({"tags": tags[..4]})).await;
        register(&app, "ios", "A1", json!({"tags": [tags[4]]})).await;
        let tag = |group: &str| json!({"audience": {"ios_channel": [gone]}, "add": {group: ["x"]}});
        app.master().post("/api/channels/tags", tag("loyalty1")).await.expect(200);
        let gone = json!({"channel_id": gone, "device_type": "ios"});
        app.master().post("/api/channels/uninstall", gone).await.expect(202);
        let group = json!({"audience": {"named_user_id": "kim"}, "add": {"loyalty-2": ["x"]}});
        app.master().post("/api/named_users/tags", group).await.expect(200);
        let kim = register(&app, "ios", "A2", json!({"named_user_id": "kim"})).await;
        let weekly = json!([{"action": "subscribe", "list_id": "weekly"}]);
        let lists = json!({"audience": {"ios_channel": [kim]}, "subscription_lists": weekly});
        app.master().post("/api/channels/subscription_lists", lists).await.expect(202);

        let audience = json!({"or": [
            {"tag": "cabin-9"}, {"tag": "y", "group": "loyalty"}, {"tag": "y", "group": "loyalty1"},
            {"subscription_list": "weekli"}, {"subscription_list": "weekly"}, {"tag": "cabin-9"},
        ]});
        let explained = explain(&app, audience, json!("all")).await;
        let warnings = explained["warnings"].as_array().unwrap();
        let told: Vec<_> = warnings.iter().map(|it| (it["path"].as_str().unwrap(), it["near"].clone())).collect();
        assert_eq!(
            told,
            [
                ("audience.or[0].tag", json!(["cabinet-1"])),
                ("audience.or[1].group", json!(["loyalty-2"])),
                ("audience.or[2].group", json!(["loyalty-2"])),
                ("audience.or[3].subscription_list", json!(["weekly"])),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn names_inside_segments_are_pointed_out() {
    on_each_database(async |app| {
        crowd(&app).await;
        let make = async |name: &str, criteria: Value| {
            let made = json!({"display_name": name, "criteria": criteria});
            let made = app.master().post("/api/segments", made).await.expect(201);
            made["segment_id"].as_str().unwrap().to_owned()
        };
        let inner = make("Inner", json!({"and": [{"tag": "sprots"}, {"tag": "news"}]})).await;
        let unknown = "00000000-0000-4000-8000-000000000000";
        let outer = make("Outer", json!({"or": [{"segment": inner}, {"segment": unknown}]})).await;
        let audience = json!({"and": [{"tag": "news"}, {"segment": [outer, inner]}]});
        let explained = explain(&app, audience, json!("all")).await;
        let warnings = explained["warnings"].as_array().unwrap();
        assert!(warnings.iter().all(|it| it["path"] == "audience.and[1].segment"), "{warnings:?}");
        let mut told: Vec<_> = warnings.iter().map(|it| (it["message"].as_str().unwrap(), &it["near"])).collect();
        told.sort_unstable_by_key(|(message, _)| *message);
        let message = "In the segment 'Inner': Nobody has the tag 'sprots' in the group 'device'.";
        assert_eq!(told[0], (message, &json!(["sports"])));
        assert_eq!(told[1].0, format!("In the segment 'Outer': There is no segment {unknown}."));
        assert_eq!(told.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn an_audience_full_of_mistakes_is_explained_in_good_time() {
    on_each_database(async |app| {
        crowd(&app).await;
        let unknown = |n: usize| json!({"tag": (0..100).map(|i| format!("{n}-{i}")).collect::<Vec<_>>()});
        let members: Vec<Value> = (0..999).map(unknown).collect();
        let explained = explain(&app, json!({"or": members}), json!("all")).await;
        assert_eq!(explained["matched"], 0);
        assert_eq!(explained["warnings"].as_array().unwrap().len(), 100);
        assert_eq!(explained["clause"]["clauses"].as_array().unwrap().len(), 999);
        assert_eq!(explained["clause"].get("selector"), None, "what is made of others is not repeated");
        assert_eq!(explained["clause"]["clauses"][998]["selector"]["tag"][99], "998-99");
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_explained_is_refused() {
    on_each_database(async |app| {
        for (body, path) in [
            (json!({}), "audience"),
            (json!({"audience": "triggered"}), "audience"),
            (json!({"audience": "all", "device_types": []}), "device_types"),
            (json!({"audience": "all", "notification": {}}), "notification"),
            (
                json!({"audience": {"activity": "app_open", "metric": "count", "operator": "greater", "value": 7}}),
                "audience.activity",
            ),
        ] {
            let refused = app.master().post("/api/audience/explain", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{body}");
        }
    })
    .await;
}
