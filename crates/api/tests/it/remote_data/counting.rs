//! What is counted of in-app messages: of each that an app keeps, of those that come with a push, and of the app.

use serde_json::{Value, json};
use testkit::app::{START, TestApp, on_each_database};
use testkit::rows::row_counts;

use super::stories::upload;
use super::{in_app, keep, modal};
use crate::events_intake::{self, event_at};
use crate::sdk::Library;

async fn series(app: &TestApp, metric: &str) -> Value {
    let path = format!("/api/reports/series?metrics={metric}&start=2024-05-01&end=2024-05-02&precision=DAILY");
    app.master().get(&path).await.expect(200)["series"][0]["total"].clone()
}

#[tokio::test]
async fn what_is_done_with_a_message_is_counted_for_it_and_for_the_app() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, token) = library.channel("token-1").await;
        let id = keep(&app, &modal("viewed_cart")).await;
        let other = keep(&app, &modal("bought")).await;
        let detail = format!("/api/reports/perpush/detail/{id}");
        let fresh = app.master().get(&detail).await.expect(200);
        assert_eq!((&fresh["push_id"], &fresh["created"]), (&json!(id), &json!("2024-05-01 12:00:00")));
        assert_eq!((&fresh["sends"], fresh.get("in_app")), (&json!(0), None), "{fresh}");

        let about = |message: &str, mut data: Value| {
            data["id"] = json!({"message_id": message});
            data
        };
        let page = json!({"pager_identifier": "p", "page_identifier": "p1", "page_index": 0, "page_count": 1});
        let form = json!({"form_identifier": "f", "form_type": "form", "form_response_type": "user_feedback"});
        let result = json!({"forms": {"f": {"type": "form", "response_type": "user_feedback", "children": {}}}});
        let resolved = |kind: &str| json!({"resolution": {"type": kind, "display_time": "1.00", "button_id": "go"}});
        let happened = [
            ("in_app_display", about(&id, json!({}))),
            ("in_app_display", about(&id, json!({}))),
            ("in_app_display", about(&other, json!({}))),
            ("in_app_display", about("nobody-knows-it", json!({}))),
            ("in_app_page_view", about(&id, page.clone())),
            ("in_app_pager_completed", about(&id, page)),
            ("in_app_button_tap", about(&id, json!({"button_identifier": "go"}))),
            ("in_app_button_tap", about("nobody-knows-it", json!({"button_identifier": "go"}))),
            ("in_app_form_display", about(&id, form)),
            ("in_app_form_result", about(&id, result)),
            ("in_app_resolution", about(&id, resolved("button_click"))),
            ("in_app_resolution", about(&id, resolved("user_dismissed"))),
            ("in_app_resolution", about(&id, resolved("control"))),
            ("in_app_resolution", about(&id, resolved("audience_check_excluded"))),
        ];
        upload(&app, &library, &channel, &token, &happened).await;

        let counted = json!({
            "displays": 2, "opted_in_displays": 2, "clicks": 1, "button_taps": 1, "page_views": 1, "scenes_completed": 1,
            "form_displays": 1, "form_results": 1, "holdouts": 1, "exclusions": 1,
        });
        assert_eq!(app.master().get(&detail).await.expect(200)["in_app"], counted);
        for (metric, total) in [
            ("in_app_displays", 4),
            ("in_app_clicks", 1),
            ("in_app_taps", 2),
            ("in_app_pages", 1),
            ("in_app_forms_sent", 1),
            ("in_app_holdouts", 1),
        ] {
            assert_eq!(series(&app, metric).await, total, "{metric}");
        }

        app.master().delete(&format!("{}/{id}", in_app(&app))).await.expect(200);
        app.master().get(&detail).await.expect(404);
        let of_other = app.master().get(&format!("/api/reports/perpush/detail/{other}")).await.expect(200);
        assert_eq!(of_other["in_app"]["displays"], 1);
    })
    .await;
}

#[tokio::test]
async fn what_became_of_scenes_and_surveys_is_told_in_a_word() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, token) = library.channel("token-1").await;
        let id = keep(&app, &modal("viewed_cart")).await;
        let about = |kinds: Value, mut data: Value, completed: bool, submitted: bool| {
            data["id"] = json!({"message_id": id});
            data["rendered_locale"] = json!({"language": "nb", "country": "NO"});
            data["context"] = json!({
                "reporting_context": {"content_types": kinds},
                "pager": {"identifier": "p", "page_identifier": "p1", "page_index": 0, "completed": completed, "count": 2},
                "form": {"identifier": "f", "submitted": submitted, "type": "form", "response_type": "user_feedback"},
            });
            data
        };
        let (scene, survey, both) = (json!(["scene"]), json!(["survey"]), json!(["scene", "survey"]));
        let page = json!({"pager_identifier": "p", "page_identifier": "p1", "page_index": 0, "page_count": 1});
        let result = json!({"forms": {"f": {"type": "form", "response_type": "user_feedback", "children": {}}}});
        let dismissed = json!({"resolution": {"type": "user_dismissed", "display_time": "1.00"}});
        let happened = [
            ("in_app_display", about(both.clone(), json!({}), false, false)),
            ("in_app_display", about(json!(["in_app"]), json!({}), false, false)),
            ("in_app_pager_completed", about(scene.clone(), page, true, false)),
            ("in_app_form_result", about(survey.clone(), result, false, true)),
            ("in_app_resolution", about(scene, dismissed.clone(), true, false)),
            ("in_app_resolution", about(survey, dismissed.clone(), false, true)),
            ("in_app_resolution", about(both, dismissed, false, false)),
        ];
        upload(&app, &library, &channel, &token, &happened).await;
        let wanted = json!({"follow": false, "filters": [{"types": ["IN_APP_EXPERIENCES", "IN_APP_PAGER_COMPLETED"]}]});
        let events = app.master().post("/api/events", wanted).await;
        let events: Vec<Value> = events.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (told, scenes): (Vec<&Value>, Vec<&Value>) =
            events.iter().partition(|event| event["type"] == "IN_APP_EXPERIENCES");
        let names: Vec<&str> = told.iter().map(|event| event["body"]["event_name"].as_str().unwrap()).collect();
        let expected = [
            "scene_displayed",
            "survey_displayed",
            "scene_completed",
            "survey_submitted",
            "scene_incomplete",
            "survey_not_submitted",
        ];
        assert_eq!(names, expected);
        assert!(told.iter().all(|event| event["body"]["push_id"] == json!(id) && event["body"].get("context").is_none()));
        assert_eq!(scenes[0]["body"]["locale"], "nb-NO", "of the texts that were shown");
    })
    .await;
}

#[tokio::test]
async fn a_message_is_counted_from_when_it_was_kept_whatever_hour_devices_tell() {
    on_each_database(async |app| {
        let (channel, _) = Library::of(&app).channel("token-1").await;
        let id = keep(&app, &modal("viewed_cart")).await;
        let shown = |hour: i64| {
            event_at("in_app_display", START.0 - hour * 3_600_000, json!({"id": {"message_id": id}, "session_id": "s"}))
        };
        events_intake::upload(&app, &channel, (0..40).map(shown).collect()).await;
        let detail = app.master().get(&format!("/api/reports/perpush/detail/{id}")).await.expect(200);
        assert_eq!(detail["in_app"]["displays"], 40);
        let rows = row_counts(app.engine().store()).await;
        assert_eq!(rows["push_counter"], 2, "displays, and those of channels that are opted in");
    })
    .await;
}

#[tokio::test]
async fn a_banner_that_comes_with_a_push_makes_impressions() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, token) = library.channel("token-1").await;
        let push = json!({"audience": "all", "device_types": ["android"], "in_app": {"alert": "Sale", "display_type": "banner"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        let id = sent["push_ids"][0].as_str().unwrap().to_owned();
        app.step_all().await;
        let shown = [("in_app_display", json!({"id": id})), ("in_app_display", json!({"id": {"message_id": id}}))];
        upload(&app, &library, &channel, &token, &shown).await;
        let page = app.master().get("/api/reports/activity/details?start=2024-05-01&end=2024-05-02").await.expect(200);
        let [activity] = &page["activities"].as_array().unwrap()[..] else { panic!("{page}") };
        let impressions = json!({"impressions": 2, "impressions_opted_in": 2, "impressions_opted_out": 0});
        assert_eq!(activity["delivery"]["app"]["in_app"], impressions, "{page}");
        let detail = app.master().get(&format!("/api/reports/perpush/detail/{id}")).await.expect(200);
        assert_eq!(detail["in_app"]["displays"], 2);
    })
    .await;
}
