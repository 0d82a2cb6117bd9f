//! Segments: made, changed and deleted, and what a push to one means at every moment.

use std::time::Duration;

use model::ids::AppId;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use crate::crowd::Crowd;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

fn tag(tag: &str) -> Value {
    json!({ "tag": tag })
}

fn segment(id: &str) -> Value {
    json!({ "segment": id })
}

async fn create(app: &TestApp, name: &str, criteria: Value) -> String {
    let body = json!({"display_name": name, "criteria": criteria});
    let reply = app.master().post("/api/segments/", body).await;
    let created = reply.expect(201);
    let id = created["segment_id"].as_str().unwrap().to_owned();
    assert_eq!(reply.header("location"), Some(app.url(&format!("/api/segments/{id}")).as_str()));
    let keys: Vec<&String> = created.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ok", "operation_id", "segment_id"], "strict clients know no others");
    id
}

async fn update(app: &TestApp, id: &str, name: &str, criteria: Value) -> Value {
    let body = json!({"display_name": name, "criteria": criteria});
    app.master().put(&format!("/api/segments/{id}"), body).await.expect(200)
}

/// Three channels with the tags a; a and b; b.
async fn crowd(app: &TestApp) -> Crowd {
    let crowd = Crowd::register(app, &[("one", "ios"), ("two", "android"), ("three", "ios")]).await;
    for (name, tags) in [("one", json!(["a"])), ("two", json!(["a", "b"])), ("three", json!(["b"]))] {
        let body = json!({"audience": {"channel": crowd.id(name)}, "set": {"device": tags}});
        app.master().post("/api/channels/tags", body).await.expect(200);
    }
    crowd
}

#[tokio::test]
async fn segments_are_shown_as_they_were_sent() {
    on_each_database(async |app| {
        for criteria in [
            tag("news"),
            json!({"and": [tag("a"), {"OR": [tag("b"), {"Not": {"static_list": "vip"}}]}]}),
            json!({"or": [{"tag": ["x", "y"], "group": "g"}, {"named_user": "kim"}, segment(UNKNOWN)]}),
            json!({"attribute": "city", "operator": "equals", "value": "Oslo"}),
        ] {
            let id = create(&app, "Shown", criteria.clone()).await;
            let shown = app.master().get(&format!("/api/segments/{id}")).await.expect(200);
            assert_eq!(shown, json!({"display_name": "Shown", "criteria": criteria}));
            let same = app.master().put(&format!("/api/segments/{id}/"), &shown).await.expect(200);
            let keys: Vec<&String> = same.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["ok", "operation_id"]);
        }
    })
    .await;
}

#[tokio::test]
async fn one_that_cannot_be_read_does_not_hide_the_others() {
    on_each_database(async |app| {
        let mut ids = Vec::new();
        for name in ["first", "spoiled", "last"] {
            ids.push(create(&app, name, tag("news")).await);
            app.advance(Duration::from_secs(1));
        }
        let (spoiled, now) = (ids[1].clone(), app.engine().clock().now());
        let spoil = move |tx: &mut store::Tx<'_>| {
            documents::put(tx, AppId(1), DocumentKind::Segment, &spoiled, r#"{"display_name":"spoiled"}"#, now)
        };
        app.engine().store().write(AppId(1), spoil).await.unwrap();
        let names = |listed: &Value| -> Vec<Value> {
            listed["segments"].as_array().unwrap().iter().map(|segment| segment["display_name"].clone()).collect()
        };
        assert_eq!(names(&app.master().get("/api/segments").await.expect(200)), ["first", "last"]);
        // Nor does it end the pages, wherever it stands in them.
        for (limit, pages) in [(1, vec![vec!["first"], vec![], vec!["last"]]), (2, vec![vec!["first"], vec!["last"]])] {
            let mut path = format!("/api/segments?limit={limit}");
            for page in &pages {
                let listed = app.master().get(&path).await.expect(200);
                assert_eq!(names(&listed), *page, "{path}");
                path = listed["next_page"].as_str().unwrap_or_default().replace(&app.url(""), "");
            }
            assert_eq!(path, "", "no page is left");
        }
        update(&app, &ids[1], "mended", tag("news")).await;
        assert_eq!(names(&app.master().get("/api/segments").await.expect(200)), ["first", "mended", "last"]);
    })
    .await;
}

#[tokio::test]
async fn listings_have_pages_in_either_order() {
    on_each_database(async |app| {
        assert_eq!(app.master().get("/api/segments").await.expect(200), json!({"segments": []}), "a new app has none");
        let mut ids = Vec::new();
        for name in ["First", "Second", "Third"] {
            ids.push(create(&app, name, tag("x")).await);
            app.advance(Duration::from_secs(1));
        }
        update(&app, &ids[0], "Changed", tag("y")).await;
        let reply = app.master().get("/api/segments/?limit=2").await;
        assert_eq!(reply.header("data-attribute"), Some("segments"));
        let page = reply.expect(200);
        let first = json!({"id": ids[0], "display_name": "Changed",
                           "creation_date": 1_714_564_800_000_i64, "modification_date": 1_714_564_803_000_i64});
        assert_eq!(page["segments"][0], first);
        assert_eq!(page["segments"][1]["id"], ids[1]);
        let next = page["next_page"].as_str().unwrap();
        assert_eq!(reply.header("link"), Some(format!("<{next}>; rel=next").as_str()));
        let next = app.master().get(next.strip_prefix(&app.url("")).unwrap()).await.expect(200);
        assert_eq!((&next["segments"][0]["id"], next.get("next_page")), (&json!(ids[2]), None));

        let page = app.master().get("/api/segments?sort=id&order=DESC&limit=2").await.expect(200);
        assert_eq!((&page["segments"][0]["id"], &page["segments"][1]["id"]), (&json!(ids[2]), &json!(ids[1])));
        let next = page["next_page"].as_str().unwrap().strip_prefix(&app.url("")).unwrap().to_owned();
        let next = app.master().get(&next).await.expect(200);
        assert_eq!(next["segments"].as_array().unwrap().len(), 1);
        assert_eq!(next["segments"][0]["id"], ids[0]);
        for query in ["limit=0", "limit=201", "start=x", "sort=name", "order=up"] {
            let refused = app.master().get(&format!("/api/segments?{query}")).await.expect(400);
            assert_eq!(refused["details"]["path"], query.split('=').next().unwrap());
        }

        let dates = app.master().get("/api/segments/dates/").await.expect(200);
        let expected = json!([{"unit": "hours", "cutoff": "2024-04-29 13"}, {"unit": "days", "cutoff": "2024-03-03"},
            {"unit": "weeks", "cutoff": "2024-W09"}, {"unit": "months", "cutoff": "2020-06"},
            {"unit": "years", "cutoff": "2005"}]);
        assert_eq!(dates, expected);
    })
    .await;
}

#[tokio::test]
async fn bad_segments_are_refused_and_unknown_ones_are_not_there() {
    on_each_database(async |app| {
        let id = create(&app, "Good", tag("x")).await;
        let before = row_counts(app.engine().store()).await;
        let bad = [
            (json!({"display_name": "x"}), "criteria"),
            (json!({"criteria": tag("x")}), "display_name"),
            (json!({"display_name": "", "criteria": tag("x")}), "display_name"),
            (json!({"display_name": "x", "criteria": "all"}), "criteria"),
            (json!({"display_name": "x", "criteria": {"and": []}}), "criteria.and"),
            (json!({"display_name": "x", "criteria": tag("x"), "name": "y"}), "name"),
            (json!({"display_name": "x", "criteria": {"segment": "x"}}), "criteria.segment"),
            (
                json!({"display_name": "x", "criteria": {"not": {"location": {"us_zip": "97201",
                       "date": {"recent": {"months": 3}}}}}}),
                "criteria.not.location.us_zip",
            ),
        ];
        for (body, path) in bad {
            for refused in [
                app.master().post("/api/segments", &body).await.expect(400),
                app.master().put(&format!("/api/segments/{id}"), &body).await.expect(400),
            ] {
                assert_eq!(refused["details"]["path"], path, "{body}: {refused}");
            }
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
        let good = json!({"display_name": "x", "criteria": tag("x")});
        for id in [UNKNOWN, "not-an-id"] {
            let path = format!("/api/segments/{id}");
            for reply in
                [app.master().get(&path).await, app.master().put(&path, &good).await, app.master().delete(&path).await]
            {
                assert_eq!(reply.expect(404)["error_code"], 40401);
            }
        }
        let refused = app.master().put("/api/segments/not-an-id", json!({})).await.expect(404);
        assert_eq!(refused["error_code"], 40401, "what is wrong with the body does not matter");
    })
    .await;
}

#[tokio::test]
async fn pushes_go_by_the_criteria_of_the_moment() {
    on_each_database(async |app| {
        let crowd = crowd(&app).await;
        let both = create(&app, "A and B", json!({"and": [tag("a"), tag("b")]})).await;
        assert_eq!(crowd.reached(&app, &segment(&both)).await, "two");
        assert_eq!(crowd.reached(&app, &json!({"not": segment(&both)})).await, "one three");
        let listed = json!({"AND": [{"segment": [both, UNKNOWN]}, tag("a")]});
        assert_eq!(crowd.reached(&app, &listed).await, "two");
        // Nested, in segments that were made before and after.
        let outer =
            create(&app, "Not both", json!({"and": [{"not": segment(&both)}, {"or": [tag("a"), tag("b")]}]})).await;
        let outermost = create(&app, "All", json!({"or": [segment(&outer), segment(&both)]})).await;
        assert_eq!(crowd.reached(&app, &segment(&outer)).await, "one three");
        assert_eq!(crowd.reached(&app, &segment(&outermost)).await, "one three two");
        // An update counts at once, also for those around it.
        update(&app, &both, "Only B", tag("b")).await;
        assert_eq!(crowd.reached(&app, &segment(&both)).await, "three two");
        assert_eq!(crowd.reached(&app, &segment(&outer)).await, "one");
        // A push that waits goes by what the segment says when it is sent.
        let push = json!({"audience": segment(&both), "device_types": "all", "notification": {"alert": "Hi"}});
        let push = app.master().post("/api/push", push).await.expect(200);
        update(&app, &both, "Only A", tag("a")).await;
        app.step_all().await;
        let status =
            app.master().get(&format!("/api/push/{}", push["push_ids"][0].as_str().unwrap())).await.expect(200);
        assert_eq!(status["push"]["platforms"].as_object().unwrap().len(), 2, "an ios and an android: {status}");

        let app = app.restart().await;
        assert_eq!(crowd.reached(&app, &segment(&outer)).await, "three");
        // A deleted segment has nobody in it, here and inside others, and that is no error. Whoever left out its members does
        // not mean everybody now.
        let others =
            json!({"audience": {"not": segment(&both)}, "device_types": "all", "notification": {"alert": "Hi"}});
        let others = app.master().post("/api/push", others).await.expect(200);
        let path = format!("/api/segments/{both}");
        assert!(app.master().delete(&path).await.expect(204).is_null());
        app.master().delete(&path).await.expect(404);
        app.master().get(&path).await.expect(404);
        assert_eq!(crowd.reached(&app, &segment(&both)).await, "");
        app.step_all().await;
        let status =
            app.master().get(&format!("/api/push/{}", others["push_ids"][0].as_str().unwrap())).await.expect(200);
        assert_eq!(status["push"]["platforms"], json!({}), "{status}");
        assert_eq!(crowd.reached(&app, &json!({"not": segment(&both)})).await, "");
        assert_eq!(crowd.reached(&app, &json!({"or": [tag("b"), {"not": segment(&both)}]})).await, "three two");
        assert_eq!(crowd.reached(&app, &segment(&outer)).await, "");
        assert_eq!(crowd.reached(&app, &json!({"not": segment(&outermost)})).await, "");
    })
    .await;
}

#[tokio::test]
async fn a_segment_cannot_be_part_of_itself() {
    on_each_database(async |app| {
        let crowd = crowd(&app).await;
        let a = create(&app, "A", tag("a")).await;
        let b = create(&app, "B", json!({"not": segment(&a)})).await;
        let c = create(&app, "C", json!({"or": [tag("b"), {"segment": [UNKNOWN, &b]}]})).await;
        let refuse = async |criteria: Value, circle: &str| {
            let body = json!({"display_name": "A'", "criteria": criteria});
            let refused = app.master().put(&format!("/api/segments/{a}"), body).await.expect(400);
            assert_eq!(refused["details"]["path"], "criteria");
            assert!(refused["error"].as_str().unwrap().contains(circle), "{refused}");
        };
        refuse(segment(&a), "'A'' → 'A''").await;
        refuse(json!({"and": [tag("x"), {"not": segment(&b)}]}), "'A'' → 'B' → 'A''").await;
        refuse(segment(&c), "'A'' → 'C' → 'B' → 'A''").await;
        assert_eq!(crowd.reached(&app, &segment(&a)).await, "one two", "it is as it was");
        // Without the link that would close the circle it may be.
        update(&app, &b, "B", tag("b")).await;
        update(&app, &a, "A", segment(&c)).await;
        assert_eq!(crowd.reached(&app, &segment(&a)).await, "three two");
    })
    .await;
}

/// Changes refuse circles. Whoever changes the database by hand gets nobody, and keeps nobody waiting.
#[tokio::test]
async fn a_circle_that_came_to_be_all_the_same_has_nobody_in_it() {
    on_each_database(async |app| {
        let crowd = crowd(&app).await;
        let a = create(&app, "A", tag("a")).await;
        let b = create(&app, "B", json!({"or": [segment(&a), tag("b")]})).await;
        let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let (key, body) = (a.clone(), json!({"display_name": "A", "criteria": segment(&b)}).to_string());
        let write = app.engine().store().write(id, move |tx| {
            tx.execute("update document set body = $1 where id = $2", &[body.as_str().into(), key.as_str().into()])
        });
        let n_changed: Result<u64, store::Error> = write.await;
        assert_eq!(n_changed.unwrap(), 1);
        assert_eq!(crowd.reached(&app, &segment(&a)).await, "");
        assert_eq!(crowd.reached(&app, &segment(&b)).await, "");
        assert_eq!(crowd.reached(&app, &json!({"or": [segment(&a), tag("b")]})).await, "three two");
    })
    .await;
}

#[tokio::test]
async fn long_chains_and_thousands_of_selectors_are_fine() {
    on_each_database(async |app| {
        let crowd = crowd(&app).await;
        // A chain of a hundred segments, each with two ways to the next: a naive expansion would never end.
        let first = create(&app, "0", tag("a")).await;
        let mut id = first.clone();
        for n in 1..100 {
            let twice = json!({"or": [segment(&id), {"and": [segment(&id), tag("b")]}]});
            id = create(&app, &n.to_string(), twice).await;
        }
        assert_eq!(crowd.reached(&app, &segment(&id)).await, "one two");
        assert_eq!(crowd.reached(&app, &json!({"not": segment(&id)})).await, "three");
        // Hundreds of selectors with a hundred values each, in the audience and in a segment.
        let tags = |n: usize| json!({"tag": (0..100).map(|i| format!("{n}-{i}")).collect::<Vec<_>>()});
        let mut members: Vec<Value> = (0..500).map(tags).collect();
        members.push(tag("b"));
        let wide = create(&app, "Wide", json!({ "or": members })).await;
        assert_eq!(crowd.reached(&app, &segment(&wide)).await, "three two");
        members.push(segment(&id));
        assert_eq!(crowd.reached(&app, &json!({ "or": members })).await, "one three two");
        // The first of the chain is unknown to all of them then, by as many ways.
        app.master().delete(&format!("/api/segments/{first}")).await.expect(204);
        assert_eq!(crowd.reached(&app, &segment(&id)).await, "");
        assert_eq!(crowd.reached(&app, &json!({"not": segment(&id)})).await, "");
        assert_eq!(crowd.reached(&app, &json!({"or": [tag("b"), segment(&id)]})).await, "three two");
    })
    .await;
}
