//! What servers keep for devices: created, shown, replaced and deleted, and what is refused.

use std::time::Duration;

use model::ids::AppId;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};

use super::device::Device;
use super::{banner, in_app, keep, modal};

fn config(app: &TestApp) -> String {
    format!("/api/remote-config/app/{}/common", app.app.key)
}

/// A value below some keys.
fn below(scope: &[&str], value: &Value) -> Value {
    json!({"scope": scope, "value": value})
}

/// Keeps a document that no version can read.
async fn spoil(app: &TestApp, kind: DocumentKind, id: &'static str) {
    let now = app.engine().clock().now();
    let write = move |tx: &mut store::Tx<'_>| documents::put(tx, AppId(1), kind, id, "{}", now);
    app.engine().store().write(AppId(1), write).await.unwrap();
}

#[tokio::test]
async fn in_app_messages_are_kept_with_versions() {
    on_each_database(async |app| {
        let (master, path) = (app.master(), in_app(&app));
        let made = master.post(&path, modal("a")).await;
        let id = made.expect(201)["message_id"].as_str().unwrap().to_owned();
        assert_eq!(made.header("location"), Some(&*app.url(&format!("{path}/{id}"))));
        let one = master.get(&format!("{path}/{id}")).await.expect(200)["in_app_message"].clone();
        assert_eq!(
            (&one["id"], &one["version"], &one["created"]),
            (&json!(id), &json!(1), &json!("2024-05-01T12:00:00"))
        );
        // What was answered can be sent back.
        let again = master.put(&format!("{path}/{id}"), json!({"in_app_message": one})).await.expect(200);
        assert_eq!(again["version"], 2);
        app.advance(Duration::from_secs(60));
        let other = keep(&app, &banner()).await;
        let all = master.get(&path).await.expect(200)["in_app_messages"].clone();
        let ids: Vec<&Value> = all.as_array().unwrap().iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, [&json!(id), &json!(other)]);
        assert_eq!(all[0]["created"], "2024-05-01T12:00:00");
        assert_eq!(all[0]["last_updated"], "2024-05-01T12:00:01", "every change is a second later at least");
        // Airship's examples write the path in two ways.
        let alias = format!("/api/in-app/app/{}/{other}", app.app.key);
        master.delete(&alias).await.expect(200);
        master.delete(&alias).await.expect(404);
        master.get(&alias).await.expect(404);
        master.put(&alias, banner()).await.expect(404);
        master.get("/api/in-app/AAAAAAAAAAAAAAAAAAAAAA").await.expect(404);

        let validate = format!("{path}/validate");
        master.post(&validate, modal("a")).await.expect(200);
        assert_eq!(master.get(&path).await.expect(200)["in_app_messages"].as_array().unwrap().len(), 1);
        let mut bad = modal("a");
        bad["in_app_message"]["message"]["display_type"] = json!("poster");
        for path in [&validate, &path] {
            let refused = master.post(path, &bad).await.expect(400);
            assert_eq!(refused["details"]["path"], "in_app_message.message.display_type", "{refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn messages_name_frequency_constraints_that_there_are() {
    on_each_database(async |app| {
        let (master, path) = (app.master(), in_app(&app));
        let constraints = format!("{path}/frequency-constraints");
        assert_eq!(master.get(&constraints).await.expect(200)["frequency_constraints"], json!([]));
        let mut calm = modal("a");
        calm["in_app_message"]["frequency_constraint_ids"] = json!(["calm"]);
        let refused = master.post(&path, &calm).await.expect(400);
        assert_eq!(refused["details"]["path"], "in_app_message.frequency_constraint_ids[0]");
        let set =
            |id: &str| json!({"frequency_constraints": [{"id": id, "range": 1, "period": "weeks", "boundary": 2}]});
        master.put(&constraints, set("calm")).await.expect(200);
        let kept = master.get(&constraints).await.expect(200)["frequency_constraints"].clone();
        assert_eq!(kept, json!([{"id": "calm", "range": 7, "period": "days", "boundary": 2}]));
        let id = keep(&app, &calm).await;
        let refused = master.put(&constraints, set("wild")).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains(&id), "{refused}");
        master.delete(&format!("{path}/{id}")).await.expect(200);
        master.put(&constraints, set("wild")).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_read_keeps_no_constraints_out() {
    on_each_database(async |app| {
        let (master, path) = (app.master(), in_app(&app));
        let constraints = format!("{path}/frequency-constraints");
        let set =
            |id: &str| json!({"frequency_constraints": [{"id": id, "range": 1, "period": "days", "boundary": 2}]});
        master.put(&constraints, set("calm")).await.expect(200);
        let mut calm = modal("a");
        calm["in_app_message"]["frequency_constraint_ids"] = json!(["calm"]);
        keep(&app, &calm).await;
        // Before and after the other one, by whichever the list begins.
        for id in ["00000000-0000-7000-8000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff"] {
            spoil(&app, DocumentKind::InAppMessage, id).await;
        }
        master.put(&constraints, set("calm")).await.expect(200);
        master.put(&constraints, set("wild")).await.expect(409);
        spoil(&app, DocumentKind::FrequencyConstraints, "app").await;
        master.put(&constraints, set("calm")).await.expect(200);
        assert_eq!(master.get(&constraints).await.expect(200)["frequency_constraints"][0]["id"], "calm");
    })
    .await;
}

#[tokio::test]
async fn an_audience_that_cannot_be_read_fails_no_device() {
    on_each_database(async |app| {
        let (master, path) = (app.master(), in_app(&app));
        let mut message = modal("a");
        message["in_app_message"]["server_audience"] = json!({"tag": "gold"});
        let message = keep(&app, &message).await;
        let plain = keep(&app, &banner()).await;
        let flag = json!({"name": "checkout", "server_audience": {"tag": "gold"}});
        let flag = master.post("/api/feature-flags", flag).await.expect(201)["flag_id"].as_str().unwrap().to_owned();
        let ids = [(DocumentKind::InAppMessage, message.clone()), (DocumentKind::FeatureFlag, flag.clone())];
        let now = app.engine().clock().now();
        // As if a later version had written them.
        let spoil = move |tx: &mut store::Tx<'_>| {
            ids.iter().try_for_each(|(kind, id)| {
                let body = documents::get(tx, AppId(1), *kind, id)?.unwrap().body;
                documents::put(tx, AppId(1), *kind, id, &body.replace("\"tag\"", "\"telepathy\""), now)
            })
        };
        app.engine().store().write(AppId(1), spoil).await.unwrap();

        let served = Device::new(&app, "ios", "").ask(&[]).await.expect(200);
        let of_kind = |kind: &str| {
            let mut payloads = served["payloads"].as_array().unwrap().iter();
            payloads.find(|payload| payload["type"] == kind).unwrap()["data"][kind].clone()
        };
        let ids: Vec<Value> =
            of_kind("in_app_messages").as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
        assert_eq!((json!(ids), of_kind("feature_flags")), (json!([plain]), json!([])));
        // A device that has them of before is told that they are not there.
        let asking = json!({"platform": "ios", "channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5"});
        master.post(&format!("{path}/{message}/resolve"), &asking).await.expect(404);
        master.post(&format!("/api/feature-flags/{flag}/resolve"), &asking).await.expect(404);
        assert_eq!(master.get(&path).await.expect(200)["in_app_messages"].as_array().unwrap().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn constraints_that_cannot_be_read_do_not_hide_the_rest() {
    on_each_database(async |app| {
        let (master, path) = (app.master(), in_app(&app));
        let constraints = format!("{path}/frequency-constraints");
        let set = json!({"frequency_constraints": [{"id": "calm", "range": 1, "period": "days", "boundary": 2}]});
        master.put(&constraints, set).await.expect(200);
        let plain = keep(&app, &banner()).await;
        master.post(&config(&app), json!({"set_values": [below(&["color"], &json!("blue"))]})).await.expect(200);
        spoil(&app, DocumentKind::FrequencyConstraints, "app").await;

        let shown = master.get(&config(&app)).await.expect(200);
        assert_eq!((&shown["data"], &shown["frequency_constraints"]), (&json!({"color": "blue"}), &json!([])));
        assert_eq!(master.get(&constraints).await.expect(200)["frequency_constraints"], json!([]));
        let served = Device::new(&app, "ios", "").ask(&[]).await.expect(200);
        let of_kind = |kind: &str| {
            let payloads = served["payloads"].as_array().unwrap().iter();
            payloads.map(|payload| (&payload["type"], &payload["data"])).find(|(own, _)| *own == kind).unwrap().1
        };
        assert_eq!(of_kind("app_config")["color"], "blue", "{served}");
        let messages = of_kind("in_app_messages");
        assert_eq!(
            (&messages["in_app_messages"][0]["id"], &messages["frequency_constraints"]),
            (&json!(plain), &json!([]))
        );

        let mut calm = modal("a");
        calm["in_app_message"]["frequency_constraint_ids"] = json!(["calm"]);
        let refused = master.post(&path, &calm).await.expect(400);
        assert_eq!(refused["details"]["path"], "in_app_message.frequency_constraint_ids[0]", "{refused}");
    })
    .await;
}

#[tokio::test]
async fn a_configuration_that_cannot_be_read_is_neither_shown_nor_lost_by_a_change_of_some_values() {
    on_each_database(async |app| {
        let (master, path) = (app.master(), config(&app));
        master.delete(&path).await.expect(404);
        let set = |key: &str| json!({"set_values": [below(&[key], &json!("blue"))]});
        master.post(&path, set("color")).await.expect(200);
        spoil(&app, DocumentKind::RemoteConfig, "common").await;
        let deletion = json!({"deletes": [{"scope": ["color"]}]});
        let changes = [master.post(&path, set("size")).await, master.post(&path, deletion).await];
        for refused in [master.get(&path).await].into_iter().chain(changes) {
            let refused = refused.expect(409);
            assert!(refused["error"].as_str().unwrap().contains("DELETE /api/remote-config/app/"), "{refused}");
        }
        let read = |tx: &mut store::Tx<'_>| documents::get(tx, AppId(1), DocumentKind::RemoteConfig, "common");
        let left = app.engine().store().read(read).await.unwrap().unwrap();
        assert_eq!(left.body, "{}", "it stays as it is");
        let ios = format!("/api/remote-config/app/{}/ios", app.app.key);
        master.post(&ios, set("size")).await.expect(200);
        master.delete(&path).await.expect(200);
        let deleted = master.get(&path).await.expect(200);
        assert_eq!((&deleted["data"], &deleted["timestamp"]), (&json!({}), &Value::Null));
        master.post(&path, set("size")).await.expect(200);
        assert_eq!(master.get(&path).await.expect(200)["data"], json!({"size": "blue"}));
        master.delete(&path).await.expect(200);
        assert_eq!(master.get(&ios).await.expect(200)["data"], json!({"size": "blue"}), "others stay");
    })
    .await;
}

#[tokio::test]
async fn forms_flags_and_holdout_groups_are_kept_with_versions() {
    on_each_database(async |app| {
        let master = app.master();
        let forms = format!("/api/preference-forms/{}", app.app.key);
        let form = |name: &str| json!({"preference_form": {"form": {"id": "news/a", "display": {"name": name}, "sections": []}}});
        assert_eq!(master.post(&forms, form("One")).await.expect(200)["version"], 1);
        assert_eq!(master.post(&forms, form("Two")).await.expect(200)["version"], 2, "the same id is the same form");
        let one = format!("{forms}/news%2Fa");
        let kept = master.get(&one).await.expect(200)["preference_form"].clone();
        assert_eq!((&kept["form_id"], &kept["form"]["display"]["name"]), (&json!("news/a"), &json!("Two")));
        let alias = format!("/api/preference_forms/{}", app.app.key);
        assert_eq!(master.get(&alias).await.expect(200)["preference_forms"], json!([kept]));
        master.delete(&one).await.expect(200);
        master.delete(&one).await.expect(404);
        let refused = master.post(&forms, json!({"preference_form": {"form": {"id": "a"}}})).await.expect(400);
        assert_eq!(refused["details"]["path"], "preference_form.form.sections");

        let hash = json!({"audience_hash": {"hash_prefix": "g:", "num_hash_buckets": 100, "hash_identifier": "contact",
                                            "hash_algorithm": "farm_hash"},
                          "audience_subset": {"min_hash_bucket": 0, "max_hash_bucket": 4}});
        for (path, key, id_key, body) in [
            ("/api/feature-flags", "feature_flag", "flag_id", json!({"name": "checkout"})),
            ("/api/holdout-groups", "holdout_group", "holdout_id",
             json!({"name": "Few", "audience_selector": {"hash": hash}})),
        ] {
            let made = master.post(path, &body).await;
            let id = made.expect(201)[id_key].as_str().unwrap().to_owned();
            let one = format!("{path}/{id}");
            assert_eq!(made.header("location"), Some(&*app.url(&one)));
            let mut changed = master.get(&one).await.expect(200)[key].clone();
            assert_eq!((&changed["version"], &changed["name"]), (&json!(1), &body["name"]));
            changed["name"] = json!("another");
            assert_eq!(master.put(&one, changed).await.expect(200)["version"], 2);
            let all = master.get(path).await.expect(200)[format!("{key}s")].clone();
            assert_eq!((all.as_array().unwrap().len(), &all[0]["name"]), (1, &json!("another")));
            master.delete(&one).await.expect(200);
            for refused in [master.get(&one).await, master.put(&one, &body).await, master.delete(&one).await] {
                refused.expect(404);
            }
            master.post(path, json!({"name": "a", "surprise": 1})).await.expect(400);
        }
    })
    .await;
}

#[tokio::test]
async fn there_is_a_limit_for_all_of_it_together() {
    on_each_database(async |app| {
        let large = json!({"name": "large", "variables": {"type": "fixed", "data": {"text": "x".repeat(600_000)}}});
        app.master().post("/api/feature-flags", &large).await.expect(201);
        let refused = app.master().post("/api/feature-flags", &large).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("downloads"), "{refused}");
        assert_eq!(
            app.master().get("/api/feature-flags").await.expect(200)["feature_flags"].as_array().unwrap().len(),
            1
        );
    })
    .await;
}

/// Deeper it could be kept, and never be shown, changed or served again.
#[tokio::test]
async fn what_is_kept_is_nested_no_deeper_than_it_can_be_read() {
    on_each_database(async |app| {
        let (master, path) = (app.master(), config(&app));
        let nested = |depth: usize| (0..depth).fold(json!(1), |inside, _| json!([inside]));
        let deep = [below(&["a"; 100], &nested(100)), below(&["b"], &nested(1)), below(&["c"; 2], &nested(99))];
        let refused = master.post(&path, json!({"set_values": deep})).await;
        let told = refused.expect(400);
        assert_eq!(
            (&told["details"]["path"], refused.header("aerogram-problems")),
            (&json!("set_values[0]"), Some("2"))
        );
        assert!(told["error"].as_str().unwrap().contains("set_values[2]"), "{told}");
        assert_eq!(master.get(&path).await.expect(200)["data"], json!({}));
        let deepest = [below(&["a"; 60], &nested(40)), below(&["b"; 100], &json!(1))];
        master.post(&path, json!({"set_values": deepest})).await.expect(200);
        assert!(master.get(&path).await.expect(200)["data"]["a"].is_object());
        master.post(&path, json!({"deletes": [{"scope": ["a"]}, {"scope": ["b"]}]})).await.expect(200);
        assert_eq!(master.get(&path).await.expect(200)["data"], json!({}));

        let flag = |depth: usize| {
            let data = json!({"value": nested(depth)});
            json!({"name": "deep", "variables": {"type": "fixed", "data": data}})
        };
        master.post("/api/feature-flags", flag(98)).await.expect(400);
        master.post("/api/feature-flags", flag(97)).await.expect(201);
        assert_eq!(master.get("/api/feature-flags").await.expect(200)["feature_flags"][0]["name"], "deep");
    })
    .await;
}

#[tokio::test]
async fn all_values_that_have_no_place_are_told() {
    on_each_database(async |app| {
        let (master, path) = (app.master(), config(&app));
        master.post(&path, json!({"set_values": [below(&["color"], &json!("blue"))]})).await.expect(200);
        let values =
            [below(&["color", "dark"], &json!(1)), below(&["size"], &json!(1)), below(&["size", "large"], &json!(1))];
        let refused = master.post(&path, json!({"set_values": values})).await;
        let told = refused.expect(400);
        assert_eq!(refused.header("aerogram-problems"), Some("2"), "{told}");
        for place in ["set_values[0].scope: 'color'", "set_values[2].scope: 'size'"] {
            assert!(told["error"].as_str().unwrap().contains(place), "{told}");
        }
        assert_eq!(master.get(&path).await.expect(200)["data"], json!({"color": "blue"}), "nothing is set");
    })
    .await;
}
