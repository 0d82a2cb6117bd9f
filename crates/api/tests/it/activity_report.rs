//! Which pushes the activity of a time has: those to one device or person are left out.

use model::ids::{AppId, Offset, OperationId, PushId};
use model::payload::push_type::PushType;
use serde_json::{Value, json};
use store::Tx;
use store::pushes::{self, PushRow, PushState, PushTexts};
use testkit::app::{START, TestApp, on_each_database};

use crate::reports::{HOUR, push, register, report};

const APP: AppId = AppId(1);

/// The pages of the activity of a day, each with the types and ids of its pushes.
async fn pages(app: &TestApp, limit: u32) -> Vec<Vec<(String, String)>> {
    let mut path = format!("activity/details?start=2024-05-01&end=2024-05-02&limit={limit}");
    let mut pages = Vec::new();
    loop {
        let page = report(app, &path).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let rows = page["activities"].as_array().unwrap().iter();
        pages.push(rows.map(|row| (text(&row["type"]), text(&row["push_id"]))).collect());
        let Some(next) = page["next_page"].as_str() else { return pages };
        path = next.strip_prefix(&app.url("/api/reports/")).unwrap().to_owned();
    }
}

#[tokio::test]
async fn pushes_to_one_device_are_no_activity_unless_they_are_of_a_group() {
    on_each_database(async |app| {
        let ios = register(&app, "ios", "ABCDEF01").await;
        let welcome = json!({
            "name": "Welcome", "enabled": true, "immediate_trigger": {"tag_added": "new"},
            "outcome": {"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}}},
        });
        app.master().post("/api/pipelines", welcome).await.expect(201);
        let first = push(&app, json!("all")).await;
        app.advance(HOUR);
        for audience in [json!({"channel": ios}), json!({"named_user": "kim"}), json!({"ios_channel": ios})] {
            push(&app, audience).await;
        }
        app.advance(HOUR);
        let second = push(&app, json!({"tag": "news"})).await;
        app.advance(HOUR);
        let tag = json!({"audience": {"ios_channel": ios}, "add": {"device": ["new"]}});
        app.master().post("/api/channels/tags", tag).await.expect(200);
        app.step_all().await;
        app.advance(HOUR);
        push(&app, json!({"channel": ios})).await;
        let all = report(&app, "responses/list?start=2024-05-01&end=2024-05-02").await;
        let by_pipeline = all["pushes"][1]["push_id"].as_str().unwrap().to_owned();
        assert_eq!(all["pushes"].as_array().unwrap().len(), 7, "there they all are");

        let one = |kind: &str, id: &String| (kind.to_owned(), id.clone());
        let wanted = [one("GROUP", &by_pipeline), one("PUSH", &second), one("PUSH", &first)];
        assert_eq!(pages(&app, 10).await, [wanted.to_vec()]);
        assert_eq!(pages(&app, 2).await, [wanted[..2].to_vec(), wanted[2..].to_vec()]);
        assert_eq!(pages(&app, 1).await, wanted.clone().map(|one| vec![one]));
        assert_eq!(pages(&app, 3).await, [wanted.to_vec()], "nothing that counts is after them");
    })
    .await;
}

#[tokio::test]
async fn a_page_ends_after_many_pushes_to_single_devices() {
    on_each_database(async |app| {
        let first = push(&app, json!("all")).await;
        let created = START.plus(HOUR);
        let fill = move |tx: &mut Tx<'_>| -> store::Result<()> {
            for _ in 0..10_500 {
                let row = PushRow {
                    id: PushId::at(created),
                    operation: OperationId::at(created),
                    created,
                    expires: None,
                    push_type: PushType::UnicastPush,
                    state: PushState::Done,
                    paused: false,
                    accepted_at: Offset(0),
                    redact: false,
                    payload: None,
                };
                pushes::insert(tx, APP, &row, &PushTexts::default())?;
            }
            Ok(())
        };
        app.engine().store().write(APP, fill).await.unwrap();
        assert_eq!(pages(&app, 5).await, [vec![], vec![("PUSH".to_owned(), first)]]);
    })
    .await;
}
