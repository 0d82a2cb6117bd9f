//! What is sent later or by itself is filled in with what is known at the moment of sending, and with what set it off.

use serde_json::{Value, json};
use testkit::app::on_each_database;

use super::{kept, register, set};
use crate::pipelines::{HOUR, create};

fn bought(delay: u64) -> Value {
    let push = json!({
        "audience": "triggered", "device_types": "all", "options": {"personalization": true},
        "notification": {"alert": "{{name}}, {{item.title}} for {{numberFormat price}}|{{$data.events.[0].properties.price}}"},
    });
    json!({
        "name": "bought", "enabled": true, "outcome": {"push": push, "delay": delay},
        "immediate_trigger": {"custom_event": {"key": "name", "value": {"equals": "bought"}}},
    })
}

#[tokio::test]
async fn a_pipeline_tells_of_the_event_that_set_it_off() {
    on_each_database(async |app| {
        let kim = register(&app, "android", "F1", json!({"name": "Kim", "price": "an attribute"})).await;
        let lee = register(&app, "android", "F2", json!({"name": "Lee"})).await;
        create(&app, bought(3600)).await;
        for (channel, title, price) in [(&kim, "Boots", 1200), (&lee, "Hat", 15)] {
            let body = json!({"name": "bought", "properties": {"item": {"title": title}, "price": price}});
            let event = json!({"user": {"android_channel": channel}, "body": body});
            app.master().post("/api/custom-events", event).await.expect(200);
        }
        app.step_all().await;
        assert!(kept(&app).await.is_empty());
        // Attributes as of the moment of sending.
        set(&app, json!({"channel": [lee]}), json!({"name": "Lee B."})).await;
        app.advance(HOUR);
        app.step_all().await;
        let kept = kept(&app).await;
        let alert = |channel: &str| kept[channel]["message"]["data"]["com.urbanairship.push.ALERT"].clone();
        assert_eq!(alert(&kim), "Kim, Boots for 1,200|1200");
        assert_eq!(alert(&lee), "Lee B., Hat for 15|15");
    })
    .await;
}

#[tokio::test]
async fn a_schedule_is_filled_in_when_it_is_sent() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi {{name}}"},
            "options": {"personalization": true}});
        let schedule = json!({"schedule": {"scheduled_time": "2024-05-01T13:00:00"}, "push": push});
        app.master().post("/api/schedules", schedule).await.expect(201);
        set(&app, json!({"channel": [kim]}), json!({"name": "Kim B."})).await;
        app.advance(HOUR);
        app.step_all().await;
        assert_eq!(kept(&app).await[&kim]["aps"]["alert"], "Hi Kim B.");
    })
    .await;
}

#[tokio::test]
async fn variants_of_an_experiment_have_their_own_texts() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        let variant =
            |text: &str| json!({"push": {"notification": {"alert": text}, "options": {"personalization": true}}});
        let experiment = json!({"audience": "all", "device_types": ["ios"],
            "variants": [variant("One {{name}}"), variant("Two {{name}}")]});
        app.master().post("/api/experiments", experiment).await.expect(201);
        app.step_all().await;
        let alert = kept(&app).await[&kim]["aps"]["alert"].clone();
        assert!(["One Kim", "Two Kim"].map(Value::from).contains(&alert), "{alert}");
    })
    .await;
}

#[tokio::test]
async fn a_template_has_its_own_variables_and_those_of_devices() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        let template = json!({"name": "T", "variables": [{"key": "DAY", "default_value": "day"}],
            "push": {"notification": {"alert": "Good {{DAY}}, {{$def name \"you\"}}"}, "options": {"personalization": true}}});
        let made = app.master().post("/api/templates", template).await.expect(201);
        let merge_data = json!({"template_id": made["template_id"], "substitutions": {"DAY": "{{name}}"}});
        let push = json!({"audience": "all", "device_types": ["ios"], "merge_data": merge_data});
        app.master().post("/api/templates/push", push).await.expect(200);
        app.step_all().await;
        assert_eq!(kept(&app).await[&kim]["aps"]["alert"], "Good {{name}}, Kim", "a value is no template");
    })
    .await;
}

#[tokio::test]
async fn substitutions_stay_what_they_are_in_a_personalized_template() {
    on_each_database(async |app| {
        let kim = register(&app, "ios", "A1", json!({"name": "Kim"})).await;
        let variables = json!([{"key": "VIP", "default_value": null}, {"key": "N", "default_value": null}]);
        let alert = "{{#if VIP}}VIP {{/if}}{{#if N}}some {{/if}}{{VIP}} {{N}}";
        for (options, expected) in [
            (json!({"personalization": true}), ["false 0", "VIP some true 2"]),
            // Without the language, a value is its text.
            (
                json!({}),
                [
                    "{{#if VIP}}VIP {{/if}}{{#if N}}some {{/if}}false 0",
                    "{{#if VIP}}VIP {{/if}}{{#if N}}some {{/if}}true 2",
                ],
            ),
        ] {
            let push = json!({"notification": {"alert": alert}, "options": options});
            let template = json!({"name": "T", "variables": variables, "push": push});
            let made = app.master().post("/api/templates", template).await.expect(201);
            for (substitutions, expected) in
                [json!({"VIP": false, "N": 0}), json!({"VIP": true, "N": 2})].into_iter().zip(expected)
            {
                let merge_data = json!({"template_id": made["template_id"], "substitutions": substitutions});
                let usage = json!({"audience": "all", "device_types": ["ios"], "merge_data": merge_data});
                app.master().delete("/api/sandbox").await.expect(204);
                app.master().post("/api/templates/push", usage).await.expect(200);
                app.step_all().await;
                assert_eq!(kept(&app).await[&kim]["aps"]["alert"], expected);
            }
        }
    })
    .await;
}
