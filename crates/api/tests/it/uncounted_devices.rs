//! Devices that registered with a version of the service that did not count them: bringing the database up to date counts them.

use std::time::Duration;

use serde_json::{Value, json};
use store::Tx;
use testkit::app::{TestApp, on_each_engine};

const STEP: &str = include_str!("../../../store/migrations/0016_devices.sql");
const COUNTED: &str = "('created', 'uninstalled', 'opted_in', 'opted_out')";

async fn register(app: &TestApp, device_type: &str, opt_in: bool) -> String {
    let body = json!({"channel": {"device_type": device_type, "opt_in": opt_in, "device_model": "\"opt_in\":true"}});
    let made = app.device().post("/api/channels", body).await.expect(201);
    made["channel_id"].as_str().unwrap().to_owned()
}

async fn uninstall(app: &TestApp, channel: &str, device_type: &str) {
    let body = json!([{"channel_id": channel, "device_type": device_type}]);
    app.master().post("/api/channels/uninstall", body).await.expect(202);
}

async fn write(app: &TestApp, change: impl Fn(&mut Tx<'_>) -> store::Result<()> + Send + 'static) {
    let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
    app.engine().store().write(id, change).await.unwrap();
}

/// The part of the step that counts, as it runs once in a database of before.
fn count_the_uncounted(tx: &mut Tx<'_>) -> store::Result<()> {
    let (_, counting) = STEP.split_once("-- Devices from before they were counted.").unwrap();
    let (_, counting) = counting.split_once("create table").unwrap();
    for statement in format!("create table{counting}").split(";\n") {
        if !statement.trim().is_empty() {
            tx.execute(statement, &[])?;
        }
    }
    Ok(())
}

async fn devices(app: &TestApp, date: &str) -> Value {
    let mut report = app.master().get(&format!("/api/reports/devices?date={date}")).await.expect(200);
    report.as_object_mut().unwrap().retain(|key, _| key.starts_with("total") || key == "counts");
    report
}

#[tokio::test]
async fn devices_of_before_are_counted_once() {
    on_each_engine(async |app| {
        // The first day was not counted, the second was.
        let early = [
            register(&app, "ios", true).await,
            register(&app, "ios", false).await,
            register(&app, "ios", true).await,
            register(&app, "android", true).await,
        ];
        uninstall(&app, &early[2], "ios").await;
        let first_day = devices(&app, "2024-05-01").await;
        write(&app, |tx| {
            for table in ["counter", "counter_day"] {
                tx.execute(&format!("delete from {table} where metric in {COUNTED}"), &[])?;
            }
            Ok(())
        })
        .await;
        app.advance(Duration::from_secs(24 * 60 * 60));
        register(&app, "ios", true).await;
        uninstall(&app, &early[0], "ios").await;
        let uncounted = devices(&app, "2024-05-02").await;
        assert_ne!(devices(&app, "2024-05-01").await, first_day);

        write(&app, count_the_uncounted).await;
        let second_day = devices(&app, "2024-05-02").await;
        assert_ne!(second_day, uncounted);
        assert_eq!(devices(&app, "2024-05-01").await, first_day);
        let ios = &second_day["counts"]["ios"];
        let figures = ["unique_devices", "opted_in", "opted_out", "uninstalled"].map(|key| ios[key].as_u64());
        assert_eq!(figures, [Some(2), Some(1), Some(1), Some(2)], "{second_day}");
        write(&app, count_the_uncounted).await;
        assert_eq!(devices(&app, "2024-05-02").await, second_day, "nothing is missing any more");
    })
    .await;
}
